package runstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

func numbered(id string, day int, model string) run.Run {
	return run.Run{
		Format: run.Format, ID: id, Started: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC),
		App: run.App{Package: "app"}, Scenario: "s", Status: run.Complete, Context: map[string]string{"model": model},
		Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 600}}},
	}
}

// referencesAmong answers the query from runs that all count as accepted.
func referencesAmong(runs []run.Run, q runstore.Query) ([]run.Summary, error) {
	ix := runstore.NewIndex(q.Centre)
	for _, r := range runs {
		if _, err := ix.Add(r); err != nil {
			return nil, err
		}
	}
	return ix.References(q)
}

// Runs that differ in their id only are different runs; the same run again is not.
func TestAnIndexGoesByID(t *testing.T) {
	var runs []run.Run
	for i := range 40 {
		r := numbered(fmt.Sprintf("r%d", i), 1, "M")
		runs = append(runs, r, r)
	}
	refs, err := referencesAmong(runs, runstore.Query{Package: "app", Scenario: "s"})
	if err != nil || len(refs) != 40 {
		t.Errorf("%d references, %v; want 40", len(refs), err)
	}
	other := numbered("r7", 2, "M")
	if _, err := referencesAmong(append(runs, other), runstore.Query{Package: "app", Scenario: "s"}); !errors.Is(err, runstore.ErrConflict) {
		t.Errorf("two runs of one id with other content: %v, want ErrConflict", err)
	}
	unnamed := numbered("", 1, "M")
	refs, err = referencesAmong([]run.Run{unnamed, unnamed}, runstore.Query{Package: "app", Scenario: "s"})
	if err != nil || len(refs) != 1 {
		t.Errorf("%d references of one run without an id, %v; want 1", len(refs), err)
	}
}
