package session_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// interrupted runs apkgate until it has reported a run, interrupts it, and returns its output. It
// may finish before that.
func interrupted(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	cmd, stderr := clitest.Start(t, args...)
	in := bufio.NewReader(stderr)
	for sent := false; ; {
		line, err := in.ReadString('\n')
		said += line
		if err == io.EOF {
			_ = cmd.Wait()
			return cmd.ProcessState.ExitCode(), said
		}
		if err != nil {
			t.Fatal(err)
		}
		if !sent && strings.HasPrefix(line, "run ") {
			sent = true
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
}

// after is what follows a text, to the end of its line.
func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// An interrupted command prints the exact command that resumes it, whose result equals that of an
// uninterrupted one.
func TestInterruptPrintsHowToResume(t *testing.T) {
	t.Parallel()
	l := labOf(t, 6)
	for name, args := range map[string][]string{
		"a collection": {"--parallel", "1"},
		"a share":      {"--shard", "1/1", "--parallel", "1"},
	} {
		command := append([]string{"collect", "--config", l.Path("apkgate.yml"), "--output", l.Path("out.session")}, args...)
		if status, said := apart(t, command...); status != exit.StatusPass {
			t.Fatalf("%s: exit status %d\n%s", name, status, said)
		}
		want := gathered(t, l, name)
		const tries = 50 // it may finish before the signal reaches it
		goesOn := ""
		for range tries {
			status, said := interrupted(t, command...)
			if goesOn = after(said, "complete; to resume: "); goesOn != "" {
				if status != exit.StatusInfrastructure || !strings.Contains(said, "error: interrupted") && !strings.Contains(said, "context canceled") {
					t.Errorf("%s: exit status %d\n%s", name, status, said)
				}
				break
			}
		}
		words := strings.Fields(goesOn)
		if len(words) < 2 || words[0] != "apkgate" || words[len(words)-1] != "--resume" {
			t.Fatalf("%s: it says to go on with %q", name, goesOn)
		}
		status, said := apart(t, words[1:]...)
		if status != exit.StatusPass || !strings.Contains(said, "resuming the session of ") {
			t.Errorf("%s: exit status %d\n%s", name, status, said)
		}
		if d := cmp.Diff(want, gathered(t, l, name)); d != "" {
			t.Errorf("%s (-undisturbed +resumed):\n%s", name, d)
		}
	}
}

// gathered are the runs that a command has left, in a part or not.
func gathered(t *testing.T, l clitest.Lab, name string) any {
	t.Helper()
	if name != "a share" {
		return measuredRuns(t, fileOf(t, l.Path("out.session")))
	}
	if got := merge(t, l, l.Path("out.session")); got.Status != exit.StatusPass {
		t.Fatalf("merge: %+v", got)
	}
	return measuredRuns(t, fileOf(t, l.Path("merged.jsonl")))
}

// unfinished leaves a session of the lab in which some runs are missing, and returns its file.
func unfinished(t *testing.T, l clitest.Lab) string {
	t.Helper()
	const tries = 50
	for range tries {
		interrupted(t, "run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db"), "--parallel", "1")
		if left, _ := filepath.Glob(l.Path(".apkgate/sessions/*.session")); len(left) == 1 {
			return left[0]
		}
	}
	t.Fatal("no interrupt came in time")
	return ""
}

// A session is resumed only for the same measurement.
func TestResume(t *testing.T) {
	t.Parallel()
	l := labOf(t, 4)
	path := unfinished(t, l)
	was, text := fileOf(t, l.Path("apkgate.yml")), fileOf(t, path)
	app := fileOf(t, l.Path("demo-good.apk"))
	run := func(more ...string) []string {
		return append([]string{"run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db")}, more...)
	}
	const none = "no unfinished session of this plan and build is here"
	for name, c := range map[string]struct {
		change func()
		args   []string
		want   string
	}{
		"as it was":           {nil, run("--resume"), "resuming the session of "},
		"with another gate":   {func() { clitest.WriteFile(t, l.Path("apkgate.yml"), was+"gate: {min-change: 8%}\n") }, run("--resume"), "resuming the session"},
		"without asking":      {nil, run(), "an unfinished session of this plan and build has "},
		"another plan":        {func() { l.Edit("repetitions: 2", "repetitions: 1") }, run("--resume"), none},
		"another build":       {func() { clitest.WriteFile(t, l.Path("demo-good.apk"), app+"# new\n") }, run("--resume"), none},
		"another commit":      {nil, run("--resume", "--commit", "c0ffee"), none},
		"another session":     {nil, run("--resume", "--session", "mine"), none},
		"another command":     {nil, []string{"collect", "--config", l.Path("apkgate.yml"), "--resume"}, none},
		"one that is damaged": {func() { clitest.WriteFile(t, path, strings.Replace(text, "\n", "\ngarbage\n", 1)) }, run("--resume"), "warning: no session is resumed: go on with"},
		"one that is torn":    {func() { clitest.WriteFile(t, path, text+`{"unit":"re`) }, run("--resume"), "the session's last line is torn: its run is made again"},
	} {
		if c.change != nil {
			c.change()
		}
		got := clitest.Run(t, nil, c.args...)
		if got.Status != exit.StatusPass || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%s: exit status %d, want %q said\n%s", name, got.Status, c.want, got.Stderr)
		}
		if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, path, text)
		clitest.WriteFile(t, l.Path("apkgate.yml"), was)
		clitest.WriteFile(t, l.Path("demo-good.apk"), app)
	}
}

