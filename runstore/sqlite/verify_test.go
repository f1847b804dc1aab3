package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// soundHistory creates a history of n runs, "run-00" and so on, every other accepted.
func soundHistory(t *testing.T, path string, n int) []run.Run {
	t.Helper()
	s := openTest(t, path)
	var runs []run.Run
	var accepted []string
	for i := range n {
		r := writtenRun(fmt.Sprintf("run-%02d", i))
		if i == 2 || i == 3 {
			r.ANRs = []run.ANR{{Kind: run.ANRInput, Process: r.ID, Repetition: 1}}
		}
		runs = append(runs, r)
		if i%2 == 0 {
			accepted = append(accepted, r.ID)
		}
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), accepted, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestVerifyFindsWhatWasChanged(t *testing.T) {
	for _, test := range []struct{ name, change, id string }{
		{"record", "UPDATE records SET data = (SELECT data FROM records WHERE run = 2) WHERE run = 1", "run-00"},
		{"record gone", "DELETE FROM records WHERE run = 1", "run-00"},
		{"record no zstd", "UPDATE records SET data = x'0102' WHERE run = 3", "run-02"},
		{"digest", "UPDATE runs SET digest = zeroblob(32) WHERE number = 1", "run-00"},
		{"session", "UPDATE runs SET session = 'other' WHERE id = 'run-01'", "run-01"},
		{"start", "UPDATE runs SET started = '2020-01-01T00:00:00.000000000Z' WHERE id = 'run-01'", "run-01"},
		{"time", "UPDATE runs SET started = 'yesterday' WHERE id = 'run-01'", "run-01"},
		{"iterations", "UPDATE runs SET iterations = 7 WHERE id = 'run-01'", "run-01"},
		{"context", "UPDATE runs SET context = (SELECT context FROM runs WHERE id = 'run-02') WHERE id = 'run-01'", "run-01"},
		{"scenario", "UPDATE subjects SET scenario = 'other'", "run-00"},
		{"state", "UPDATE runs SET state = 'rejected' WHERE id = 'run-00'", "run-00"},
		{"accepted by nobody", "UPDATE summaries SET reference = 1 WHERE id = 'run-01'", "run-01"},
		{"summary gone", "DELETE FROM summaries WHERE id = 'run-03'", "run-03"},
		{"summary of no run", "UPDATE summaries SET id = 'ghost' WHERE id = 'run-03'", "ghost"},
		{"summary cut short", "UPDATE summaries SET median = substr(median, 1, 5) WHERE id = 'run-03'", "run-03"},
		{"summary", "UPDATE summaries SET mean = (SELECT mean FROM summaries WHERE id = 'run-02') WHERE id = 'run-03'", "run-03"},
		{"session of summary", "UPDATE summaries SET session = '' WHERE id = 'run-03'", "run-03"},
		{"commit of summary", "UPDATE summaries SET revision = 'another' WHERE id = 'run-03'", "run-03"},
		{"repetitions", "UPDATE summaries SET repeated = (SELECT repeated FROM summaries WHERE id = 'run-02') WHERE id = 'run-03'", "run-03"},
		{"cell", "UPDATE cells SET metric = 'frames.janky' WHERE event = ''", "run-00"},
		{"ANRs gone", "UPDATE runs SET anrs = NULL WHERE id = 'run-03'", "run-03"},
		{"ANRs of another", "UPDATE runs SET anrs = (SELECT anrs FROM runs WHERE id = 'run-02') WHERE id = 'run-03'", "run-03"},
		{"ANRs of none", "UPDATE runs SET anrs = x'00' WHERE id = 'run-01'", "run-01"},
		{"context index", "DELETE FROM context_properties WHERE context = 1", ""},
		{"run gone", "PRAGMA foreign_keys = OFF; DELETE FROM runs WHERE id = 'run-04'", "run-04"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			soundHistory(t, path, 6)
			rawSQL(t, path, test.change)
			damage, err := openTest(t, path).Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range damage {
				if d.ID == test.id {
					return
				}
			}
			t.Errorf("after %q Verify says %v, want damage of run %q", test.change, damage, test.id)
		})
	}
}

// Bytes all over a file are flipped. Each time, either the damage is reported or every run is
// unchanged.
func TestDamageIsNeverSilent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	runs := soundHistory(t, path, 12)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flips := 300
	if testing.Short() {
		flips = 50
	}
	random := rand.New(rand.NewPCG(uint64(flips), 8))
	found := 0
	for range flips {
		at, bit := random.IntN(len(sound)), byte(1)<<random.IntN(8)
		broken := append([]byte{}, sound...)
		broken[at] ^= bit
		damaged := filepath.Join(t.TempDir(), "history.db")
		if err := os.WriteFile(damaged, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		if told(t, damaged) {
			found++
			continue
		}
		s := openTest(t, damaged)
		var got []run.Run
		for r, err := range runstore.Runs(s.Export(t.Context(), runstore.Filter{})) {
			if err != nil {
				t.Fatalf("byte %d: Verify said nothing, but: %v", at, err)
			}
			got = append(got, r)
		}
		if d := cmp.Diff(runs, got); d != "" {
			t.Fatalf("byte %d, bit %d changed a run unseen:\n%s", at, bit, d)
		}
		s.Close()
	}
	t.Logf("%d of %d flips were found, the others hit nothing", found, flips)
	if found == 0 {
		t.Error("no flip was found")
	}
	cut := filepath.Join(t.TempDir(), "history.db")
	if err := os.WriteFile(cut, sound[:len(sound)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if !told(t, cut) {
		t.Error("half a file passed for a whole one")
	}
}

// told reports whether opening or verifying the file reports damage.
func told(t *testing.T, path string) bool {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		return true
	}
	defer s.Close()
	damage, err := s.Verify(t.Context())
	if err != nil {
		t.Fatalf("Verify could not look: %v", err)
	}
	return len(damage) > 0
}

// A run that References could not find, however it is marked, is not listed as marked.
func TestMarkOfADamagedRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := openTest(t, path)
	if _, err := s.Add(t.Context(), writtenRun("good"), writtenRun("damaged")); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, "DELETE FROM summaries WHERE id = 'damaged'")
	err := s.Mark(t.Context(), []string{"good", "damaged"}, runstore.Mark{State: runstore.Accepted})
	wantHint(t, err, runstore.ErrDamaged, path)
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		if err != nil || e.Mark.State != runstore.Unmarked {
			t.Errorf("run %s is %q, %v, want it as it was", e.Run.ID, e.Mark.State, err)
		}
	}
}
