// Package judging compares runs with the history that judges them, and adds to the verdict what a
// report needs.
//
// It queries a history once for all runs with equal queries, and keeps no more of a file than it
// needs, so that thousands of runs fit into memory. The verdict belongs to package gate.
package judging

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/settings"
)

// Past is the source of the history's runs.
type Past struct {
	// Like returns the runs to compare a run with, most similar first. Runs with equal queries
	// share the answer (see Query).
	Like func(run.Run) ([]run.Summary, error)
	// whole returns one of them in full, and entry also what was decided about it; for files, all
	// of which count, entry is nil.
	whole func(id string) (run.Run, error)
	entry func(id string) (runstore.Entry, error)
	// anrs returns what did not respond in an app's runs, whatever was decided about them.
	anrs func(pkg string) ([]anrcause.Past, error)
	// Sound is the store that they come from; nil for a file.
	Sound *runstore.Sound
	// from are the commits that judge; nil for all.
	from *descent
}

// Each calls do with the references of each run and the run's place. It queries once for all runs
// with equal queries, and handles several at a time: all answers together would not fit into
// memory.
func (p Past) Each(runs []run.Run, set settings.Settings, do func(place int, refs []run.Summary) error) error {
	type question struct {
		first  run.Run
		places []int
	}
	var questions []*question
	known := map[string]*question{}
	for i, r := range runs {
		q := Query(r, set)
		key := fmt.Sprintf("%s %q", comparableWith(q), q.Properties()) // maps print sorted
		if known[key] == nil {
			known[key] = &question{first: r}
			questions = append(questions, known[key])
		}
		known[key].places = append(known[key].places, i)
	}
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, q := range questions {
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil // another one has failed
			}
			refs, err := p.Like(q.first)
			if err != nil {
				return err
			}
			for _, place := range q.places {
				one := func() error { return do(place, refs) }
				if g.TryGo(one) {
					continue // a worker is free
				}
				if err := one(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// garbagePercent is how much garbage is left until it is collected, in percent of the live heap: a
// check sums up thousands of short-lived runs. 160 runs against 1,000,000 take 450 MB this way, and
// a fifth less processor time than with Go's default of 100.
const garbagePercent = 200

// Check computes the verdict on runs. also is called with the references of each as well, unless it
// is nil.
func (p Past) Check(runs []run.Run, set settings.Settings, also func(place int, refs []run.Summary) error) (gate.Verdict, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	checker := history.NewChecker(set.Policy, set.Catalogue, len(runs))
	err := p.Each(runs, set, func(i int, refs []run.Summary) error {
		checker.Add(i, history.Subject{Run: runs[i], References: refs})
		if also == nil {
			return nil
		}
		return also(i, refs)
	})
	if err != nil {
		return gate.Verdict{}, err
	}
	return checker.Verdict(), nil
}

// Query returns a history's query for the runs to compare one with.
func Query(r run.Run, set settings.Settings) runstore.Query {
	q := runstore.For(r)
	q.Use, q.Centre = set.Policy.Use, set.Policy.Centre
	return q
}

// comparableWith identifies the runs from which a query's answer is chosen: it never contains runs
// of another scenario, or with numbers of another source.
func comparableWith(q runstore.Query) string {
	return fmt.Sprintf("%q %q %q", q.Package, q.Scenario, devctx.Only(q.Context, devctx.Hard))
}

// OfStore returns the history in the sound part of a store, limited to a build's ancestors, those
// of the newest first.
func OfStore(ctx context.Context, store *runstore.Sound, set settings.Settings, on Lineage) Past {
	from := newDescent(on)
	// If an answer contains all runs of a scenario, as in most labs, the other phones get the same
	// runs in another order.
	var mu sync.Mutex
	all := map[string][]run.Summary{}
	entry := func(id string) (runstore.Entry, error) {
		e, err := store.Get(ctx, id)
		if errors.Is(err, runstore.ErrDamaged) {
			store.PassOver(id, err)
			err = runstore.ErrNotFound
		}
		return e, err
	}
	return Past{
		Sound: store,
		from:  from,
		Like: func(r run.Run) ([]run.Summary, error) {
			q := Query(r, set)
			q.Commits = from.Commits
			mu.Lock()
			known := all[comparableWith(q)]
			mu.Unlock()
			if known != nil {
				return from.judging(runstore.Nearest(known, q)), nil
			}
			refs, err := store.References(ctx, q)
			if err != nil {
				return nil, exit.Infrastructure(fmt.Errorf("ask the history for runs like %s: %w", r.ID, err))
			}
			if len(from.Commits) == 0 && len(refs) < runstore.DefaultLimit {
				mu.Lock()
				all[comparableWith(q)] = refs
				mu.Unlock()
			}
			return from.judging(refs), nil
		},
		whole: func(id string) (run.Run, error) {
			e, err := entry(id)
			return e.Run, err
		},
		entry: entry,
		anrs: func(pkg string) ([]anrcause.Past, error) {
			found, err := store.ANRs(ctx, runstore.ANRQuery{Package: pkg})
			past := make([]anrcause.Past, len(found))
			for i, e := range found {
				past[i] = PastOf(e)
			}
			return past, err
		},
	}
}
