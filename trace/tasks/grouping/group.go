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
	number          int // in the order of appearance
	identity, event int32
	tasks           []*item
	queued, ran     time.Duration // the longest
	rank            int           // its place in the record, -1 where it is left out
	ahead           tally         // of its tasks, while those that others waited for are added up
}

// Tasks returns the section of all repetitions; nil if they had no tasks.
func (c *Collector) Tasks() *run.Tasks {
	if c.kept == 0 {
		return nil
	}
	s := summary{Collector: c, out: &run.Tasks{Source: c.source, Tells: c.tells.Words()}}
	for _, p := range c.parts {
		s.apart = max(s.apart, p.slot()+1)
	}
	for i, one := range s.choose(s.group()) {
		s.summarize(one, &s.out.Groups[i])
	}
	return s.out
}

// summary makes the section.
type summary struct {
	*Collector
	out        *run.Tasks
	identities numbered[identity]
	apart      int // repetitions that are counted separately
}

// group puts the tasks into groups, in the order of their appearance.
func (s *summary) group() (all []*group) {
	stacks := s.contexts.stacks
	clusters := clusters(stacks[:min(len(stacks), maxContexts)], Threshold)
	identities := make([]int32, len(s.keys.all)) // of keys
	for i, k := range s.keys.all {
		one := identity{unit: k.unit, name: k.name, cluster: -1}
		if k.stack >= 0 {
			one.cluster = clusters[k.stack]
		}
		identities[i] = s.identities.of(one)
	}
	type pair struct{ identity, event int32 }
	groups := map[pair]*group{}
	for _, p := range s.parts {
		same := map[int32][]*item{}
		for i := range p.items {
			one := &p.items[i]
			if one.key < 0 {
				continue
			}
			in := pair{identities[one.key], one.event}
			if in.event >= maxEvents {
				in.event = -1
			}
			if groups[in] == nil {
				groups[in] = &group{number: len(all), identity: in.identity, event: in.event, rank: -1}
				all = append(all, groups[in])
			}
			groups[in].add(one)
			same[in.identity] = append(same[in.identity], one)
		}
		for _, list := range same {
			supersede(list)
		}
	}
	return all
}

func (g *group) add(one *item) {
	one.group = g
	g.tasks = append(g.tasks, one)
	queued, ran := took(one.task())
	g.queued, g.ran = max(g.queued, queued), max(g.ran, ran)
}

// supersede marks the tasks that waited while the same task was scheduled again.
func supersede(same []*item) {
	var times []time.Duration
	for _, one := range same {
		if t := one.task(); t.Scheduled != tasks.Unknown {
			times = append(times, t.Scheduled)
		}
	}
	slices.Sort(times)
	for _, one := range same {
		if t := one.task(); t.Scheduled != tasks.Unknown && t.Started != tasks.Unknown {
			next, _ := slices.BinarySearch(times, max(due(*t), t.Scheduled+1))
			one.superseded = next < len(times) && times[next] < t.Started
		}
	}
}

// choose chooses the groups that are kept, those with the longest times first, and adds them to the
// section with their units.
func (s *summary) choose(all []*group) (kept []*group) {
	slices.SortStableFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(max(b.queued, b.ran), max(a.queued, a.ran)), cmp.Compare(len(b.tasks), len(a.tasks)))
	})
	units := map[int32]int{}
	for _, one := range all {
		unit := s.identities.all[one.identity].unit
		at, known := units[unit]
		if len(kept) == run.MaxTaskGroups || !known && len(s.out.Units) == run.MaxTaskUnits {
			s.out.LeftOut++
			continue
		}
		if !known {
			at = len(s.out.Units)
			units[unit] = at
			s.out.Units = append(s.out.Units, s.units.all[unit])
		}
		to := run.TaskGroup{Unit: at}
		to.Name, to.Context = s.name(one)
		if one.event >= 0 {
			to.Event = prose.Fit(s.events.all[one.event], run.MaxText)
		}
		one.rank = len(kept)
		kept, s.out.Groups = append(kept, one), append(s.out.Groups, to)
	}
	return kept
}

// name returns the name of a group, and the context that scheduled most of its tasks.
func (s *summary) name(of *group) (name string, context []string) {
	name = s.identities.all[of.identity].name
	counts := map[int32]int{}
	for _, one := range of.tasks {
		if stack := s.keys.all[one.key].stack; stack >= 0 {
			counts[stack]++
		}
	}
	if len(counts) == 0 {
		return name, nil
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b int32) int { return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a)) })
	stack := s.contexts.stacks[most]
	for _, line := range stack.raw[:min(len(stack.raw), maxFrames)] {
		context = append(context, prose.Fit(line, maxLine))
	}
	return cmp.Or(name, trace.Label(stack.scheduler)), context
}

// ms returns a time with the precision of a trace's.
func ms(d time.Duration) float64 {
	return float64(max(d, 0).Round(time.Microsecond).Microseconds()) / 1000
}
