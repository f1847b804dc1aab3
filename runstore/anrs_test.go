package runstore

import (
	"errors"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

func TestANRQuery(t *testing.T) {
	for limit, want := range map[int]int{0: MaxANRRuns, 1: 1, MaxANRRuns: MaxANRRuns} {
		if q, err := (ANRQuery{Limit: limit}).Normal(); err != nil || q.Limit != want {
			t.Errorf("a limit of %d is %d, %v, want %d", limit, q.Limit, err, want)
		}
	}
	for _, limit := range []int{-1, MaxANRRuns + 1} {
		if _, err := (ANRQuery{Limit: limit}).Normal(); err == nil {
			t.Errorf("a limit of %d is taken", limit)
		}
	}
}

// Newest first, of the one app, with the damage reported.
func TestANRsFromRecords(t *testing.T) {
	entry := func(id, pkg string, day, anrs int) Entry {
		return Entry{Run: run.Run{ID: id, App: run.App{Package: pkg}, Started: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), ANRs: make([]run.ANR, anrs)}}
	}
	all := []Entry{entry("a", "mail", 1, 1), entry("b", "game", 2, 1), entry("c", "mail", 3, 0), entry("d", "mail", 4, 2), entry("e", "mail", 4, 1)}
	ask := func(limit int, why, damage error) ([]ANRRun, error) {
		return ANRsFromRecords(func(yield func(Entry, error) bool) {
			for _, e := range all {
				if !yield(e, nil) {
					return
				}
			}
			if damage != nil {
				yield(Entry{}, damage)
			}
		}, ANRQuery{Package: "mail", Limit: limit}, why)
	}
	got, err := ask(10, nil, nil)
	if err != nil || len(got) != 3 || got[0].ID != "e" || got[1].ID != "d" || len(got[1].ANRs) != 2 || got[2].ID != "a" {
		t.Errorf("%+v, %v, want e, d and a", got, err)
	}
	if got, err := ask(1, nil, nil); err != nil || len(got) != 1 || got[0].ID != "e" {
		t.Errorf("of one run %+v, %v, want e", got, err)
	}
	var incomplete *Incomplete
	if got, err := ask(10, errors.New("why"), &DamagedRun{ID: "f", Err: ErrDamaged}); !errors.As(err, &incomplete) || len(incomplete.Damage) != 2 || len(got) != 3 {
		t.Errorf("of a damaged history %d runs, %v", len(got), err)
	}
	broken := errors.New("no connection")
	if got, err := ask(10, nil, broken); !errors.Is(err, broken) || got != nil {
		t.Errorf("of one that can't be reached %+v, %v", got, err)
	}
}
