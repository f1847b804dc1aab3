package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/run"
)

// The lab of these tests: simulated phones of which the first, the only one with
// Android 11, is let down by its app or by itself. A fault in the app's file
// strikes there alone: "when sdk=11".
var (
	faultyPhone = "pixel-5-android-11"
	soundPhones = []string{"pixel-7-android-14", "nexus-5x-android-6.0.0"}
)

// faultLab is a folder with a configuration, two APKs and a history.
type faultLab struct {
	t   *testing.T
	dir string
}

// newFaultLab writes a lab whose history holds nine accepted runs. The app is
// one of the shipped ones with more lines in its file.
func newFaultLab(t *testing.T, app, fault string) faultLab {
	t.Helper()
	l := faultLab{t, t.TempDir()}
	for name, lines := range map[string]string{app: fault, "demo-test": ""} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, l.path(name+".apk"), string(text)+"\n"+lines+"\n")
	}
	l.configure(app, "wifi")
	l.accept(sound(9))
	return l
}

func (l faultLab) path(name string) string { return filepath.Join(l.dir, name) }

// configure writes the configuration: two repetitions on each network, of which
// one may be made again.
func (l faultLab) configure(app string, networks ...string) {
	l.t.Helper()
	var phones strings.Builder
	for _, name := range append([]string{faultyPhone}, soundPhones...) {
		fmt.Fprintf(&phones, "  - simulated: %s\n", name)
	}
	l.configurePhones(app, &phones, networks...)
}

func (l faultLab) configurePhones(app string, phones fmt.Stringer, networks ...string) {
	l.t.Helper()
	put(l.t, l.path("apkgate.yml"), fmt.Sprintf(faultConfig, app, strings.Join(networks, ", "), phones))
}

const faultConfig = `app: {package: com.example.demo, apk: %s.apk, test-apk: demo-test.apk}
scenarios:
  - name: read-mail
    workload:
      instrumentation: {test-package: com.example.demo.test, class: "com.example.demo.ReadMailTest#readsMail"}
    repetitions: 2
    warm-up: 0
    retries: 1
    timeout: 30s
networks: [%s]
devices:
%s`

// edit changes the configuration's text.
func (l faultLab) edit(from, to string) {
	l.t.Helper()
	text, err := os.ReadFile(l.path("apkgate.yml"))
	if err != nil || !strings.Contains(string(text), from) {
		l.t.Fatalf("change %q in %s: %v", from, text, err)
	}
	put(l.t, l.path("apkgate.yml"), strings.Replace(string(text), from, to, 1))
}

// accept puts runs into the history.
func (l faultLab) accept(records string) {
	l.t.Helper()
	if got := l.apkgate("baseline", "import", put(l.t, l.path("accepted.jsonl"), records)); got.status != exitPass {
		l.t.Fatalf("import a history: %+v", got)
	}
}

func (l faultLab) apkgate(args ...string) ran {
	l.t.Helper()
	args = append(args, "--store", l.path("history.db"))
	if args[0] == "run" {
		args = append(args, "--config", l.path("apkgate.yml"))
	}
	return cli(l.t, nil, args...)
}

// export is the history as JSON Lines, by id.
func (l faultLab) export() map[string]string {
	l.t.Helper()
	got := l.apkgate("baseline", "export")
	if got.status != exitPass {
		l.t.Fatalf("export the history: %+v", got)
	}
	records := map[string]string{}
	for line := range strings.Lines(got.stdout) {
		r, err := run.Decode([]byte(line))
		if err != nil {
			l.t.Fatal(err)
		}
		records[r.ID] = line
	}
	return records
}

// kept asserts that the history is whole and holds all that it held before, and
// returns the status of each run that is new, by profile and network.
func (l faultLab) kept(before map[string]string) map[string]run.Status {
	l.t.Helper()
	if got := l.apkgate("baseline", "verify"); got.status != exitPass {
		l.t.Errorf("verify the history: %+v", got)
	}
	after := l.export()
	for id, record := range before {
		if after[id] != record {
			l.t.Errorf("run %s was %s and is %s", id, record, after[id])
		}
	}
	added := map[string]run.Status{}
	for id, record := range after {
		if _, old := before[id]; old {
			continue
		}
		r, err := run.Decode([]byte(record))
		if err != nil {
			l.t.Fatal(err)
		}
		added[r.Context["sdk"]+" "+r.Context["network"]] = r.Status
	}
	return added
}

// complaint is the error of a command that got as far as a report, and its hint.
func complaint(t *testing.T, got ran) (message, hint string) {
	t.Helper()
	for line := range strings.Lines(got.stderr) {
		switch {
		case strings.HasPrefix(line, "error: ") && message != "":
			t.Errorf("more than one error:\n%s", got.stderr)
		case strings.HasPrefix(line, "error: "):
			message = line
		case strings.HasPrefix(line, "hint: "):
			hint = line
		}
	}
	if message != "" {
		if err := oneClearLine(message + hint); err != nil {
			t.Error(err)
		}
	}
	return message, hint
}

// noRun stands for a phone that was let down before anything was measured: there is
// no run of it to keep.
const noRun run.Status = ""

// wholeBut are the new runs of a lab: those of sound phones are whole, whatever
// the one beside them does.
func wholeBut(faulty run.Status, network string) map[string]run.Status {
	want := map[string]run.Status{"14 " + network: run.Complete, "6.0.0 " + network: run.Complete}
	if faulty != noRun {
		want["11 "+network] = faulty
	}
	return want
}

