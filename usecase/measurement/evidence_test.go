package measurement

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/runevidence"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// A report folder has a size limit for the files kept with all runs together; omitted files are
// reported, and smaller ones are still copied.
func TestToReportLimit(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report")
	var stderr strings.Builder
	k, err := Evidence{Report: report}.keeper(terminal.Console{Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	k.room = 10
	for i, text := range []string{"eight by", "too large", "ab"} {
		digest, size, err := k.Keep(t.Context(), strings.NewReader(text), 100)
		if err != nil {
			t.Fatal(err)
		}
		k.finished(t.Context(), run.Run{
			ID: text, App: run.App{Package: "com.example.mail"}, Scenario: "open", Status: run.Complete,
			Started: time.Date(2026, 11, 1+i, 0, 0, 0, 0, time.UTC), Iterations: []run.Iteration{{}},
			Evidence: []run.Evidence{{Digest: digest, Kind: run.PerfettoTrace, Name: "open.pftrace", Bytes: size}},
		})
	}
	if files, err := os.ReadDir(runevidence.InReport(report)); err != nil || len(files) != 2 {
		t.Errorf("%d files are in the report folder, %v; want the two that there is room for", len(files), err)
	}
	if want := "run too large: 1 file is not copied to the report folder, which is full"; strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), want) {
		t.Errorf("it says %q, want %q", stderr.String(), want)
	}
}
