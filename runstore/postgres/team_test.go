//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/postgres"
)

// script returns the n-th SQL script of docs/postgres.md, from 1.
func script(t *testing.T, n int) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts := strings.Split(string(doc), "```sql\n")
	if len(scripts) <= n {
		t.Fatalf("docs/postgres.md has %d scripts, want %d", len(scripts)-1, n)
	}
	text, _, _ := strings.Cut(scripts[n], "```")
	return text
}

// teams are two repositories in one database, each with a role of its own, as in docs/postgres.md.
// The victim has one accepted run, the intruder none.
type teams struct {
	database         string
	victim, intruder *postgres.Store
	conn             *pgx.Conn // of the intruder
}

const secret = "E1 tap on the unreleased feature"

func newTeams(t *testing.T) teams {
	t.Helper()
	database := newDatabase(t)
	exec1(t, database, `DO $$BEGIN CREATE ROLE table_owner; CREATE ROLE victim LOGIN; CREATE ROLE intruder LOGIN;
		CREATE ROLE stranger LOGIN; EXCEPTION WHEN duplicate_object THEN END$$; GRANT CREATE ON DATABASE `+database+` TO table_owner; ALTER ROLE table_owner LOGIN`)
	owner := theServer.url("table_owner", database)
	open(t, owner).Close()
	grants := script(t, 2)
	for _, role := range []string{"victim", "intruder", "stranger"} {
		execAs(t, owner, strings.ReplaceAll(strings.ReplaceAll(grants, "apkgate_writer", role), "apkgate_reader", role))
	}
	teams := strings.NewReplacer("apkgate_owner", "table_owner", "mail_ci", "victim", "clock_ci", "intruder").Replace(script(t, 3))
	execAs(t, owner, teams)
	out := teamsOf(t, database)
	r := newRun("shared-id", 41)
	r.Source.Commit, r.Session = "c0ffee", "s1"
	r.Context["secret"] = secret
	r.Iterations[0].Events = []run.Bucket{{Name: secret, Metrics: map[string]float64{"frames.count": 41}}}
	old := newRun("victims", 42)
	old.Started = old.Started.AddDate(-7, 0, 0) // outside of any month's partition
	if _, err := out.victim.Add(t.Context(), r, old); err != nil {
		t.Fatal(err)
	}
	if err := out.victim.Mark(t.Context(), []string{"shared-id"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	return out
}

func teamsOf(t *testing.T, database string) teams {
	return teams{database, open(t, theServer.url("victim", database)), open(t, theServer.url("intruder", database)),
		connect(t, theServer.url("intruder", database))}
}

// The function that creates the tables of a month refuses a role that may not add runs.
func TestWhoOnlyReadsMakesNoMonths(t *testing.T) {
	x := newTeams(t)
	exec1(t, x.database, "DO $$BEGIN CREATE ROLE onlooker LOGIN; EXCEPTION WHEN duplicate_object THEN END$$; GRANT USAGE ON SCHEMA apkgate TO onlooker; GRANT SELECT ON ALL TABLES IN SCHEMA apkgate TO onlooker")
	const next = "SELECT apkgate.part(to_char(now() AT TIME ZONE 'UTC' + interval '1 month', 'YYYY-MM'))"
	for _, c := range []struct {
		role string
		made bool
	}{{"onlooker", false}, {"intruder", true}} {
		var part string
		if err := connect(t, theServer.url(c.role, x.database)).QueryRow(t.Context(), next).Scan(&part); err != nil || (part != "") != c.made {
			t.Errorf("the part of next month for %s is %q, %v", c.role, part, err)
		}
	}
}

// Two teams whose app, scenario, context and even ids are equal, as a fork's are, have separate
// histories.
func TestTeamsShareNothing(t *testing.T) {
	x := newTeams(t)
	before := everything(t, x.victim)
	if got := everything(t, x.intruder); len(got) != 0 {
		t.Errorf("a new team has %+v", got)
	}
	if found, err := x.intruder.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open"}); err != nil || len(found) != 0 {
		t.Errorf("its references are %+v, %v", found, err)
	}
	for what, err := range map[string]error{
		"mark":  x.intruder.Mark(t.Context(), []string{"shared-id"}, runstore.Mark{State: runstore.Rejected}),
		"judge": x.intruder.Judge(t.Context(), map[string]run.Judged{"shared-id": {Outcome: "regression"}}),
		"get":   func() error { _, err := x.intruder.Get(t.Context(), "shared-id"); return err }(),
	} {
		if !errors.Is(err, runstore.ErrNotFound) {
			t.Errorf("%s another team's run: %v, want %v", what, err, runstore.ErrNotFound)
		}
	}
	added, err := x.intruder.Add(t.Context(), newRun("shared-id", 7), newRun("mine", 8), newRun("mine-too", 9))
	if err != nil || len(added) != 3 {
		t.Fatalf("it adds %v, %v, want three, one under an id that another team has", added, err)
	}
	if err := x.intruder.Mark(t.Context(), added, runstore.Mark{State: runstore.Rebaselined}); err != nil {
		t.Error(err)
	}
	if err := x.intruder.Mark(t.Context(), added[1:], runstore.Mark{State: runstore.Rejected}); err != nil {
		t.Error(err)
	}
	if n, err := x.intruder.Prune(t.Context(), runstore.Retention{Keep: 1}, nil); n != 1 || err != nil {
		t.Errorf("it prunes %d, %v, want the older of two of its own", n, err)
	}
	if after := everything(t, x.victim); fmt.Sprintf("%+v", after) != fmt.Sprintf("%+v", before) {
		t.Errorf("the other team's history is\n%+v, was\n%+v", after, before)
	}
	for _, s := range []*postgres.Store{x.victim, x.intruder} {
		if damage, err := s.Verify(t.Context()); len(damage) != 0 || err != nil {
			t.Errorf("Verify says %v, %v", damage, err)
		}
	}
}

// A role of no team gets an error instead of an empty history.
func TestAStrangerIsToldSo(t *testing.T) {
	x := newTeams(t)
	_, err := postgres.Open(t.Context(), theServer.url("stranger", x.database), postgres.Options{})
	if !errors.Is(err, runstore.ErrReadOnly) || !strings.Contains(fmt.Sprint(err), "stranger") || hint(err) == "" {
		t.Errorf("a role of no team: %v", err)
	}
}

// TestAnIntruder uses the rights of one team, and SQL of its own, to read and to change another's
// rows. Each attempt is rejected, or affects no row.
func TestAnIntruder(t *testing.T) {
	x := newTeams(t)
	if _, err := x.intruder.Add(t.Context(), newRun("mine", 1)); err != nil {
		t.Fatal(err)
	}
	owner := connect(t, theServer.url("owner", x.database)) // a superuser, who sees all
	state := func() (out string) {
		for _, table := range []string{"tenants", "members", "subjects", "contexts", "cells", "runs", "records", "marks"} {
			var rows string
			if err := owner.QueryRow(t.Context(), "SELECT coalesce(string_agg(x::text, E'\\n' ORDER BY x::text), '') FROM apkgate."+table+" x").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			out += table + ":\n" + rows + "\n"
		}
		return out
	}
	var part string
	var number, subject, context int64
	if err := owner.QueryRow(t.Context(), "SELECT part, number, subject, context FROM apkgate.runs WHERE id = 'shared-id'").Scan(&part, &number, &subject, &context); err != nil {
		t.Fatal(err)
	}
	leaf := "rest"
	if part != "" {
		leaf = strings.ReplaceAll(part, "-", "_")
	}
	before := state()
	victim := fmt.Sprintf("(SELECT %d::bigint)", number)
	for _, attempt := range attempts(leaf, part, victim, subject, context) {
		tx, err := x.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, sql := range attempt.sql {
			rows, queryErr := tx.Query(t.Context(), sql)
			if queryErr == nil {
				for rows.Next() {
					values, _ := rows.Values()
					got = append(got, fmt.Sprint(values...))
				}
				rows.Close()
				queryErr = rows.Err()
			}
			if err = queryErr; err != nil {
				break
			}
		}
		if err == nil {
			err = tx.Commit(t.Context())
		} else {
			tx.Rollback(t.Context())
		}
		if seen := strings.Join(got, " "); strings.Contains(seen, "unreleased") || strings.Contains(seen, "shared-id") || strings.Contains(seen, "victim") {
			t.Errorf("%s: it sees %q", attempt.name, seen)
		}
		if attempt.none && len(got) > 0 {
			t.Errorf("%s: it reads %d rows", attempt.name, len(got))
		}
		if attempt.refused && err == nil {
			t.Errorf("%s: it is not refused, and returns %q", attempt.name, got)
		}
		if after := state(); after != before {
			t.Fatalf("%s: it has changed the tables from\n%s\nto\n%s", attempt.name, before, after)
		}
	}
}

// attempt is SQL of an intruder, which must fail (refused), or affect no row (none).
type attempt struct {
	name    string
	refused bool
	sql     []string
	none    bool
}

// attempts returns those against a run of that number in that partition.
func attempts(leaf, part, number string, subject, context int64) []attempt {
	out := []attempt{
		{"set a tenant", false, []string{"SET apkgate.tenant = 0", "SELECT id FROM apkgate.runs WHERE id <> 'mine'"}, false},
		{"turn row security off", true, []string{"SET row_security = off", "SELECT * FROM apkgate.runs"}, false},
		{"become the other", true, []string{"SET ROLE victim"}, false},
		{"become the other's session", true, []string{"SET SESSION AUTHORIZATION victim"}, false},
		{"become the owner", true, []string{"SET ROLE table_owner"}, false},
		{"replace the function", true, []string{"CREATE OR REPLACE FUNCTION apkgate.tenant() RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'"}, false},
		{"shadow the function", false, []string{"CREATE FUNCTION pg_temp.tenant() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
			"SET search_path = pg_temp, apkgate", "SELECT id FROM apkgate.runs WHERE id <> 'mine'"}, false},
		{"shadow its table", false, []string{"CREATE TEMP TABLE members (role name, tenant bigint)", "INSERT INTO pg_temp.members VALUES ('intruder', 0)",
			"SET search_path = pg_temp, apkgate", "SELECT id FROM apkgate.runs WHERE id <> 'mine'", "DROP TABLE pg_temp.members"}, false},
		{"join the other team", true, []string{"UPDATE apkgate.members SET tenant = 0"}, false},
		{"enter the other team", true, []string{"INSERT INTO apkgate.members VALUES ('stranger', 0)"}, false},
		{"ask who else is here", false, []string{"SELECT * FROM apkgate.members WHERE role <> 'intruder'", "SELECT * FROM apkgate.tenants WHERE id <> apkgate.tenant()"}, false},
		{"a leaky function", false, []string{"CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$BEGIN IF $1 LIKE '%unreleased%' OR $1 = 'shared-id' THEN RAISE 'it leaks'; END IF; RETURN true; END$$",
			"SELECT count(*) FROM apkgate.runs WHERE pg_temp.leak(id)", "SELECT count(*) FROM apkgate.cells WHERE pg_temp.leak(event)"}, false},
		{"add to the other team", true, []string{"INSERT INTO apkgate.subjects (tenant, key, package, scenario) VALUES (0, '', 'x', 'x')"}, false},
		{"mark by number", true, []string{"INSERT INTO apkgate.marks (run, part, state, at, since, note) VALUES (" + number + ", '" + part + "', 'rejected', '2026', '', '')"}, false},
		{"mark for the other", true, []string{"INSERT INTO apkgate.marks (tenant, run, part, state, at, since, note) VALUES (0, " + number + ", '" + part + "', 'rejected', '2026', '', '')"}, false},
		{"a second record", true, []string{"INSERT INTO apkgate.records (run, part, data) VALUES (" + number + ", '" + part + "', '')"}, false},
		{"a run of the other's subject", true, []string{fmt.Sprintf("UPDATE apkgate.runs SET subject = %d WHERE id = 'mine'", subject)}, false},
		{"a run of the other's context", true, []string{fmt.Sprintf("UPDATE apkgate.runs SET context = %d WHERE id = 'mine'", context)}, false},
		{"give a run away", true, []string{"UPDATE apkgate.runs SET tenant = 0 WHERE id = 'mine'"}, false},
		{"take numbers", true, []string{"SELECT setval('apkgate.runs_number_seq1', 1)"}, false},
		{"see numbers", true, []string{"SELECT last_value FROM apkgate.runs_number_seq1"}, false},
		{"drop months", true, []string{"SELECT * FROM apkgate.drop_before('2027-01')"}, false},
		{"furnish a part", true, []string{"SELECT apkgate.furnish('rest')"}, false},
		{"make parts without number", false, []string{"SELECT apkgate.part('1999-01'), apkgate.part('2099-01'), apkgate.part('x; DROP TABLE apkgate.runs'), apkgate.part('')"}, false},
		{"empty a table", true, []string{"TRUNCATE apkgate.runs CASCADE"}, false},
		{"lift the policy", true, []string{"ALTER TABLE apkgate.runs DISABLE ROW LEVEL SECURITY"}, false},
		{"write the part by its name", true, []string{"UPDATE apkgate.runs_" + leaf + " SET state = 'rejected'"}, false},
		{"guess by statistics", false, []string{"SELECT most_common_vals FROM pg_stats WHERE schemaname = 'apkgate'"}, false},
		{"a view of its own", false, []string{"CREATE TEMP VIEW mine AS SELECT id FROM apkgate.runs WHERE id <> 'mine'", "SELECT * FROM mine"}, false},
		{"read the numbers", false, []string{"SELECT * FROM apkgate.summaries WHERE run <> 'mine'"}, true},
		{"explain", false, []string{"EXPLAIN SELECT id FROM apkgate.runs WHERE id = 'shared-id' AND false"}, false},
	}
	parts := []string{"runs_rest", "records_rest", "marks_rest", "runs_" + leaf, "records_" + leaf, "marks_" + leaf}
	for _, table := range append([]string{"subjects", "contexts", "cells", "runs", "records", "marks"}, parts...) {
		all := "apkgate." + table
		out = append(out,
			attempt{"read " + table, false, []string{"SELECT x::text FROM " + all + " x WHERE tenant <> apkgate.tenant()"}, true},
			attempt{"copy " + table, false, []string{"CREATE TEMP TABLE copied ON COMMIT DROP AS SELECT * FROM " + all + " WHERE tenant <> apkgate.tenant()", "SELECT * FROM copied"}, true},
		)
		if !slices.Contains(parts, table) {
			out = append(out, attempt{"delete " + table, false, []string{"DELETE FROM " + all + " WHERE tenant <> apkgate.tenant()"}, false},
				attempt{"change " + table, false, []string{"UPDATE " + all + " SET tenant = apkgate.tenant() WHERE tenant <> apkgate.tenant()"}, false})
		}
	}
	return out
}

// COPY shows no more than a query does, and adds nothing for others.
func TestCopyingOut(t *testing.T) {
	x := newTeams(t)
	var out strings.Builder
	if _, err := x.conn.PgConn().CopyTo(context.Background(), &out, "COPY apkgate.runs TO STDOUT"); err != nil {
		out.WriteString(err.Error()) // a partitioned table can only be copied by a query
	}
	if _, err := x.conn.PgConn().CopyTo(context.Background(), &out, "COPY (SELECT * FROM apkgate.cells) TO STDOUT"); err != nil {
		t.Error(err)
	}
	if strings.Contains(out.String(), "unreleased") || strings.Contains(out.String(), "shared-id") {
		t.Errorf("COPY tells %q", out.String())
	}
	if _, err := x.conn.PgConn().CopyFrom(context.Background(), strings.NewReader("0\tkey\tx\tx\n"), "COPY apkgate.subjects (tenant, key, package, scenario) FROM STDIN"); err == nil {
		t.Error("COPY brings in a row of another team")
	}
}
