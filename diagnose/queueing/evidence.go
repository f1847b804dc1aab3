package queueing

import (
	"slices"

	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// evidence is what changed in a queue.
type evidence struct {
	capacity, capacityBefore int  // of the unit, and of the one before; 0 where unknown
	moved                    bool // into a unit of another name than from
	from                     string
	fewer                    bool    // tasks run at the same time than before
	newcomers                []int   // groups ahead that were not in the unit before
	added                    []int   // groups ahead with more tasks than before
	longer                   []int   // groups ahead that take longer than before
	uncancelled              bool    // fewer tasks are cancelled, more are started, or fewer are cut short than before
	held                     bool    // tasks ahead are fewer and longer than before: they keep their worker while they wait
	rearranged               bool    // the wait is longer, and the tasks are as many and take as long as before, or nearly
	dropped                  float64 // the part of the tasks that did not start before and do now, 0 for a small one, and elsewhere
	gone                     bool    // more tasks run on after their screen had gone
	paced                    float64
}

// any reports whether the queue itself changed, and not only how long everything takes.
func (e evidence) any() bool { return e.structural() || len(e.longer) > 0 }

// structural reports whether more changed than how long a task takes.
func (e evidence) structural() bool {
	return e.moved || e.fewer || len(e.newcomers)+len(e.added) > 0 || e.uncancelled || e.held || e.rearranged
}

// evidenceOf returns what changed in the queue in which a group of the head waits.
func (c comparison) evidenceOf(at int, ahead []blocker) evidence {
	g := c.head.Groups[at]
	out := evidence{capacity: capacity(c.head.unit(g)), paced: 1}
	if c.alone() {
		return out
	}
	out.paced, _ = c.pace(g.Name)
	out.move(c, g)
	groups := []run.TaskGroup{g}
	for _, b := range ahead {
		blocks := c.head.Groups[b.group]
		groups = append(groups, blocks)
		switch {
		case c.isUnknown(blocks):
		case !c.wasIn(blocks, c.head.unit(g)):
			out.newcomers = append(out.newcomers, b.group)
		case c.isMore(blocks):
			out.added = append(out.added, b.group)
		case c.isLonger(blocks):
			out.longer = append(out.longer, b.group)
			out.held = out.held || c.merged(blocks)
		}
	}
	started, startedBefore := c.part(groups, func(g run.TaskGroup) int { return g.Started })
	cancelled, cancelledBefore := c.part(groups, func(g run.TaskGroup) int { return g.Cancelled })
	obsolete, obsoleteBefore := c.part(groups, func(g run.TaskGroup) int { return g.Obsolete })
	known := slices.DeleteFunc(slices.Clone(groups), func(g run.TaskGroup) bool { return len(c.before(g, side.find)) == 0 })
	if now, was := c.part(known, func(g run.TaskGroup) int { return g.Started }); !out.moved && was > 0 && now-was >= gonePart {
		out.dropped = now - was
	}
	out.uncancelled = c.head.tells(run.TellsCancellation) && fell(cancelledBefore, cancelled) || started-startedBefore >= tenth || slices.ContainsFunc(groups, c.wasCut)
	out.gone = fell(obsolete, obsoleteBefore)
	work, long := 0.0, false // of what is ahead in a repetition, more than before
	for _, g := range groups[1:] {
		now, before := c.ran(g)
		work += (now - before) * float64(g.Started) / float64(c.head.repetitions)
		long = long || now > 0 && now >= asLong*before
	}
	grew := c.change(g, []int{at}, longestWait, out.paced).Mean
	out.rearranged = !out.any() && len(ahead) > 0 && (!long || grew > beyondWork*work)
	return out
}

// asLong is the factor up to which tasks take as long as before, and beyondWork is by which one a wait
// is longer than all that they take longer, before that is not why. Tasks that were cut short before
// take longer on average now, by the factor cut; the shortest of them was shorter than a half of the
// longest then, and is closer to it now by even.
const (
	asLong     = 1.1
	beyondWork = 2
	cut        = 1.25
	half       = 0.5
	even       = 0.3
)

// ran returns how long the tasks of a group take on average, now and before; 0 for none.
func (c comparison) ran(g run.TaskGroup) (now, before float64) {
	now, _ = meanRan([]run.TaskGroup{g})
	before, _ = meanRan(c.before(g, side.find))
	return now, before
}

// wasCut reports whether tasks of a group were cut short before.
func (c comparison) wasCut(g run.TaskGroup) bool {
	earlier, was := c.before(g, side.find), 0.0
	for _, b := range earlier {
		was += evenness(b.Ran) / float64(len(earlier))
	}
	factor, _ := c.pace(g.Name)
	now, before := c.ran(g)
	return len(earlier) > 0 && was < half && evenness(g.Ran) >= was+even && now >= cut*factor*before
}

// evenness returns how long the shortest of some times is, as a share of the longest.
func evenness(s run.Spread) float64 {
	if len(s.QuantilesMS) == 0 || longest(s) == 0 {
		return 1
	}
	return s.QuantilesMS[0] / longest(s)
}

// move sets whether the tasks of a group ran in another unit before, or in one that ran more of
// them at the same time.
func (e *evidence) move(c comparison, g run.TaskGroup) {
	here := unitName(c.head.unit(g))
	runs, elsewhere := 0, 0
	for _, b := range c.base {
		groups := b.findAny(c.head, g)
		if len(groups) == 0 {
			continue
		}
		runs++
		there := b.unit(b.Groups[groups[0]])
		if unitName(there) != here {
			elsewhere++
			e.from = there.Name
		}
		if n := capacity(there); n > 0 && (e.capacityBefore == 0 || n < e.capacityBefore) {
			e.capacityBefore = n
		}
	}
	e.moved = runs > 0 && elsewhere == runs
	e.fewer = e.capacity > 0 && e.capacityBefore > e.capacity
}

// wasIn reports whether the tasks of a group ran in a unit of that name in any run before.
func (c comparison) wasIn(g run.TaskGroup, u run.TaskUnit) bool {
	return slices.ContainsFunc(c.base, func(b side) bool {
		return slices.ContainsFunc(b.findAny(c.head, g), func(k int) bool { return unitName(b.unit(b.Groups[k])) == unitName(u) })
	})
}

// isUnknown reports whether the tasks of a group may have been left out of a run before.
func (c comparison) isUnknown(g run.TaskGroup) bool {
	return slices.ContainsFunc(c.base, func(b side) bool { return b.LeftOut > 0 && len(b.find(c.head, g)) == 0 })
}

// isMore reports whether a repetition has more tasks of a group than before.
func (c comparison) isMore(g run.TaskGroup) bool {
	now := c.change(g, c.head.find(c.head, g), side.count, 1)
	return now.Stands() && now.Mean >= 1
}

// isLonger reports whether the tasks of a group take longer than before, and longer than what all
// others take longer by.
func (c comparison) isLonger(g run.TaskGroup) bool {
	e, ok := c.longerBy(g)
	return ok && e.Stands()
}

// merged reports whether there is a task of a group for two or more of before, whoever scheduled them,
// as of a coroutine that no longer suspends.
func (c comparison) merged(g run.TaskGroup) bool {
	g.Context = nil
	e := c.change(g, c.head.find(c.head, g), side.count, 1)
	return e.head > 0 && 2*e.head <= e.base
}

// beyondLoad is by which factor a task takes longer than any load makes it: one of the paper (6) makes
// those that use what is loaded take up to three times as long.
const beyondLoad = 4

// longerBy returns by how much the longest task of a group in each repetition takes longer than
// before, beyond what everything takes longer by; false where it does not, or where others do too. Only
// builds that are measured alternately have the same load: of others, it is false for what a load may
// do, and where nothing else in the background is as fast as before.
func (c comparison) longerBy(g run.TaskGroup) (estimate, bool) {
	if len(c.before(g, side.find)) == 0 {
		return estimate{}, false
	}
	factor, _ := c.pace(g.Name)
	e := c.change(g, c.head.find(c.head, g), longestRun, factor)
	by := e.head / e.was
	return e, e.base > 0 && !c.common(g.Name, by) && (contrast.InTurns(c.run, c.earlier) || by >= beyondLoad && c.witnessed(g.Name, by))
}

// tenth is the least share of tasks by which those that are cancelled, or obsolete, change.
const tenth = 0.1

// part returns the share of the scheduled tasks that count, now and before.
func (c comparison) part(groups []run.TaskGroup, of func(run.TaskGroup) int) (now, before float64) {
	share := func(all []run.TaskGroup) float64 {
		n, scheduled := 0, 0
		for _, g := range all {
			n, scheduled = n+of(g), scheduled+g.Scheduled
		}
		if scheduled == 0 {
			return 0
		}
		return float64(n) / float64(scheduled)
	}
	var earlier []run.TaskGroup
	for _, g := range groups {
		earlier = append(earlier, c.before(g, side.find)...)
	}
	return share(groups), share(earlier)
}

// fell reports whether a share of tasks is less than a half of another, and a tenth of all less.
func fell(from, to float64) bool { return from-to >= tenth && to <= from/2 }
