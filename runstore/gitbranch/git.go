package gitbranch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/runstore"
)

// repository is a private bare repository that holds one commit of the branch:
// a cache that can be thrown away. The user's work tree, index and references
// are never touched.
type repository struct {
	dir    string
	url    string
	branch string
	env    []string
	guard  *os.File // inherited by each git, see takeGuard; nil where there is none

	silence time.Duration                // how long the remote may be silent
	waiting func(what string, why error) // is called for a silent remote; nil: never
}

// Names inside the private repository.
const (
	remoteName = "history"
	tipRef     = "refs/apkgate/tip" // the last fetched commit
	newRef     = "refs/apkgate/new" // the commit to push
)

// maxStderr is how many bytes of git's messages are kept for an error.
const maxStderr = 4 << 10

// redirecting are variables that would make git work on another repository.
var redirecting = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_QUARANTINE_PATH",
	"GIT_REPLACE_REF_BASE", "GIT_CEILING_DIRECTORIES", "GIT_DEFAULT_HASH", "GIT_IMPLICIT_WORK_TREE",
}

// without returns the environment without the named variables.
func without(env []string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(names, strings.ToUpper(name))
	})
}

// setting is one key of git's configuration.
type setting struct{ key, value string }

// withSettings adds the settings to the environment's own (git-config(1), GIT_CONFIG_COUNT): they
// appear on no command line and in no file.
func withSettings(env []string, settings []setting) []string {
	count := 0
	for _, v := range env {
		if n, ok := strings.CutPrefix(v, "GIT_CONFIG_COUNT="); ok {
			count, _ = strconv.Atoi(n)
		}
	}
	out := without(env, []string{"GIT_CONFIG_COUNT"})
	for i, s := range settings {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count+i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count+i, s.value))
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", count+len(settings)))
}

// gitEnv returns the environment for git in the private repository.
func gitEnv(env []string, dir, address string, access []setting) []string {
	env = without(env, redirecting)
	if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "GIT_ALLOW_PROTOCOL=") }) {
		env = append(env, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	}
	env = append(env, "GIT_DIR="+dir, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	return withSettings(env, append(slices.Clone(access), []setting{
		{"remote." + remoteName + ".url", address},
		{"core.hooksPath", os.DevNull},
		{"gc.autoDetach", "false"},
		{"maintenance.autoDetach", "false"},
		{"push.gpgSign", "false"},
		{"push.followTags", "false"},
		{"fetch.writeCommitGraph", "false"},
		{"advice.pushUpdateRejected", "false"},
	}...))
}

// gitError is the error of a git command.
type gitError struct {
	verb   string
	status int // of the process; -1 if it was killed
	stderr string
	err    error
}

func (e *gitError) Error() string {
	if errors.Is(e.err, errSilent) {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	if e.stderr == "" {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.verb, e.stderr)
}

func (e *gitError) Unwrap() error { return e.err }

// tail keeps the last bytes that are written to it.
type tail struct {
	data  []byte
	heard func()
}

func (t *tail) Write(p []byte) (int, error) {
	t.heard()
	t.data = append(t.data, p...)
	if len(t.data) > maxStderr {
		t.data = slices.Clone(t.data[len(t.data)-maxStderr:])
	}
	return len(p), nil
}

// run runs git with the arguments, the first of which is its verb. Standard input is in (nil:
// nothing), and each reads standard output; if it returns an error, git is stopped.
func (r *repository) run(ctx context.Context, in io.Reader, each func(io.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = r.env
	cmd.Stdin = in
	if r.guard != nil {
		cmd.ExtraFiles = []*os.File{r.guard}
	}
	watched := r.watch(args[0], cancel)
	defer watched.stop()
	stderr := tail{heard: func() { watched.heard(r.silence) }}
	cmd.Stderr = &stderr
	// A git that is terminated removes its lock files.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return noGit(err)
	}
	readErr := each(out)
	if readErr != nil {
		cancel(nil)
	} else {
		_, readErr = io.Copy(io.Discard, out)
	}
	err = cmd.Wait()
	early := errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) // then git's message contains the reason
	switch {
	case readErr == nil && err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errSilent):
	case readErr != nil && !(early && len(stderr.data) > 0):
		return fmt.Errorf("git %s: %w", args[0], readErr)
	}
	return &gitError{verb: args[0], status: cmd.ProcessState.ExitCode(), stderr: r.redact(string(stderr.data)), err: r.ended(ctx, readErr, err)}
}

