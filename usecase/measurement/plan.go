package measurement

import (
	"context"
	"slices"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
)

// plan is what is requested of a configuration's units.
type plan struct {
	units  []Unit                 // all of the configuration
	asked  []int                  // indices among them, in the order of the results
	places []int                  // those of asked that are to be made
	known  map[int]collect.Result // the others, by index
}

// plan returns the units that the flags choose, and which of them are known.
func (f CollectFlags) plan(cfg *config.Config) plan {
	p := plan{units: Units(cfg), asked: f.Only, known: map[int]collect.Result{}}
	if p.asked == nil {
		for place := range p.units {
			p.asked = append(p.asked, place)
		}
	}
	for _, place := range p.asked {
		if f.Known != nil {
			if r, known := f.Known(p.units[place]); known {
				p.known[place] = r
				continue
			}
		}
		p.places = append(p.places, place)
	}
	return p
}

// withBuild attaches the measured build to the known runs, as to those measured here.
func (p plan) withBuild(ctx context.Context, k *keeper, cfg *config.Config) error {
	build, err := k.build(ctx, cfg.App)
	for place, r := range p.known {
		if keepable(r) {
			r.Run.Evidence = slices.Concat(build, r.Run.Evidence)
			p.known[place] = r
		}
	}
	return err
}

// onFarm makes the unknown jobs of the plan on a farm.
func (p plan) onFarm(ctx context.Context, farm Farm, jobs []collect.Job, k *keeper, shown *Progress, ended func(Unit, collect.Result)) []collect.Result {
	return farm.Measure(ctx, jobs, k.receiver(), func(job int, r collect.Result) {
		ended(p.units[p.places[job]], r)
		shown.Finished(job, r) // now that it is stored
	})
}

// inOrder returns the results of everything requested; made are those of places.
func (p plan) inOrder(made []collect.Result) (all []collect.Result) {
	for _, place := range p.asked {
		r, known := p.known[place]
		if !known {
			r, made = made[0], made[1:]
		}
		all = append(all, r)
	}
	return all
}
