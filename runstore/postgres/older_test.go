//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// older creates a history of that version of the schema, whose summaries follow those rules, with
// the contents of the database from that such a history can have.
func older(t *testing.T, from string, version, derivation int) (database string) {
	t.Helper()
	database = newDatabase(t)
	exec1(t, database, "CREATE SCHEMA apkgate; CREATE TABLE apkgate.history (schema integer NOT NULL, derivation integer NOT NULL)")
	for _, step := range postgres.Migrations[:version] {
		exec1(t, database, step)
	}
	exec1(t, database, fmt.Sprintf("INSERT INTO apkgate.history VALUES (%d, %d)", version, derivation))
	source, target := connect(t, theServer.url("owner", from)), connect(t, theServer.url("owner", database))
	for _, table := range []string{"subjects", "contexts", "cells", "runs", "records", "marks"} {
		rows, err := target.Query(t.Context(), "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'apkgate' AND table_name = $1", table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Join(columns, ", ")
		if rows, err = source.Query(t.Context(), "SELECT "+list+" FROM apkgate."+table); err != nil {
			t.Fatal(err)
		}
		all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range all {
			var places []string
			for i := range values {
				places = append(places, fmt.Sprint("$", i+1))
			}
			if _, err := target.Exec(t.Context(), fmt.Sprintf("INSERT INTO apkgate.%s (%s) OVERRIDING SYSTEM VALUE VALUES (%s)",
				table, list, strings.Join(places, ", ")), values...); err != nil {
				t.Fatal(err)
			}
		}
	}
	return database
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// A history of each released version has after an update what it had before, with the same rights,
// and accepts more.
func TestOlderVersions(t *testing.T) {
	from := newHistory(t)
	s := open(t, theServer.url("owner", from))
	r := newRun("a", 60)
	r.Source.Commit, r.Session = "c0ffee", "s1"
	for _, frames := range []float64{62, 90} {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.count": frames}})
	}
	r.ANRs = []run.ANR{{Kind: run.ANRInput, Process: "org.example.mail", Repetition: 1}}
	if _, err := s.Add(t.Context(), r, newRun("b", 61)); err != nil {
		t.Fatal(err)
	}
	for id, state := range map[string]runstore.State{"a": runstore.Accepted, "b": runstore.Rejected} {
		if err := s.Mark(t.Context(), []string{id}, runstore.Mark{State: state, Note: "as it was"}); err != nil {
			t.Fatal(err)
		}
	}
	want := everything(t, s)
	exec1(t, from, "DO $$BEGIN CREATE ROLE older_writer LOGIN; CREATE ROLE older_reader LOGIN; END$$")
	for version := 1; version < len(postgres.Migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			database := older(t, from, version, version-1)
			exec1(t, database, `GRANT USAGE ON SCHEMA apkgate TO older_writer, older_reader;
				GRANT SELECT ON ALL TABLES IN SCHEMA apkgate TO older_writer, older_reader;
				GRANT INSERT, UPDATE, DELETE ON apkgate.subjects, apkgate.contexts, apkgate.cells, apkgate.runs, apkgate.records, apkgate.marks TO older_writer;
				UPDATE apkgate.runs SET median = '\x01', mean = '\x02'`)
			open(t, theServer.url("owner", database)).Close()
			reader := openToRead(t, theServer.url("older_reader", database))
			if d := cmp.Diff(want, everything(t, reader)); d != "" {
				t.Errorf("the history changed (-before +after):\n%s", d)
			}
			found, err := reader.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open", Commits: []string{"c0ffee"}})
			if err != nil || len(found) != 1 {
				t.Fatalf("%+v, %v, want one reference", found, err)
			}
			// Of 60, 62 and 90 the means of pairs are 60, 61, 62, 75, 76 and 90.
			if said, ok := found[0].Repeated(run.Cell{Metric: "frames.count"}); !ok || said.N != 3 || said.Centre != 68.5 || found[0].Commit != "c0ffee" {
				t.Errorf("%+v of commit %q, want three about 68.5", said, found[0].Commit)
			}
			anrs, err := reader.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"})
			if err != nil || len(anrs) != 1 || anrs[0].ID != "a" || anrs[0].State != runstore.Accepted || len(anrs[0].ANRs) != 1 {
				t.Errorf("%+v, %v, want the ANR of a", anrs, err)
			}
			writer := open(t, theServer.url("older_writer", database))
			if _, err := writer.Add(t.Context(), r, newRun("c", 62)); err != nil {
				t.Error(err)
			}
			if damage, err := writer.Verify(t.Context()); len(damage) != 0 || err != nil {
				t.Errorf("Verify says %v, %v", damage, err)
			}
		})
	}
}

