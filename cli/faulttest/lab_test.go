package faulttest_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// noRun is the status of a phone that failed before anything was measured: there is no run to
// store.
const noRun run.Status = ""

// wholeBut are the new runs of a lab: those of sound phones are complete, whatever the faulty one
// does.
func wholeBut(faulty run.Status, network string) map[string]run.Status {
	want := map[string]run.Status{"14 " + network: run.Complete, "6.0.0 " + network: run.Complete}
	if faulty != noRun {
		want["11 "+network] = faulty
	}
	return want
}

// TestAFaultyPhoneInALab makes one phone of a lab fail in every way, and checks the exit status,
// the messages, the other phones and the history.
func TestAFaultyPhoneInALab(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  string
		exit   int
		status run.Status
		said   []string // in the error; none for a fault that is overcome, and for one of the app's
		hint   string
		warned string
	}{
		"offline mid-repetition": {"offline after scroll repetition 2", exit.StatusInfrastructure, run.Partial, []string{"repetition 2", "wait 1m30s", "the device is gone", `"offline"`}, "restart it", "repetition 2 is lost"},
		"disconnected for good":  {"offline after scroll", exit.StatusInfrastructure, noRun, []string{"repetition 1", "the device is gone"}, "restart it", "repetition 1 is lost"},
		"crash in one":           {"crash after scroll repetition 2", exit.StatusPass, run.Complete, nil, "", "repetition 2 is lost: the app crashed"},
		"garbage":                {"garbage", exit.StatusInfrastructure, noRun, []string{"repetition 1", "the device answered garbage"}, "", "repetition 1 is lost"},
		"garbage for a while":    {"garbage at 3s for 2s repetition 1", exit.StatusPass, run.Complete, nil, "", "garbage"},
		"cable pulled":           {"drop after scroll repetition 2", exit.StatusPass, run.Complete, nil, "", "repetition 2 is lost"},
		"restart":                {"reboot at 3s repetition 1", exit.StatusPass, run.Complete, nil, "", "repetition 1 is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := "fault " + strings.ReplaceAll(tc.fault, "\n", " when sdk=11\n") + " when sdk=11"
			l := clitest.NewLab(t, "demo-good", lines)
			before := l.Export()
			got := l.Apkgate("run")
			if got.Status != tc.exit {
				t.Errorf("exit status %d, want %d", got.Status, tc.exit)
			}
			message, hint := clitest.Complaint(t, got)
			if tc.said == nil && message != "" {
				t.Errorf("%q, want the fault overcome", message)
			}
			if tc.said != nil {
				tc.said = append(tc.said, clitest.FaultyPhone, "scenario read-mail")
			}
			for _, want := range tc.said {
				if !strings.Contains(message, want) {
					t.Errorf("%q says nothing of %q", message, want)
				}
			}
			if !strings.Contains(hint, tc.hint) || tc.hint == "" && hint != "" {
				t.Errorf("hint %q, want %q", hint, tc.hint)
			}
			if _, warning, _ := strings.Cut(got.Stderr, "warning: "+clitest.FaultyPhone+": "); !strings.Contains(warning, tc.warned) {
				t.Errorf("no warning of %q:\n%s", tc.warned, got.Stderr)
			}
			// The app's failures are at the top of the report, even if they are overcome.
			note := "The app or its test failed in 1 repetition, which had to be measured again"
			if crashed := strings.HasPrefix(tc.fault, "crash"); crashed != strings.Contains(strings.Join(strings.Fields(got.Stdout), " "), note) {
				t.Errorf("does the report say that the app failed? want %t:\n%s", crashed, got.Stdout)
			}
			if diff := cmp.Diff(wholeBut(tc.status, "wifi"), l.Kept(before)); diff != "" {
				t.Errorf("runs in the history (-want +got):\n%s", diff)
			}
		})
	}
}

// The storage of a phone fills up during the first run: the next can't be installed. (The phone is
// a permanent one: a simulated one of the configuration is new for each run.)
func TestPhoneRunsOutOfSpace(t *testing.T) {
	phone, err := simulator.Start(clitest.FaultyPhone, 1, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { phone.Close() })
	l := clitest.NewLab(t, "demo-good", "fault nospace repetition 1 when sdk=11")
	l.Configure("demo-good", "wifi", "3g")
	l.Edit("simulated: "+clitest.FaultyPhone, "address: "+phone.Address()+"\n    name: "+clitest.FaultyPhone)
	before := l.Export()
	var stderr bytes.Buffer
	c := terminal.Console{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, Now: time.Now, Clock: phone.Clock(), Getenv: func(string) string { return "" }}
	if status := cli.Main(c, []string{"run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db")}); status != exit.StatusInfrastructure {
		t.Errorf("exit status %d, want %d", status, exit.StatusInfrastructure)
	}
	message, _ := clitest.Complaint(t, clitest.Result{Stderr: stderr.String()})
	for _, want := range []string{clitest.FaultyPhone, "read-mail", "demo-good.apk", "space"} {
		if !strings.Contains(strings.ToLower(message), want) {
			t.Errorf("%q says nothing of %q", message, want)
		}
	}
	want := wholeBut(run.Complete, "wifi")
	for phone, status := range wholeBut(noRun, "3g") {
		want[phone] = status
	}
	if diff := cmp.Diff(want, l.Kept(before)); diff != "" {
		t.Errorf("runs in the history (-want +got):\n%s", diff)
	}
}

// A regression outweighs a lost phone: the build fails for the exceeded budget, and the loss is
// reported.
func TestRegressionAndALostPhone(t *testing.T) {
	l := clitest.NewLab(t, "demo-worse", "fault offline after scroll when sdk=11")
	l.Edit("networks:", "gate: {thresholds: [{metric: frames.duration_ms, max: 9}]}\nnetworks:")
	var history strings.Builder
	for i := range 20 {
		fmt.Fprintf(&history, `{"format":"apkgate.run/1","id":"G%d","app":{"package":"com.example.demo"},"scenario":"read-mail",`+
			`"context":{"sdk":"%s","network":"wifi","simulated":"true","frames_by":"%s"},"iterations":[{"metrics":{"frames.count":%d,"frames.smooth_ratio":%g,"frames.duration_ms":%g}}]}`+"\n",
			i, []string{"14", "6.0.0"}[i%2], []string{"timeline", "gfxinfo"}[i%2], 280+i%5, 0.97+float64(i%7)/1000, 8+float64(i%6)/50)
	}
	l.Accept(history.String())
	before := l.Export()
	got := l.Apkgate("run")
	if got.Status != exit.StatusRegression {
		t.Errorf("exit status %d, want %d\n%s", got.Status, exit.StatusRegression, got.Stdout)
	}
	if message, _ := clitest.Complaint(t, got); !strings.Contains(message, clitest.FaultyPhone) {
		t.Errorf("%q says nothing of %s", message, clitest.FaultyPhone)
	}
	if diff := cmp.Diff(wholeBut(noRun, "wifi"), l.Kept(before)); diff != "" {
		t.Errorf("runs in the history (-want +got):\n%s", diff)
	}
	if got := l.Apkgate("run", "--fail-on", "never"); got.Status != exit.StatusInfrastructure {
		t.Errorf("where a regression fails nothing: exit status %d, want the lost phone's %d", got.Status, exit.StatusInfrastructure)
	}
}
