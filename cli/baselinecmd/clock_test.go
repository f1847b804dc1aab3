package baselinecmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// TestDecisionsCountWhateverTheClock: several computers decide on a run, each with a clock behind
// the previous one's.
func TestDecisionsCountWhateverTheClock(t *testing.T) {
	dir := t.TempDir()
	file, store := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "history.db")
	line := `{"format":"apkgate.run/1","id":"night-1","started":"2026-01-01T00:00:00Z","app":{"package":"org.example.mail"},` +
		`"scenario":"open","status":"complete","iterations":[{"metrics":{"frames.count":100}}]}` + "\n"
	if err := os.WriteFile(file, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(args ...string) string {
		t.Helper()
		clock = clock.Add(-10 * time.Minute)
		var stdout, stderr bytes.Buffer
		c := terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
			Now: func() time.Time { return clock },
		}
		if status := cli.Main(c, append(args, "--store", store)); status != 0 {
			t.Fatalf("%v ends with %d: %s", args, status, stderr.String())
		}
		return stdout.String()
	}
	for _, decision := range []struct{ command, state string }{
		{"baseline import " + file, "accepted"},
		{"baseline reject night-1", "rejected"},
		{"baseline accept night-1", "accepted"},
		{"baseline rebaseline night-1", "rebaselined"},
		{"baseline reject night-1", "rejected"},
		{"baseline refresh --run " + file, "accepted"},
	} {
		at(strings.Fields(decision.command)...)
		if listed := at("baseline", "list"); !strings.Contains(listed, decision.state) {
			t.Errorf("after %q the run is not %s:\n%s", decision.command, decision.state, listed)
		}
	}
}
