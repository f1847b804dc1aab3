// Package judging sets runs beside the history that they are judged by, and makes of
// the verdict what a report needs beside it.
//
// It asks a history once for all runs that ask alike, and keeps of a file no more than
// it needs, so that thousands of runs fit into memory. The verdict is package gate's.
package judging

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/apkgate/apkgate/baseline"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/settings"
)

// Past is where the runs of the history come from.
type Past struct {
	// Like gives the runs to compare one with, most similar first. All runs that
	// ask alike share the answer (see Query).
	Like func(run.Run) ([]run.Summary, error)
	// whole gives one of them in full, and entry what was decided about it too; of
	// files, all of which count, entry is nil.
	whole func(id string) (run.Run, error)
	entry func(id string) (baseline.Entry, error)
	// anrs are what did not respond in an app's runs, whatever was decided of them.
	anrs func(pkg string) ([]anrcause.Past, error)
	// Sound is the store that they come from; nil where it is a file.
	Sound *baseline.Sound
	// from are the commits that judge; nil where all do.
	from *descent
}

// Each hands over the references of each run with the run's place. It asks once
// for all runs that ask alike, and works on several at a time: the answers of all
// would not fit into memory together.
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
					continue // somebody is free to work on it
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

// garbagePercent is how much garbage is left until it is collected, in percent of what
// lives: a check makes and drops what thousands of runs are summed up to. 160 runs against
// 1,000,000 take 450 MB this way, and a fifth less processor time than with Go's 100.
const garbagePercent = 200

// Check makes the verdict on runs. also gets what each is compared with, too,
// unless it is nil.
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

// Query asks a history for the runs to compare one with.
func Query(r run.Run, set settings.Settings) baseline.Query {
	q := baseline.For(r)
	q.Use, q.Centre = set.Policy.Use, set.Policy.Centre
	return q
}

// comparableWith names what a query's answer is chosen from: runs of another
// scenario, or whose numbers came about in another way, are never in it.
func comparableWith(q baseline.Query) string {
	return fmt.Sprintf("%q %q %q", q.Package, q.Scenario, devctx.Only(q.Context, devctx.Hard))
}

// OfStore is the history in the sound part of a store, of the commits that a build stands
// on, those of the newest first.
func OfStore(ctx context.Context, store *baseline.Sound, set settings.Settings, on Lineage) Past {
	from := newDescent(on)
	// Where an answer is all that there is of a scenario, as in most labs, the
	// other phones get the same runs in another order.
	var mu sync.Mutex
	all := map[string][]run.Summary{}
	entry := func(id string) (baseline.Entry, error) {
		e, err := store.Get(ctx, id)
		if errors.Is(err, baseline.ErrDamaged) {
			store.PassOver(id, err)
			err = baseline.ErrNotFound
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
				return from.judging(baseline.Nearest(known, q)), nil
			}
			refs, err := store.References(ctx, q)
			if err != nil {
				return nil, exit.Infrastructure(fmt.Errorf("ask the history for runs like %s: %w", r.ID, err))
			}
			if len(from.Commits) == 0 && len(refs) < baseline.DefaultLimit {
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
			found, err := store.ANRs(ctx, baseline.ANRQuery{Package: pkg})
			past := make([]anrcause.Past, len(found))
			for i, e := range found {
				past[i] = PastOf(e)
			}
			return past, err
		},
	}
}
