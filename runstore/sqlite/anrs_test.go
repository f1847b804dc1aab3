package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/runstore"
)

// stalls returns the ids of the runs of soundHistory that have ANRs, as listed by the history.
func stalls(t *testing.T, s *Store) ([]string, error) {
	t.Helper()
	found, err := s.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"})
	var ids []string
	for _, r := range found {
		ids = append(ids, r.ID)
		if len(r.ANRs) != 1 || r.ANRs[0].Process != r.ID {
			t.Errorf("run %s has ANRs %+v, want the one of its own", r.ID, r.ANRs)
		}
	}
	return ids, err
}

// A history from before ANRs were stored separately returns them, whether or not the file can be
// written.
func TestVersion5(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	soundHistory(t, path, 6)
	rawSQL(t, path, "DROP INDEX runs_anrs", "ALTER TABLE runs DROP COLUMN anrs", "PRAGMA user_version = 5", "UPDATE derivation SET version = 4")
	for _, open := range []func() (*Store, error){
		func() (*Store, error) { return openUnwritable(t.Context(), path, Options{ReadOnly: true}) },
		func() (*Store, error) { return Open(t.Context(), path, Options{}) },
	} {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		ids, err := stalls(t, s)
		if d := cmp.Diff([]string{"run-03", "run-02"}, ids); d != "" || err != nil {
			t.Errorf("runs with ANRs, %v (-want +got):\n%s", err, d)
		}
		if damage, err := s.Verify(t.Context()); err != nil || len(damage) > 0 {
			t.Errorf("Verify says %v, %v", damage, err)
		}
		s.Close()
	}
}

// Where the separately stored ANRs are damaged, the answer is derived from the records, and says
// so.
func TestDamagedANRs(t *testing.T) {
	for name, change := range map[string]string{
		"a bit":        "UPDATE runs SET anrs = CAST(substr(anrs, 1, 20) || x'ff' || substr(anrs, 22) AS BLOB) WHERE id = 'run-03'",
		"a commit":     "UPDATE runs SET revision = 'another' WHERE id = 'run-03'",
		"a lost index": "DROP TABLE context_properties",
	} {
		path := filepath.Join(t.TempDir(), "history.db")
		soundHistory(t, path, 6)
		rawSQL(t, path, change)
		ids, err := stalls(t, openTest(t, path))
		var incomplete *runstore.Incomplete
		if d := cmp.Diff([]string{"run-03", "run-02"}, ids); d != "" || !errors.As(err, &incomplete) {
			t.Errorf("%s: %v, want what is wrong (-want +got):\n%s", name, err, d)
		}
		sound := runstore.SoundOf(openTest(t, path))
		found, err := sound.ANRs(t.Context(), runstore.ANRQuery{Package: "org.example.mail"})
		if damage, _ := sound.Damage(); err != nil || len(found) != 2 || len(damage) == 0 {
			t.Errorf("%s: of what is sound %d runs, %v, damage %v", name, len(found), err, damage)
		}
	}
}

// Runs without ANRs are not read, however many there are.
func TestANRsByTheirIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	soundHistory(t, path, 6)
	rows, err := openTest(t, path).readers.Query("EXPLAIN QUERY PLAN "+selectANRs, "org.example.mail", 10)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if all := strings.Join(plan, "; "); !strings.Contains(all, "runs_anrs") || strings.Contains(all, "TEMP B-TREE") {
		t.Errorf("the plan is %q, want the index of runs with ANRs and no sorting", all)
	}
}
