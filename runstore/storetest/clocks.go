package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/apkgate/apkgate/runstore"
)

// Opener opens one history again, as another computer does whose clock is now.
type Opener func(now func() time.Time) runstore.Store

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
func openAt(t *testing.T, open Opener, off time.Duration) runstore.Store {
	t.Helper()
	now := day(20).Add(off)
	s := open(func() time.Time { now = now.Add(time.Second); return now })
	t.Cleanup(func() { s.Close() })
	return s
}

func wantMark(t *testing.T, s runstore.Store, id string, want runstore.State) runstore.Mark {
	t.Helper()
	e, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "state of "+id, e.Mark.State, want)
	return e.Mark
}

// lastMarkCounts makes every two computers decide on a run alternately.
func lastMarkCounts(t *testing.T, open Opener) {
	stores := map[string]runstore.Store{}
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
			mark(t, stores[a], runstore.Mark{State: runstore.Accepted}, id)
			mark(t, stores[b], runstore.Mark{State: runstore.Rejected}, id)
			wantMark(t, stores[b], id, runstore.Rejected)
			mark(t, stores[a], runstore.Mark{State: runstore.Accepted}, id)
			wantMark(t, stores[a], id, runstore.Accepted)
			if accepted = append(accepted, id); len(accepted)%2 == 0 {
				mark(t, stores[b], runstore.Mark{State: runstore.Rejected}, id)
				accepted, rejected = accepted[:len(accepted)-1], append(rejected, id)
			}
		}
	}
	s := openAt(t, open, 0) // as all see it in the end
	for state, want := range map[runstore.State][]string{runstore.Accepted: accepted, runstore.Rejected: rejected} {
		wantEqual(t, string(state), sorted(list(t, s, runstore.Filter{States: []runstore.State{state}})), sorted(want))
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
	mark(t, ahead, runstore.Mark{State: runstore.Rejected}, runs[1])
	mark(t, behind, runstore.Mark{State: runstore.Accepted, Note: "together"}, runs...)
	first := wantMark(t, behind, runs[0], runstore.Accepted)
	for _, id := range runs[1:] {
		wantEqual(t, "mark of "+id, wantMark(t, behind, id, runstore.Accepted), first)
	}
}

// importedMarksByTime: a mark from elsewhere has its place by its time, and a decision made here
// after its import counts.
func importedMarksByTime(t *testing.T, open Opener) {
	s := openAt(t, open, -10*time.Minute)
	add(t, s, newRun("a", day(1), nil, 1))
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "a")
	mark(t, s, runstore.Mark{State: runstore.Rejected, At: day(19)}, "a")
	wantMark(t, s, "a", runstore.Accepted)
	mark(t, s, runstore.Mark{State: runstore.Rejected, At: day(21)}, "a")
	wantEqual(t, "date of the imported mark", wantMark(t, s, "a", runstore.Rejected).At, day(21))
	mark(t, s, runstore.Mark{State: runstore.Accepted, At: day(21)}, "a")
	wantMark(t, s, "a", runstore.Accepted) // of two of one time the one imported last
	wantMark(t, openAt(t, open, 0), "a", runstore.Accepted)
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "a")
	wantMark(t, s, "a", runstore.Rejected)
	mark(t, s, runstore.Mark{State: runstore.Accepted}, "a")
	wantMark(t, s, "a", runstore.Accepted)

	endless := runstore.Mark{State: runstore.Rejected, At: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)}
	if err := s.Mark(t.Context(), []string{"a"}, endless); err == nil {
		t.Error("a mark was taken that none can be dated after")
	}
}

// copyTakesOverChanges copies a history again after other decisions there, by a clock that is
// behind; then a decision in the copy stays.
func copyTakesOverChanges(t *testing.T, openTo, openFrom Opener) {
	to, from, late := openAt(t, openTo, -20*time.Minute), openAt(t, openFrom, 10*time.Minute), openAt(t, openFrom, -10*time.Minute)
	copyAll := func() {
		if _, err := runstore.Take(t.Context(), to, late.Export(t.Context(), runstore.Filter{})); err != nil {
			t.Fatal(err)
		}
	}
	add(t, from, newRun("a", day(1), nil, 1))
	mark(t, from, runstore.Mark{State: runstore.Accepted}, "a")
	add(t, late) // on a branch, this copy receives it now
	mark(t, late, runstore.Mark{State: runstore.Accepted, Note: "again"}, "a")
	copyAll()
	wantMark(t, to, "a", runstore.Accepted)
	mark(t, late, runstore.Mark{State: runstore.Rejected}, "a")
	copyAll()
	wantMark(t, to, "a", runstore.Rejected)
	mark(t, to, runstore.Mark{State: runstore.Accepted}, "a")
	copyAll()
	wantMark(t, to, "a", runstore.Accepted)
}
