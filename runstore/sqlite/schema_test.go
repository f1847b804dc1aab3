package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// The released steps of the schema are unchanged. To change the schema, add a step, and its digest
// here.
func TestReleasedSchemaStays(t *testing.T) {
	want := map[string]string{
		"schema/0001_history.sql":     "16cde7108a1060c225d07093a573a9926210ef9f1af93b507ab550264f31dcb2",
		"schema/0002_batch.sql":       "22a69b93bf935acbadc8e78d0a6eccad95fdf1ce37d0c3211b42a88b1fc4cea5",
		"schema/0003_digests.sql":     "85ba1139e971604f429840988a824fe03e60a14b95329dd8cedb91172c626b25",
		"schema/0004_indexes.sql":     "264f7d97a414dee05c60b06570e4a6eebcba85a9614b492fa2191569f6c9553f",
		"schema/0005_repetitions.sql": "36f16d6a87964549c86aabdba0c07092d0085ac9db7c1b4dfb0079eb0eb2e8fb",
		"schema/0006_anrs.sql":        "e55dbacdafbf4afab8481d6882e742696299b8deaf3546b49ccf35c401aa7034",
	}
	got := map[string]string{}
	files, err := schemaFiles.ReadDir("schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := "schema/" + f.Name()
		sum := sha256.Sum256([]byte(mustRead(name)))
		got[name] = hex.EncodeToString(sum[:])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a step of the schema was changed (-released +here):\n%s", d)
	}
	if len(migrations) != len(want) {
		t.Errorf("there are %d steps of %d files", len(migrations), len(want))
	}
}

// Three other texts were called version 1. A history of each opens, keeps its content, and becomes
// like a new one.
func TestEarlierTextsOfVersion1(t *testing.T) {
	texts, err := filepath.Glob("testdata/version-1-*.sql")
	if err != nil || len(texts) != 3 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	openTest(t, fresh).Close()
	for _, text := range texts {
		t.Run(filepath.Base(text), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			makeByText(t, path, text)
			ro, err := Open(t.Context(), path, Options{ReadOnly: true}) // brings it up to date, since it may
			if err != nil {
				t.Fatal(err)
			}
			checkOld(t, ro)
			ro.Close()
			s := openTest(t, path)
			checkOld(t, s)
			twin := writtenRun("old-1")
			twin.ID = "twin"
			if added, err := s.Add(t.Context(), twin); err != nil || len(added) != 1 {
				t.Errorf("adding a run that is like another but for its id: %q, %v", added, err)
			}
			if damage, err := s.Verify(t.Context()); err != nil || len(damage) > 0 {
				t.Errorf("Verify says %v, %v", damage, err)
			}
			s.Close()
			if d := cmp.Diff(schemaOf(t, fresh), schemaOf(t, path)); d != "" {
				t.Errorf("the schema (-new history +migrated):\n%s", d)
			}
		})
	}
}

// A history that is read without an update, as it can't be written, and one that is too old for
// that.
func TestOutdatedUnwritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	makeByText(t, path, "testdata/version-1-first.sql")
	_, err := openUnwritable(t.Context(), path, Options{ReadOnly: true})
	if !errors.Is(err, runstore.ErrReadOnly) || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("a history of version 1: %v", err)
	}
	rawSQL(t, path, mustRead("schema/0002_batch.sql"), "PRAGMA user_version = 2")
	s, err := openUnwritable(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkOld(t, s)
}

