package explanation_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/explanation"
)

// regression is the answer of a command that found one.
var regression = layout.Verdict(layout.Input{Verdict: gate.Verdict{Format: gate.Format, Verdict: gate.Regression}})

// A session names the reports that are rewritten. In a folder of unknown origin these could be any
// files: they are left alone.
func TestFindIgnoresReportsOfAForeignSession(t *testing.T) {
	root := filepath.Join(t.TempDir(), "why")
	left, err := explanation.Leave(root, explanation.Session{Session: "night", Reports: map[string]string{"html": "/etc/passwd"}}, nil, nil, regression, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(left.RunsFile())
	for name, c := range map[string]struct {
		root, session string
		want          int
	}{
		"by its name":             {root, "night", 1},
		"by its folder":           {root, dir, 1},
		"by its folder elsewhere": {filepath.Join(t.TempDir(), "why"), dir, 0},
	} {
		s, err := explanation.Find(c.root, c.session)
		if err != nil || s.Session != "night" || len(s.Reports) != c.want {
			t.Errorf("%s: %d reports, want %d: %+v, %v", name, len(s.Reports), c.want, s, err)
		}
	}
}

// Builds are large: an incomplete session is removed.
func TestLeaveRemovesAFailedSession(t *testing.T) {
	root := t.TempDir()
	build := clitest.WriteFile(t, filepath.Join(t.TempDir(), "old.apk"), "a build")
	left, err := explanation.Leave(root, explanation.Session{Session: "night"}, []string{build}, nil, regression, []run.Run{{ID: "no record"}})
	if err == nil {
		t.Fatal("a run that is no record was left")
	}
	if _, err := os.Stat(filepath.Dir(left.RunsFile())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
}
