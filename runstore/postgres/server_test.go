//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// server is the tests' own PostgreSQL: a real one, in a temporary folder, with a socket in it.
type server struct {
	bin, dir string
	who      *syscall.SysProcAttr // PostgreSQL refuses to run as root
}

var (
	theServer *server
	whyNot    string // why there is no server
	databases atomic.Int64
)

func TestMain(m *testing.M) {
	storetest.Serve(func(ctx context.Context, url, _ string, now func() time.Time) (runstore.Store, error) {
		return postgres.Open(ctx, url, postgres.Options{Now: now})
	})
	var err error
	if theServer, err = startServer(); err != nil {
		whyNot = err.Error()
	}
	status := m.Run()
	if theServer != nil {
		theServer.end()
	}
	os.Exit(status)
}

var errNoServer = errors.New("PostgreSQL's server is not installed: no initdb in /usr/lib/postgresql/*/bin or on the PATH (Debian's package postgresql)")

// findBin returns the folder of the newest installed server.
func findBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", errNoServer
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

func startServer() (*server, error) {
	bin, err := findBin()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "apg") // short: a socket's path has at most 107 bytes
	if err != nil {
		return nil, err
	}
	s := &server{bin: bin, dir: dir}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, fmt.Errorf("PostgreSQL refuses to run as root: %w", err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.who = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
	}
	if err := s.run("initdb", "-D", s.data(), "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	hba := "local all secretive scram-sha-256\nlocal all all trust\n"
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(hba), 0o644); err != nil {
		return nil, err
	}
	// Waiting for the disk only matters where the computer loses power, and these tests only stop
	// the server.
	if err := os.WriteFile(filepath.Join(s.data(), "postgresql.auto.conf"), []byte("fsync = off\n"), 0o644); err != nil {
		return nil, err
	}
	return s, s.start()
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// run runs one of the server's programs.
func (s *server) run(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.who
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := os.Create(filepath.Join(s.dir, name+".out")) // not a pipe, which the server would keep open
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(text))
	}
	return nil
}

// start starts the server, which only accepts connections through the socket.
func (s *server) start() error {
	return s.run("pg_ctl", "-D", s.data(), "-w", "-l", filepath.Join(s.dir, "log"), "-o",
		"-c listen_addresses='' -c unix_socket_directories='"+s.dir+"' -c shared_buffers=256MB -c max_connections=200", "start")
}

func (s *server) stop(how string) error {
	return s.run("pg_ctl", "-D", s.data(), "-w", "-m", how, "stop")
}

func (s *server) end() {
	_ = s.stop("immediate") // it may be stopped already
	os.RemoveAll(s.dir)
}

func (s *server) url(user, database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s", user, database, s.dir)
}

// newDatabase creates an empty database and returns its name.
func newDatabase(t testing.TB) string {
	t.Helper()
	return databaseLike(t, "template1")
}

func databaseLike(t testing.TB, template string) string {
	t.Helper()
	if theServer == nil {
		t.Skip(whyNot)
	}
	name := fmt.Sprint("history", databases.Add(1))
	exec1(t, "postgres", "CREATE DATABASE "+name+" TEMPLATE "+template)
	return name
}

var (
	makeEmpty    sync.Once
	emptyHistory string
)

// newHistory creates a database with an empty history, which is faster than creating its tables,
// and returns its name.
func newHistory(t testing.TB) string {
	t.Helper()
	makeEmpty.Do(func() {
		emptyHistory = newDatabase(t)
		s, err := postgres.Open(context.Background(), theServer.url("owner", emptyHistory), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		awaitEnd(t, emptyHistory)
	})
	return databaseLike(t, emptyHistory)
}

// awaitEnd waits until the server has no connection to the database any more.
func awaitEnd(t testing.TB, database string) {
	t.Helper()
	conn := connect(t, theServer.url("owner", "postgres"))
	for busy := 1; busy > 0; {
		if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", database).Scan(&busy); err != nil {
			t.Fatal(err)
		}
	}
}

// exec1 runs SQL as the owner of the server.
func exec1(t testing.TB, database, sql string) {
	t.Helper()
	execAs(t, theServer.url("owner", database), sql)
}

func execAs(t testing.TB, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// statements returns the statements of a script. Some have to be executed alone: CREATE DATABASE,
// VACUUM.
func statements(script string) []string {
	return slices.DeleteFunc(strings.Split(comment.ReplaceAllString(script, ""), ";"), func(s string) bool { return strings.TrimSpace(s) == "" })
}

var comment = regexp.MustCompile(`--.*`)

func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