// ended returns the reason why git failed.
func (r *repository) ended(ctx context.Context, errs ...error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// output returns git's output without surrounding space; at most limit bytes.
func (r *repository) output(ctx context.Context, limit int64, in io.Reader, args ...string) (string, error) {
	var out []byte
	err := r.run(ctx, in, func(stdout io.Reader) (err error) {
		out, err = io.ReadAll(io.LimitReader(stdout, limit+1))
		if err == nil && int64(len(out)) > limit {
			err = fmt.Errorf("it prints more than %d bytes", limit)
		}
		return err
	}, args...)
	return strings.TrimSpace(string(out)), err
}

func noGit(err error) error {
	if !errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("start git: %w", err)
	}
	return &runstore.Error{
		Err:    fmt.Errorf("start git: %w", err),
		Advice: "A history on a branch needs the git command, version 2.31 or later. Install it, or keep the history in a file.",
	}
}

// redact makes git's messages safe to show: one line, no control characters, and no part of the
// password that an address may contain.
func (r *repository) redact(text string) string {
	for _, secret := range secrets(r.url) {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	var lines []string
	for line := range strings.Lines(text) {
		line = line[strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r')+1:] // progress overwrites itself
		line = strings.Map(func(c rune) rune {
			if !unicode.IsPrint(c) {
				return ' '
			}
			return c
		}, line)
		if line = strings.TrimSpace(strings.TrimPrefix(line, "remote:")); line != "" && !progress.MatchString(line) && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line)
		}
	}
	return prose.Clip(strings.Join(lines, "; "), maxShown)
}

// maxShown is how many characters of git's messages are shown.
const maxShown = 600

// secrets returns the secret parts of an address: a password, and over HTTP the user too, since
// tokens are given that way.
func secrets(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return nil
	}
	var out []string
	if password, _ := u.User.Password(); password != "" {
		out = append(out, password, url.QueryEscape(password), url.PathEscape(password))
	}
	if user := u.User.Username(); user != "" && strings.HasPrefix(u.Scheme, "http") {
		out = append(out, user, url.QueryEscape(user), url.PathEscape(user))
	}
	return out
}

// shown returns the address without its secrets.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	if strings.HasPrefix(u.Scheme, "http") {
		u.User = url.User("xxxxx")
	}
	return u.Redacted()
}

// ready creates the private repository where it is missing, or was left locked or incomplete by a
// killed process. It reports whether it is empty.
func (r *repository) ready(ctx context.Context) (fresh bool, err error) {
	locked, err := leftLocked(r.dir)
	if err != nil {
		return false, err
	}
	if !locked && isRepository(r.dir) {
		return false, nil
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return false, fmt.Errorf("remove the old copy of the branch: %w", err)
	}
	// Without a name for HEAD, git may print advice on choosing one.
	_, err = r.output(ctx, maxStderr, nil, "init", "--quiet", "--bare", "--template=", "--initial-branch=none", "--end-of-options", r.dir)
	return true, err
}

// isRepository reports whether a folder has everything by which git recognizes a repository
// (gitrepository-layout(5)). A killed git init has created some of it: HEAD first, objects last.
func isRepository(dir string) bool {
	for _, name := range []string{"HEAD", "refs", "config", "objects/info", "objects/pack"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return false
		}
	}
	return true
}

// leftLocked reports whether there are lock files in the repository, which nobody else uses now.
func leftLocked(dir string) (bool, error) {
	found := false
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "objects":
			return filepath.SkipDir
		case strings.HasSuffix(name, ".lock"):
			found = true
		}
		return nil
	})
	return found, err
}

// remoteTip returns the commit of the branch on the remote, "" where there is none. had is the last
// known one.
func (r *repository) remoteTip(ctx context.Context, had string) (string, error) {
	for again := 0; ; again++ {
		tip, nothing, err := r.askTip(ctx)
		switch {
		case err != nil:
			return "", unreachable(err)
		case !nothing || !strings.HasPrefix(r.url, "http"):
			return tip, nil
		case again == looks && had == "":
			return "", nil
		case again == looks:
			return "", unreachable(errNothing)
		}
	}
}

// looks is how often a remote that lists nothing is queried again.
const looks = 2

