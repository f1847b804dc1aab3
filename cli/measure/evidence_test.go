package measure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
)

// keepingLab is a folder with the demo app and a phone whose traces are all kept.
func keepingLab(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{"demo-good", "demo-test"} {
		text, err := simapp.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, name+".apk", string(text))
	}
	clitest.WriteFile(t, "apkgate.yml", `app: {package: com.example.demo, apk: demo-good.apk, test-apk: demo-test.apk}
scenarios:
  - name: read-mail
    workload:
      instrumentation: {test-package: com.example.demo.test, class: "com.example.demo.ReadMailTest#readsMail"}
    repetitions: 1
    timeout: 30s
evidence: {keep: all}
devices: [{simulated: pixel-7-android-14}]
`)
}

// The trace is next to the history, the report says where, and it stays as long as a run has it.
func TestRunKeepsTracesNextToTheHistory(t *testing.T) {
	keepingLab(t)
	for n := range 2 {
		got := clitest.RunAtNight(t, n, "run", "--accept", "--store", "h.db", "--verbose")
		if got.Status != exit.StatusPass {
			t.Fatalf("exit status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
		}
		plain := strings.Join(strings.Fields(got.Stdout), " ")
		for _, want := range []string{"Kept with the runs", "Perfetto trace", "h.db.evidence", "apkgate baseline evidence", "--open"} {
			if !strings.Contains(plain, want) {
				t.Errorf("night %d: %q is not in\n%s", n, want, got.Stdout)
			}
		}
	}
	// The simulated phone does the same every night, so that both runs have one file.
	if n := len(tracesIn(t, "h.db.evidence")); n != 1 {
		t.Fatalf("%d traces, want one", n)
	}
	got := clitest.Run(t, nil, "baseline", "prune", "--store", "h.db", "--keep", "1", "--yes")
	if n := len(tracesIn(t, "h.db.evidence")); n != 1 || !strings.Contains(got.Stdout, "1 run removed") {
		t.Errorf("%d traces are left, want the one that the other run has\n%s", n, got.Stdout)
	}
}

// The report on a refresh says where its traces are, too.
func TestRefreshKeepsTraces(t *testing.T) {
	keepingLab(t)
	got := clitest.Run(t, nil, "baseline", "refresh", "--store", "h.db", "--html", "report.html")
	if got.Status != exit.StatusPass || !strings.Contains(got.Stdout, "Kept with the runs") || len(tracesIn(t, "h.db.evidence")) != 1 {
		t.Errorf("exit status %d, traces %q\n%s%s", got.Status, tracesIn(t, "h.db.evidence"), got.Stdout, got.Stderr)
	}
	if page, err := os.ReadFile("report.html"); err != nil || !strings.Contains(string(page), `<a href="h.db.evidence/files/`) {
		t.Errorf("the page does not link the trace (%v)", err)
	}
}

func tracesIn(t *testing.T, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "files", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Measured in one place, compared in another: the trace is copied with the runs.
func TestCollectKeepsTracesNextToItsFile(t *testing.T) {
	keepingLab(t)
	if got := clitest.Run(t, nil, "collect", "-o", "runs.jsonl"); got.Status != exit.StatusPass || len(tracesIn(t, "runs.jsonl.evidence")) != 1 {
		t.Fatalf("collect: %+v; traces %q", got, tracesIn(t, "runs.jsonl.evidence"))
	}
	if got := clitest.Run(t, nil, "baseline", "import", "--store", "h.db", "runs.jsonl"); got.Status != exit.StatusPass || len(tracesIn(t, "h.db.evidence")) != 1 {
		t.Errorf("import: %+v; traces %q", got, tracesIn(t, "h.db.evidence"))
	}
	got := clitest.Run(t, nil, "check", "--history", "runs.jsonl", "--run", "runs.jsonl", "--html", "out/report.html", "--verbose")
	if page, err := os.ReadFile("out/report.html"); err != nil || !strings.Contains(string(page), `<a href="../runs.jsonl.evidence/files/`) {
		t.Errorf("the page does not link the trace (%v)", err)
	}
	if !strings.Contains(got.Stdout, "runs.jsonl.evidence") {
		t.Errorf("check does not say where the trace is:\n%s%s", got.Stdout, got.Stderr)
	}
	got = clitest.Run(t, nil, "collect")
	if !strings.Contains(got.Stderr, "evidence is not kept") {
		t.Errorf("collect without a file says nothing of what it does not keep:\n%s", got.Stderr)
	}
	if names, err := os.ReadDir("."); err != nil || len(names) != 9 { // with .apkgate
		t.Errorf("the folder has %v, %v", names, err)
	}
}

// What frames wait for is compared for two builds too, though no file of either is kept.
func TestCompareReadsEvidenceWithoutKeepingIt(t *testing.T) {
	keepingLab(t)
	got := clitest.Run(t, nil, "compare", "--base", "demo-good.apk", "--head", "demo-good.apk", "--rounds", "2", "--keep", "both")
	if got.Status != exit.StatusPass || !strings.Contains(got.Stderr, "evidence is not kept, but read") {
		t.Fatalf("exit status %d\n%s%s", got.Status, got.Stdout, got.Stderr)
	}
	for _, name := range []string{"both/base.jsonl", "both/head.jsonl"} {
		text := clitest.ReadFile(t, name)
		if !strings.Contains(text, `"frames":{"source":"frametimeline"`) || strings.Contains(text, `"evidence"`) {
			t.Errorf("%s tells nothing of frames, or names files that are nowhere:\n%.2000s", name, text)
		}
	}
	if found, err := filepath.Glob("*evidence*"); err != nil || len(found) != 0 {
		t.Errorf("%q are left, %v", found, err)
	}
}
