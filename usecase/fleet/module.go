package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect"
)

// modulesOf groups the indices of the jobs that are made together, each group at the place of its
// first: the classes of one Macrobenchmark module on one profile and network. Any other job is
// alone.
func modulesOf(jobs []collect.Job) (modules [][]int) {
	type key struct{ module, device, network string }
	at := map[key]int{}
	for place, j := range jobs {
		k := key{j.Scenario.Module, j.Device, j.Network}
		if i, known := at[k]; known && k.module != "" {
			modules[i] = append(modules[i], place)
			continue
		}
		at[k], modules = len(modules), append(modules, []int{place})
	}
	return modules
}

// leaders returns the first jobs of the modules, each with the cost of its whole module.
func leaders(jobs []collect.Job, modules [][]int) []collect.Job {
	out := make([]collect.Job, len(modules))
	for i, places := range modules {
		out[i] = jobs[places[0]]
		out[i].Cost = 0
		for _, place := range places {
			out[i].Cost += max(jobs[place].Cost, time.Duration(0))
		}
	}
	return out
}

// bound returns the jobs of a module, each on the device of the first.
func bound(first collect.Job, jobs []collect.Job, places []int) []collect.Job {
	out := slices.Repeat([]collect.Job{first}, len(places))
	for i, place := range places {
		out[i].Scenario, out[i].Files = jobs[place].Scenario, jobs[place].Files
	}
	return out
}

// module makes the jobs of a module that are incomplete. made holds the complete ones: they are
// reported at once, so that nothing later loses them, and are not repeated if the device is lost
// with another.
func module(ctx context.Context, t turn, jobs []collect.Job, made []*collect.Result) []collect.Result {
	var todo []collect.Job
	var at []int
	for k, job := range jobs {
		if made[k] == nil {
			todo, at = append(todo, job), append(at, k)
		}
	}
	results := collect.Module(ctx, todo, t.options, func(k int, r collect.Result) {
		if r.Err == nil {
			t.finish(at[k], r)
			made[at[k]] = &r
		}
	})
	out := make([]collect.Result, len(jobs))
	for k := range jobs {
		if made[k] != nil {
			out[k] = *made[k]
		}
	}
	for k, r := range results {
		if made[at[k]] == nil {
			out[at[k]] = r
		}
	}
	return out
}
