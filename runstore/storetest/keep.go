package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

func addTwiceIsAddOnce(t *testing.T, s runstore.Store) {
	a, b := newRun("a", day(1), nil, 10), newRun("b", day(2), nil, 10)
	added, err := s.Add(t.Context(), a, b, a)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "added at first", added, []string{"a", "b"})
	if added, err = s.Add(t.Context(), b, a); err != nil || len(added) > 0 {
		t.Errorf("the same runs again: added %v, %v, want nothing", added, err)
	}
	wantEqual(t, "list", list(t, s, runstore.Filter{}), []string{"b", "a"})
}

// Two runs with different ids are two, even if every number in them is equal; without ids they are
// one, since they are named by their content.
func idsTellRunsApart(t *testing.T, s runstore.Store) {
	const n = 8
	var ids []string
	for i := range n {
		r := newRun(fmt.Sprintf("twin-%02d", i), day(1), nil, 10)
		ids = append(ids, r.ID)
		add(t, s, r)
	}
	mark(t, s, runstore.Mark{State: runstore.Accepted}, ids...)
	refs, err := s.References(t.Context(), query(nil))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "references", len(refs), n)
	digest, err := newRun("", day(1), nil, 10).Digest()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Get(t.Context(), digest)
	wantError(t, "get by a digest that many have", err, runstore.ErrAmbiguous)
	unnamed := newRun("", day(2), nil, 10)
	added, err := s.Add(t.Context(), unnamed, unnamed)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "added without ids", len(added), 1)
}

func addIsAllOrNone(t *testing.T, s runstore.Store) {
	add(t, s, newRun("a", day(1), nil, 10))
	_, err := s.Add(t.Context(), newRun("b", day(2), nil, 10), newRun("a", day(1), nil, 11))
	wantError(t, "an id with other content", err, runstore.ErrConflict)
	if err != nil && !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("error %q does not name the run", err)
	}
	bad := newRun("c", day(3), nil, 10)
	bad.Scenario = ""
	if _, err = s.Add(t.Context(), newRun("b", day(2), nil, 10), bad); err == nil {
		t.Error("a run without a scenario was added")
	}
	wantEqual(t, "list", list(t, s, runstore.Filter{}), []string{"a"})
}

func addNamesRuns(t *testing.T, s runstore.Store) {
	r := newRun("", day(1), map[string]string{"sdk": "4.1"}, 10)
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	added, err := s.Add(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "id", added, []string{digest[:16]})
	e, err := s.Get(t.Context(), digest[:16])
	if err != nil {
		t.Fatal(err)
	}
	r.ID = digest[:16]
	r.Warnings = []run.Warning{}
	wantEqual(t, "run", e.Run, r)
	wantEqual(t, "digest", e.Digest, digest)
	wantEqual(t, "iterations", e.Iterations, 1)
	if e.AddedAt.IsZero() {
		t.Error("the entry does not say when it was added")
	}
}