// askTip queries the remote for the branch, and whether there is anything at all.
func (r *repository) askTip(ctx context.Context) (tip string, nothing bool, err error) {
	ref := "refs/heads/" + r.branch
	out, err := r.output(ctx, 1<<20, nil, "ls-remote", "--exit-code", "--end-of-options", remoteName, "HEAD", ref)
	var known *gitError
	if errors.As(err, &known) && known.status == 2 { // git-ls-remote(1): no matching reference
		return "", true, nil
	}
	for line := range strings.Lines(out) { // a pattern also matches longer names that end so
		if oid, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && name == ref && validOID(oid) {
			tip = oid
		}
	}
	return tip, false, err
}

// errNothing is returned where a remote lists no branch at all where it had one. Git treats an HTTP
// answer that was cut in its header as that of an empty server, and the history must not be
// considered gone because of that.
var errNothing = errors.New("git ls-remote: the remote lists nothing, where it had the history: its answer may have been cut")

func unreachable(err error) error {
	if errors.Is(err, errSilent) {
		return &runstore.Error{
			Err:    err,
			Advice: "Look at the network, and at the remote: git ls-remote shows whether it answers. The same command may be run again; what was acknowledged is kept.",
		}
	}
	if errors.Is(err, errNothing) {
		return &runstore.Error{
			Err:    err,
			Advice: "Run the same command again. Where git ls-remote shows that the repository is empty indeed, remove the local copy of the history.",
		}
	}
	return &runstore.Error{
		Err:    err,
		Advice: "Check the remote's address and that git may reach it without asking: git ls-remote shows.",
	}
}

func validOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// fetch fetches the present commit of the branch only, and returns it. Files above the maximum size
// of a segment are left on the remote where it supports that.
func (r *repository) fetch(ctx context.Context) (string, error) {
	_, err := r.output(ctx, 1<<20, nil, "fetch", "--progress", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
		fmt.Sprintf("--filter=blob:limit=%d", maxSegment+1), "--end-of-options", remoteName, "+refs/heads/"+r.branch+":"+tipRef)
	if err != nil {
		return "", unreachable(err)
	}
	return r.output(ctx, maxStderr, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", tipRef+"^{commit}")
}

// file is what a commit adds: new content, or an existing blob.
type file struct {
	path   string
	data   []byte
	oid    string
	damage string // its damage, "" for none
}

// commit creates a commit with the files on top of parent, or, where parent is "", one without
// other files and without a past (git-fast-import(1)).
func (r *repository) commit(ctx context.Context, parent, message string, at time.Time, files []file) (string, error) {
	var head strings.Builder
	fmt.Fprintf(&head, "feature done\ncommit %s\nmark :1\ncommitter apkgate <apkgate@localhost> %d +0000\ndata %d\n%s\n",
		newRef, max(at.Unix(), 0), len(message), message)
	if parent != "" {
		fmt.Fprintf(&head, "from %s\n", parent)
	}
	in := []io.Reader{strings.NewReader(head.String())}
	for _, f := range files {
		if f.oid != "" {
			in = append(in, strings.NewReader(fmt.Sprintf("M 100644 %s %s\n", f.oid, f.path)))
			continue
		}
		in = append(in, strings.NewReader(fmt.Sprintf("M 100644 inline %s\ndata %d\n", f.path, len(f.data))),
			bytes.NewReader(f.data), strings.NewReader("\n"))
	}
	in = append(in, strings.NewReader("\nget-mark :1\ndone\n"))
	oid, err := r.output(ctx, maxStderr, io.MultiReader(in...), "fast-import", "--quiet", "--force", "--date-format=raw")
	if err == nil && !validOID(oid) {
		err = fmt.Errorf("git fast-import names the commit %q", oid)
	}
	return oid, err
}

// push moves the branch from one commit to another, and only from that one; from "" it creates the
// branch.
func (r *repository) push(ctx context.Context, from, to string) error {
	ref := "refs/heads/" + r.branch
	var out []byte
	err := r.run(ctx, nil, func(stdout io.Reader) (err error) {
		out, err = io.ReadAll(io.LimitReader(stdout, 1<<20))
		return err
	}, "push", "--porcelain", "--progress", "--no-verify", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+from, "--end-of-options", remoteName, to+":"+ref)
	var known *gitError
	if errors.As(err, &known) {
		for line := range strings.Lines(string(out)) {
			if reason, ok := strings.CutPrefix(line, "!"); ok { // git-push(1): the reference was not updated
				known.stderr = strings.Trim(known.stderr+"; "+r.redact(reason), "; ")
			}
		}
	}
	return err
}
