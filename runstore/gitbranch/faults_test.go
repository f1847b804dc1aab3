package gitbranch_test

import (
	"database/sql"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/gitbranch"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// The timeouts of the stores of these tests for a silent remote, and for others.
const (
	silence  = 2 * time.Second
	patience = 6 * time.Second
)

// behindProxy returns a history on a branch of git's own HTTP server, behind a proxy.
func behindProxy(t *testing.T) *storetest.Faulty {
	t.Helper()
	root := t.TempDir()
	remote := newRemote(t)
	git(t, remote, "config", "http.receivepack", "true")
	folder, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(folder)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skipf("git has no HTTP server: %v", err)
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving := &http.Server{Handler: &cgi.Handler{
		Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(remote), "GIT_HTTP_EXPORT_ALL=1"}, Stderr: t.Output(),
	}}
	go serving.Serve(server)
	t.Cleanup(func() { serving.Close() })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := storetest.NewProxy(t, listener, func() (net.Conn, error) { return net.Dial("tcp", server.Addr().String()) })
	if err := os.Symlink(remote, filepath.Join(root, "remote")); err != nil {
		t.Fatal(err)
	}
	address := gitbranch.Address{Remote: "http://" + listener.Addr().String() + "/" + filepath.Base(remote), Branch: "history"}
	return &storetest.Faulty{At: root, Proxy: proxy, Within: 60 * time.Second, Open: func(t *testing.T, waiting runstore.Waiting) (runstore.Store, error) {
		return gitbranch.Open(t.Context(), address, gitbranch.Options{Dir: filepath.Join(root, "copies"), Silence: silence, Wait: patience, Waiting: waiting})
	}}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	proxied := func(begin func(*storetest.Proxy)) func(*testing.T, *storetest.Faulty) func() {
		return func(_ *testing.T, f *storetest.Faulty) func() { begin(f.Proxy); return f.Proxy.Heal }
	}
	const waits = "waiting up to 2s for the remote of the history"
	storetest.Faults(t, behindProxy, map[string]storetest.Fault{
		"silent":             {Begin: proxied((*storetest.Proxy).Silence), Says: "the remote has said nothing for 2s", Waits: waits},
		"slow":               {Begin: proxied((*storetest.Proxy).Slow), Writes: true, Reads: true},
		"cuts all":           {Begin: proxied(func(p *storetest.Proxy) { p.Cut(100, 1<<30) }), Says: "git ls-remote: "},
		"a held lock":        {Begin: lockRef, Reads: true, Says: "cannot lock ref"},
		"a push that hangs":  {Begin: hangPushes, Reads: true, Says: "the remote has said nothing for 2s", Waits: waits},
		"the copy is in use": {Begin: lockCopy, Says: "another process keeps the history locked", Waits: "waiting up to 6s for the local copy of the history"},
	})
}

// lockRef leaves the branch locked on the remote, as a killed git does.
func lockRef(t *testing.T, f *storetest.Faulty) func() {
	lock := filepath.Join(f.At, "remote", "refs", "heads", "history.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return func() { os.Remove(lock) }
}

// hangPushes makes the remote's process hang in each push.
func hangPushes(t *testing.T, f *storetest.Faulty) func() {
	hook := filepath.Join(f.At, "remote", "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexec sleep 20\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return func() { os.Remove(hook) }
}

// lockCopy is another process that uses the local copy and was stopped.
func lockCopy(t *testing.T, f *storetest.Faulty) func() {
	found, err := filepath.Glob(filepath.Join(f.At, "copies", "*", "state.db"))
	if err != nil || len(found) != 1 {
		t.Fatalf("local copies: %q, %v", found, err)
	}
	db, err := sql.Open("sqlite", "file:"+found[0]+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() { tx.Rollback(); db.Close() }
}