func addAtTheSameTime(t *testing.T, s runstore.Store) {
	const writers, each = 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				own := newRun(fmt.Sprintf("own-%d-%d", w, i), day(1), nil, float64(100*w+i))
				shared := newRun(fmt.Sprintf("shared-%d", i), day(2), nil, float64(i))
				if _, err := s.Add(t.Context(), own, shared); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
				if _, err := s.References(t.Context(), query(nil)); err != nil {
					t.Errorf("reader %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	wantEqual(t, "number of runs", len(list(t, s, runstore.Filter{})), writers*each+each)
}

func getByPrefix(t *testing.T, s runstore.Store) {
	first, second := newRun("night-0001", day(1), nil, 1), newRun("night-0002", day(2), nil, 2)
	exact := newRun("night-000", day(3), nil, 3)
	add(t, s, first, second)
	for _, test := range []struct {
		id   string
		want string
		err  error
	}{
		{"night-0001", "night-0001", nil},
		{"night-0002"[:9], "", runstore.ErrAmbiguous},
		{"nig", "", runstore.ErrNotFound}, // shorter than MinPrefix
		{"day-0001", "", runstore.ErrNotFound},
		{"", "", runstore.ErrNotFound},
		{"%_*?", "", runstore.ErrNotFound},
	} {
		e, err := s.Get(t.Context(), test.id)
		wantError(t, "get "+test.id, err, test.err)
		wantEqual(t, "get "+test.id, e.Run.ID, test.want)
	}
	digest, err := second.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{9, 64} {
		e, err := s.Get(t.Context(), digest[:n])
		wantError(t, "get by digest", err, nil)
		wantEqual(t, "get by digest", e.Run.ID, "night-0002")
	}
	add(t, s, exact)
	e, err := s.Get(t.Context(), "night-000")
	wantError(t, "get an id that also begins others", err, nil)
	wantEqual(t, "get an id that also begins others", e.Run.ID, "night-000")
}

func newestMarkCounts(t *testing.T, s runstore.Store) {
	add(t, s, newRun("a", day(1), nil, 1))
	state := func() runstore.State {
		e, err := s.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return e.Mark.State
	}
	wantEqual(t, "at first", state(), runstore.Unmarked)
	mark(t, s, runstore.Mark{State: runstore.Accepted, Note: "nightly"}, "a", "a")
	wantEqual(t, "accepted", state(), runstore.Accepted)
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "a")
	wantEqual(t, "then rejected", state(), runstore.Rejected)
	mark(t, s, runstore.Mark{State: runstore.Accepted, At: time.Unix(1, 0)}, "a")
	wantEqual(t, "an older mark added later", state(), runstore.Rejected)

	future := time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC)
	mark(t, s, runstore.Mark{State: runstore.Accepted, At: future, Note: "clock ahead"}, "a")
	e, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "mark", e.Mark, runstore.Mark{State: runstore.Accepted, At: future, Note: "clock ahead"})
	mark(t, s, runstore.Mark{State: runstore.Rejected}, "a")
	wantEqual(t, "a mark of now after one of a clock ahead", state(), runstore.Rejected)
}

func markIsAllOrNone(t *testing.T, s runstore.Store) {
	partial := newRun("partial", day(2), nil, 2)
	partial.Status = run.Partial
	add(t, s, newRun("whole", day(1), nil, 1), partial)
	m := runstore.Mark{State: runstore.Accepted}
	wantError(t, "an id that is not there", s.Mark(t.Context(), []string{"whole", "missing"}, m), runstore.ErrNotFound)
	wantError(t, "a partial run", s.Mark(t.Context(), []string{"whole", "partial"}, m), runstore.ErrNotComplete)
	wantEqual(t, "accepted", list(t, s, runstore.Filter{States: []runstore.State{runstore.Accepted}}), []string{})
}

func onlyCompleteIsAccepted(t *testing.T, s runstore.Store) {
	for i, status := range []run.Status{run.Partial, run.Failed} {
		r := newRun(string(status), day(i+1), nil, 1)
		r.Status, r.Warnings = status, []run.Warning{{Text: "the app crashed"}}
		if status == run.Failed { // as where the app crashed at once
			r.Iterations = []run.Iteration{}
		}
		add(t, s, r)
		e, err := s.Get(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "what is kept", e.Run, r)
		for _, state := range []runstore.State{runstore.Accepted, runstore.Rebaselined} {
			wantError(t, "mark as "+string(state), s.Mark(t.Context(), []string{r.ID}, runstore.Mark{State: state}), runstore.ErrNotComplete)
		}
		mark(t, s, runstore.Mark{State: runstore.Rejected}, r.ID)
	}
	wantEqual(t, "references", ids(references(t, s, query(nil))), []string{})
}

