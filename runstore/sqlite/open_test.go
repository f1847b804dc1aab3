package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
	"github.com/apkgate/apkgate/runstore/storetest"
)

// wantHint checks that err is of the kind, names the file and has advice.
func wantHint(t *testing.T, err, kind error, path string) {
	t.Helper()
	var hint interface{ Hint() string }
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), path) || !errors.As(err, &hint) || hint.Hint() == "" {
		t.Errorf("error %v, want %v that names %s and gives a hint", err, kind, path)
	}
}

// rawSQL changes a database behind the store's back.
func rawSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestOpenLeavesOtherFilesAlone(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	rawSQL(t, foreign, "CREATE TABLE songs (title TEXT)", "INSERT INTO songs VALUES ('x')")
	claimed := filepath.Join(dir, "claimed.db")
	rawSQL(t, claimed, "PRAGMA application_id = 42")
	newer := filepath.Join(dir, "newer.db")
	openTest(t, newer).Close()
	rawSQL(t, newer, "PRAGMA user_version = 99")
	for path, kind := range map[string]error{
		write("runs.jsonl", `{"format":"apkgate.run/1"}`+"\n"):              runstore.ErrNotHistory,
		write("short.db", "SQLite"):                                         runstore.ErrNotHistory,
		write("header.db", "SQLite format 3\x00"+strings.Repeat("x", 5000)): runstore.ErrNotHistory,
		foreign: runstore.ErrNotHistory,
		claimed: runstore.ErrNotHistory,
		newer:   runstore.ErrNewer,
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), path, Options{})
		wantHint(t, err, kind, path)
		if after, err := os.ReadFile(path); err != nil || !slices.Equal(before, after) {
			t.Errorf("%s was changed (%v)", path, err)
		}
	}
}

func TestOpenWhereThereIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(t.Context(), dir, Options{}); err == nil {
		t.Error("a directory was opened")
	}
	_, err := Open(t.Context(), filepath.Join(dir, "none.db"), Options{ReadOnly: true})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading a file that is not there: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(file, "history.db"), Options{}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file in place of the directory: %v", err)
	}
	openTest(t, file) // an empty file becomes a history
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	if _, err := s.Add(t.Context(), writtenRun("there")); err != nil {
		t.Fatal(err)
	}
	ro, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if _, err := ro.Get(t.Context(), "there"); err != nil {
		t.Errorf("reading: %v", err)
	}
	_, err = ro.Add(t.Context(), writtenRun("more"))
	wantHint(t, err, runstore.ErrReadOnly, path)
	wantHint(t, ro.Mark(t.Context(), []string{"there"}, runstore.Mark{State: runstore.Rejected}), runstore.ErrReadOnly, path)
	_, err = ro.Prune(t.Context(), runstore.Retention{Keep: 1}, nil)
	wantHint(t, err, runstore.ErrReadOnly, path)
}

// Whatever is requested in a read transaction, SQLite refuses to write, even in a writable store.
func TestReadingChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	if _, err := s.Add(t.Context(), writtenRun("there")); err != nil {
		t.Fatal(err)
	}
	err := s.read(t.Context(), func(tx *prepared.Tx) error {
		_, err := tx.ExecContext(t.Context(), "DELETE FROM runs")
		return err
	})
	if !errors.Is(err, runstore.ErrReadOnly) {
		t.Errorf("a reading transaction that writes: %v", err)
	}
	checkGet(t, s, "there")
}

// Reads of a read-only file that another process wrote to in the meantime are discarded.
func TestWrittenWhileReadWithoutLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	if _, err := s.Add(t.Context(), writtenRun("there")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	ro, err := openUnwritable(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	checkGet(t, ro, "there")
	owner := openTest(t, path)
	if _, err := owner.Add(t.Context(), writtenRun("meanwhile")); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"while the owner has it open", "after the owner has closed it"} {
		_, err := ro.Get(t.Context(), "there")
		var hint *runstore.Error
		if !errors.As(err, &hint) || !strings.Contains(err.Error(), "written") {
			t.Errorf("%s: %v, want an error that says that it was written to", when, err)
		}
		owner.Close()
	}
}

// Summaries by older rules are never compared, and an older apkgate does not overwrite those of a
// newer one.
func TestOtherRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	if _, err := s.Add(t.Context(), writtenRun("there")); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), []string{"there"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	rawSQL(t, path, fmt.Sprint("UPDATE derivation SET version = ", ofSummaries-1), "UPDATE summaries SET median = x'', mean = x''")
	ro, err := openUnwritable(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	for centre, name := range map[run.Centre]string{run.Median: "median", run.Mean: "mean"} {
		refs, err := ro.References(t.Context(), runstore.Query{Package: "org.example.mail", Scenario: "open-message", Centre: centre})
		if err != nil || len(refs) != 1 || refs[0].Cells.Map()[run.Cell{Metric: "frames.count"}] != float64(len("there")) {
			t.Errorf("by the %s: %+v, %v, want the run's own frames", name, refs, err)
		}
	}
	if damage, err := ro.Verify(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("Verify says %v, %v: summaries by older rules are no damage", damage, err)
	}
	rawSQL(t, path, fmt.Sprint("UPDATE derivation SET version = ", derivation+1))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		_, err := Open(t.Context(), path, o)
		wantHint(t, err, runstore.ErrNewer, path)
	}
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(before, after) {
		t.Errorf("a history of newer rules was changed (%v)", err)
	}
}

