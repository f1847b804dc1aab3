package trendsite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/runstore"
)

// Only what somebody decided is shown: not the notes of commands that accept runs by themselves.
func TestDecisionOf(t *testing.T) {
	for note, want := range map[string]string{
		"": "", "imported": "", "run --accept": "", "baseline refresh": "", "demo": "",
		"baseline refresh, accepted by kim: larger previews": "accepted by kim: larger previews",
		"larger previews": "larger previews",
	} {
		if got := decisionOf(runstore.Mark{State: runstore.Accepted, Note: note}); got != (trend.Decision{Note: want}) {
			t.Errorf("%q: %+v, want %q", note, got, want)
		}
	}
	if !decisionOf(runstore.Mark{State: runstore.Rebaselined}).NewLevel {
		t.Error("a rebaselined run begins no level")
	}
}

// Of 502 reports the two oldest leave a line, so that no link to them is dead.
func TestOldReports(t *testing.T) {
	t.Parallel()
	folder, k := t.TempDir(), kept{}
	for i := range mostReports + 2 {
		k.Reports = append(k.Reports, keptPage{File: fmt.Sprintf("run-%03d.html", i)})
	}
	if err := k.trim(folder); err != nil {
		t.Fatal(err)
	}
	found, _ := filepath.Glob(filepath.Join(folder, runsFolder, "*"))
	if len(k.Reports) != 500 || len(found) != 2 || filepath.Base(found[0]) != "run-500.html" {
		t.Fatalf("%d reports are listed, and %v replaced", len(k.Reports), found)
	}
	if text, err := os.ReadFile(found[1]); err != nil || !strings.Contains(string(text), "keeps the newest 500") {
		t.Errorf("%v: %s", err, text)
	}
}
