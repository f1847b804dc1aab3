package gitbranch_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]gitbranch.Address{
		"branch:":                      {Remote: "origin", Branch: "apkgate-history"},
		"branch:origin":                {Remote: "origin", Branch: "apkgate-history"},
		"branch:upstream#perf/history": {Remote: "upstream", Branch: "perf/history"},
		"branch:#perf":                 {Remote: "origin", Branch: "perf"},
		"branch:https://example.org/team/app.git":   {Remote: "https://example.org/team/app.git", Branch: "apkgate-history"},
		"branch:git@example.org:team/app.git#h-1.2": {Remote: "git@example.org:team/app.git", Branch: "h-1.2"},
		"branch:origin#refs/heads/perf/history":     {Remote: "origin", Branch: "perf/history"},
		"branch:../a#b#c":                           {Remote: "../a#b", Branch: "c"},
	} {
		if got, err := gitbranch.ParseAddress(text); got != want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "origin", "branch:origin#", "branch:--upload-pack=evil", "branch:a\nb", "branch:o#-x", "branch:o#a..b", "branch:o#a.lock",
		"branch:o#/a", "branch:o#a/", "branch:o#a//b", "branch:o#a b", "branch:o#refs/heads/a:b", "branch:o#refs/heads/", "branch:o#refs/tags/a", "branch:o#refs/heads/refs/heads/a", "branch:o#a.", "branch:o#.a", "branch:o#" + strings.Repeat("a", 300),
	} {
		if got, err := gitbranch.ParseAddress(text); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

// TestWorkTreeIsLeftAlone uses a remote of the user's repository by its name, from a subfolder, and
// with variables set as in a git hook.
func TestWorkTreeIsLeftAlone(t *testing.T) {
	remote := newRemote(t)
	dir := filepath.Join(t.TempDir(), "app")
	sub := filepath.Join(dir, "sub")
	git(t, t.TempDir(), "init", "--quiet", dir)
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "staged"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "staged")
	git(t, dir, "remote", "add", "upstream", remote)
	state := func() string {
		return git(t, dir, "status", "--porcelain", "--branch") + git(t, dir, "for-each-ref") + git(t, dir, "config", "--local", "--list") +
			git(t, dir, "count-objects", "-v")
	}
	before := state()
	env := append(os.Environ(), "GIT_DIR="+filepath.Join(dir, ".git"), "GIT_INDEX_FILE="+filepath.Join(dir, ".git", "index"), "GIT_WORK_TREE="+dir)
	s, err := gitbranch.Open(t.Context(), gitbranch.Address{Remote: "upstream", Branch: "history"}, gitbranch.Options{Dir: t.TempDir(), WorkDir: sub, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(t.Context(), newRun("a", 1)); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != before {
		t.Errorf("the user's repository is now\n%s\nand was\n%s", got, before)
	}
	if got := ids(t, open(t, remote)); !slices.Equal(got, []string{"a "}) {
		t.Errorf("the remote lists %q", got)
	}
	_, err = gitbranch.Open(t.Context(), gitbranch.Address{Remote: "upstraem", Branch: "history"}, gitbranch.Options{Dir: t.TempDir(), WorkDir: sub})
	var hinted interface{ Hint() string }
	if err == nil || !strings.Contains(err.Error(), `"upstraem"`) || !errors.As(err, &hinted) {
		t.Errorf("a remote that is not there: %v, want its name and a hint", err)
	}
}

// The header that a CI checkout leaves in the repository's configuration reaches the server, and no
// secret reaches an error.
func TestCredentials(t *testing.T) {
	newRemote(t) // skips without git
	var mu sync.Mutex
	var headers []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		headers = append(headers, r.Header.Get("Authorization"))
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "app")
	git(t, t.TempDir(), "init", "--quiet", dir)
	git(t, dir, "config", "http."+server.URL+"/.extraheader", "Authorization: Basic c2VjcmV0")
	_, err := gitbranch.Open(t.Context(), gitbranch.Address{Remote: server.URL + "/app.git", Branch: "history"}, gitbranch.Options{Dir: t.TempDir(), WorkDir: dir})
	if err == nil || strings.Contains(err.Error(), "c2VjcmV0") {
		t.Errorf("a server that refuses: %v", err)
	}
	if len(headers) == 0 || headers[0] != "Basic c2VjcmV0" {
		t.Errorf("the server got the headers %q", headers)
	}
	local := t.TempDir()
	for _, secret := range []string{"user:hunter2", "hunter2"} {
		withSecret := strings.Replace(server.URL, "://", "://"+secret+"@", 1) + "/app.git"
		_, err = gitbranch.Open(t.Context(), gitbranch.Address{Remote: withSecret, Branch: "history"}, gitbranch.Options{Dir: local, WorkDir: t.TempDir()})
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("a server that refuses: %v, want the address without the secret", err)
		}
	}
	err = filepath.WalkDir(local, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if strings.Contains(string(data), "hunter2") {
			t.Errorf("the password is in %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An address can't make git run a program.
func TestProtocolsAreLimited(t *testing.T) {
	newRemote(t)
	mark := filepath.Join(t.TempDir(), "ran")
	for _, remote := range []string{"ext::touch " + mark, "foo::bar/x"} {
		_, err := gitbranch.Open(t.Context(), gitbranch.Address{Remote: remote, Branch: "history"}, gitbranch.Options{Dir: t.TempDir(), WorkDir: t.TempDir()})
		if err == nil {
			t.Errorf("%s was opened", remote)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the address ran a program")
	}
}

// A remote that rejects the push ends the attempt with its message and advice, without endless
// retries.
func TestPushIsRefused(t *testing.T) {
	remote := newRemote(t)
	hook := filepath.Join(remote, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'branch is protected' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, remote)
	_, err := s.Add(t.Context(), newRun("a", 1))
	var hinted *runstore.Error
	if err == nil || !strings.Contains(err.Error(), "branch is protected") || !errors.As(err, &hinted) {
		t.Errorf("%v, want what the remote says, with a hint", err)
	}
	if got := ids(t, s); len(got) != 0 {
		t.Errorf("the list is %q after a push that was refused", got)
	}
}
