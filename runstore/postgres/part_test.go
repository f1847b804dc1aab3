//go:build unix

package postgres_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// monthsAgo returns the middle of the month that was so many months ago.
func monthsAgo(n int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()-time.Month(n), 15, 12, 0, 0, 0, time.UTC)
}

// inMonths adds a run of each of the last months, as "ago-N", all accepted, and one of long
// ago and one of the far future.
func inMonths(t *testing.T, s runstore.Store, months int) {
	t.Helper()
	var runs []run.Run
	var ids []string
	for n := range months {
		r := newRun(fmt.Sprint("ago-", n), float64(n))
		r.Started = monthsAgo(n)
		runs, ids = append(runs, r), append(ids, r.ID)
	}
	for id, year := range map[string]int{"long-ago": 1999, "far-away": 2999} {
		r := newRun(id, float64(year))
		r.Started = time.Date(year, 5, 5, 0, 0, 0, 0, time.UTC)
		runs, ids = append(runs, r), append(ids, id)
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), ids, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
}

// rowsOf counts the rows of each non-empty table, of all tenants, and those that belong to no run.
func rowsOf(t *testing.T, database string) (counts map[string]int, orphans int) {
	t.Helper()
	conn := connect(t, theServer.url("owner", database))
	counts = map[string]int{}
	rows, err := conn.Query(t.Context(), `SELECT tableoid::regclass::text, count(*) FROM apkgate.runs GROUP BY 1
		UNION ALL SELECT tableoid::regclass::text, count(*) FROM apkgate.records GROUP BY 1
		UNION ALL SELECT tableoid::regclass::text, count(*) FROM apkgate.marks GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	var table string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&table, &n}, func() error { counts[table] = n; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM apkgate.records x WHERE NOT EXISTS (SELECT FROM apkgate.runs WHERE number = x.run AND part = x.part AND tenant = x.tenant))
		+ (SELECT count(*) FROM apkgate.marks x WHERE NOT EXISTS (SELECT FROM apkgate.runs WHERE number = x.run AND part = x.part AND tenant = x.tenant))
		+ (SELECT count(*) FROM apkgate.runs x WHERE NOT EXISTS (SELECT FROM apkgate.records WHERE run = x.number))
		+ (SELECT count(*) FROM apkgate.summaries WHERE metric IS NULL)
		+ (SELECT count(*) FROM pg_class WHERE relnamespace = 'apkgate'::regnamespace AND relkind = 'r' AND NOT relispartition AND relname ~ '_\d{4}_\d\d$')`).Scan(&orphans); err != nil {
		t.Fatal(err)
	}
	return counts, orphans
}

// A run of the last year is in the partition of its month.
func TestPartsAreMonths(t *testing.T) {
	database := newHistory(t)
	inMonths(t, open(t, theServer.url("owner", database)), 15)
	want := map[string]int{}
	for _, table := range []string{"runs", "records", "marks"} {
		for n := range 13 {
			want["apkgate."+table+monthsAgo(n).Format("_2006_01")] = 1
		}
		want["apkgate."+table+"_rest"] = 4 // long ago, far away, and two of before last year
	}
	if got, orphans := rowsOf(t, database); orphans != 0 || !cmp.Equal(want, got) {
		t.Errorf("%d orphans; rows by table (-want +got):\n%s", orphans, cmp.Diff(want, got))
	}
}

// The months before a given one are dropped as a whole, including everything that belongs to their
// runs, whoever owns them. A run that begins a level stays, and so do runs outside of any month.
func TestDroppedMonths(t *testing.T) {
	database := newHistory(t)
	s := open(t, theServer.url("owner", database))
	inMonths(t, s, 6)
	if err := s.Mark(t.Context(), []string{"ago-4"}, runstore.Mark{State: runstore.Rebaselined, Note: "a new start"}); err != nil {
		t.Fatal(err)
	}
	rows, err := connect(t, theServer.url("owner", database)).Query(t.Context(), "SELECT * FROM apkgate.drop_before($1)", monthsAgo(2).Format("2006-01"))
	if err != nil {
		t.Fatal(err)
	}
	type drop struct {
		Month        string
		Runs, Stayed int64
	}
	dropped, err := pgx.CollectRows(rows, pgx.RowToStructByPos[drop])
	if err != nil {
		t.Fatal(err)
	}
	want := []drop{{monthsAgo(5).Format("2006-01"), 1, 0}, {monthsAgo(4).Format("2006-01"), 1, 1}, {monthsAgo(3).Format("2006-01"), 1, 0}}
	if d := cmp.Diff(want, dropped); d != "" {
		t.Errorf("what is dropped (-want +got):\n%s", d)
	}
	var left []string
	for _, e := range everything(t, s) {
		left = append(left, e.Run.ID)
	}
	slices.Sort(left)
	if want := []string{"ago-0", "ago-1", "ago-2", "ago-4", "far-away", "long-ago"}; !slices.Equal(slices.Compact(left), want) {
		t.Errorf("there are %q, want %q", left, want)
	}
	if counts, orphans := rowsOf(t, database); orphans != 0 || counts["apkgate.runs_rest"] != 3 || counts["apkgate.marks_rest"] != 4 {
		t.Errorf("%d orphans, rows by table %v, want three runs of no month with four marks", orphans, counts)
	}
	if e, err := s.Get(t.Context(), "ago-4"); err != nil || e.Mark.State != runstore.Rebaselined || e.Mark.Note != "a new start" {
		t.Errorf("the run on which the level hangs is %+v, %v", e.Mark, err)
	}
	if found, err := s.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open"}); err != nil || len(found) != 5 {
		t.Errorf("%d references, %v, want all that are left but the one from before the level", len(found), err)
	}
	// The store has seen the months, and has a run of one that is gone.
	again := newRun("again", 7)
	again.Started = monthsAgo(5)
	if added, err := s.Add(t.Context(), again); err != nil || len(added) != 1 {
		t.Errorf("a run of a month that was dropped: added %q, %v", added, err)
	}
	if damage, err := s.Verify(t.Context()); err != nil || len(damage) != 0 {
		t.Errorf("Verify says %v, %v", damage, err)
	}
}

// A writer may not drop months, and an invalid month is rejected.
func TestDroppingIsTheOwners(t *testing.T) {
	x := newTeams(t)
	conn := connect(t, theServer.url("table_owner", x.database))
	if _, err := conn.Exec(t.Context(), "SELECT apkgate.drop_before('2026')"); err == nil {
		t.Error("a month that is none is dropped")
	}
	if _, err := x.intruder.Add(t.Context(), newRun("mine", 1)); err != nil {
		t.Fatal(err)
	}
	// The owner is of another team than either, and drops the runs of both.
	var month string
	var runs, stayed int64
	if err := conn.QueryRow(t.Context(), "SELECT * FROM apkgate.drop_before('2998-01')").Scan(&month, &runs, &stayed); err != nil || runs != 2 || stayed != 0 {
		t.Errorf("of %s %d runs are dropped and %d stay, %v, want the run of either team", month, runs, stayed, err)
	}
	if err := x.intruder.Mark(t.Context(), []string{"mine"}, runstore.Mark{State: runstore.Accepted}); err == nil {
		t.Error("a run that was dropped is marked")
	}
	if _, orphans := rowsOf(t, x.database); orphans != 0 {
		t.Errorf("%d orphans", orphans)
	}
}
