// Package fleet makes many runs on many devices: in parallel if there are several, successively on
// each device, and those of a device that fails on another like it.
//
// It owns the life of stations while a command measures, the assignment of jobs to them, the
// division of time among their jobs, and the reporting. Making a run belongs to package collect,
// choosing the next one to package queue, and booting a device to package device/lab/boot.
//
// A run is the same whichever station made it. Jobs know their profile, and nothing of a station
// enters what they measure except that one was lost.
package fleet

import (
	"context"
	"time"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/usecase/fleet/queue"
)

// Lab makes jobs on stations.
type Lab struct {
	// Jobs are the runs to make, each on a station of its Device's profile, which binds the job to
	// the device.
	Jobs     []collect.Job
	Stations []Station
	// Parallel limits how many stations are started at the same time; 0 is all of them. Places
	// limit those that share a place.
	Parallel int
	Places   map[string]int
	// Stay leaves idle stations started for later use: they are stopped only if others need their
	// room.
	Stay    bool
	Options collect.Options
	// Finished receives each result, with its job's index, as soon as it is there, so that a caller
	// can store what was measured before an interrupt; nil for none. It and Progress are never
	// called at the same time, and no device waits for either; all calls are done when the Lab's
	// method returns.
	Finished func(job int, r collect.Result)
}

// Collect makes all runs and returns their results, in the order of the jobs. A failed station does
// not affect the others. Stations that are still started when it returns, because of Stay or an
// interrupt, are their owner's to stop.
func (l Lab) Collect(ctx context.Context) []collect.Result {
	jobs, modules := l.Jobs, modulesOf(l.Jobs)
	l.Jobs = leaders(jobs, modules)
	made := make([][]*collect.Result, len(modules)) // of modules, those that are complete
	for i, places := range modules {
		made[i] = make([]*collect.Result, len(places))
	}
	all := l.drive(ctx, work{
		do: func(ctx context.Context, t turn) []collect.Result {
			if len(modules[t.place]) == 1 {
				return []collect.Result{collect.Collect(ctx, t.job, t.options)}
			}
			return module(ctx, t, bound(t.job, jobs, modules[t.place]), made[t.place])
		},
		unmade: func(place int, options collect.Options, why error) (out []collect.Result) {
			for k, at := range modules[place] {
				if r := made[place][k]; r != nil {
					out = append(out, *r)
					continue
				}
				out = append(out, collect.NotStarted(jobs[at], options, why))
			}
			return out
		},
		tell: func(place, k int) (at int, told bool) { return modules[place][k], made[place][k] != nil },
	})
	out := make([]collect.Result, len(jobs))
	for place, results := range all {
		for k, r := range results {
			out[modules[place][k]] = r
		}
	}
	return out
}

// Turns limits for how long each job and its head job take turns.
type Turns struct {
	// More is called like collect.Turns.More, with the job's index. Each job then has all the
	// remaining time, in the order of the jobs, so that the first is settled before another is
	// started. nil: each scenario's repetitions, and each station divides its time among its jobs,
	// so that a later one has what an earlier one did not need.
	More func(job int, so collect.Progress) int
	// Repetitions are those of each build in a round, by job; nil: 1.
	Repetitions []int
	// Within is the time for all of it, 0 for no limit.
	Within time.Duration
}

// Interleave makes each job alternately with the head job of the same index (see collect.Interleave),
// of which there are as many. Stations that work in parallel have the same time. Rounds measured on
// a station that is then lost are kept, and not repeated, since More has judged them already.
func (l Lab) Interleave(ctx context.Context, heads []collect.Job, turns Turns) (base, head []collect.Result) {
	shares := l.shareOut(turns.Within)
	pair := func(ctx context.Context, t turn) []collect.Result {
		p := collect.Pair{Base: t.job, Head: heads[t.place]}
		jobs := t.ahead
		if turns.More != nil {
			p.More = func(so collect.Progress) int { return turns.More(t.place, so) }
			jobs = 1 // each has all that is left: More decides what is worth it
		}
		if turns.Repetitions != nil {
			p.Repetitions = turns.Repetitions[t.place]
		}
		share := shares[t.station]
		p.Within = share.begin(t.job.Clock, jobs)
		base, head := collect.Interleave(ctx, p, t.options)
		share.end()
		return []collect.Result{base, head}
	}
	unmade := func(place int, options collect.Options, why error) []collect.Result {
		return []collect.Result{collect.NotStarted(l.Jobs[place], options, why), collect.NotStarted(heads[place], options, why)}
	}
	for _, its := range l.drive(ctx, work{do: pair, unmade: unmade, once: true}) {
		base, head = append(base, its[0]), append(head, its[1])
	}
	return base, head
}

// queue returns the queue of the lab's jobs.
func (l Lab) queue() *queue.Queue {
	var units []queue.Unit
	for _, job := range l.Jobs {
		units = append(units, queue.Unit{Profile: job.Device, Cost: job.Cost.Seconds()})
	}
	var stations []queue.Station
	for _, s := range l.Stations {
		stations = append(stations, queue.Station{Profile: s.Profile, Place: s.Place})
	}
	return queue.New(units, stations, queue.Bounds{All: l.Parallel, Places: l.Places}, l.Stay)
}
