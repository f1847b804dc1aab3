package storetest

import (
	"bytes"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
)

func judge(t *testing.T, s runstore.Store, said map[string]run.Judged) {
	t.Helper()
	if err := s.Judge(t.Context(), said); err != nil {
		t.Fatalf("Judge %v: %v", said, err)
	}
}

// outcomes returns the listed outcome of each run, "" for one that was never judged.
func outcomes(t *testing.T, s runstore.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for e, err := range s.List(t.Context(), runstore.Filter{}) {
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		out[e.Run.ID] = ""
		if e.Run.Judged != nil {
			out[e.Run.ID] = e.Run.Judged.Outcome
		}
	}
	return out
}

// The outcome is separate from the run: it changes neither the record nor how the run is marked,
// whichever comes first.
func outcomesAreKept(t *testing.T, s runstore.Store) {
	partial := newRun("partial", day(4), nil, 1)
	partial.Status = run.Partial
	add(t, s, newRun("a", day(1), nil, 1), newRun("b", day(2), nil, 1), newRun("c", day(3), nil, 1), partial)
	before, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "at first", before.Run.Judged, (*run.Judged)(nil))
	judge(t, s, map[string]run.Judged{"a": {Outcome: "pass"}, "b": {Outcome: "regression"}, "partial": {Outcome: "invalid"}})
	wantEqual(t, "outcomes", outcomes(t, s), map[string]string{"a": "pass", "b": "regression", "c": "", "partial": "invalid"})
	after, err := s.Get(t.Context(), "a")
	if err != nil || after.Run.Judged == nil || after.Run.Judged.At.IsZero() {
		t.Fatalf("the run was judged as %v, %v", after.Run.Judged, err)
	}
	wantEqual(t, "outcome of one run", after.Run.Judged.Outcome, "pass")
	wantEqual(t, "digest", after.Digest, before.Digest)
	wantEqual(t, "record", after.Run.Recorded(), before.Run)
	wantEqual(t, "unmarked", list(t, s, runstore.Filter{States: []runstore.State{runstore.Unmarked}}), []string{"partial", "c", "b", "a"})

	mark(t, s, runstore.Mark{State: runstore.Accepted, Note: "nightly"}, "a")
	judge(t, s, map[string]run.Judged{"a": {Outcome: "inconclusive"}})
	e, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "mark of a run that is judged again", e.Mark.Note, "nightly")
	wantEqual(t, "outcome of a run that is judged again", e.Run.Judged.Outcome, "inconclusive")
	wantEqual(t, "references", ids(references(t, s, query(nil))), []string{"a"})
	if added, err := s.Add(t.Context(), e.Run); err != nil || len(added) > 0 {
		t.Errorf("adding a run with what was said of it: added %v, %v, want nothing", added, err)
	}
}

func newestOutcomeCounts(t *testing.T, s runstore.Store) {
	add(t, s, newRun("a", day(1), nil, 1))
	said := func(j run.Judged) string {
		judge(t, s, map[string]run.Judged{"a": j})
		return outcomes(t, s)["a"]
	}
	future := time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC)
	wantEqual(t, "of a clock ahead", said(run.Judged{Outcome: "pass", At: future}), "pass")
	wantEqual(t, "of before", said(run.Judged{Outcome: "invalid", At: time.Unix(1, 0)}), "pass")
	wantEqual(t, "of the same time", said(run.Judged{Outcome: "regression", At: future}), "regression")
	wantEqual(t, "of the same time, the lesser word", said(run.Judged{Outcome: "pass", At: future}), "regression")
	wantEqual(t, "said just now, after one of a clock ahead", said(run.Judged{Outcome: "improvement"}), "improvement")
	e, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "when it was said", e.Run.Judged.At, future.Add(time.Nanosecond))
}

func judgeIsAllOrNone(t *testing.T, s runstore.Store) {
	add(t, s, newRun("a", day(1), nil, 1))
	pass := run.Judged{Outcome: "pass"}
	wantError(t, "an id that is not there", s.Judge(t.Context(), map[string]run.Judged{"a": pass, "missing": pass}), runstore.ErrNotFound)
	for what, j := range map[string]run.Judged{
		"no word":         {},
		"a sentence":      {Outcome: "a regression; DROP"},
		"too late a time": {Outcome: "pass", At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if err := s.Judge(t.Context(), map[string]run.Judged{"a": j}); err == nil {
			t.Errorf("an outcome with %s was taken", what)
		}
	}
	wantEqual(t, "outcomes", outcomes(t, s), map[string]string{"a": ""})
}

// Outcomes are copied with their runs: through a file, and to another history and back.
func outcomesTravel(t *testing.T, s runstore.Store) {
	at := time.Date(2026, 2, 1, 3, 4, 5, 6, time.UTC)
	add(t, s, newRun("a", day(1), nil, 1), newRun("b", day(2), nil, 1))
	judge(t, s, map[string]run.Judged{"a": {Outcome: "regression", At: at}})

	var file bytes.Buffer
	if _, err := runstore.WriteJSONL(&file, runstore.Runs(s.Export(t.Context(), runstore.Filter{}))); err != nil {
		t.Fatal(err)
	}
	other := memory.New(nil)
	if _, err := runstore.Import(t.Context(), other, runstore.ReadJSONL(&file), nil, nil); err != nil {
		t.Fatal(err)
	}
	e, err := other.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "what came through a file", e.Run.Judged, &run.Judged{Outcome: "regression", At: at})

	judge(t, other, map[string]run.Judged{"a": {Outcome: "pass", At: at.Add(time.Hour)}, "b": {Outcome: "inconclusive", At: at}})
	for range 2 {
		if _, err := runstore.Take(t.Context(), s, other.Export(t.Context(), runstore.Filter{})); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "what came back", outcomes(t, s), map[string]string{"a": "pass", "b": "inconclusive"})
	}
}
