//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
	"github.com/apkgate/apkgate/runstore/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Suite(t, func(t *testing.T) runstore.Store { return open(t, theServerURL(t)) })
}

// TestDamaged: what is damaged is told at once, not asked for again as after a
// connection that was lost, for which the default is two minutes.
func TestDamaged(t *testing.T) {
	url := theServerURL(t)
	began := time.Now()
	defer func() {
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	}()
	storetest.Damaged(t, open(t, url), func(id string) {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(t.Context(), "UPDATE apkgate.records SET data = '\\x28b52ffd' WHERE run = (SELECT number FROM apkgate.runs WHERE id = $1)", id); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDamagedSummaries: an answer for which a summary can't be read is made from the
// records, and says so.
func TestDamagedSummaries(t *testing.T) {
	url := theServerURL(t)
	s := open(t, url)
	if _, err := s.Add(t.Context(), newRun("a", 1), newRun("b", 2)); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), []string{"a", "b"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	q := runstore.Query{Package: "org.example.mail", Scenario: "open"}
	want, err := s.References(t.Context(), q)
	if err != nil || len(want) != 2 {
		t.Fatal(want, err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "UPDATE apkgate.runs SET median = substr(median, 1, 5) WHERE id = 'b'"); err != nil {
		t.Fatal(err)
	}
	got, err := s.References(t.Context(), q)
	var incomplete *runstore.Incomplete
	if !errors.As(err, &incomplete) || !cmp.Equal(want, got, cmp.AllowUnexported(run.Cells{})) {
		t.Errorf("the references are %v, %v, want what they were, and to be told", got, err)
	}
}

// newRun is a complete run of one iteration.
func newRun(id string, frames float64) run.Run {
	return run.Run{
		Format: run.Format, ID: id, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), App: run.App{Package: "org.example.mail"},
		Scenario: "open", Context: map[string]string{"sdk": "4.1"}, Status: run.Complete,
		Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": frames}}},
	}
}

// TestWritersSurviveARestart has jobs add runs, one at a time, while the server is
// stopped without mercy and started again: twelve with fifty runs each where APKGATE_FULL
// is set, six with twenty by day. No job gets an error, and each run is there once.
func TestWritersSurviveARestart(t *testing.T) {
	writers, each := 6, 20
	if os.Getenv("APKGATE_FULL") != "" {
		writers, each = 12, 50
	}
	url := theServerURL(t)
	var want []string
	for w := range writers {
		for i := range each {
			want = append(want, fmt.Sprintf("run-%02d-%02d", w, i))
		}
	}
	halfway := make(chan struct{}, writers*each)
	var wg sync.WaitGroup
	for w := range writers {
		s := open(t, url)
		wg.Go(func() {
			for i := range each {
				r := newRun(fmt.Sprintf("run-%02d-%02d", w, i), float64(w*each+i))
				added, err := s.Add(context.Background(), r)
				if err != nil || !slices.Equal(added, []string{r.ID}) {
					t.Errorf("%s: added %q, %v", r.ID, added, err)
				}
				halfway <- struct{}{}
			}
		})
	}
	for range writers * each / 2 {
		<-halfway
	}
	if err := theServer.stop("immediate"); err != nil {
		t.Error(err)
	}
	if err := theServer.start(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	s := open(t, url)
	var got []string
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Run.ID)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d runs are there, want %d, each once", len(got), len(want))
	}
	if damage, err := s.Verify(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("Verify: %v, %v", damage, err)
	}
}

func theServerURL(t *testing.T) string {
	t.Helper()
	return theServer.url("owner", newHistory(t))
}

// TestReadersSurviveARestart: a store whose connections are gone answers.
func TestReadersSurviveARestart(t *testing.T) {
	s := open(t, theServerURL(t))
	if _, err := s.Add(t.Context(), newRun("a", 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), []string{"a"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(theServer.stop("fast"), theServer.start()); err != nil {
		t.Fatal(err)
	}
	found, err := s.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open"})
	if err != nil || len(found) != 1 {
		t.Errorf("%d references, %v", len(found), err)
	}
}

// TestOpenAtOnce: jobs that meet an empty database together make one schema.
func TestOpenAtOnce(t *testing.T) {
	url := theServer.url("owner", newDatabase(t))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := postgres.Open(context.Background(), url, postgres.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Add(context.Background(), newRun(fmt.Sprint("run-", i), float64(i)), newRun("shared", 100)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, err := range open(t, url).List(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 9 {
		t.Errorf("%d runs, want 8 and the shared one", n)
	}
}

// TestRoles carries out what docs/postgres.md says of roles: an owner makes the
// schema, a writer adds, marks and prunes, a reader reads and can do no more.
func TestRoles(t *testing.T) {
	doc, err := os.ReadFile("../../docs/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts := strings.Split(string(doc), "```sql\n")
	if len(scripts) < 3 {
		t.Fatalf("docs/postgres.md has %d scripts, want that of the owner and that of the grants first", len(scripts)-1)
	}
	newDatabase(t) // skips without a server
	for i := range scripts {
		scripts[i], _, _ = strings.Cut(scripts[i], "```")
	}
	for _, sql := range statements(scripts[1]) {
		exec1(t, "postgres", sql)
	}
	as := func(role string) string { return theServer.url(role, "apkgate") }
	_, err = postgres.Open(t.Context(), as("apkgate_writer"), postgres.Options{})
	if !errors.Is(err, runstore.ErrReadOnly) || hint(err) == "" {
		t.Errorf("a writer before there is a schema: %v, want %v with a hint", err, runstore.ErrReadOnly)
	}
	open(t, as("apkgate_owner"))
	execAs(t, as("apkgate_owner"), scripts[2])
	w, r := open(t, as("apkgate_writer")), open(t, as("apkgate_reader"))
	if _, err := w.Add(t.Context(), newRun("a", 1), newRun("b", 2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Mark(t.Context(), []string{"a", "b"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	if err := w.Judge(t.Context(), map[string]run.Judged{"a": {Outcome: "inconclusive"}, "b": {Outcome: "pass"}}); err != nil {
		t.Fatal(err)
	}
	if e, err := r.Get(t.Context(), "b"); err != nil || e.Run.Judged == nil || e.Run.Judged.Outcome != "pass" {
		t.Errorf("a reader is told that run b was judged as %+v, %v", e.Run.Judged, err)
	}
	if n, err := w.Prune(t.Context(), runstore.Retention{Keep: 1}, nil); n != 1 || err != nil {
		t.Errorf("%d pruned, %v", n, err)
	}
	if found, err := r.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open"}); len(found) != 1 || err != nil {
		t.Errorf("a reader finds %d references, %v", len(found), err)
	}
	_, addErr := r.Add(t.Context(), newRun("c", 3))
	for what, err := range map[string]error{
		"adds": addErr, "judges": r.Judge(t.Context(), map[string]run.Judged{"b": {Outcome: "pass"}}), "marks": r.Mark(t.Context(), []string{"b"}, runstore.Mark{State: runstore.Rejected}),
	} {
		if !errors.Is(err, runstore.ErrReadOnly) || hint(err) == "" {
			t.Errorf("a reader %s: %v, want %v with a hint", what, err, runstore.ErrReadOnly)
		}
	}
}

func hint(err error) string {
	var hinted *runstore.Error
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}

// TestPasswordIsNotPrinted: whatever is wrong with an address, the error does not
// repeat the password.
func TestPasswordIsNotPrinted(t *testing.T) {
	database := newDatabase(t)
	exec1(t, "postgres", `CREATE ROLE secretive LOGIN PASSWORD 'right'`)
	for _, url := range []string{
		"postgres://secretive:hunter2@/" + database + "?host=" + theServer.dir,
		"postgres://secretive:hunter2@/none?host=" + theServer.dir,
		"postgres://u:hunter2@no-such-host.invalid/db",
		"postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=1",
		"postgres://u:hunter2@host:port/db",
		"postgres://u:hunter2@host/db?sslmode=perhaps",
		"postgres://u:hunter2@host/db?sslrootcert=/none&sslmode=verify-full",
		"postgres://u:hunter2%zz@host/db",
		"postgres://u:hunter2 @host/db",
	} {
		_, err := postgres.Open(t.Context(), url, postgres.Options{Wait: time.Millisecond})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(hint(err), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
		if hint(err) == "" {
			t.Errorf("%s: %v has no hint", url, err)
		}
	}
}

// TestOtherDatabases: one of a newer apkgate, and one of an encoding that can't
// hold every text.
func TestOtherDatabases(t *testing.T) {
	database := newDatabase(t)
	open(t, theServer.url("owner", database))
	exec1(t, database, "UPDATE apkgate.history SET schema = 1000")
	if _, err := postgres.Open(t.Context(), theServer.url("owner", database), postgres.Options{}); !errors.Is(err, runstore.ErrNewer) {
		t.Errorf("a newer schema: %v", err)
	}
	exec1(t, "postgres", "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	if _, err := postgres.Open(t.Context(), theServer.url("owner", "latin"), postgres.Options{}); !errors.Is(err, runstore.ErrNotHistory) {
		t.Errorf("a database in LATIN1: %v", err)
	}
	if _, err := postgres.Open(t.Context(), theServer.url("owner", newDatabase(t)), postgres.Options{ReadOnly: true}); !errors.Is(err, runstore.ErrReadOnly) {
		t.Errorf("an empty database opened to be read: %v", err)
	}
}

// TestVerifyFindsDamage changes what the database holds behind the store's back.
func TestVerifyFindsDamage(t *testing.T) {
	for what, sql := range map[string]string{
		"a record that is gone":  `DELETE FROM apkgate.records WHERE run = (SELECT number FROM apkgate.runs WHERE id = 'bad')`,
		"a record of other runs": `UPDATE apkgate.records SET data = (SELECT data FROM apkgate.records JOIN apkgate.runs ON run = number WHERE id = 'good') WHERE run = (SELECT number FROM apkgate.runs WHERE id = 'bad')`,
		"a wrong start":          `UPDATE apkgate.runs SET started = '2027-01-01T00:00:00.000000000Z' WHERE id = 'bad'`,
		"no start":               `UPDATE apkgate.runs SET started = 'soon' WHERE id = 'bad'`,
		"a wrong session":        `UPDATE apkgate.runs SET session = 'x' WHERE id = 'bad'`,
		"another's repetitions":  `UPDATE apkgate.runs SET repeated = '\x04' WHERE id = 'bad'`,
		"another's summary":      `UPDATE apkgate.runs SET median = (SELECT median FROM apkgate.runs WHERE id = 'good') WHERE id = 'bad'`,
		"half a summary":         `UPDATE apkgate.runs SET mean = '\x01ff' WHERE id = 'bad'`,
		"an unknown cell":        `UPDATE apkgate.runs SET mean = '\x7f0000000000000000' WHERE id = 'bad'`,
		"a wrong state":          `UPDATE apkgate.runs SET state = 'accepted', reference = true WHERE id = 'bad'`,
		"no reference":           `UPDATE apkgate.runs SET reference = true WHERE id = 'bad'`,
	} {
		database := newHistory(t)
		s := open(t, theServer.url("owner", database))
		if _, err := s.Add(t.Context(), newRun("good", 1), newRun("bad", 2)); err != nil {
			t.Fatal(err)
		}
		exec1(t, database, sql)
		damage, err := s.Verify(t.Context())
		if err != nil || len(damage) != 1 || damage[0].ID != "bad" && what != "no start" {
			t.Errorf("%s: Verify says %v, %v", what, damage, err)
		}
	}
}

func TestClocks(t *testing.T) {
	storetest.Clocks(t, func(t *testing.T) storetest.Opener {
		url := theServerURL(t)
		return func(now func() time.Time) runstore.Store {
			s, err := postgres.Open(t.Context(), url, postgres.Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}

// TestMarksOfTwoAtOnce: of two who mark one run at the same time, the one that is
// acknowledged last counts, though its clock is behind.
func TestMarksOfTwoAtOnce(t *testing.T) {
	database := newHistory(t)
	behind := func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }
	s, err := postgres.Open(t.Context(), theServer.url("owner", database), postgres.Options{Now: behind})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Add(t.Context(), newRun("a", 1)); err != nil {
		t.Fatal(err)
	}
	first, err := pgx.Connect(t.Context(), theServer.url("owner", database))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close(context.Background())
	exec := func(sql string) {
		if _, err := first.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("BEGIN; SELECT 1 FROM apkgate.runs WHERE id = 'a' FOR UPDATE")
	done := make(chan error)
	go func() { done <- s.Mark(context.Background(), []string{"a"}, runstore.Mark{State: runstore.Rejected}) }()
	for waiting := 0; waiting == 0; {
		row := first.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = $1", database)
		if err := row.Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		exec("SELECT pg_stat_clear_snapshot()")
	}
	exec(`INSERT INTO apkgate.marks (run, part, state, at, since, note) SELECT number, part, 'accepted', '2026-01-01T12:10:00.000000000Z', '', '' FROM apkgate.runs;
		UPDATE apkgate.runs SET state = 'accepted', reference = true; COMMIT`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	e, err := s.Get(t.Context(), "a")
	if err != nil || e.Mark.State != runstore.Rejected {
		t.Errorf("the run is %q, %v, want rejected", e.Mark.State, err)
	}
}

// TestOpeningWaitsForTheServer opens a history while the server is down: it says
// that it waits, goes on when the server is there, and can be interrupted.
func TestOpeningWaitsForTheServer(t *testing.T) {
	url := theServerURL(t)
	if err := theServer.stop("fast"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := postgres.Open(ctx, url, postgres.Options{Waiting: func(string, error) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	told := 0
	s, err := postgres.Open(t.Context(), url, postgres.Options{Waiting: func(what string, why error) {
		if told++; !strings.Contains(what, "PostgreSQL") || why == nil {
			t.Errorf("it says %q, %v", what, why)
		}
		if err := theServer.start(); err != nil {
			t.Error(err)
		}
	}})
	if err != nil || told != 1 {
		t.Fatalf("opened while the server starts: %v, told %d times", err, told)
	}
	defer s.Close()
	if _, err := s.Add(t.Context(), newRun("a", 1)); err != nil {
		t.Error(err)
	}
}

// TestHistoryMadeMeanwhile: who looks while another one makes the tables sees them
// without their content, and looks again.
func TestHistoryMadeMeanwhile(t *testing.T) {
	url := theServer.url("owner", newDatabase(t))
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	open(t, url)
	if again, err := postgres.Identify(t.Context(), tx); !again {
		t.Errorf("%v, want an error that passes", err)
	}
}

// TestKilledWritersWithOtherClocks: see storetest.Writers.
func TestKilledWritersWithOtherClocks(t *testing.T) {
	url := theServerURL(t)
	w := storetest.Writers{Address: url, Open: func(t *testing.T) runstore.Store { return open(t, url) }}
	w.Processes, w.Runs, w.Batch = storetest.Sizes(1)
	w.Run(t)
}