func hostileTextComesBack(t *testing.T, s runstore.Store) {
	for i, text := range []string{
		"'; DROP TABLE runs; --", `"quoted" \ back`, "nul\x00inside", "line\nbreak\r\t", "\u202eright to left", "😀\U0010ffff",
		"%_*?[a-z]", strings.Repeat("long ", run.MaxText/5),
	} {
		r := newRun("id "+text[:min(len(text), 100)], day(i+1), map[string]string{text: text, "": ""}, float64(i))
		r.Scenario, r.App.Package, r.Session = text, text, text
		r.Source = run.Source{Repository: text, Commit: text, Ref: text, Head: text, Base: text, Merge: text}
		r.Iterations[0].Events = []run.Bucket{{Name: text, Metrics: map[string]float64{text: 1}}}
		r.Warnings = []run.Warning{{Text: text}}
		r.Energy = &run.Energy{Source: text, Wakelocks: []run.Wakelock{{Name: text, HeldMS: 1}}, Methods: &run.Methods{List: []run.Method{{Name: text}}}}
		r.ANRs = []run.ANR{{Kind: run.ANRInput, Repetition: 1, Reason: text}}
		r.Evidence = []run.Evidence{{Digest: strings.Repeat("ab", 32), Kind: run.ThreadDump, Name: "traces.txt", Bytes: 10, Event: text, Why: text}}
		accept(t, s, r)
		e, err := s.Get(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "run", e.Run, r)
		f := runstore.Filter{
			Package: text, Scenario: text, Session: text, Commit: text, Where: map[string]string{text: text}, IDs: []string{r.ID},
		}
		wantEqual(t, "list", list(t, s, f), []string{r.ID})
		found := references(t, s, runstore.Query{Package: text, Scenario: text})
		if len(found) != 1 {
			t.Fatalf("%d references for %q, want 1", len(found), text)
		}
		wantEqual(t, "context", found[0].Context, r.Context)
		wantEqual(t, "cell", found[0].Cells.Map()[run.Cell{Event: text, Metric: text}], 1.0)
	}
}

func extremeTimesComeBack(t *testing.T, s runstore.Store) {
	times := []time.Time{ // in order
		{},
		time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(2026, 11, 20, 22, 0, 0, 0, time.FixedZone("", 2*3600)),
		time.Date(2026, 11, 20, 20, 0, 0, 1, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
	}
	var runs []run.Run
	for i, at := range times {
		runs = append(runs, newRun(fmt.Sprint(i), at, nil, 1))
	}
	accept(t, s, runs...)
	found := references(t, s, query(nil))
	wantEqual(t, "order", ids(found), []string{"5", "4", "3", "2", "1", "0"})
	for i, summary := range found {
		if want := times[len(times)-1-i]; !summary.Started.Equal(want) || summary.Started.Location() != time.UTC {
			t.Errorf("run %s started %v, want %v in UTC", summary.ID, summary.Started, want)
		}
	}
	wantEqual(t, "list", list(t, s, runstore.Filter{From: times[3], Until: times[5]}), []string{"4", "3"})
}

func badRequests(t *testing.T, s runstore.Store) {
	add(t, s, newRun("a", day(1), nil, 1))
	for what, m := range map[string]runstore.Mark{
		"no state":             {},
		"unknown state":        {State: "fine"},
		"level of another":     {State: runstore.Accepted, Since: day(1)},
		"note of invalid text": {State: runstore.Accepted, Note: "\xff"},
		"endless note":         {State: runstore.Accepted, Note: strings.Repeat("x", run.MaxText+1)},
	} {
		if err := s.Mark(t.Context(), []string{"a"}, m); err == nil {
			t.Errorf("a mark with %s was taken", what)
		}
	}
	q := query(nil)
	q.Centre = "mode"
	if _, err := s.References(t.Context(), q); err == nil {
		t.Error("a query for an unknown centre was answered")
	}
	q = query(nil)
	q.Limit = -1
	if _, err := s.References(t.Context(), q); err == nil {
		t.Error("a query for -1 references was answered")
	}
	if _, err := s.Prune(t.Context(), runstore.Retention{}, nil); err == nil {
		t.Error("a retention of nothing was carried out")
	}
	wantEqual(t, "list", list(t, s, runstore.Filter{}), []string{"a"})
}
