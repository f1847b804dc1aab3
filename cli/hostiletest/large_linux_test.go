package hostiletesthostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// The full size: 500 phones with 50 events each against ten accepted runs of each, with all
// reports.
func TestCheckOf500PhonesFitsInAGigabyte(t *testing.T) {
	phones := 60
	if os.Getenv("APKGATE_FULL") != "" {
		phones = 500
	} else if testing.Short() {
		t.Skip("seconds of work; APKGATE_FULL=1 makes it 500 phones")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	clitest.WriteFile(t, path("history.jsonl"), clitest.RecordsOf(t, clitest.PhoneRuns(10*phones, phones, 50)))
	checked := clitest.PhoneRuns(11*phones, phones, 50)[10*phones:]
	for i := range checked {
		if i%10 == 3 { // every tenth is slow
			for _, it := range checked[i].Iterations {
				it.Metrics["frames.duration_ms"] *= 20 // beyond doubt among thousands of comparisons; shared with the events
			}
		}
	}
	clitest.WriteFile(t, path("runs.jsonl"), clitest.RecordsOf(t, checked))
	started := time.Now()
	cmd, _ := clitest.Start(t, "check", "--history", path("history.jsonl"), "--run", path("runs.jsonl"),
		"--json", path("verdict.json"), "--html", path("verdict.html"), "--markdown", path("verdict.md"))
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != exit.StatusRegression {
		t.Fatalf("status %d, want %d", status, exit.StatusRegression)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // of kB
	size := fileSize(t, path("verdict.json")) >> 20
	t.Logf("%d phones: %.0f s, peak %d MB, verdict of %d MB", phones, time.Since(started).Seconds(), peak, size)
	if peak > 1024 {
		t.Errorf("%d MB, want at most 1 GB", peak)
	}
	if size > 50 {
		t.Errorf("a verdict of %d MB, want at most 50", size)
	}
	if got := clitest.Run(t, nil, "report", path("verdict.json")); got.Status != exit.StatusPass {
		t.Errorf("report does not read it: %s", got.Stderr)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(fmt.Errorf("look at %s: %w", path, err))
	}
	return info.Size()
}
