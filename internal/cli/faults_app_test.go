package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// verdictOf is the verdict that a command left in a JSON file.
func verdictOf(t *testing.T, path string) gate.Verdict {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v gate.Verdict
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// What the app or its test does wrong is no regression and no silence: the verdict
// is invalid with every report, it says why, and the run is kept.
func TestAnAppThatEndsItsRun(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  string
		status run.Status
		why    string
	}{
		"crash in every try":    {"crash after scroll", run.Failed, "the app crashed in repetition 1: Process crashed. (java.lang.IllegalStateException: simulated crash)"},
		"crash from the second": {"crash after scroll repetition 2\nfault crash at 1s repetition 3", run.Partial, "the app crashed in repetition 2: "},
		"past the time-out":     {"stuck after scroll", run.Failed, "the workload did not end in time in repetition 1: 30s"},
		"process replaced":      {"lost after scroll", run.Failed, "the app's process died in repetition 1 while the workload ran"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newFaultLab(t, "demo-good", "fault "+strings.ReplaceAll(tc.fault, "\n", " when sdk=11\n")+" when sdk=11")
			before := l.export()
			got := l.apkgate("run", "--json", l.path("v.json"), "--html", l.path("r.html"), "--markdown", l.path("r.md"))
			if got.status != exitInfrastructure || !strings.HasPrefix(got.stdout, "Invalid: ") {
				t.Errorf("exit status %d, want %d and an invalid verdict\n%s", got.status, exitInfrastructure, got.stdout)
			}
			if message, _ := complaint(t, got); message != "" {
				t.Errorf("%q, want the verdict to tell it", message)
			}
			v := verdictOf(t, l.path("v.json"))
			if v.Verdict != gate.Invalid || len(v.Runs) != 3 {
				t.Fatalf("%s of %d runs, want invalid of 3", v.Verdict, len(v.Runs))
			}
			for _, r := range v.Runs {
				if r.Context["sdk"] == "11" && (r.Verdict != gate.Invalid || !strings.Contains(r.Reason, tc.why)) {
					t.Errorf("%s because %q, want %q", r.Verdict, r.Reason, tc.why)
				}
			}
			for _, file := range []string{"r.html", "r.md"} {
				text, err := os.ReadFile(l.path(file))
				if err != nil || !strings.Contains(string(text), "Pixel 5") || !strings.Contains(string(text), "Invalid") {
					t.Errorf("%s tells nothing of it: %v", file, err)
				}
			}
			if diff := cmp.Diff(wholeBut(tc.status, "wifi"), l.kept(before)); diff != "" {
				t.Errorf("runs in the history (-want +got):\n%s", diff)
			}
			if got := l.apkgate("run", "--accept", "--fail-on", "never"); got.status != exitPass || !strings.Contains(got.stderr, "2 of 3 runs accepted") {
				t.Errorf("where no verdict fails: exit status %d\n%s", got.status, got.stderr)
			}
		})
	}
}

// A test that fails is reported like a crash, on every phone.
func TestATestThatFails(t *testing.T) {
	l := newFaultLab(t, "demo-good", "")
	put(t, l.path("demo-test.apk"), "apkgate-simulated-app/1\npackage com.example.demo.test\ntests com.example.demo\n"+
		"test com.example.demo.ReadMailTest#readsMail no-such-scenario\n")
	before := l.export()
	got := l.apkgate("run", "--json", l.path("v.json"))
	if got.status != exitInfrastructure {
		t.Errorf("exit status %d, want %d", got.status, exitInfrastructure)
	}
	for _, r := range verdictOf(t, l.path("v.json")).Runs {
		for _, want := range []string{"the test failed in repetition 1", "ReadMailTest#readsMail", "no scenario no-such-scenario"} {
			if r.Verdict != gate.Invalid || !strings.Contains(r.Reason, want) {
				t.Errorf("%s because %q, want %q", r.Verdict, r.Reason, want)
			}
		}
	}
	want := map[string]run.Status{"11 wifi": run.Failed, "14 wifi": run.Failed, "6.0.0 wifi": run.Failed}
	if diff := cmp.Diff(want, l.kept(before)); diff != "" {
		t.Errorf("runs in the history (-want +got):\n%s", diff)
	}
	var ids []string
	for id := range l.export() {
		if before[id] == "" {
			ids = append(ids, id)
		}
	}
	if got := l.apkgate("baseline", "accept", ids[0]); got.status != exitUsage || !strings.Contains(got.stderr, "failed") {
		t.Errorf("accept a failed run: exit status %d, %s", got.status, got.stderr)
	}
}

// Where nothing is drawn there is nothing to judge, and the verdict says what may be
// wrong.
func TestAnAppThatDrawsNothing(t *testing.T) {
	l := newFaultLab(t, "demo-good", "")
	put(t, l.path("demo-good.apk"), "apkgate-simulated-app/1\npackage com.example.demo\ntouch 0\nscenario read-mail 8s\n  start 0\n  900ms open-list 0\n")
	l.configurePhones("demo-good", stringer("  - simulated: pixel-7-android-14\n"), "wifi")
	got := l.apkgate("run", "--json", l.path("v.json"))
	v := verdictOf(t, l.path("v.json"))
	if got.status != exitInfrastructure || v.Verdict != gate.Invalid {
		t.Fatalf("exit status %d, %s, want %d and invalid", got.status, v.Verdict, exitInfrastructure)
	}
	for _, want := range []string{"no frames were seen in repetition 1", "see whether the workload opens the app at all"} {
		if !strings.Contains(v.Runs[0].Reason, want) {
			t.Errorf("%q says nothing of %q", v.Runs[0].Reason, want)
		}
	}
}

// A refresh refuses what crashed, and says so in its report.
func TestRefreshRefusesACrash(t *testing.T) {
	l := newFaultLab(t, "demo-good", "fault crash after scroll when sdk=11")
	got := l.apkgate("baseline", "refresh", "--config", l.path("apkgate.yml"))
	if got.status != exitInfrastructure || !strings.Contains(got.stdout, "the app crashed in repetition 1") || strings.Contains(got.stdout, "--accept-regression") {
		t.Errorf("exit status %d, want %d and the crash told, which nothing accepts:\n%s%s", got.status, exitInfrastructure, got.stdout, got.stderr)
	}
	if got := l.apkgate("baseline", "refresh", "--config", l.path("apkgate.yml"), "--fail-on", "never"); got.status != exitPass {
		t.Errorf("where no verdict fails: exit status %d", got.status)
	}
}

// Collect has no verdict: its status says that the runs are not whole, and check
// tells why of what it wrote.
func TestCollectOfACrash(t *testing.T) {
	l := newFaultLab(t, "demo-good", "fault crash after scroll when sdk=11")
	got := cli(t, nil, "collect", "--config", l.path("apkgate.yml"), "-o", l.path("runs.jsonl"))
	if got.status != exitInfrastructure {
		t.Errorf("collect: exit status %d, want %d", got.status, exitInfrastructure)
	}
	if message, _ := complaint(t, got); !strings.Contains(message, faultyPhone) || !strings.Contains(message, "the app crashed") {
		t.Errorf("%q says nothing of the crash", message)
	}
	got = l.apkgate("check", "--run", l.path("runs.jsonl"))
	if got.status != exitInfrastructure || !strings.Contains(got.stdout, "the app crashed in repetition 1") {
		t.Errorf("check: exit status %d, want %d and the crash told:\n%s%s", got.status, exitInfrastructure, got.stdout, got.stderr)
	}
}
