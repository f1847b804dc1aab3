package gitbranch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/apkgate/apkgate/runstore"
)

// Defaults of an address.
const (
	DefaultRemote = "origin"
	DefaultBranch = "apkgate-history"
)

// Scheme begins the address of a history on a branch.
const Scheme = "branch:"

// Kind is the kind of stores on git branches.
var Kind = runstore.Kind{
	Schemes: []string{Scheme}, Form: Scheme + "REMOTE#BRANCH",
	Open: func(ctx context.Context, address string, o runstore.Opening) (runstore.Store, error) {
		where, err := ParseAddress(address)
		if err != nil {
			return nil, &runstore.Error{Err: &runstore.AddressError{Err: err}, Advice: Scheme + DefaultRemote + "#" + DefaultBranch}
		}
		return Open(ctx, where, Options{Dir: o.Copies, WorkDir: o.WorkDir, ReadOnly: o.ReadOnly, Now: o.Now, Waiting: o.Waiting})
	},
	Shown: func(address string) string {
		where, err := ParseAddress(address)
		if err != nil {
			return address
		}
		return where.String()
	},
}

// Address names a branch of a remote.
type Address struct {
	Remote string // a remote of the user's repository, or an argument of git clone
	Branch string
}

// ParseAddress parses branch:REMOTE#BRANCH. Either may be left out: the remote is then origin, and
// the branch apkgate-history.
func ParseAddress(s string) (Address, error) {
	rest, ok := strings.CutPrefix(s, Scheme)
	if !ok {
		return Address{}, fmt.Errorf("the history's address begins %.20q, want %q", s, Scheme+"REMOTE#BRANCH")
	}
	a := Address{Remote: rest}
	if i := strings.LastIndexByte(rest, '#'); i >= 0 {
		a.Remote, a.Branch = rest[:i], strings.TrimPrefix(rest[i+1:], "refs/heads/") // it may be a full reference
		if a.Branch == "" {
			return Address{}, errors.New("the history's address ends in #, want the name of a branch after it, or no #")
		}
	}
	if a.Remote == "" {
		a.Remote = DefaultRemote
	}
	if a.Branch == "" {
		a.Branch = DefaultBranch
	}
	return a, a.check()
}

// maxName limits the names of remotes and branches.
const maxName = 1000

var (
	branchName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$`)
	forbidden  = regexp.MustCompile(`\.\.|\.$|\./|\.lock$|\.lock/`) // git-check-ref-format(1)
)

func (a Address) check() error {
	switch {
	case len(a.Remote) > maxName || strings.HasPrefix(a.Remote, "-") || strings.ContainsFunc(a.Remote, unicode.IsControl):
		return fmt.Errorf("the history's remote is %.60q, want a remote's name, URL or folder", a.Remote)
	case strings.HasPrefix(a.Branch, "refs/"):
		return fmt.Errorf("the history's branch is %.60q, want the name of a branch", a.Branch)
	case len(a.Branch) > 200 || !branchName.MatchString(a.Branch) || forbidden.MatchString(a.Branch):
		return fmt.Errorf("the history's branch is %.60q, want letters, digits and _ . + - with single / between, as git allows", a.Branch)
	}
	return nil
}

// String returns the address without a password.
func (a Address) String() string { return Scheme + shown(a.Remote) + "#" + a.Branch }

// found is a remote with what git needs to reach it.
type found struct {
	url    string
	access []setting
}

// access matches the settings of a user's repository for reaching remotes: a CI job's checkout
// keeps its token there.
var access = regexp.MustCompile(`^(http|credential|core\.sshcommand|ssh|url)(\.|$)`)

// findRemote looks up the remote in the repository around workDir. If it is not there, it is a URL
// or a folder.
func findRemote(ctx context.Context, env []string, workDir, remote string) (found, error) {
	url, err := userGit(ctx, env, workDir, "remote", "get-url", "--end-of-options", remote)
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return found{}, noGit(err)
		}
		if !strings.ContainsAny(remote, `/\:`) {
			return found{}, &runstore.Error{
				Err:    &runstore.AddressError{Err: fmt.Errorf("find the git remote %q: the repository here has none of that name", remote)},
				Advice: "git remote -v lists them. A URL or a folder works too: branch:https://example.org/team/app.git",
			}
		}
		url = remote
	}
	if isPath(url) {
		if url, err = filepath.Abs(filepath.Join(workDir, url)); err != nil {
			return found{}, err
		}
	}
	return found{url: url, access: localAccess(ctx, env, workDir)}, nil
}

// isPath reports whether the address is a relative path: neither a scheme nor host:path
// (git-clone(1), "Git URLs").
func isPath(address string) bool {
	if filepath.IsAbs(address) {
		return false
	}
	colon, slash := strings.IndexByte(address, ':'), strings.IndexAny(address, `/\`)
	return colon < 0 || slash >= 0 && slash < colon
}

// localAccess reads how the user's repository reaches its remotes. Git itself reads the user's
// global settings.
func localAccess(ctx context.Context, env []string, workDir string) []setting {
	out, err := userGit(ctx, env, workDir, "config", "--local", "--includes", "--null", "--list")
	if err != nil {
		return nil // no repository here
	}
	var settings []setting
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if ok && access.MatchString(key) {
			settings = append(settings, setting{key, value})
		}
	}
	return settings
}

// userGit queries git about the user's repository, without changing it.
func userGit(ctx context.Context, env []string, workDir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = workDir
	cmd.Env = append(env[:len(env):len(env)], "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.Output()
	return string(bytes.TrimRight(out, "\r\n")), err
}

// copyName returns the name of the folder with the local copy of a branch.
func copyName(url, branch string) string {
	sum := sha256.Sum256([]byte(url + "\x00" + branch))
	return hex.EncodeToString(sum[:12])
}
