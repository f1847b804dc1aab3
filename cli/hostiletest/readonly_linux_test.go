package hostiletesthostile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/internal/unprivileged"
)

// TestReadingNeedsNoRightToWrite: commands that only read a history work on one in a read-only
// cache, and write nothing there.
func TestReadingNeedsNoRightToWrite(t *testing.T) {
	dir, err := os.MkdirTemp("", "apkgate-readonly-") // the tests' own folders are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755); os.RemoveAll(dir) })
	runs := filepath.Join(dir, "runs.jsonl")
	var lines []string
	for _, id := range []string{"night-1", "night-2", "night-3"} {
		lines = append(lines, `{"format":"apkgate.run/1","id":"`+id+`","started":"2026-01-01T00:00:00Z","app":{"package":"org.example.mail"},`+
			`"scenario":"open","status":"complete","iterations":[{"metrics":{"frames.count":100,"frames.duration_ms":8}}]}`)
	}
	newRun := filepath.Join(dir, "new.json")
	for name, text := range map[string]string{runs: strings.Join(lines, "\n"), newRun: strings.ReplaceAll(lines[0], "night-1", "new")} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store := filepath.Join(dir, "history.db")
	if r := clitest.Run(t, nil, "baseline", "import", runs, "--store", store); r.Status != 0 {
		t.Fatal(r.Stderr)
	}
	for path, mode := range map[string]os.FileMode{store: 0o444, dir: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	before := foldersNames(t, dir)
	for _, line := range []string{
		"check --run " + newRun, "noise", "baseline list", "baseline show night-1", "baseline export", "baseline verify", "baseline prune --keep 1",
	} {
		if out, err := withoutPrivileges(append(strings.Fields(line), "--store", store)...); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		if after := foldersNames(t, dir); after != before {
			t.Errorf("%s leaves the folder with %s, want %s", line, after, before)
		}
	}
	out, err := withoutPrivileges("baseline", "reject", "night-1", "--store", store)
	if err == nil || !strings.Contains(out, "can't be written") {
		t.Errorf("reject on a history that can't be written: %v\n%s", err, out)
	}
}

// withoutPrivileges runs a command line as a user without root's privileges.
func withoutPrivileges(args ...string) (string, error) {
	return unprivileged.Output(clitest.CommandLine + "=" + strings.Join(args, "\n"))
}

func foldersNames(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}
