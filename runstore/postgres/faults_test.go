//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// patience is the timeout of the stores of these tests.
const patience = 3 * time.Second

// behindProxy returns a history in a database of its own, behind a proxy.
func behindProxy(t *testing.T) *storetest.Faulty {
	t.Helper()
	database := newHistory(t)
	dir, err := os.MkdirTemp("", "apb") // short: a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const socket = ".s.PGSQL.5432"
	listener, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	proxy := storetest.NewProxy(t, listener, func() (net.Conn, error) { return net.Dial("unix", filepath.Join(theServer.dir, socket)) })
	return &storetest.Faulty{At: database, Proxy: proxy, Within: 10 * patience, Open: func(t *testing.T, waiting runstore.Waiting) (runstore.Store, error) {
		return postgres.Open(t.Context(), "postgres://owner@/"+database+"?host="+dir, postgres.Options{Wait: patience, Waiting: waiting})
	}}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const waits = "waiting up to 3s for PostgreSQL at "
	proxied := func(begin func(*storetest.Proxy)) func(*testing.T, *storetest.Faulty) func() {
		return func(_ *testing.T, f *storetest.Faulty) func() { begin(f.Proxy); return f.Proxy.Heal }
	}
	storetest.Faults(t, behindProxy, map[string]storetest.Fault{
		"silent":            {Begin: proxied((*storetest.Proxy).Silence), Says: "has not answered for 3s", Waits: waits},
		"slow":              {Begin: proxied((*storetest.Proxy).Slow), Writes: true, Reads: true},
		"cuts three":        {Begin: proxied(func(p *storetest.Proxy) { p.Cut(700, 3) }), Writes: true, Reads: true},
		"cuts all":          {Begin: proxied(func(p *storetest.Proxy) { p.Cut(700, 1<<30) }), Says: "the connection breaks each time: ", Waits: waits},
		"a held lock":       {Begin: lockTables(""), Says: "another session holds what this needs", Waits: waits, Reads: true},
		"a lock of all":     {Begin: lockTables("ACCESS EXCLUSIVE"), Says: "another session holds what this needs", Waits: waits},
		"a stopped process": {Begin: stopProcess, Says: "has not answered for 3s", Waits: waits, Reads: true, Recovers: true},
	})
}

// lockTables is another session that locks tables and does nothing.
func lockTables(mode string) func(*testing.T, *storetest.Faulty) func() {
	if mode == "" {
		mode = "EXCLUSIVE" // in which they can still be read
	}
	return func(t *testing.T, f *storetest.Faulty) func() {
		holder, err := pgx.Connect(t.Context(), theServer.url("owner", f.At))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE apkgate.runs, apkgate.marks IN "+mode+" MODE"); err != nil {
			t.Fatal(err)
		}
		return func() { holder.Close(context.Background()) }
	}
}

// stopProcess stops the server process of the history's connection.
func stopProcess(t *testing.T, f *storetest.Faulty) func() {
	conn, err := pgx.Connect(t.Context(), theServer.url("owner", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var pid int
	if err := conn.QueryRow(t.Context(), "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND application_name = 'apkgate'", f.At).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Skipf("stop a process of the server: %v", err)
	}
	return func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
}

// A server that accepts connections and never answers is tried again, as it may be one of several
// behind an address, and given up in time.
func TestAServerThatNeverSaysAWord(t *testing.T) {
	f := behindProxy(t)
	f.Proxy.Silence()
	t.Setenv("PGCONNECT_TIMEOUT", "1")
	began := time.Now()
	_, err := f.Open(t, nil)
	took := time.Since(began)
	var advised *runstore.Error
	if err == nil || !strings.Contains(err.Error(), "it has not answered for 1s") || !errors.As(err, &advised) {
		t.Errorf("%v, want that it has not answered, and what to do", err)
	}
	if took < patience || took > f.Within {
		t.Errorf("given up after %v, want it tried again for %v", took, patience)
	}
}

// The advice shows how to find the session that holds a lock.
func TestTheAdviceFindsWhoHoldsALock(t *testing.T) {
	t.Parallel()
	f := behindProxy(t)
	s, err := f.Open(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defer lockTables("")(t, f)()
	_, err = s.Add(t.Context(), newRun("run-1", 1))
	var advised *runstore.Error
	if !errors.As(err, &advised) {
		t.Fatalf("%v, want advice", err)
	}
	query, _, _ := strings.Cut(advised.Advice, "%'")
	conn, err := pgx.Connect(t.Context(), theServer.url("owner", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), query+"%' AND datname = '"+f.At+"'")
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (text string, err error) {
		var pid int
		return text, row.Scan(&pid, &text)
	})
	if err != nil || len(found) != 1 || !strings.Contains(found[0], "LOCK TABLE") {
		t.Errorf("it finds %q, %v, want what holds the lock", found, err)
	}
}
