//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// fleet is a history of many apps with three scenarios each, in 300 contexts and the months of a
// year. Of ten runs seven are accepted and two unmarked; ten are a session of one commit.
type fleet struct {
	database       string
	runs, subjects int
}

// fillFleet makes the runs of a history, with the records and summaries of the 300 that it has, so
// that Get and Verify reject them.
const fillFleet = `
	SET session_replication_role = replica; -- what refers to what is right, and checked for a million rows takes minutes
	INSERT INTO apkgate.subjects (key, package, scenario)
	SELECT sha256(set_byte('\x00', 0, length(p)) || p::bytea || set_byte('\x00', 0, length(s)) || s::bytea), p, s
	FROM (SELECT 'org.example.app' || g / 3 AS p, 'scenario' || g %% 3 AS s FROM generate_series(0, %[2]d - 1) AS g) names;
	SELECT count(apkgate.part(to_char(now() AT TIME ZONE 'UTC' - g * interval '1 month', 'YYYY-MM'))) FROM generate_series(0, 11) AS g;
	INSERT INTO apkgate.runs (id, digest, subject, context, started, session, status, version, build, repository, revision, ref,
		iterations, added, state, reference, median, mean, repeated, derived, part)
	SELECT md5(g::text), sha256(g::text::bytea), first.id + g %% %[2]d, c.id, t.started, 'session' || g / 10, 'complete', '', '', 'example/app', 'commit' || g / 10, '',
		10, t.started, CASE WHEN k.k < 2 THEN '' WHEN k.k = 2 THEN 'rejected' ELSE 'accepted' END, k.k > 2,
		r.median, r.mean, r.repeated, r.derived, left(t.started, 7)
	FROM generate_series(1, %[1]d) AS g
	CROSS JOIN (SELECT min(id) AS id FROM apkgate.subjects WHERE package = 'org.example.app0') first
	CROSS JOIN LATERAL (SELECT abs(hashint4(g) / 7) %% 10 AS k) k
	CROSS JOIN LATERAL (SELECT to_char(date_trunc('month', now() AT TIME ZONE 'UTC') - interval '11 months' + g * (interval '330 days' / %[1]d), 'YYYY-MM-DD"T"HH24:MI:SS') || '.000000000Z' AS started) t
	JOIN (SELECT *, row_number() OVER (ORDER BY number) - 1 AS n FROM apkgate.runs) r ON r.n = g %% 300
	JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM apkgate.contexts) c ON c.n = abs(hashint4(g)) %% 300;
	INSERT INTO apkgate.records (run, part, data) SELECT a.number, a.part, b.data
	FROM (SELECT number, part, row_number() OVER () - 1 AS n FROM apkgate.runs r WHERE repository = 'example/app') a
	JOIN (SELECT data, row_number() OVER () - 1 AS n FROM apkgate.records) b ON b.n = a.n %% 300;
	INSERT INTO apkgate.marks (run, part, state, at, since, note) SELECT number, part, state, added, '', '' FROM apkgate.runs WHERE state <> '';
	VACUUM (ANALYZE)`

func newFleet(t *testing.T) fleet {
	t.Helper()
	f := fleet{newHistory(t), 20_000, 1_200}
	if os.Getenv("APKGATE_FULL") != "" {
		f.runs, f.subjects = 1_000_000, 30_000
	}
	s := open(t, theServer.url("owner", f.database))
	random := rand.New(rand.NewPCG(1, 2))
	var runs []run.Run
	for i := range storetest.LabContexts {
		runs = append(runs, benchRun(random, i))
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	s.Close()
	conn := connect(t, theServer.url("owner", f.database)) // its setting holds for all of them
	for _, sql := range statements(fmt.Sprintf(fillFleet, f.runs, f.subjects)) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return f
}

// reading is what a command has read: pages of the tables and their indexes, and rows by sequential
// scans of tables with a row or more per run.
type reading struct{ buffers, scanned int64 }

func (f fleet) read(t *testing.T) (r reading) {
	t.Helper()
	conn := connect(t, theServer.url("owner", f.database))
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), `SELECT
		sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0) + coalesce(toast_blks_hit, 0) + coalesce(toast_blks_read, 0) + coalesce(tidx_blks_hit, 0) + coalesce(tidx_blks_read, 0))::bigint,
		(SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables WHERE schemaname = 'apkgate' AND relname ~ '^(runs|records|marks|cells)')
		FROM pg_statio_user_tables WHERE schemaname = 'apkgate'`).Scan(&r.buffers, &r.scanned); err != nil {
		t.Fatal(err)
	}
	return r
}

