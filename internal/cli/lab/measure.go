package lab

import (
	"cmp"
	"context"
	"errors"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/cli/console"
	"github.com/apkgate/apkgate/internal/cli/exit"
	"github.com/apkgate/apkgate/internal/cli/stores"
	"github.com/apkgate/apkgate/run"
)

// Measure makes the runs of a configuration. keep is given each as soon as it is
// there, so that an interrupt loses none that was whole.
func Measure(ctx context.Context, c console.Console, cfg *config.Config, f CollectFlags, keep func(run.Run) error) (results []collect.Result, err error) {
	profiles, err := KeepProfiles(cfg.Energy)
	if err != nil {
		return nil, err
	}
	devices, closing, err := Ready(ctx, c, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	keeper, err := f.Evidence.keeper(c)
	if err != nil {
		return nil, exit.Infrastructure(err)
	}
	defer keeper.close()
	todo := Jobs(cfg, devices, originOf(c, f))
	shown := NewProgress(c, todo)
	defer shown.Clear()
	var kept error
	lab := collect.Lab{
		Jobs: todo, Parallel: f.Parallel,
		Options: collect.Options{Host: Host(c), Evidence: keeper.taking(), Progress: shown, Now: c.Now},
		Finished: func(r collect.Result) {
			if keep != nil && keepable(r) {
				if err := keep(r.Run); kept == nil { // the first says enough
					kept = err
				}
			}
			if keepable(r) {
				keeper.finished(context.WithoutCancel(ctx), r.Run)
			}
			profiles.Keep(r, "")
			shown.Finished(r) // now that it is kept
		},
	}
	results = lab.Collect(ctx)
	if err := NameRuns(results); err != nil {
		return nil, err
	}
	shown.Clear()
	return results, errors.Join(kept, profiles.Told(c.Stderr))
}

// MeasureInto makes the runs of a configuration and keeps each in the store as soon
// as it is there; nil keeps none. lost is why some are missing: it does not hold up
// the others, but where there is none at all, it is the error.
func MeasureInto(ctx context.Context, c console.Console, cfg *config.Config, f CollectFlags, store baseline.Store) (runs []run.Run, lost, err error) {
	results, err := Measure(ctx, c, cfg, f, func(r run.Run) error {
		if store == nil {
			return nil
		}
		if _, err := store.Add(context.WithoutCancel(ctx), r); err != nil {
			return stores.Error(err)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	lost = LossOf(results)
	if runs = MeasuredRuns(results); len(runs) == 0 {
		return nil, nil, cmp.Or(lost, exit.Infrastructure(errors.New("nothing was measured")))
	}
	return runs, lost, nil
}
