package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/apkgate/apkgate/baseline"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/run"
)

// past is where the runs of the history come from.
type past struct {
	// like gives the runs to compare one with, most similar first. All runs that
	// ask alike share the answer (see query).
	like func(run.Run) ([]run.Summary, error)
	// whole gives one of them in full.
	whole func(id string) (run.Run, error)
	// sound is the store that they come from; nil where it is a file.
	sound *baseline.Sound
}

// each hands over the references of each run with the run's place. It asks once
// for all runs that ask alike, and works on several at a time: the answers of all
// would not fit into memory together.
func (p past) each(runs []run.Run, set settings, do func(place int, refs []run.Summary) error) error {
	type question struct {
		first  run.Run
		places []int
	}
	var questions []*question
	known := map[string]*question{}
	for i, r := range runs {
		q := query(r, set)
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
			refs, err := p.like(q.first)
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

// check makes the verdict on runs. also gets what each is compared with, too,
// unless it is nil.
func (p past) check(runs []run.Run, set settings, also func(place int, refs []run.Summary) error) (gate.Verdict, error) {
	checker := history.NewChecker(set.policy, set.catalogue, len(runs))
	err := p.each(runs, set, func(i int, refs []run.Summary) error {
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

func query(r run.Run, set settings) baseline.Query {
	q := baseline.For(r)
	q.Use, q.Centre = set.policy.Use, set.policy.Centre
	return q
}

// comparableWith names what a query's answer is chosen from: runs of another
// scenario, or whose numbers came about in another way, are never in it.
func comparableWith(q baseline.Query) string {
	return fmt.Sprintf("%q %q %q", q.Package, q.Scenario, devctx.Only(q.Context, devctx.Hard))
}

// pastOf is the history in the sound part of a store, the runs of the commits first.
func pastOf(ctx context.Context, store *baseline.Sound, set settings, commits ...string) past {
	// Where an answer is all that there is of a scenario, as in most labs, the
	// other phones get the same runs in another order.
	var mu sync.Mutex
	all := map[string][]run.Summary{}
	return past{
		sound: store,
		like: func(r run.Run) ([]run.Summary, error) {
			q := query(r, set)
			q.Commits = commits
			mu.Lock()
			known := all[comparableWith(q)]
			mu.Unlock()
			if known != nil {
				return baseline.Nearest(known, q), nil
			}
			refs, err := store.References(ctx, q)
			if err != nil {
				return nil, infrastructure(fmt.Errorf("ask the history for runs like %s: %w", r.ID, err))
			}
			if len(commits) == 0 && len(refs) < baseline.DefaultLimit {
				mu.Lock()
				all[comparableWith(q)] = refs
				mu.Unlock()
			}
			return refs, nil
		},
		whole: func(id string) (run.Run, error) {
			e, err := store.Get(ctx, id)
			if errors.Is(err, baseline.ErrDamaged) {
				store.PassOver(id, err)
				err = baseline.ErrNotFound
			}
			return e.Run, err
		},
	}
}

// accepted are the runs of files, all of which count as accepted. They are read
// once, and of each only its summary is kept, and packed those that tell where
// their energy went.
type accepted struct {
	index  *baseline.Index
	energy map[string][]byte // by id
	newest []run.Run         // the last ones in full, as many as were asked for
}

// readHistory reads files of accepted runs, and keeps the last ones in full.
func (c Command) readHistory(files []string, f importFlags, set settings, keep int) (*accepted, error) {
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	a := &accepted{index: baseline.NewIndex(set.policy.Centre), energy: map[string][]byte{}}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		for r, err := range c.runsIn(path, options) {
			if err == nil {
				err = a.add(r, pack, keep)
			}
			if errors.Is(err, baseline.ErrConflict) {
				return nil, sameID(files, r.ID)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

func (a *accepted) add(r run.Run, pack *zstd.Encoder, keep int) error {
	added, err := a.index.Add(r)
	if err != nil {
		if errors.Is(err, baseline.ErrConflict) {
			return err
		}
		return usage(err, "")
	}
	if !added {
		return nil
	}
	if r.Energy != nil {
		data, err := run.Encode(r)
		if err != nil {
			return usage(err, "")
		}
		a.energy[r.ID] = pack.EncodeAll(data, nil)
	}
	if keep > 0 {
		if len(a.newest) >= 2*keep {
			a.newest = append(a.newest[:0:0], a.newest[len(a.newest)-keep+1:]...)
		}
		a.newest = append(a.newest, r)
	}
	return nil
}

// last are the last runs, at most n.
func (a *accepted) last(n int) []run.Run { return a.newest[max(0, len(a.newest)-n):] }

func (a *accepted) past(set settings) past {
	return past{
		like: func(r run.Run) ([]run.Summary, error) {
			refs, err := a.index.References(query(r, set))
			if err != nil {
				return nil, usage(fmt.Errorf("read the history: %w", err), "")
			}
			return refs, nil
		},
		whole: a.whole,
	}
}

// whole is a run that tells where its energy went.
func (a *accepted) whole(id string) (run.Run, error) {
	packed, ok := a.energy[id]
	if !ok {
		return run.Run{}, fmt.Errorf("run %s: %w", id, baseline.ErrNotFound)
	}
	open, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(run.MaxBytes))
	if err != nil {
		return run.Run{}, err
	}
	defer open.Close()
	data, err := open.DecodeAll(packed, nil)
	if err != nil {
		return run.Run{}, err
	}
	return run.Decode(data)
}

// sameID is of two runs that a verdict could not tell apart.
func sameID(files []string, id string) error {
	return usage(fmt.Errorf("read runs of %s: two runs have the id %q and other content", strings.Join(files, ", "), words.Short(id)),
		"give each an id of its own, or none: it is then named by its content")
}
