//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// pooler is a PgBouncer in front of the tests' server, which lends a connection for a transaction
// and has two for each database, however many clients there are.
type pooler struct{ dir string }

func newPooler(t *testing.T) pooler {
	t.Helper()
	if theServer == nil {
		t.Skip(whyNot)
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program = "/usr/sbin/pgbouncer"; !exists(program) {
			t.Skip("PgBouncer is not installed (Debian's package pgbouncer)")
		}
	}
	dir, err := os.MkdirTemp("", "apb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	settings := fmt.Sprintf(`[databases]
* = host=%[1]s user=owner
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = %[2]s
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 100
logfile = %[2]s/log
`, theServer.dir, dir)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, file)
	cmd.SysProcAttr = theServer.who // it refuses to run as root too
	if theServer.who != nil {
		c := theServer.who.Credential
		if err := os.Chown(dir, int(c.Uid), int(c.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for deadline := time.Now().Add(30 * time.Second); ; {
		if exists(filepath.Join(dir, ".s.PGSQL.5432")) {
			return pooler{dir}
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("PgBouncer does not listen: %s", log)
		}
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func (p pooler) url(database string) string {
	return fmt.Sprintf("postgres://owner@/%s?host=%s", database, p.dir)
}

// TestSuiteBehindAPooler is the suite behind PgBouncer in transaction mode, which the address does
// not mention.
func TestSuiteBehindAPooler(t *testing.T) {
	p := newPooler(t)
	storetest.Suite(t, func(t *testing.T) runstore.Store { return open(t, p.url(newHistory(t))) })
}

// Sixteen concurrent jobs share two connections of the server, and each run is stored once.
func TestManyBehindAPooler(t *testing.T) {
	p := newPooler(t)
	database := newDatabase(t) // the first of them makes the tables
	const jobs, each = 16, 5
	var wg sync.WaitGroup
	for job := range jobs {
		s := open(t, p.url(database))
		wg.Go(func() {
			for i := range each {
				if _, err := s.Add(context.Background(), newRun(fmt.Sprint("run-", job, "-", i), float64(i)), newRun("shared", 7)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := count(t, open(t, p.url(database))); n != jobs*each+1 {
		t.Errorf("%d runs, want %d", n, jobs*each+1)
	}
	if n := connectionsTo(t, database); n < 1 || n > 2 {
		t.Errorf("the server has %d connections, want one or two", n)
	}
}

// A process has one connection, however many concurrent calls it makes.
func TestOneConnection(t *testing.T) {
	database := newHistory(t)
	s := open(t, theServer.url("owner", database))
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if _, err := s.Add(context.Background(), newRun(fmt.Sprint("run-", i), 1)); err != nil {
				t.Error(err)
			}
			if _, err := s.References(context.Background(), runstore.Query{Package: "org.example.mail", Scenario: "open"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := connectionsTo(t, database); n != 1 {
		t.Errorf("the server has %d connections of it, want 1", n)
	}
}

// connectionsTo returns how many connections the server has to the database.
func connectionsTo(t *testing.T, database string) (n int) {
	t.Helper()
	conn := connect(t, theServer.url("owner", "postgres"))
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", database).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
