package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// repository has that many commits on main, an hour apart and the newest now, and one on a branch
// beside the newest. It returns those of main, the newest first, and the other one.
func repository(t *testing.T, n int) (dir string, commits []string, beside string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	dir = t.TempDir()
	command(t, dir, "init", "-q", "-b", "main")
	for i := range n {
		commits = append(commits, commit(t, dir, i))
	}
	slices.Reverse(commits)
	command(t, dir, "checkout", "-q", "-b", "feature", commits[min(1, n-1)])
	beside = commit(t, dir, n)
	command(t, dir, "checkout", "-q", "main")
	return dir, commits, beside
}

func commit(t *testing.T, dir string, i int) string {
	t.Setenv("GIT_COMMITTER_DATE", fmt.Sprint(first.Add(time.Duration(i)*time.Hour).Unix(), " +0000"))
	command(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", fmt.Sprint("commit ", i))
	return command(t, dir, "rev-parse", "HEAD")
}

var first = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestStandsOn(t *testing.T) {
	dir, commits, beside := repository(t, 4)
	within := filepath.Join(dir, "app", "src")
	if err := os.MkdirAll(within, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir, commit string
		want        []string
	}{
		"what is checked out":         {dir, "", commits},
		"a folder of it":              {within, "", commits},
		"a commit before":             {dir, commits[2], commits[2:]},
		"cut short":                   {dir, commits[2][:9], commits[2:]},
		"a branch":                    {dir, "feature", append([]string{beside}, commits[1:]...)},
		"a commit that is not there":  {dir, strings.Repeat("a", 40), nil},
		"no commit":                   {dir, "--all", nil},
		"a folder without repository": {t.TempDir(), "", nil},
		"no folder":                   {filepath.Join(dir, "nowhere"), "", nil},
	} {
		got := StandsOn(t.Context(), c.dir, c.commit)
		if !slices.Equal(got.Commits, c.want) || got.Whole != (c.want != nil) || got.Shallow {
			t.Errorf("%s: %+v, want all of %v", name, got, c.want)
		}
		if c.want != nil && !got.Since.Equal(first) {
			t.Errorf("%s: since %s, want %s", name, got.Since, first)
		}
	}
}

func TestStandsOnInAShallowClone(t *testing.T) {
	dir, commits, _ := repository(t, 3)
	clone := filepath.Join(t.TempDir(), "clone")
	command(t, dir, "clone", "-q", "--depth", "1", "file://"+dir, clone)
	if got := StandsOn(t.Context(), clone, ""); !slices.Equal(got.Commits, commits[:1]) || !got.Shallow {
		t.Errorf("%+v, want %v alone, and shallow", got, commits[0])
	}
}

// If there are more commits than a history can be queried for, that is known.
func TestStandsOnLimit(t *testing.T) {
	dir, _, _ := repository(t, 1)
	var stream strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&stream, "commit refs/heads/long\ncommitter a <a@example.com> %d +0000\ndata 1\nx\n", first.Add(time.Duration(i)*time.Minute).Unix())
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stream.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := StandsOn(t.Context(), dir, "long")
	if len(got.Commits) != 1000 || got.Whole || !got.Since.Equal(first.Add(200*time.Minute)) {
		t.Errorf("%d commits since %s, all of them: %t", len(got.Commits), got.Since, got.Whole)
	}
}

func TestCommittedAt(t *testing.T) {
	dir, commits, _ := repository(t, 3)
	if got, want := CommittedAt(t.Context(), dir, commits[0]), first.Add(2*time.Hour); !got.Equal(want) {
		t.Errorf("the newest commit was made at %s, want %s", got.UTC(), want)
	}
	for _, unknown := range []string{"", "--all", strings.Repeat("0", 40)} {
		if got := CommittedAt(t.Context(), dir, unknown); !got.IsZero() {
			t.Errorf("%q was made at %s, want no time", unknown, got)
		}
	}
}