// A complete new measurement leaves nothing to resume: an older session is not mixed into a later
// measurement. A session of another name stays.
func TestEndRemovesOlderSessions(t *testing.T) {
	t.Parallel()
	l := labOf(t, 4)
	path := unfinished(t, l)
	text := fileOf(t, path)
	run := func(more ...string) clitest.Result {
		return clitest.Run(t, nil, append([]string{"run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db")}, more...)...)
	}
	if got := run("--session", "mine"); got.Status != exit.StatusPass || fileOf(t, path) != text {
		t.Fatalf("the session of another name is another now\n%+v", got)
	}
	if got := run(); got.Status != exit.StatusPass || !strings.Contains(got.Stderr, "--resume continues it") {
		t.Fatalf("%+v", got)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.session")); err != nil || len(left) != 0 {
		t.Errorf("%q are left, %v", left, err)
	}
	if got := run("--resume"); got.Status != exit.StatusPass || !strings.Contains(got.Stderr, "no unfinished session of this plan and build is here") {
		t.Errorf("%+v", got)
	}
}

// Abandoned sessions don't accumulate.
func TestPruneOfSessions(t *testing.T) {
	t.Parallel()
	l := labOf(t, 4)
	path := unfinished(t, l)
	text := fileOf(t, path)
	for _, name := range strings.Fields("a b c d e f g h") {
		clitest.WriteFile(t, filepath.Join(filepath.Dir(path), name+".session"), text)
	}
	clitest.WriteFile(t, filepath.Join(filepath.Dir(path), "empty.session"), "")
	other := clitest.WriteFile(t, filepath.Join(filepath.Dir(path), "notes.txt"), "mine")
	if got := clitest.Run(t, nil, "run", "--config", l.Path("apkgate.yml"), "--store", l.Path("history.db"), "--session", "mine"); got.Status != exit.StatusPass {
		t.Fatalf("%+v", got)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.session"))
	if err != nil || len(left) != 4 {
		t.Errorf("%d sessions are left beside the one that is through, %v; want 4", len(left), err)
	}
	if fileOf(t, other) != "mine" {
		t.Error("a file that is none of ours is gone")
	}
}

// If nothing can be written next to the configuration, measuring continues without.
func TestBeginInAReadOnlyFolder(t *testing.T) {
	t.Parallel()
	l := labOf(t, 1)
	clitest.WriteFile(t, l.Path(".apkgate"), "a file where the folder would be")
	got := clitest.Run(t, nil, "collect", "--config", l.Path("apkgate.yml"), "--output", l.Path("out.jsonl"))
	if got.Status != exit.StatusPass || !strings.Contains(got.Stderr, "warning: an interrupted measurement could not be resumed") {
		t.Errorf("%+v", got)
	}
	if n := len(measuredRuns(t, fileOf(t, l.Path("out.jsonl")))); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
}
