package grouping

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Limits of what is kept.
const (
	maxEvents    = 40  // distinguished events; the tasks of others are those of no event
	maxFrames    = 64  // of a context
	maxLine      = 300 // bytes of a frame
	maxQuantiles = run.MaxQuantiles
)

// identity is what the tasks of a group have in common, whatever the event.
type identity struct {
	unit    int32
	name    string
	cluster int32 // of their contexts, -1 where they have none
}

// group is similar tasks of an event.
type group struct {
	identity, event int32
	tasks           []place
	queued, ran     time.Duration // the longest
}

// place is a task: the index of its part, and that in the part.
type place struct{ part, task int32 }

// grouped is the tasks of all repetitions in groups.
type grouped struct {
	*Collector
	identities numbered[identity]
	events     []string // of groups
	groups     []*group
	of         [][]int32 // the group of each task of each part
	again      [][]bool  // the task waited while the same one was scheduled again
	rank       []int32   // of groups: its place in the record, -1 where it is left out
	found      []tally   // of groups, empty between uses
}

// Tasks returns the section of all repetitions; nil if they had no tasks.
func (c *Collector) Tasks() *run.Tasks {
	if c.kept == 0 {
		return nil
	}
	g := c.group()
	out := &run.Tasks{Source: c.source, Tells: c.tells.Words()}
	kept := g.choose(out)
	g.found = make([]tally, len(g.groups))
	for i, one := range kept {
		g.summarize(one, &out.Groups[i])
	}
	return out
}

// group puts the tasks into groups.
func (c *Collector) group() *grouped {
	g := &grouped{Collector: c}
	stacks := c.contexts.stacks
	clusters := clusters(stacks[:min(len(stacks), maxContexts)], Threshold)
	of := make([]int32, len(c.keys.all)) // the identity of each key
	for i, k := range c.keys.all {
		one := identity{unit: k.unit, name: k.name, cluster: -1}
		if k.stack >= 0 {
			one.cluster = clusters[k.stack]
		}
		of[i] = g.identities.of(one)
	}
	g.events = c.events.all[:min(len(c.events.all), maxEvents)]
	type pair struct{ identity, event int32 }
	at := map[pair]int32{}
	for i, p := range c.parts {
		g.of = append(g.of, make([]int32, len(p.tasks)))
		same := map[int32][]int32{}
		for j, t := range p.tasks {
			if t.key < 0 {
				g.of[i][j] = -1
				continue
			}
			one := pair{of[t.key], t.event}
			if int(t.event) >= len(g.events) {
				one.event = -1
			}
			n, ok := at[one]
			if !ok {
				n = int32(len(g.groups))
				at[one] = n
				g.groups = append(g.groups, &group{identity: one.identity, event: one.event})
			}
			g.of[i][j] = n
			g.groups[n].add(place{int32(i), int32(j)}, p.queues.list.Tasks[j])
			same[one.identity] = append(same[one.identity], int32(j))
		}
		g.again = append(g.again, superseded(p.queues.list.Tasks, same))
	}
	return g
}

func (g *group) add(at place, t tasks.Task) {
	g.tasks = append(g.tasks, at)
	if d, ok := t.Queued(); ok {
		g.queued = max(g.queued, d)
	}
	if d, ok := t.Ran(); ok {
		g.ran = max(g.ran, d)
	}
}

// superseded returns which tasks waited while the same task was scheduled again.
func superseded(all []tasks.Task, same map[int32][]int32) []bool {
	out := make([]bool, len(all))
	for _, list := range same {
		var times []time.Duration
		for _, i := range list {
			if all[i].Scheduled != tasks.Unknown {
				times = append(times, all[i].Scheduled)
			}
		}
		slices.Sort(times)
		for _, i := range list {
			if t := all[i]; t.Scheduled != tasks.Unknown && t.Started != tasks.Unknown {
				next, _ := slices.BinarySearch(times, max(due(t), t.Scheduled+1))
				out[i] = next < len(times) && times[next] < t.Started
			}
		}
	}
	return out
}

// choose chooses the groups that are kept, those with the longest times first, and sets their units.
func (g *grouped) choose(out *run.Tasks) (kept []*group) {
	order := slices.SortedStableFunc(slices.Values(g.groups), func(a, b *group) int {
		return cmp.Or(cmp.Compare(max(b.queued, b.ran), max(a.queued, a.ran)), cmp.Compare(len(b.tasks), len(a.tasks)))
	})
	places := map[*group]int32{}
	units := map[int32]int{}
	for _, one := range order {
		unit := g.identities.all[one.identity].unit
		at, known := units[unit]
		if len(kept) == run.MaxTaskGroups || !known && len(out.Units) == run.MaxTaskUnits {
			out.LeftOut++
			continue
		}
		if !known {
			at = len(out.Units)
			units[unit] = at
			out.Units = append(out.Units, g.units.all[unit])
		}
		places[one] = int32(len(kept))
		kept = append(kept, one)
		out.Groups = append(out.Groups, run.TaskGroup{Unit: at})
	}
	for _, one := range g.groups {
		rank, ok := places[one]
		if !ok {
			rank = -1
		}
		g.rank = append(g.rank, rank)
	}
	for i, one := range kept {
		to := &out.Groups[i]
		to.Name, to.Context = g.name(one)
		if one.event >= 0 {
			to.Event = prose.Fit(g.events[one.event], run.MaxText)
		}
	}
	return kept
}

// name returns the name of a group, and the context that scheduled most of its tasks.
func (g *grouped) name(of *group) (name string, context []string) {
	name = g.identities.all[of.identity].name
	counts := map[int32]int{}
	for _, p := range of.tasks {
		if s := g.keys.all[g.parts[p.part].tasks[p.task].key].stack; s >= 0 {
			counts[s]++
		}
	}
	if len(counts) == 0 {
		return name, nil
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b int32) int { return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a)) })
	stack := g.contexts.stacks[most]
	for _, line := range stack.raw[:min(len(stack.raw), maxFrames)] {
		context = append(context, prose.Fit(line, maxLine))
	}
	return cmp.Or(name, trace.Label(stack.scheduler)), context
}

// ms returns a time with the precision of a trace's.
func ms(d time.Duration) float64 {
	return float64(max(d, 0).Round(time.Microsecond).Microseconds()) / 1000
}