// command is a command of the program, as it calls the store.
type command struct {
	name    string
	buffers int64 // at most
	do      func(*postgres.Store) error
}

func (f fleet) commands(t *testing.T) []command {
	accepted := []runstore.State{runstore.Accepted, runstore.Rebaselined}
	const pkg, scenario = "org.example.app7", "scenario1"
	var ids []string
	list := func(f runstore.Filter) func(*postgres.Store) error {
		return func(s *postgres.Store) error {
			ids = nil
			for e, err := range s.List(t.Context(), f) {
				if err != nil {
					return err
				}
				ids = append(ids, e.Run.ID)
			}
			if len(ids) == 0 {
				t.Errorf("%+v: it lists nothing", f)
			}
			return nil
		}
	}
	q := runstore.Query{Package: pkg, Scenario: scenario, Context: storetest.LabContext(7), Commits: []string{"commit2", "commit1", "commit0"}}
	commands := []command{
		{"check, its references", 5_000, func(s *postgres.Store) error {
			found, err := s.References(t.Context(), q)
			if len(found) == 0 {
				t.Error("no references")
			}
			return err
		}},
		{"baseline list --limit 20", 1_500, list(runstore.Filter{Limit: 20})},
		{"baseline list --package P --limit 20", 1_500, list(runstore.Filter{Package: pkg, Limit: 20})},
		{"baseline list --package P", 5_000, list(runstore.Filter{Package: pkg})},
		{"baseline list --scenario S --limit 20", 3_000, list(runstore.Filter{Scenario: scenario, Limit: 20})},
		{"baseline list --commit C, accept --commit C", 2_000, list(runstore.Filter{Commit: "commit17"})},
		{"accept --session S", 2_000, list(runstore.Filter{Session: "session17"})},
		{"baseline list --state rejected --limit 20", 2_000, list(runstore.Filter{States: []runstore.State{runstore.Rejected}, Limit: 20})},
		{"baseline list --where model=M --limit 20", 4_000, list(runstore.Filter{Where: map[string]string{"model": "model3"}, Limit: 20})},
		{"noise, its runs", 20_000, list(runstore.Filter{States: accepted, Limit: 500})},
		{"baseline rebaseline, what it retires", 5_000, list(runstore.Filter{Package: pkg, Scenario: scenario, Until: time.Now().AddDate(0, -2, 0), Level: true, States: accepted})},
		{"baseline refresh, what was accepted", 5_000, list(runstore.Filter{Package: pkg, Scenario: scenario, Status: run.Complete, Limit: 100, Level: true, States: accepted})},
		{"compare, rounds of a commit", 2_000, list(runstore.Filter{Package: "org.example.app" + fmt.Sprint(170/3), Commit: "commit17", States: []runstore.State{runstore.Unmarked}})},
		{"a kept build", 3_000, func(s *postgres.Store) error {
			if err := list(runstore.Filter{Commit: "commit17"})(s); err != nil {
				return err
			}
			return list(runstore.Filter{IDs: ids, Status: run.Complete, Level: true})(s)
		}},
		{"anrs --package P", 1_000, func(s *postgres.Store) error {
			_, err := s.ANRs(t.Context(), runstore.ANRQuery{Package: pkg})
			return err
		}},
		{"baseline prune --keep 1 of an app", 5_000, func(s *postgres.Store) error {
			n, err := s.Prune(t.Context(), runstore.Retention{Keep: 1, Package: "org.example.app9"}, nil)
			t.Logf("%d runs are removed", n)
			return err
		}},
		{"baseline prune --keep 1000, nothing to remove", 6 * int64(f.runs), func(s *postgres.Store) error {
			_, err := s.Prune(t.Context(), runstore.Retention{Keep: 1000, DryRun: true}, nil)
			return err
		}},
		{"a new run stored", 2_000, func(s *postgres.Store) error {
			r := benchRun(rand.New(rand.NewPCG(3, 4)), 7)
			r.Started = time.Now().UTC()
			_, err := s.Add(t.Context(), r)
			ids = []string{r.ID}
			return err
		}},
		{"baseline show RUN", 1_000, func(s *postgres.Store) error { _, err := s.Get(t.Context(), ids[0][:8]); return err }},
		{"accept RUN", 1_000, func(s *postgres.Store) error {
			return s.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted})
		}},
		{"a verdict kept", 1_000, func(s *postgres.Store) error {
			return s.Judge(t.Context(), map[string]run.Judged{ids[0]: {Outcome: "pass"}})
		}},
	}
	return commands
}

