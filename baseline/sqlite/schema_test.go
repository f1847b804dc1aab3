package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

// TestReleasedSchemaStays: what made the histories that are out there is as it
// was. To change the schema, add a step, and its digest here.
func TestReleasedSchemaStays(t *testing.T) {
	want := map[string]string{
		"schema/0001_history.sql": "16cde7108a1060c225d07093a573a9926210ef9f1af93b507ab550264f31dcb2",
		"schema/0002_batch.sql":   "22a69b93bf935acbadc8e78d0a6eccad95fdf1ce37d0c3211b42a88b1fc4cea5",
		"schema/0003_digests.sql": "85ba1139e971604f429840988a824fe03e60a14b95329dd8cedb91172c626b25",
		"schema/0004_indexes.sql": "264f7d97a414dee05c60b06570e4a6eebcba85a9614b492fa2191569f6c9553f",
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

// TestEarlierTextsOfVersion1: three other texts went by the name of version 1. A
// history of each opens, keeps all that it has, and becomes like a new one.
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

// TestOutdatedUnwritable: a history that is read as it is, since it can't be brought
// up to date, and one that is too old for that.
func TestOutdatedUnwritable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	makeByText(t, path, "testdata/version-1-first.sql")
	_, err := openUnwritable(t.Context(), path, Options{ReadOnly: true})
	if !errors.Is(err, baseline.ErrReadOnly) || !strings.Contains(err.Error(), "version 1") {
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

// makeByText makes a history as an earlier apkgate did: three runs, of which two
// are accepted.
func makeByText(t *testing.T, path, text string) {
	t.Helper()
	script, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, "PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL", string(script),
		fmt.Sprint("PRAGMA application_id = ", applicationID), "PRAGMA user_version = 1", fmt.Sprintf("INSERT INTO derivation VALUES (%d)", derivation))
	db, err := connect(path, Options{}, toWrite, 1)
	if err != nil {
		t.Fatal(err)
	}
	old := &Store{path: path, db: db, readers: db, now: time.Now}
	defer old.Close()
	if _, err := old.Add(t.Context(), writtenRun("old-1"), writtenRun("old-2"), writtenRun("old-3")); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, `INSERT INTO marks (run, state, at, since, note)
			SELECT number, 'accepted', '2026-01-02T00:00:00.000000000Z', '', 'then' FROM runs WHERE id IN ('old-1', 'old-3')`,
		"UPDATE runs SET state = 'accepted' WHERE id IN ('old-1', 'old-3')",
		"UPDATE summaries SET reference = 1 WHERE id IN ('old-1', 'old-3')")
}

func checkOld(t *testing.T, s *Store) {
	t.Helper()
	got := map[string]baseline.State{}
	for e, err := range s.List(t.Context(), baseline.Filter{}) {
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
	want := map[string]baseline.State{"old-1": baseline.Accepted, "old-2": baseline.Unmarked, "old-3": baseline.Accepted}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the runs (-want +got):\n%s", d)
	}
	refs, err := s.References(t.Context(), baseline.Query{Package: "org.example.mail", Scenario: "open-message"})
	if err != nil || len(refs) != 2 || refs[0].Cells.Map()[run.Cell{Metric: "frames.count"}] != float64(len("old-3")) {
		t.Errorf("references %+v, %v, want the two accepted runs", refs, err)
	}
}

// schemaOf are the tables' columns and the indexes of a history.
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
