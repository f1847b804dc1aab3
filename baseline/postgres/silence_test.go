//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/postgres"
)

// between is what lies between a client and the server, and may stop to pass on what they
// say, with every connection left open.
type between struct {
	dir string

	mu     sync.Mutex
	passes *sync.Cond
	holed  bool
}

func newBetween(t *testing.T) *between {
	t.Helper()
	dir, err := os.MkdirTemp("", "apb")
	if err != nil {
		t.Fatal(err)
	}
	b := &between{dir: dir}
	b.passes = sync.NewCond(&b.mu)
	const socket = ".s.PGSQL.5432"
	listener, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.hole(false); listener.Close(); os.RemoveAll(dir) })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(theServer.dir, socket))
			if err != nil {
				client.Close()
				continue
			}
			go b.pass(client, server)
			go b.pass(server, client)
		}
	}()
	return b
}

func (b *between) pass(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		b.mu.Lock()
		for b.holed {
			b.passes.Wait()
		}
		b.mu.Unlock()
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

func (b *between) hole(holed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holed = holed
	b.passes.Broadcast()
}

func (b *between) url(database string) string {
	return "postgres://owner@/" + database + "?host=" + b.dir
}

// patience is for how long the stores of these tests wait.
const patience = 3 * time.Second

// impatient opens a store, and returns what it says while it waits.
func impatient(t *testing.T, url string) (*postgres.Store, func() string) {
	t.Helper()
	var mu sync.Mutex
	var said []string
	s, err := postgres.Open(t.Context(), url, postgres.Options{Wait: patience, Waiting: func(what string, why error) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, what+": "+why.Error())
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(said, "\n")
	}
}

// inTime fails where something takes much longer than stores wait.
func inTime(t *testing.T, do func() error) error {
	t.Helper()
	began := time.Now()
	err := do()
	if took := time.Since(began); took > 10*patience {
		t.Errorf("it took %v, where %v is waited", took, patience)
	}
	return err
}

// count is how many runs the history holds.
func count(t *testing.T, s baseline.Store) (n int) {
	t.Helper()
	for _, err := range s.Export(t.Context(), baseline.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// A server that keeps its connections and says nothing is given up in time, with a reason;
// nothing is lost or doubled by doing the same again.
func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	b := newBetween(t)
	s, said := impatient(t, b.url(database))
	if _, err := s.Add(t.Context(), newRun("run-1", 1)); err != nil {
		t.Fatal(err)
	}
	b.hole(true)
	for what, do := range map[string]func() error{
		"add":  func() error { _, err := s.Add(t.Context(), newRun("run-2", 2)); return err },
		"mark": func() error { return s.Mark(t.Context(), []string{"run-1"}, baseline.Mark{State: baseline.Accepted}) },
		"read": func() error { _, err := s.Get(t.Context(), "run-1"); return err },
	} {
		err := inTime(t, do)
		var advised *baseline.Error
		if err == nil || !strings.Contains(err.Error(), "has not answered") || !errors.As(err, &advised) {
			t.Errorf("%s: %v, want that it has not answered, and what to do", what, err)
		}
	}
	if got := said(); !strings.Contains(got, "waiting up to 3s for PostgreSQL at ") {
		t.Errorf("while it waited it said %q", got)
	}
	b.hole(false)
	for range 2 {
		if _, err := s.Add(t.Context(), newRun("run-2", 2)); err != nil {
			t.Fatalf("once it answers again: %v", err)
		}
	}
	if n := count(t, s); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
}

// Another session that holds what is needed, and does nothing, is named.
func TestALockThatIsNotGivenBack(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	s, said := impatient(t, theServer.url("owner", database))
	if _, err := s.Add(t.Context(), newRun("run-1", 1)); err != nil {
		t.Fatal(err)
	}
	holder, err := pgx.Connect(t.Context(), theServer.url("owner", database))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE apkgate.runs, apkgate.marks"); err != nil {
		t.Fatal(err)
	}
	err = inTime(t, func() error {
		_, err := s.Add(t.Context(), newRun("run-2", 2))
		return err
	})
	var advised *baseline.Error
	if !errors.Is(err, baseline.ErrBusy) || !errors.As(err, &advised) || !strings.Contains(advised.Advice, "pg_stat_activity") {
		t.Errorf("%v, want that another session holds it", err)
	}
	if !strings.Contains(said(), "waiting up to 3s for PostgreSQL at ") {
		t.Errorf("while it waited it said %q", said())
	}
	if _, err := holder.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(t.Context(), newRun("run-2", 2)); err != nil {
		t.Errorf("once it is given back: %v", err)
	}
	if n := count(t, s); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
}

// A process of the server that was stopped holds its connection alone up: it is given up,
// and the next command has another.
func TestAStoppedProcessOfTheServer(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	s, _ := impatient(t, theServer.url("owner", database))
	if _, err := s.Add(t.Context(), newRun("run-1", 1)); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), theServer.url("owner", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var pid int
	if err := conn.QueryRow(t.Context(), "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND application_name = 'apkgate'", database).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Skipf("stop a process of the server: %v", err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	err = inTime(t, func() error { _, err := s.Add(t.Context(), newRun("run-2", 2)); return err })
	if err == nil || !strings.Contains(err.Error(), "has not answered for 3s") {
		t.Errorf("%v, want that it has not answered", err)
	}
	if _, err := s.Add(t.Context(), newRun("run-2", 2)); err != nil {
		t.Errorf("over another connection: %v", err)
	}
	if n := count(t, s); n != 2 {
		t.Errorf("%d runs, want 2", n)
	}
}
