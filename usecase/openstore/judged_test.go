package openstore

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/memory"
)

// The gate rejects worse or invalid runs that nobody has decided on, and undoes nobody's decision
// if a session is judged again.
func TestJudgedRejectsUndecidedRuns(t *testing.T) {
	store := memory.New(time.Now)
	var v gate.Verdict
	for id, outcome := range map[string]gate.Outcome{"worse": gate.Regression, "accepted": gate.Regression, "broken": gate.Invalid, "fine": gate.Pass, "open": gate.Inconclusive} {
		r := run.Run{Format: run.Format, ID: id, App: run.App{Package: "app"}, Scenario: "s", Status: run.Complete, Context: map[string]string{"model": "a"},
			Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 600}}}, Warnings: []run.Warning{}}
		if _, err := store.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		v.Runs = append(v.Runs, gate.RunVerdict{ID: id, Verdict: outcome})
	}
	if err := store.Mark(t.Context(), []string{"accepted"}, runstore.Mark{State: runstore.Accepted}); err != nil {
		t.Fatal(err)
	}
	v.Runs = append(v.Runs, gate.RunVerdict{ID: "in no history", Verdict: gate.Regression})
	if err := Judged(t.Context(), store, v); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]runstore.State{
		"worse": runstore.Rejected, "broken": runstore.Rejected, "accepted": runstore.Accepted, "fine": runstore.Unmarked, "open": runstore.Unmarked,
	} {
		e, err := store.Get(t.Context(), id)
		if err != nil || e.Mark.State != want || RejectedByGate(e.Mark) != (want == runstore.Rejected) {
			t.Errorf("%s is %+v (%v), want %q", id, e.Mark, err, want)
		}
		if said := map[string]string{"worse": "regression", "broken": "invalid", "accepted": "regression", "fine": "pass", "open": "inconclusive"}[id]; e.Run.Judged == nil || e.Run.Judged.Outcome != said {
			t.Errorf("%s was judged as %+v, want %q", id, e.Run.Judged, said)
		}
	}
	if err := Judged(t.Context(), nil, v); err != nil {
		t.Errorf("of no history: %v", err)
	}
}