// TestAFaultyPhoneInALab lets one phone of a lab down in every way, and holds
// the exit status, the words, the other phones and the history.
func TestAFaultyPhoneInALab(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  string
		exit   int
		status run.Status
		said   []string // in the error; none for a fault that is overcome, and for one of the app's
		hint   string
		warned string
	}{
		"offline mid-repetition": {"offline after scroll repetition 2", exitInfrastructure, run.Partial, []string{"repetition 2", "wait 1m30s", "the device is gone", `"offline"`}, "restart it", "repetition 2 is lost"},
		"disconnected for good":  {"offline after scroll", exitInfrastructure, noRun, []string{"repetition 1", "the device is gone"}, "restart it", "repetition 1 is lost"},
		"crash in one":           {"crash after scroll repetition 2", exitPass, run.Complete, nil, "", "repetition 2 is lost: the app crashed"},
		"garbage":                {"garbage", exitInfrastructure, noRun, []string{"repetition 1", "the device answered garbage"}, "", "repetition 1 is lost"},
		"garbage for a while":    {"garbage at 3s for 2s repetition 1", exitPass, run.Complete, nil, "", "garbage"},
		"cable pulled":           {"drop after scroll repetition 2", exitPass, run.Complete, nil, "", "repetition 2 is lost"},
		"restart":                {"reboot at 3s repetition 1", exitPass, run.Complete, nil, "", "repetition 1 is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := "fault " + strings.ReplaceAll(tc.fault, "\n", " when sdk=11\n") + " when sdk=11"
			l := newFaultLab(t, "demo-good", lines)
			before := l.export()
			got := l.apkgate("run")
			if got.status != tc.exit {
				t.Errorf("exit status %d, want %d", got.status, tc.exit)
			}
			message, hint := complaint(t, got)
			if tc.said == nil && message != "" {
				t.Errorf("%q, want the fault overcome", message)
			}
			if tc.said != nil {
				tc.said = append(tc.said, faultyPhone, "scenario read-mail")
			}
			for _, want := range tc.said {
				if !strings.Contains(message, want) {
					t.Errorf("%q says nothing of %q", message, want)
				}
			}
			if !strings.Contains(hint, tc.hint) || tc.hint == "" && hint != "" {
				t.Errorf("hint %q, want %q", hint, tc.hint)
			}
			if _, warning, _ := strings.Cut(got.stderr, "warning: "+faultyPhone+": "); !strings.Contains(warning, tc.warned) {
				t.Errorf("no warning of %q:\n%s", tc.warned, got.stderr)
			}
			// What the app did is said at the head of the report, also where it is overcome.
			note := "The app or its test failed in 1 repetition, which had to be measured again"
			if crashed := strings.HasPrefix(tc.fault, "crash"); crashed != strings.Contains(strings.Join(strings.Fields(got.stdout), " "), note) {
				t.Errorf("does the report say that the app failed? want %t:\n%s", crashed, got.stdout)
			}
			if diff := cmp.Diff(wholeBut(tc.status, "wifi"), l.kept(before)); diff != "" {
				t.Errorf("runs in the history (-want +got):\n%s", diff)
			}
		})
	}
}

// The storage of a phone fills up while the first run goes on: the next can't
// be installed.
func TestAPhoneRunsOutOfSpace(t *testing.T) {
	l := newFaultLab(t, "demo-good", "fault nospace repetition 1 when sdk=11")
	l.configure("demo-good", "wifi", "3g")
	before := l.export()
	got := l.apkgate("run")
	if got.status != exitInfrastructure {
		t.Errorf("exit status %d, want %d", got.status, exitInfrastructure)
	}
	message, _ := complaint(t, got)
	for _, want := range []string{faultyPhone, "read-mail", "demo-good.apk", "space"} {
		if !strings.Contains(strings.ToLower(message), want) {
			t.Errorf("%q says nothing of %q", message, want)
		}
	}
	want := wholeBut(run.Complete, "wifi")
	for phone, status := range wholeBut(noRun, "3g") {
		want[phone] = status
	}
	if diff := cmp.Diff(want, l.kept(before)); diff != "" {
		t.Errorf("runs in the history (-want +got):\n%s", diff)
	}
}

// A regression outweighs a lost phone: the build fails for what was measured,
// and the loss is told.
func TestARegressionBesideALostPhone(t *testing.T) {
	l := newFaultLab(t, "demo-worse", "fault offline after scroll when sdk=11")
	var history strings.Builder
	for i := range 20 {
		fmt.Fprintf(&history, `{"format":"apkgate.run/1","id":"G%d","app":{"package":"com.example.demo"},"scenario":"read-mail",`+
			`"context":{"sdk":"%s","network":"wifi","simulated":"true"},"iterations":[{"metrics":{"frames.count":%d,"frames.smooth_ratio":%g,"frames.duration_ms":%g}}]}`+"\n",
			i, []string{"14", "6.0.0"}[i%2], 280+i%5, 0.97+float64(i%7)/1000, 8+float64(i%6)/50)
	}
	l.accept(history.String())
	before := l.export()
	got := l.apkgate("run")
	if got.status != exitRegression {
		t.Errorf("exit status %d, want %d\n%s", got.status, exitRegression, got.stdout)
	}
	if message, _ := complaint(t, got); !strings.Contains(message, faultyPhone) {
		t.Errorf("%q says nothing of %s", message, faultyPhone)
	}
	if diff := cmp.Diff(wholeBut(noRun, "wifi"), l.kept(before)); diff != "" {
		t.Errorf("runs in the history (-want +got):\n%s", diff)
	}
	if got := l.apkgate("run", "--fail-on", "never"); got.status != exitInfrastructure {
		t.Errorf("where a regression fails nothing: exit status %d, want the lost phone's %d", got.status, exitInfrastructure)
	}
}
