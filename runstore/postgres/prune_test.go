//go:build unix

package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// TestPruneLeavesWhatIsDecidedMeanwhile: somebody rebaselines a run while it is listed among
// those that are to be removed. It stays, with its level; the others go, in portions.
func TestPruneLeavesWhatIsDecidedMeanwhile(t *testing.T) {
	database := newHistory(t)
	s := open(t, theServer.url("owner", database))
	const n = 1_200
	var runs []run.Run
	for i := range n {
		r := newRun(fmt.Sprintf("run-%04d", i), float64(i))
		r.Started = r.Started.AddDate(0, 0, i/10)
		runs = append(runs, r)
	}
	if _, err := s.Add(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	told := 0
	removed, err := s.Prune(t.Context(), runstore.Retention{Keep: 10}, func(e runstore.Entry) error {
		told++
		if e.Run.ID == "run-0600" {
			return s.Mark(t.Context(), []string{e.Run.ID}, runstore.Mark{State: runstore.Rebaselined})
		}
		return nil
	})
	if err != nil || told != n-10 || removed != n-11 {
		t.Errorf("told of %d, removed %d, %v, want %d and one less", told, removed, err, n-10)
	}
	if left := count(t, s); left != 11 {
		t.Errorf("%d runs are left, want the ten newest and the one that was rebaselined", left)
	}
	if counts, orphans := rowsOf(t, database); orphans != 0 {
		t.Errorf("%d orphans, rows by table %v", orphans, counts)
	}
}

// TestPruneStopsBeforeItRemoves: where one who is told of a run objects, none is removed.
func TestPruneStopsBeforeItRemoves(t *testing.T) {
	s := open(t, theServerURL(t))
	if _, err := s.Add(t.Context(), newRun("a", 1), newRun("b", 2), newRun("c", 3)); err != nil {
		t.Fatal(err)
	}
	told, full := 0, errors.New("the disk is full")
	removed, err := s.Prune(t.Context(), runstore.Retention{Keep: 1}, func(runstore.Entry) error {
		if told++; told == 2 {
			return full
		}
		return nil
	})
	if removed != 0 || !errors.Is(err, full) || count(t, s) != 3 {
		t.Errorf("removed %d, %v, %d are left, want none removed", removed, err, count(t, s))
	}
}
