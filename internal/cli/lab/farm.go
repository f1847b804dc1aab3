package lab

import (
	"context"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/evidence"
)

// Farm makes runs on phones that no adb reaches, instead of devices: the configuration's
// devices are then the farm's kinds of phones. Package farmed has one.
type Farm interface {
	// Title is the farm's in sentences.
	Title() string
	// Measure makes the jobs, and returns their results in order. ended is told of each, one
	// at a time. Files that are kept with the runs go to keep; nil keeps none.
	Measure(ctx context.Context, jobs []collect.Job, keep evidence.Keeper, ended func(job int, r collect.Result)) []collect.Result
	// Interleave measures each job and the head's job at its place side by side, in the order
	// of the jobs. more is asked as that of fleet.Turns is; ended is told of each run. Where
	// nothing was begun both results are collect.ErrNoTime.
	Interleave(ctx context.Context, bases, heads []collect.Job, more func(job int, so collect.Progress) int, ended func(job int, r collect.Result)) (base, head []collect.Result)
	// Affords is how many rounds of both builds what is left to spend pays for, on all of the
	// units.
	Affords(units []Unit) int
}

// onFarm makes the jobs of the plan that are not known on a farm.
func (p plan) onFarm(ctx context.Context, farm Farm, jobs []collect.Job, k *keeper, shown *Progress, ended func(Unit, collect.Result)) []collect.Result {
	return farm.Measure(ctx, jobs, k.taking(), func(job int, r collect.Result) {
		ended(p.units[p.places[job]], r)
		shown.Finished(job, r) // now that it is kept
	})
}
