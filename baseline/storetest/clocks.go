package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/apkgate/apkgate/baseline"
)

// Opener opens one history again, as another computer does whose clock is now.
type Opener func(now func() time.Time) baseline.Store

// Clocks tests that the latest mark counts, whatever the clocks of the computers that share a
// history. newHistory creates an empty one; the suite closes what it opens.
func Clocks(t *testing.T, newHistory func(t *testing.T) Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"LastMarkCounts":       lastMarkCounts,
		"MarksOfOneCallAgree":  marksOfOneCallAgree,
		"ImportedMarksByTime":  importedMarksByTime,
		"CopyTakesOverChanges": func(t *testing.T, to Opener) { copyTakesOverChanges(t, to, newHistory(t)) },
	} {
		t.Run(name, func(t *testing.T) { test(t, newHistory(t)) })
	}
}

// clocks are those of four computers: none is right, and one is absurd.
var clocks = map[string]time.Duration{
	"ten minutes behind": -10 * time.Minute, "right": 0, "ten minutes ahead": 10 * time.Minute, "years ahead": 50 * 365 * 24 * time.Hour,
}

// openAt opens the history with a clock that is off by that much. Each reading of the clock is a
// second later.
func openAt(t *testing.T, open Opener, off time.Duration) baseline.Store {
	t.Helper()
	now := day(20).Add(off)
	s := open(func() time.Time { now = now.Add(time.Second); return now })
	t.Cleanup(func() { s.Close() })
	return s
}

func wantMark(t *testing.T, s baseline.Store, id string, want baseline.State) baseline.Mark {
	t.Helper()
	e, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "state of "+id, e.Mark.State, want)
	return e.Mark
}

// lastMarkCounts makes every two computers decide on a run in turns.
func lastMarkCounts(t *testing.T, open Opener) {
	stores := map[string]baseline.Store{}
	for name, off := range clocks {
		stores[name] = openAt(t, open, off)
	}
	var accepted, rejected []string
	for a := range clocks {
		for b := range clocks {
			if a == b {
				continue
			}
			id := a + ", " + b
			add(t, stores[a], newRun(id, day(1), nil, 1))
			mark(t, stores[a], baseline.Mark{State: baseline.Accepted}, id)
			mark(t, stores[b], baseline.Mark{State: baseline.Rejected}, id)
			wantMark(t, stores[b], id, baseline.Rejected)
			mark(t, stores[a], baseline.Mark{State: baseline.Accepted}, id)
			wantMark(t, stores[a], id, baseline.Accepted)
			if accepted = append(accepted, id); len(accepted)%2 == 0 {
				mark(t, stores[b], baseline.Mark{State: baseline.Rejected}, id)
				accepted, rejected = accepted[:len(accepted)-1], append(rejected, id)
			}
		}
	}
	s := openAt(t, open, 0) // as all see it in the end
	for state, want := range map[baseline.State][]string{baseline.Accepted: accepted, baseline.Rejected: rejected} {
		wantEqual(t, string(state), sorted(list(t, s, baseline.Filter{States: []baseline.State{state}})), sorted(want))
	}
	wantEqual(t, "references", sorted(ids(references(t, s, query(nil)))), sorted(accepted))
}

// marksOfOneCallAgree: runs that are marked together have one date, even if one of them was marked
// before by a clock that is ahead.
func marksOfOneCallAgree(t *testing.T, open Opener) {
	behind, ahead := openAt(t, open, -10*time.Minute), openAt(t, open, 10*time.Minute)
	var runs []string
	for i := range 3 {
		id := fmt.Sprint("run-", i)
		add(t, ahead, newRun(id, day(1+i), nil, 1))
		runs = append(runs, id)
	}
	mark(t, ahead, baseline.Mark{State: baseline.Rejected}, runs[1])
	mark(t, behind, baseline.Mark{State: baseline.Accepted, Note: "together"}, runs...)
	first := wantMark(t, behind, runs[0], baseline.Accepted)
	for _, id := range runs[1:] {
		wantEqual(t, "mark of "+id, wantMark(t, behind, id, baseline.Accepted), first)
	}
}

// importedMarksByTime: a mark from elsewhere has its place by its time, and a decision made here
// after its import counts.
func importedMarksByTime(t *testing.T, open Opener) {
	s := openAt(t, open, -10*time.Minute)
	add(t, s, newRun("a", day(1), nil, 1))
	mark(t, s, baseline.Mark{State: baseline.Accepted}, "a")
	mark(t, s, baseline.Mark{State: baseline.Rejected, At: day(19)}, "a")
	wantMark(t, s, "a", baseline.Accepted)
	mark(t, s, baseline.Mark{State: baseline.Rejected, At: day(21)}, "a")
	wantEqual(t, "date of the imported mark", wantMark(t, s, "a", baseline.Rejected).At, day(21))
	mark(t, s, baseline.Mark{State: baseline.Accepted, At: day(21)}, "a")
	wantMark(t, s, "a", baseline.Accepted) // of two of one time the one imported last
	wantMark(t, openAt(t, open, 0), "a", baseline.Accepted)
	mark(t, s, baseline.Mark{State: baseline.Rejected}, "a")
	wantMark(t, s, "a", baseline.Rejected)
	mark(t, s, baseline.Mark{State: baseline.Accepted}, "a")
	wantMark(t, s, "a", baseline.Accepted)

	endless := baseline.Mark{State: baseline.Rejected, At: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)}
	if err := s.Mark(t.Context(), []string{"a"}, endless); err == nil {
		t.Error("a mark was taken that none can be dated after")
	}
}

// copyTakesOverChanges copies a history again after other decisions there, by a clock that is
// behind; then a decision in the copy stays.
func copyTakesOverChanges(t *testing.T, openTo, openFrom Opener) {
	to, from, late := openAt(t, openTo, -20*time.Minute), openAt(t, openFrom, 10*time.Minute), openAt(t, openFrom, -10*time.Minute)
	copyAll := func() {
		if _, err := baseline.Take(t.Context(), to, late.Export(t.Context(), baseline.Filter{})); err != nil {
			t.Fatal(err)
		}
	}
	add(t, from, newRun("a", day(1), nil, 1))
	mark(t, from, baseline.Mark{State: baseline.Accepted}, "a")
	add(t, late) // on a branch, this copy receives it now
	mark(t, late, baseline.Mark{State: baseline.Accepted, Note: "again"}, "a")
	copyAll()
	wantMark(t, to, "a", baseline.Accepted)
	mark(t, late, baseline.Mark{State: baseline.Rejected}, "a")
	copyAll()
	wantMark(t, to, "a", baseline.Rejected)
	mark(t, to, baseline.Mark{State: baseline.Accepted}, "a")
	copyAll()
	wantMark(t, to, "a", baseline.Accepted)
}