// Summaries without repetitions and commits are derived again where the file can be written, and
// from the records where it can't. The four columns are ids, repetitions, centres and commits.
func TestVersion4(t *testing.T) {
	script, err := os.ReadFile("testdata/version-4.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "history.db")
	rawSQL(t, path, "PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", string(script),
		fmt.Sprint("PRAGMA application_id = ", applicationID), "PRAGMA user_version = 4")
	as, err := openUnwritable(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	checkVersion4(t, as)
	as.Close()
	s := openTest(t, path)
	checkVersion4(t, s)
	s.Close()
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	openTest(t, fresh).Close()
	if d := cmp.Diff(schemaOf(t, fresh), schemaOf(t, path)); d != "" {
		t.Errorf("the schema (-new history +migrated):\n%s", d)
	}
}

func checkVersion4(t *testing.T, s *Store) {
	t.Helper()
	wifi := map[string]string{"model": "S3", "network": "wifi"}
	refs, err := s.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open-message", Context: wifi, Commits: []string{"c0ffee1"}})
	if err != nil || len(refs) != 3 {
		t.Fatalf("references %+v, %v, want three", refs, err)
	}
	// Frames of 60, 62 and 90: means of pairs are 60, 61, 62, 75, 76 and 90. CPU times of
	// 100, 100 and 400 ms: their logarithms' are three times that of 100 and twice that of 200.
	for i, want := range []struct {
		id, commit string
		frames     run.Repeated
		ms         float64
	}{
		{"old-1", "c0ffee1", run.Repeated{N: 3, Centre: 68.5, SD: math.Sqrt(844.0 / 3)}, math.Sqrt(100 * 200)},
		{"old-3", "", run.Repeated{N: 1, Centre: 60}, 100},
		{"old-2", "c0ffee2", run.Repeated{N: 3, Centre: 68.5, SD: math.Sqrt(844.0 / 3)}, math.Sqrt(100 * 200)},
	} {
		frames, _ := refs[i].Repeated(run.Cell{Metric: "frames.count"})
		cpu, _ := refs[i].Repeated(run.Cell{Metric: "cpu.time_ms"})
		if refs[i].ID != want.id || refs[i].Commit != want.commit || frames.N != want.frames.N || frames.Log ||
			math.Abs(frames.Centre-want.frames.Centre) > 1e-9 || math.Abs(frames.SD-want.frames.SD) > 1e-5 {
			t.Errorf("%s of %q: frames %+v, want %+v of %q", refs[i].ID, refs[i].Commit, frames, want.frames, want.commit)
		}
		if !cpu.Log || math.Abs(math.Exp(cpu.Centre)-want.ms) > 1e-9 {
			t.Errorf("%s: CPU times %+v, want their centre at %g ms", want.id, cpu, want.ms)
		}
	}
	if damage, err := s.Verify(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("Verify says %v, %v", damage, err)
	}
}

// makeByText creates a history as an earlier apkgate did: three runs, two of which are accepted.
func makeByText(t *testing.T, path, text string) {
	t.Helper()
	script, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, "PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", string(script),
		fmt.Sprint("PRAGMA application_id = ", applicationID), "PRAGMA user_version = 1", "INSERT INTO derivation VALUES (1)",
		mustRead("schema/0005_repetitions.sql"), mustRead("schema/0006_anrs.sql")) // which today's Add writes to
	db, err := connect(path, Options{}, toWrite, 1)
	if err != nil {
		t.Fatal(err)
	}
	old := &Store{path: path, db: db, readers: db, now: time.Now}
	defer old.Close()
	if _, err := old.Add(t.Context(), writtenRun("old-1"), writtenRun("old-2"), writtenRun("old-3")); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, "DROP INDEX runs_anrs", "ALTER TABLE runs DROP COLUMN anrs", "ALTER TABLE summaries DROP COLUMN revision", "ALTER TABLE summaries DROP COLUMN repeated",
		`INSERT INTO marks (run, state, at, since, note)
			SELECT number, 'accepted', '2026-01-02T00:00:00.000000000Z', '', 'then' FROM runs WHERE id IN ('old-1', 'old-3')`,
		"UPDATE runs SET state = 'accepted' WHERE id IN ('old-1', 'old-3')",
		"UPDATE summaries SET reference = 1 WHERE id IN ('old-1', 'old-3')")
}

func checkOld(t *testing.T, s *Store) {
	t.Helper()
	got := map[string]runstore.State{}
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		whole, err := s.Get(t.Context(), e.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(writtenRun(e.Run.ID), whole.Run); d != "" {
			t.Errorf("run %s (-written +read):\n%s", e.Run.ID, d)
		}
		got[e.Run.ID] = e.Mark.State
	}
	want := map[string]runstore.State{"old-1": runstore.Accepted, "old-2": runstore.Unmarked, "old-3": runstore.Accepted}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the runs (-want +got):\n%s", d)
	}
	refs, err := s.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open-message"})
	if err != nil || len(refs) != 2 || refs[0].Cells.Map()[run.Cell{Metric: "frames.count"}] != float64(len("old-3")) {
		t.Errorf("references %+v, %v, want the two accepted runs", refs, err)
	}
}

