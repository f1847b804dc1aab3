package measurement

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/fleet"
	"github.com/apkgate/apkgate/usecase/openstore"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Measure makes the runs of a configuration that are not known. keep receives each as soon as it is
// there, so that an interrupt loses no complete one; known ones come first. The results are in the
// order of Units.
func Measure(ctx context.Context, c terminal.Console, cfg *config.Config, f CollectFlags, keep func(run.Run) error) ([]collect.Result, error) {
	profiles, err := KeepProfiles(cfg.Energy)
	if err != nil {
		return nil, err
	}
	keeper, err := f.Evidence.keeper(c)
	if err != nil {
		return nil, exit.Infrastructure(err)
	}
	defer keeper.close()
	var kept error // the first says enough
	store := func(r collect.Result) {
		if !keepable(r) {
			return
		}
		if keep != nil {
			kept = cmp.Or(kept, keep(r.Run))
		}
		keeper.finished(context.WithoutCancel(ctx), r.Run)
	}
	p := f.plan(cfg)
	if f.Evidence.APK && f.Merged {
		if err := p.withBuild(ctx, keeper, cfg); err != nil {
			return nil, err
		}
	}
	for _, place := range p.asked {
		if r, known := p.known[place]; known {
			store(r)
		}
	}
	made, err := p.measure(ctx, c, cfg, f, keeper, func(u Unit, r collect.Result) {
		profiles.Keep(r, "")
		if f.Ended != nil {
			kept = cmp.Or(kept, f.Ended(u, r))
		}
		store(r)
	})
	if err != nil {
		return nil, errors.Join(kept, err)
	}
	results := p.inOrder(made)
	if err := NameRuns(results); err != nil {
		return nil, errors.Join(kept, err)
	}
	return results, errors.Join(kept, profiles.PrintSummary(c.Stderr))
}

// measure makes the runs of the plan that are not known, on devices that are prepared for it if
// there are any. ended is called for each, one at a time.
func (p plan) measure(ctx context.Context, c terminal.Console, cfg *config.Config, f CollectFlags, k *keeper, ended func(Unit, collect.Result)) ([]collect.Result, error) {
	if len(p.places) == 0 {
		return nil, nil
	}
	r, err := readyFor(ctx, c, cfg, f.Farm, measuring{f.Parallel, f.Again, f.Session, f.Pool, f.Tape})
	if err != nil {
		return nil, err
	}
	defer r.close()
	todo := chosen(jobs(cfg, r.devices, OriginOf(c, f)), p.places)
	r.printPlaces(c, f.Parallel, todo)
	if f.Evidence.APK {
		build, err := k.build(ctx, cfg.App)
		if err != nil {
			return nil, err
		}
		for i := range todo {
			todo[i].Files = build
		}
	}
	shown := NewProgress(c, todo)
	defer shown.Clear()
	if f.Farm != nil {
		return p.onFarm(ctx, f.Farm, todo, k, shown, ended), nil
	}
	options := collect.Options{Host: Host(c), Evidence: k.receiver(), Progress: shown, Now: c.Now}
	end := func(_ int, r collect.Result) collect.Result { return r }
	if f.Tape != nil {
		r.stations, options.Now = taped(f.Tape, r.stations), f.Tape.Now
		end = func(job int, r collect.Result) collect.Result { return f.Tape.Ended(todo[job], r) }
	}
	lab := fleet.Lab{
		Jobs: todo, Stations: r.stations, Parallel: f.Parallel, Places: r.places, Stay: r.stay, Options: options,
		Finished: func(job int, r collect.Result) {
			r = end(job, r)
			ended(p.units[p.places[job]], r)
			shown.Finished(job, r) // now that it is stored
		},
	}
	made := lab.Collect(ctx)
	for i := range made {
		made[i] = end(i, made[i])
	}
	return made, nil
}

// Measured is the result of measuring.
type Measured struct {
	// Runs are those that are stored and judged, and Places the index of each among the
	// configuration's runs (Units).
	Runs   []run.Run
	Places []int
	// Lost is why some are missing; nil if none are.
	Lost error
	// Missing are the keys of the units without any measurement, in their order.
	Missing []string
	// Took is how long the parts of each run took.
	Took []collect.Took
}

// Note returns a report's note on missing runs, "" if there are none. The verdict has the reasons.
func (m Measured) Note() string {
	if len(m.Missing) == 0 {
		return ""
	}
	return fmt.Sprintf("%s missing: %s", prose.Count(len(m.Missing), "run is", "runs are"), prose.Few(m.Missing, mostMissing))
}

// Lacking returns what is missing of what was to be measured or compared with, for the reason loss:
// "" if that is nil.
func (m Measured) Lacking(loss error) string {
	if loss == nil {
		return ""
	}
	text := prose.Clip(prose.OneLine(loss.Error()), mostLoss)
	if n := len(m.Missing); n > 0 {
		return fmt.Sprintf("%d of %s %s missing: %s", n, prose.Count(n+len(m.Runs), "run", "runs"), prose.Plural(n, "is", "are"), text)
	}
	return "not everything could be done: " + text
}

// mostLoss limits the characters of an error in a verdict.
const mostLoss = 300

// mostMissing limits the units that a note lists.
const mostMissing = 10

// MeasureInto makes the runs of a configuration and stores each as soon as it is there; a nil store
// stores none. A loss does not affect the other runs; if everything is lost, it is the error.
func MeasureInto(ctx context.Context, c terminal.Console, cfg *config.Config, f CollectFlags, store runstore.Store) (Measured, error) {
	results, err := Measure(ctx, c, cfg, f, func(r run.Run) error { return AddTo(ctx, store, r) })
	if err != nil {
		return Measured{}, err
	}
	out, units := Measured{Lost: LossOf(results)}, Units(cfg)
	for i, r := range results {
		place := i
		if f.Only != nil {
			place = f.Only[i]
		}
		if !keepable(r) {
			out.Missing = append(out.Missing, units[place].Key())
			continue
		}
		out.Runs, out.Places, out.Took = append(out.Runs, r.Run), append(out.Places, place), append(out.Took, r.Took)
	}
	if len(out.Runs) == 0 {
		return out, cmp.Or(out.Lost, exit.Infrastructure(errors.New("nothing was measured")))
	}
	return out, nil
}

// AddTo stores a run; a nil store stores nothing.
func AddTo(ctx context.Context, store runstore.Store, r run.Run) error {
	if store == nil {
		return nil
	}
	if _, err := store.Add(context.WithoutCancel(ctx), r); err != nil {
		return openstore.Error(err)
	}
	return nil
}
