package faulttest_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
)

// verdictOf is the verdict that a command wrote to a JSON file.
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

// A failure of the app or its test is neither a regression nor silent: the verdict is invalid in
// every report, with the reason, and the run is stored.
func TestRunEndedByTheApp(t *testing.T) {
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
			l := clitest.NewLab(t, "demo-good", "fault "+strings.ReplaceAll(tc.fault, "\n", " when sdk=11\n")+" when sdk=11")
			before := l.Export()
			got := l.Apkgate("run", "--json", l.Path("v.json"), "--html", l.Path("r.html"), "--markdown", l.Path("r.md"))
			if got.Status != exit.StatusInfrastructure || !strings.HasPrefix(got.Stdout, "Invalid: ") {
				t.Errorf("exit status %d, want %d and an invalid verdict\n%s", got.Status, exit.StatusInfrastructure, got.Stdout)
			}
			if message, _ := clitest.Complaint(t, got); message != "" {
				t.Errorf("%q, want the verdict to tell it", message)
			}
			v := verdictOf(t, l.Path("v.json"))
			if v.Verdict != gate.Invalid || len(v.Runs) != 3 {
				t.Fatalf("%s of %d runs, want invalid of 3", v.Verdict, len(v.Runs))
			}
			for _, r := range v.Runs {
				if r.Context["sdk"] == "11" && (r.Verdict != gate.Invalid || !strings.Contains(r.Reason, tc.why)) {
					t.Errorf("%s because %q, want %q", r.Verdict, r.Reason, tc.why)
				}
			}
			for _, file := range []string{"r.html", "r.md"} {
				text, err := os.ReadFile(l.Path(file))
				if err != nil || !strings.Contains(string(text), "Pixel 5") || !strings.Contains(string(text), "Invalid") {
					t.Errorf("%s tells nothing of it: %v", file, err)
				}
			}
			if diff := cmp.Diff(wholeBut(tc.status, "wifi"), l.Kept(before)); diff != "" {
				t.Errorf("runs in the history (-want +got):\n%s", diff)
			}
			if got := l.Apkgate("run", "--accept", "--fail-on", "never"); got.Status != exit.StatusPass || !strings.Contains(got.Stderr, "2 of 3 runs accepted") {
				t.Errorf("where no verdict fails: exit status %d\n%s", got.Status, got.Stderr)
			}
		})
	}
}

// A test that fails is reported like a crash, on every phone.
func TestRunOfAFailingTest(t *testing.T) {
	l := clitest.NewLab(t, "demo-good", "")
	clitest.WriteFile(t, l.Path("demo-test.apk"), "apkgate-simulated-app/1\npackage com.example.demo.test\ntests com.example.demo\n"+
		"test com.example.demo.ReadMailTest#readsMail no-such-scenario\n")
	before := l.Export()
	got := l.Apkgate("run", "--json", l.Path("v.json"))
	if got.Status != exit.StatusInfrastructure {
		t.Errorf("exit status %d, want %d", got.Status, exit.StatusInfrastructure)
	}
	for _, r := range verdictOf(t, l.Path("v.json")).Runs {
		for _, want := range []string{"the test failed in repetition 1", "ReadMailTest#readsMail", "no scenario no-such-scenario"} {
			if r.Verdict != gate.Invalid || !strings.Contains(r.Reason, want) {
				t.Errorf("%s because %q, want %q", r.Verdict, r.Reason, want)
			}
		}
	}
	want := map[string]run.Status{"11 wifi": run.Failed, "14 wifi": run.Failed, "6.0.0 wifi": run.Failed}
	if diff := cmp.Diff(want, l.Kept(before)); diff != "" {
		t.Errorf("runs in the history (-want +got):\n%s", diff)
	}
	var ids []string
	for id := range l.Export() {
		if before[id] == "" {
			ids = append(ids, id)
		}
	}
	if got := l.Apkgate("baseline", "accept", ids[0]); got.Status != exit.StatusUsage || !strings.Contains(got.Stderr, "failed") {
		t.Errorf("accept a failed run: exit status %d, %s", got.Status, got.Stderr)
	}
}

