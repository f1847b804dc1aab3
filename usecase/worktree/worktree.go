// Package worktree reads the repository that a command works in: a commit and its ancestors.
//
// It only reads, by running git. Without git or a repository it returns nothing, which is no error.
package worktree

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/judging"
)

// patience is how long git may take, which in the largest repositories is a second.
const patience = 20 * time.Second

// StandsOn returns a commit ("" for the one that is checked out) and its ancestors, as the
// repository in the folder has them ("" for this process's).
func StandsOn(ctx context.Context, dir, commit string) judging.Lineage {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if commit == "" {
		commit = "HEAD"
	}
	shallow, err := git(ctx, dir, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return judging.Lineage{}
	}
	const most = runstore.MaxCommits
	out, err := git(ctx, dir, "rev-list", "--timestamp", "--max-count="+strconv.Itoa(most+1), "--end-of-options", commit+"^{commit}", "--")
	if err != nil {
		return judging.Lineage{} // such as a commit of another repository
	}
	l := judging.Lineage{Whole: true, Shallow: strings.TrimSpace(string(shallow)) == "true"}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		at, id, found := strings.Cut(lines.Text(), " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if !found || err != nil {
			return judging.Lineage{}
		}
		if len(l.Commits) == most {
			l.Whole = false
			break
		}
		l.Commits, l.Since = append(l.Commits, id), time.Unix(seconds, 0)
	}
	return l
}

// CommittedAt returns when a commit was made, zero where the repository in the folder does not have
// it.
func CommittedAt(ctx context.Context, dir, commit string) time.Time {
	if commit == "" {
		return time.Time{}
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	out, err := git(ctx, dir, "rev-list", "--timestamp", "--max-count=1", "--end-of-options", commit+"^{commit}", "--")
	at, _, _ := strings.Cut(string(out), " ")
	seconds, wrong := strconv.ParseInt(at, 10, 64)
	if err != nil || wrong != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// git runs git without a terminal, a pager or a lock, on the folder's repository alone.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C"})
	return cmd.Output()
}