// TestNoCommandScansTheHistory counts what each command of the program reads in a history of many
// apps: no sequential scans, and no more pages than its own runs take. With APKGATE_FULL it has a
// million runs of 10,000 apps, else 20,000 of 400.
func TestNoCommandScansTheHistory(t *testing.T) {
	f := newFleet(t)
	var table strings.Builder
	for _, c := range f.commands(t) {
		before := f.read(t)
		began := time.Now()
		s, err := postgres.Open(t.Context(), theServer.url("owner", f.database), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		opened := time.Since(began)
		if err := c.do(s); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		took := time.Since(began) - opened
		s.Close()
		f.awaitEnd(t)
		after := f.read(t)
		buffers, scanned := after.buffers-before.buffers, after.scanned-before.scanned
		if most := int64(f.runs / 20); scanned > most {
			t.Errorf("%s: it scans %d rows, want at most %d, of parts that are nearly empty", c.name, scanned, most)
		}
		if buffers > c.buffers {
			t.Errorf("%s: it reads %d pages, want at most %d", c.name, buffers, c.buffers)
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %.1f ms |\n", c.name, buffers, scanned, float64(took.Microseconds())/1000)
	}
	var tables, indexes, records int64
	if err := connect(t, theServer.url("owner", f.database)).QueryRow(t.Context(), `SELECT
		sum(pg_table_size(oid)) FILTER (WHERE relname !~ '^records')::bigint, sum(pg_indexes_size(oid)) FILTER (WHERE relname !~ '^records')::bigint,
		sum(pg_total_relation_size(oid)) FILTER (WHERE relname ~ '^records')::bigint
		FROM pg_class WHERE relnamespace = 'apkgate'::regnamespace AND relkind = 'r'`).Scan(&tables, &indexes, &records); err != nil {
		t.Fatal(err)
	}
	n := int64(f.runs)
	t.Logf("bytes a run: %d in tables, %d in indexes, %d in records", tables/n, indexes/n, records/n)
	t.Logf("%d runs of %d subjects:\n| command | pages | rows scanned | time |\n%s", f.runs, f.subjects, &table)
}

// awaitEnd waits until the connections of the program have ended, and logged what they read.
func (f fleet) awaitEnd(t *testing.T) {
	t.Helper()
	conn := connect(t, theServer.url("owner", "postgres"))
	defer conn.Close(context.Background())
	for busy := 1; busy > 0; {
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND application_name = 'apkgate'", f.database).Scan(&busy); err != nil {
			t.Fatal(err)
		}
	}
}