// If a workload does not open the app there is nothing to judge, and the verdict says what may be
// wrong.
func TestRunOfAWorkloadThatDoesNotOpenTheApp(t *testing.T) {
	l := clitest.NewLab(t, "demo-good", "")
	l.ConfigurePhones("demo-good", clitest.Text("  - simulated: pixel-7-android-14\n"), "wifi")
	clitest.WriteFile(t, l.Path("idle.sh"), "sleep 2\n")
	l.Edit(`instrumentation: {test-package: com.example.demo.test, class: "com.example.demo.ReadMailTest#readsMail"}`, "shell: { script: idle.sh }")
	got := l.Apkgate("run", "--json", l.Path("v.json"))
	v := verdictOf(t, l.Path("v.json"))
	if got.Status != exit.StatusInfrastructure || v.Verdict != gate.Invalid {
		t.Fatalf("exit status %d, %s, want %d and invalid", got.Status, v.Verdict, exit.StatusInfrastructure)
	}
	for _, want := range []string{"no frames were seen in repetition 1", "see whether the workload opens the app at all"} {
		if !strings.Contains(v.Runs[0].Reason, want) {
			t.Errorf("%q says nothing of %q", v.Runs[0].Reason, want)
		}
	}
}

// An app whose window shows what Android does not count, as Flutter's, has everything else
// measured, on all versions of Android; it is no pass that could be mistaken for one on frames.
func TestRunOfASelfRenderingApp(t *testing.T) {
	for _, phone := range []string{"pixel-7-android-14", "pixel-5-android-11"} {
		l := clitest.NewLab(t, "demo-good", "")
		clitest.WriteFile(t, l.Path("demo-good.apk"), "apkgate-simulated-app/1\npackage com.example.demo\ntouch 0\nscenario read-mail 8s\n  start 0\n  900ms open-list 0\n")
		l.ConfigurePhones("demo-good", clitest.Text("  - simulated: "+phone+"\n"), "wifi")
		got := l.Apkgate("run", "--json", l.Path("v.json"))
		v := verdictOf(t, l.Path("v.json"))
		if got.Status == exit.StatusInfrastructure || v.Verdict == gate.Pass || !strings.Contains(got.Stderr, "counts no frames in it but the first") {
			t.Errorf("%s: exit status %d, %s\n%s", phone, got.Status, v.Verdict, got.Stderr)
		}
	}
}

// A refresh refuses what crashed, and its report says so.
func TestRefreshRefusesACrash(t *testing.T) {
	l := clitest.NewLab(t, "demo-good", "fault crash after scroll when sdk=11")
	got := l.Apkgate("baseline", "refresh", "--config", l.Path("apkgate.yml"))
	if said := strings.Join(strings.Fields(got.Stdout), " "); got.Status != exit.StatusInfrastructure || !strings.Contains(said, "the app crashed in repetition 1") || strings.Contains(got.Stdout, "--accept-regression") {
		t.Errorf("exit status %d, want %d and the crash reported, which nothing accepts:\n%s%s", got.Status, exit.StatusInfrastructure, got.Stdout, got.Stderr)
	}
	if got := l.Apkgate("baseline", "refresh", "--config", l.Path("apkgate.yml"), "--fail-on", "never"); got.Status != exit.StatusPass {
		t.Errorf("where no verdict fails: exit status %d", got.Status)
	}
}

// Collect has no verdict: its status reports incomplete runs, and check of its output says why.
func TestCollectOfACrash(t *testing.T) {
	l := clitest.NewLab(t, "demo-good", "fault crash after scroll when sdk=11")
	got := clitest.Run(t, nil, "collect", "--config", l.Path("apkgate.yml"), "-o", l.Path("runs.jsonl"))
	if got.Status != exit.StatusInfrastructure {
		t.Errorf("collect: exit status %d, want %d", got.Status, exit.StatusInfrastructure)
	}
	if message, _ := clitest.Complaint(t, got); !strings.Contains(message, clitest.FaultyPhone) || !strings.Contains(message, "the app crashed") {
		t.Errorf("%q says nothing of the crash", message)
	}
	got = l.Apkgate("check", "--run", l.Path("runs.jsonl"))
	if got.Status != exit.StatusInfrastructure || !strings.Contains(got.Stdout, "the app crashed in repetition 1") {
		t.Errorf("check: exit status %d, want %d and the crash told:\n%s%s", got.Status, exit.StatusInfrastructure, got.Stdout, got.Stderr)
	}
}
