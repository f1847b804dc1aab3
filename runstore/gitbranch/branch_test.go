package gitbranch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// TestMain keeps git from reading the user's configuration, and from syncing to disk, which only
// matters where the computer loses power. Where the tests run in a repository's hook, git must not
// use that repository.
func TestMain(m *testing.M) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsync", "GIT_CONFIG_VALUE_0": "none",
	} {
		os.Setenv(name, value)
	}
	storetest.Serve(func(ctx context.Context, remote, dir string, now func() time.Time) (runstore.Store, error) {
		return gitbranch.Open(ctx, gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: dir, Now: now})
	})
	os.Exit(m.Run())
}

// git runs git in the folder and returns its output.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRemote returns an empty bare repository.
func newRemote(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := filepath.Join(t.TempDir(), "remote.git")
	git(t, t.TempDir(), "init", "--quiet", "--bare", dir)
	return dir
}

// open opens the history on the remote through a local copy of its own.
func open(t testing.TB, remote string) *gitbranch.Store {
	t.Helper()
	return openIn(t, t.TempDir(), remote)
}

func openIn(t testing.TB, dir, remote string) *gitbranch.Store {
	t.Helper()
	s, err := gitbranch.Open(context.Background(), gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSuite(t *testing.T) {
	storetest.Suite(t, func(t *testing.T) runstore.Store { return open(t, newRemote(t)) })
}

// newRun returns a complete run of one iteration.
func newRun(id string, frames float64) run.Run {
	return run.Run{
		Format: run.Format, ID: id, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), App: run.App{Package: "org.example.mail"},
		Scenario: "open", Context: map[string]string{"sdk": "4.1"}, Status: run.Complete,
		Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": frames}}},
	}
}

func ids(t testing.TB, s runstore.Store) []string {
	t.Helper()
	var out []string
	for e, err := range runstore.SoundOf(s).List(context.Background(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(e.Run.ID, " ", e.Mark.State))
	}
	return out
}

// TestClocks gives each computer a copy of its own.
func TestClocks(t *testing.T) {
	storetest.Clocks(t, func(t *testing.T) storetest.Opener {
		address := gitbranch.Address{Remote: newRemote(t), Branch: "history"}
		return func(now func() time.Time) runstore.Store {
			s, err := gitbranch.Open(t.Context(), address, gitbranch.Options{Dir: t.TempDir(), Now: now})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
