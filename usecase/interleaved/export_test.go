package interleaved

import (
	"context"
	"iter"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// InRounds is a run of mail in rounds on phone a that a job left in the history, with a repetition
// for each round.
func InRounds(commit, session string, rounds int, change ...func(*run.Run)) run.Run {
	r := run.Run{
		App: run.App{Package: "app"}, Source: run.Source{Commit: commit}, Session: session, Scenario: "mail", Status: run.Complete,
		Context: map[string]string{"model": "a", "sdk": "15"}, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for range rounds {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": 10}})
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

// Later makes a run begin so many hours later.
func Later(hours int) func(*run.Run) {
	return func(r *run.Run) { r.Started = r.Started.Add(time.Duration(hours) * time.Hour) }
}

// Failing is a history that lists an error before its runs, or returns one instead of a run.
type Failing struct {
	runstore.Store
	ListError, GetError error
	Of                  string
}

func (f Failing) List(ctx context.Context, filter runstore.Filter) iter.Seq2[runstore.Entry, error] {
	return func(yield func(runstore.Entry, error) bool) {
		if f.ListError != nil && !yield(runstore.Entry{}, f.ListError) {
			return
		}
		for e, err := range f.Store.List(ctx, filter) {
			if !yield(e, err) {
				return
			}
		}
	}
}

func (f Failing) Get(ctx context.Context, id string) (runstore.Entry, error) {
	if id == f.Of {
		return runstore.Entry{}, f.GetError
	}
	return f.Store.Get(ctx, id)
}