// everything lists the runs of a history by each of its listings.
func everything(t *testing.T, s runstore.Store) (out []runstore.Entry) {
	t.Helper()
	for _, list := range []func(context.Context, runstore.Filter) func(func(runstore.Entry, error) bool){
		func(ctx context.Context, f runstore.Filter) func(func(runstore.Entry, error) bool) {
			return s.Export(ctx, f)
		},
		func(ctx context.Context, f runstore.Filter) func(func(runstore.Entry, error) bool) {
			return s.List(ctx, f)
		},
	} {
		for e, err := range list(t.Context(), runstore.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
	}
	return out
}

func openToRead(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), url, postgres.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// rules returns the rules that the summaries of the history's runs follow.
func rules(t *testing.T, database string) (out []int) {
	t.Helper()
	rows, err := connect(t, theServer.url("owner", database)).Query(t.Context(), "SELECT derived FROM apkgate.runs ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	if out, err = pgx.CollectRows(rows, pgx.RowTo[int]); err != nil {
		t.Fatal(err)
	}
	return out
}

// Of a history in which some summaries follow older rules and some newer ones, every reader has the
// numbers by its own rules. A writer updates the older ones, and leaves the newer ones alone.
func TestRulesSideBySide(t *testing.T) {
	database := newHistory(t)
	url := theServer.url("owner", database)
	s := open(t, url)
	slow := newRun("newer", 43)
	slow.ANRs = []run.ANR{{Kind: run.ANRInput, Process: "org.example.mail", Repetition: 1}}
	if _, err := s.Add(t.Context(), newRun("current", 41), newRun("older", 42), slow); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), []string{"current", "older", "newer"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	now := rules(t, database)[0]
	exec1(t, database, `UPDATE apkgate.runs SET derived = derived - 1, median = '\x00', mean = '\x00' WHERE id = 'older';
		UPDATE apkgate.runs SET derived = derived + 1, median = '\x00', mean = '\x00', anrs = '\x00' WHERE id = 'newer'`)
	for _, reader := range []*postgres.Store{openToRead(t, url), open(t, url)} {
		for _, centre := range []run.Centre{run.Median, run.Mean} {
			found, err := reader.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open", Centre: centre})
			got := map[string]float64{}
			for _, f := range found {
				got[f.ID] = f.Cells.Map()[run.Cell{Metric: "frames.count"}]
			}
			if d := cmp.Diff(map[string]float64{"current": 41, "older": 42, "newer": 43}, got); err != nil || d != "" {
				t.Errorf("by the %s: %v\n%s", centre, err, d)
			}
		}
		anrs, err := reader.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"})
		if err != nil || len(anrs) != 1 || anrs[0].ID != "newer" {
			t.Errorf("ANRs are %+v, %v, want those of the newer one", anrs, err)
		}
		if damage, err := reader.Verify(t.Context()); len(damage) != 0 || err != nil {
			t.Errorf("Verify says %v, %v", damage, err)
		}
	}
	if got := rules(t, database); !slices.Equal(got, []int{now, now + 1, now}) {
		t.Errorf("the rules of current, newer and older are %v, want %d but for the newer one's", got, now)
	}
	var median []byte
	if err := connect(t, url).QueryRow(t.Context(), "SELECT median FROM apkgate.runs WHERE id = 'newer'").Scan(&median); err != nil || !slices.Equal(median, []byte{0}) {
		t.Errorf("the newer summary is %x, %v, want it as it was", median, err)
	}
}

// Two concurrent renewals share the runs, and a damaged run stops neither.
func TestRenewTogether(t *testing.T) {
	database := newHistory(t)
	url := theServer.url("owner", database)
	first, second := open(t, url), open(t, url)
	const n = 450
	var runs []run.Run
	for i := range n {
		runs = append(runs, newRun(fmt.Sprint("run-", i), float64(i)))
	}
	if _, err := first.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	exec1(t, database, `UPDATE apkgate.runs SET derived = 3, median = '';
		UPDATE apkgate.records SET data = '\x00' WHERE run = (SELECT number FROM apkgate.runs WHERE id = 'run-7')`)
	done := make(chan int)
	for _, s := range []*postgres.Store{first, second} {
		go func() {
			renewed, left, err := s.Renew(context.Background(), 0)
			if err != nil || left {
				t.Errorf("renewed %d, some are left: %t, %v", renewed, left, err)
			}
			done <- renewed
		}()
	}
	if sum := <-done + <-done; sum != n {
		t.Errorf("%d runs were renewed, want each of %d once", sum, n)
	}
	if damage, err := first.Verify(t.Context()); err != nil || len(damage) != 1 || damage[0].ID != "run-7" {
		t.Errorf("Verify says %v, %v, want that run-7 is damaged", damage, err)
	}
}

// A run whose time was stored in its own time zone is the same run, before and after its history is
// updated.
func TestTimesOfOtherZonesAreBroughtUpToDate(t *testing.T) {
	from := newHistory(t)
	here := newRun("a", 41)
	if _, err := open(t, theServer.url("owner", from)).Add(t.Context(), here); err != nil {
		t.Fatal(err)
	}
	digest, packed := storetest.ToldIn(t, here, 2*time.Hour)
	database := older(t, from, 1, 1)
	exec1(t, database, fmt.Sprintf(`UPDATE apkgate.runs SET digest = '\x%x'; UPDATE apkgate.records SET data = '\x%x'`, digest, packed))
	s := open(t, theServer.url("owner", database))
	exec1(t, database, fmt.Sprintf(`UPDATE apkgate.runs SET derived = 1, digest = '\x%x'; UPDATE apkgate.records SET data = '\x%x'`, digest, packed))
	for range 2 {
		if added, err := s.Add(t.Context(), here); len(added) != 0 || err != nil {
			t.Errorf("added again: %q, %v", added, err)
		}
		if damage, err := s.Verify(t.Context()); len(damage) != 0 || err != nil {
			t.Errorf("Verify says %v, %v", damage, err)
		}
		if _, _, err := s.Renew(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
}