// TestNoRightToWrite needs an unprivileged user.
func TestNoRightToWrite(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permissions do not hold back the superuser")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "history.db")
	openTest(t, path).Close()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	_, err := Open(t.Context(), filepath.Join(dir, "sub", "history.db"), Options{})
	wantHint(t, err, runstore.ErrReadOnly, dir)
	ro, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("reading from a directory that can't be written: %v", err)
	}
	ro.Close()
}

// TestFullDisk limits the file's pages, which for SQLite is a full disk.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	s.db.SetMaxOpenConns(1) // the limit is the connection's
	if _, err := s.Add(t.Context(), writtenRun("before")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("PRAGMA max_page_count = 40"); err != nil {
		t.Fatal(err)
	}
	var batch []run.Run
	for i := range 200 {
		batch = append(batch, writtenRun("too-many-"+string(rune('a'+i%26))+strings.Repeat("x", i)))
	}
	_, err := s.Add(t.Context(), batch...)
	wantHint(t, err, runstore.ErrFull, path)
	if _, err := s.db.Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	added, err := s.Add(t.Context(), batch...)
	if err != nil || len(added) != len(batch) {
		t.Errorf("with space again: added %d of %d, %v", len(added), len(batch), err)
	}
	checkAcknowledged(t, path, []string{"+before"}, true)
}

func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	openTest(t, path).Close()
	hurried, err := Open(t.Context(), path, Options{Wait: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer hurried.Close()
	other := openTest(t, path)
	err = other.write(t.Context(), func(*prepared.Tx) error {
		_, err := hurried.Add(t.Context(), writtenRun("meanwhile"))
		wantHint(t, err, runstore.ErrBusy, path)
		if _, err := hurried.Get(t.Context(), "none"); !errors.Is(err, runstore.ErrNotFound) {
			t.Errorf("reading while another process writes: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hurried.Add(t.Context(), writtenRun("afterwards")); err != nil {
		t.Errorf("after the other is done: %v", err)
	}
}

// TestMigrate runs one more migration, after one that fails.
func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	if _, err := s.Add(t.Context(), writtenRun("old")); err != nil {
		t.Fatal(err)
	}
	version := func() (v int) {
		if err := s.db.QueryRow("PRAGMA user_version").Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	now := len(migrations)
	if version() != now {
		t.Fatalf("a new history has version %d, want %d", version(), now)
	}
	broken := step{script: "ALTER TABLE runs ADD COLUMN comment TEXT NOT NULL DEFAULT ''; SELECT * FROM nowhere;"}
	err := s.migrate(t.Context(), append(migrations[:now:now], broken))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("from version %d to %d", now, now+1)) {
		t.Errorf("a step that goes wrong: %v", err)
	}
	if _, err := s.db.Exec("SELECT comment FROM runs"); err == nil || version() != now {
		t.Errorf("a step that went wrong has left something behind (version %d)", version())
	}
	sound := step{script: "ALTER TABLE runs ADD COLUMN comment TEXT NOT NULL DEFAULT 'none'"}
	for range 2 { // the second time there is nothing to do
		if err := s.migrate(t.Context(), append(migrations[:now:now], sound)); err != nil {
			t.Fatal(err)
		}
	}
	var comment string
	if err := s.db.QueryRow("SELECT comment FROM runs WHERE id = 'old'").Scan(&comment); err != nil || comment != "none" || version() != now+1 {
		t.Errorf("after the step: %q, version %d, %v", comment, version(), err)
	}
	checkGet(t, s, "old")
}

// TestMigrateBatches opens a history of version 1: the marks of a refresh, which were recognized by
// their note, get one batch each.
func TestMigrateBatches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	rawSQL(t, path, migrations[0].script, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 1", applicationID),
		`INSERT INTO subjects VALUES (1, 'app', 's'); INSERT INTO contexts VALUES (1, x'');
		INSERT INTO runs SELECT value, value, zeroblob(32), 1, 1, '2026-01-01T00:00:00.000000000Z', '', 'complete',
			'', '', '', '', '', 1, '2026-01-01T00:00:00.000000000Z', 'accepted', '' FROM json_each('["1","2","3"]')`,
		`INSERT INTO marks (run, state, at, since, note) VALUES
			(1, 'accepted', '2026-01-01T00:00:00.000000000Z', '', 'baseline refresh'),
			(2, 'accepted', '2026-01-02T00:00:00.000000000Z', '', 'baseline refresh'),
			(3, 'accepted', '2026-01-02T00:00:00.000000000Z', '', 'nightly')`)
	batch := map[string]string{}
	openTest(t, path).Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, id := range []string{"1", "2", "3"} {
		var of string
		if err := db.QueryRow("SELECT batch FROM marks WHERE run = ?", id).Scan(&of); err != nil {
			t.Fatal(err)
		}
		batch[id] = of
	}
	if batch["1"] == "" || batch["2"] == "" || batch["1"] == batch["2"] || batch["3"] != "" {
		t.Errorf("the batches are %q, want one for each refresh and none for the other mark", batch)
	}
}

func checkGet(t *testing.T, s *Store, id string) {
	t.Helper()
	if e, err := s.Get(t.Context(), id); err != nil || e.Run.ID != id {
		t.Errorf("get %s: %q, %v", id, e.Run.ID, err)
	}
}

// TestDeriveAnew opens a history whose summaries were derived by older rules.
func TestDeriveAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	if _, err := s.Add(t.Context(), writtenRun("ok"), writtenRun("broken")); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), []string{"ok", "broken"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	rawSQL(t, path, "UPDATE derivation SET version = 0", "UPDATE summaries SET median = x'', mean = x''",
		"UPDATE records SET data = x'00' WHERE run = (SELECT number FROM runs WHERE id = 'broken')")
	s = openTest(t, path)
	q := runstore.Query{Package: "org.example.mail", Scenario: "open-message"}
	refs, err := s.References(t.Context(), q)
	var incomplete *runstore.Incomplete
	if !errors.As(err, &incomplete) || !strings.Contains(fmt.Sprint(incomplete.Damage), "broken") || len(refs) != 1 || refs[0].Cells.Map()[run.Cell{Metric: "frames.count"}] != float64(len("ok")) {
		t.Errorf("references %v, %v, want the sound run with its frames, and to be told of the other", refs, err)
	}
	damage, err := s.Verify(t.Context())
	if err != nil || len(damage) != 1 || damage[0].ID != "broken" {
		t.Errorf("Verify says %v, %v, want the broken run", damage, err)
	}
}

// A history that stored times in their own time zone has today's digests after it is opened: the
// same run is recognized, in whichever zone.
func TestTimesOfOtherZonesAreBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	here := writtenRun("here")
	if _, err := s.Add(t.Context(), here); err != nil {
		t.Fatal(err)
	}
	s.Close()
	old, packed := storetest.ToldIn(t, here, 2*time.Hour)
	rawSQL(t, path, "UPDATE derivation SET version = 1",
		fmt.Sprintf("UPDATE runs SET digest = x'%x'", old), fmt.Sprintf("UPDATE records SET data = x'%x'", packed))
	s = openTest(t, path)
	there := here
	there.Started = here.Started.In(time.FixedZone("", -5*3600))
	for _, r := range []run.Run{here, there} {
		if added, err := s.Add(t.Context(), r); len(added) != 0 || err != nil {
			t.Errorf("added again: %q, %v", added, err)
		}
	}
	if damage, err := s.Verify(t.Context()); len(damage) != 0 || err != nil {
		t.Errorf("Verify says %v, %v", damage, err)
	}
	e, err := s.Get(t.Context(), "here")
	if want, _ := here.Digest(); err != nil || e.Digest != want || !e.Run.Started.Equal(here.Started) {
		t.Errorf("digest %s, %v, want %s", e.Digest, err, want)
	}
}

func TestPruneFreesSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	var runs []run.Run
	for i := range 500 {
		r := writtenRun("run-" + strings.Repeat("x", i%50) + string(rune('a'+i%26)))
		r.ID, r.Context = "", nil
		r.Started = r.Started.Add(time.Duration(i) * time.Hour)
		runs = append(runs, r)
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	if n, err := s.Prune(t.Context(), runstore.Retention{Keep: 10}, nil); err != nil || n != 490 {
		t.Fatalf("removed %d, %v, want 490", n, err)
	}
	if after := size(); after > before/2 {
		t.Errorf("the file had %d bytes and has %d after 98 %% of the runs are gone", before, after)
	}
}

// Histories of older rules are summarized again on all processors: whatever the order, each run has
// its own summary, and one whose record is damaged has none.
func TestSummingUpAnewMakesTheSameSummaries(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	runs := make([]run.Run, 2*derivedTogether+7)
	for i := range runs {
		runs[i] = writtenRun(fmt.Sprintf("run-%04d", i))
		runs[i].Iterations[0].Metrics["frames.count"] = float64(i)
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), []string{"run-0001", "run-0300"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	summaries := func(s *Store) (out []string) {
		rows, err := s.db.QueryContext(t.Context(), "SELECT id || reference || started || session || hex(median) || hex(mean) || hex(repeated) FROM summaries ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
		return out
	}
	want := summaries(s)
	if err := s.Close(); err != nil || len(want) != len(runs) {
		t.Fatalf("%d summaries, %v", len(want), err)
	}
	rawSQL(t, path, fmt.Sprint("UPDATE derivation SET version = ", ofSummaries-1), "UPDATE summaries SET median = x'', mean = x''",
		"UPDATE records SET data = x'00' WHERE run = (SELECT number FROM runs WHERE id = 'run-0256')")
	got := summaries(openTest(t, path))
	if d := cmp.Diff(slices.Delete(want, 256, 257), got); d != "" {
		t.Errorf("summaries (-before +anew):\n%s", d)
	}
}
