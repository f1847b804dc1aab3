package baseline_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/run"
)

func numbered(id string, day int, model string) run.Run {
	return run.Run{
		Format: run.Format, ID: id, Started: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC),
		App: run.App{Package: "app"}, Scenario: "s", Status: run.Complete, Context: map[string]string{"model": model},
		Iterations: []run.Iteration{{Metrics: map[string]float64{"frames.count": 600}}},
	}
}

// Runs that differ in their id only are as many runs; the same run again is not.
func TestFromRunsGoesByID(t *testing.T) {
	var runs []run.Run
	for i := range 40 {
		r := numbered(fmt.Sprintf("r%d", i), 1, "M")
		runs = append(runs, r, r)
	}
	refs, err := baseline.FromRuns(runs, baseline.Query{Package: "app", Scenario: "s"})
	if err != nil || len(refs) != 40 {
		t.Errorf("%d references, %v; want 40", len(refs), err)
	}
	other := numbered("r7", 2, "M")
	if _, err := baseline.FromRuns(append(runs, other), baseline.Query{Package: "app", Scenario: "s"}); !errors.Is(err, baseline.ErrConflict) {
		t.Errorf("two runs of one id with other content: %v, want ErrConflict", err)
	}
	unnamed := numbered("", 1, "M")
	refs, err = baseline.FromRuns([]run.Run{unnamed, unnamed}, baseline.Query{Package: "app", Scenario: "s"})
	if err != nil || len(refs) != 1 {
		t.Errorf("%d references of one run without an id, %v; want 1", len(refs), err)
	}
}

// However the history is given, the answer is the same.
func TestFromSummariesIsFromRuns(t *testing.T) {
	var runs []run.Run
	var summaries []run.Summary
	for i := range 20 {
		r := numbered(fmt.Sprintf("r%d", i), 1+i%5, fmt.Sprint("M", i%3))
		r.Session = fmt.Sprint("night ", i%4)
		runs = append(runs, r)
		summaries = append(summaries, baseline.Summarize(r, run.Median))
	}
	for _, q := range []baseline.Query{
		{},
		{Context: map[string]string{"model": "M1"}},
		{Context: map[string]string{"model": "M1"}, Limit: 9},
		{Context: map[string]string{"model": "M1"}, Use: []string{"sdk"}},
		{ExcludeSession: "night 2", ExcludeIDs: []string{"r5"}},
	} {
		q.Package, q.Scenario = "app", "s"
		want, err := baseline.FromRuns(runs, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := baseline.FromSummaries(summaries, q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-runs +summaries):\n%s", q, diff)
		}
	}
}