// schemaOf returns the tables' columns and the indexes of a history.
func schemaOf(t *testing.T, path string) (out []string) {
	t.Helper()
	s := openTest(t, path)
	defer s.Close()
	rows, err := s.readers.Query(`SELECT 'index ' || m.name || ' ' || coalesce(m.sql, '') FROM sqlite_schema m WHERE type = 'index' AND m.sql IS NOT NULL
		UNION ALL SELECT 'column ' || m.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'
		UNION ALL SELECT 'unique ' || m.name || '.' || k.name FROM sqlite_schema m, pragma_index_list(m.name) i, pragma_index_info(i.name) k WHERE m.type = 'table' AND i.origin = 'u'
		UNION ALL SELECT 'key ' || m.name || '.' || k."from" || ' to ' || k."table" || ' ' || k.on_delete FROM sqlite_schema m, pragma_foreign_key_list(m.name) k WHERE m.type = 'table'
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		out = append(out, line)
	}
	return out
}

// A history with outcomes has the version that an older apkgate reads and writes, whose own runs
// have none. A history without their columns gets them once it can be written, and is readable
// before.
func TestOutcomesNeedNoNewVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	soundHistory(t, path, 2)
	rawSQL(t, path, "ALTER TABLE runs DROP COLUMN outcome", "ALTER TABLE runs DROP COLUMN judged")
	old, err := openUnwritable(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	checkOutcomes(t, old, map[string]string{"run-00": "", "run-01": ""})
	old.Close()
	s, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	checkOutcomes(t, s, map[string]string{"run-00": "", "run-01": ""})
	s.Close()
	s = openTest(t, path)
	if err := s.Judge(t.Context(), map[string]run.Judged{"run-01": {Outcome: "regression"}}); err != nil {
		t.Fatal(err)
	}
	// As version 6 adds a run and reads its list.
	rawSQL(t, path, `INSERT INTO runs
		(id, digest, subject, context, started, session, status, version, build, repository, revision, ref, iterations, added, anrs)
		SELECT 'older', digest, subject, context, started, session, status, version, build, repository, revision, ref, iterations, added, anrs FROM runs WHERE id = 'run-00'`,
		"INSERT INTO records SELECT (SELECT number FROM runs WHERE id = 'older'), data FROM records WHERE run = (SELECT number FROM runs WHERE id = 'run-00')",
		"INSERT INTO summaries SELECT subject, 0, context, started, 'older', session, median, mean, revision, repeated FROM summaries WHERE id = 'run-00'")
	checkOutcomes(t, s, map[string]string{"run-00": "", "run-01": "regression", "older": ""})
	if found, err := s.identify(t.Context()); err != nil || found.schema != 6 || !found.judged {
		t.Errorf("the schema is version %d with outcomes %v (%v), want 6 with them: an older apkgate refuses a newer one", found.schema, found.judged, err)
	}
}

func checkOutcomes(t *testing.T, s *Store, want map[string]string) {
	t.Helper()
	for id, outcome := range want {
		e, err := s.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e.Run.Judged != nil {
			got = e.Run.Judged.Outcome
		}
		if got != outcome {
			t.Errorf("run %s was judged as %q, want %q", id, got, outcome)
		}
	}
	n := 0
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if (e.Run.Judged != nil) != (want[e.Run.ID] != "") {
			t.Errorf("run %s is listed with %+v, want %q", e.Run.ID, e.Run.Judged, want[e.Run.ID])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d runs are listed, want %d", n, len(want))
	}
}

// For a history with broken trees, the outcome of a run is read from its row.
func TestRepairKeepsOutcomes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	soundHistory(t, path, 4)
	s := openTest(t, path)
	if err := s.Judge(t.Context(), map[string]run.Judged{"run-01": {Outcome: "regression"}, "run-02": {Outcome: "pass"}}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	rawSQL(t, path, "PRAGMA foreign_keys = OFF; DELETE FROM contexts")
	repaired, err := Repair(t.Context(), path, Options{})
	if err != nil || repaired.Kept != 4 {
		t.Fatalf("%+v, %v, want 4 runs kept", repaired, err)
	}
	checkOutcomes(t, openTest(t, path), map[string]string{"run-00": "", "run-01": "regression", "run-02": "pass", "run-03": ""})
}
