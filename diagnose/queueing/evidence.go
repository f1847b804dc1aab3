package queueing

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// evidence is what changed in a queue.
type evidence struct {
	capacity, capacityBefore int  // of the unit, and of the one before; 0 where unknown
	moved                    bool // into a unit of another name than from
	from                     string
	fewer                    bool  // tasks run at the same time than before
	newcomers                []int // groups ahead that were not in the unit before
	added                    []int // groups ahead with more tasks than before
	longer                   []int // groups ahead that take longer than before
	uncancelled              bool  // fewer tasks are cancelled, more are started, or fewer are cut short than before
	rearranged               bool  // the wait is longer, and the tasks are as many and take as long as before
	gone                     bool  // more tasks run on after their screen had gone
	paced                    float64
}

// any reports whether the queue itself changed, and not only how long everything takes.
func (e evidence) any() bool {
	return e.structural() || len(e.longer) > 0
}

// structural reports whether more changed than how long a task takes.
func (e evidence) structural() bool {
	return e.moved || e.fewer || len(e.newcomers)+len(e.added) > 0 || e.uncancelled || e.rearranged
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
	for _, b := range ahead {
		blocks := c.head.Groups[b.group]
		switch {
		case c.isUnknown(blocks):
		case !c.wasIn(blocks, c.head.unit(g)):
			out.newcomers = append(out.newcomers, b.group)
		case c.isMore(b.group):
			out.added = append(out.added, b.group)
		case c.isLonger(b.group):
			out.longer = append(out.longer, b.group)
		}
	}
	groups := []int{at}
	for _, b := range ahead {
		groups = append(groups, b.group)
	}
	now, before := c.part(groups, started)
	out.uncancelled = c.head.tells(run.TellsCancellation) && c.fell(groups, cancelled) || now-before >= tenth || slices.ContainsFunc(groups, c.wasCut)
	out.gone = c.rose(groups, obsolete)
	out.rearranged = !out.any() && len(ahead) > 0 && !slices.ContainsFunc(ahead, func(b blocker) bool { return c.slower(b.group) >= asLong })
	return out
}

// asLong is the factor up to which tasks take as long as before. Tasks that were cut short before
// take longer on average now, by the factor cut; the shortest of them was shorter than a half of the
// longest then, and is closer to it now by even.
const (
	asLong = 1.1
	cut    = 1.25
	half   = 0.5
	even   = 0.3
)

// slower returns by which factor the tasks of a group take longer than before on average.
func (c comparison) slower(group int) float64 {
	g := c.head.Groups[group]
	now, _ := c.head.meanRan([]int{group})
	before, n := 0.0, 0
	for i, groups := range c.same(g, false) {
		ms, k := c.base[i].meanRan(groups)
		before, n = before+ms*float64(k), n+k
	}
	if n == 0 || before == 0 {
		return math.Inf(1)
	}
	return now / (before / float64(n))
}

// wasCut reports whether tasks of a group were cut short before.
func (c comparison) wasCut(group int) bool {
	g := c.head.Groups[group]
	sum, n := 0.0, 0.0
	for i, groups := range c.same(g, false) {
		for _, k := range groups {
			sum, n = sum+evenness(c.base[i].Groups[k].Ran), n+1
		}
	}
	factor, _ := c.pace(g.Name)
	return n > 0 && sum/n < half && evenness(g.Ran) >= sum/n+even && c.slower(group) >= cut*factor
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
	for i, groups := range c.same(g, true) {
		b := c.base[i]
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
	for i, groups := range c.same(g, true) {
		b := c.base[i]
		for _, k := range groups {
			if unitName(b.unit(b.Groups[k])) == unitName(u) {
				return true
			}
		}
	}
	return false
}

// isUnknown reports whether the tasks of a group may have been left out of a run before.
func (c comparison) isUnknown(g run.TaskGroup) bool {
	for i, groups := range c.same(g, false) {
		if len(groups) == 0 && c.base[i].LeftOut > 0 {
			return true
		}
	}
	return false
}

// isMore reports whether a repetition has more tasks of a group than before.
func (c comparison) isMore(group int) bool {
	g := c.head.Groups[group]
	now := change(c.head.count(c.head.find(c.head, g)), c.values(c.same(g, false), side.count), 1)
	return now.stands() && now.mean >= 1
}

// isLonger reports whether the tasks of a group take longer than before, and longer than what all
// others take longer by.
func (c comparison) isLonger(group int) bool {
	g := c.head.Groups[group]
	e, ok := c.longerBy(g)
	return ok && e.stands()
}

// longerBy returns by how much the longest task of a group in each repetition takes longer than
// before, beyond what everything takes longer by; false where it does not, or where others do too.
func (c comparison) longerBy(g run.TaskGroup) (estimate, bool) {
	same := c.same(g, false)
	if !slices.ContainsFunc(same, func(groups []int) bool { return len(groups) > 0 }) {
		return estimate{}, false
	}
	factor, _ := c.pace(g.Name)
	e := change(c.head.each(c.head.find(c.head, g), ranMax), c.values(same, func(s side, at []int) []float64 { return s.each(at, ranMax) }), factor)
	if e.base <= 0 {
		return e, false
	}
	return e, !c.common(g.Name, e.head/e.was)
}

// tenth is the least share of tasks by which those that are cancelled, or obsolete, change.
const tenth = 0.1

// part returns the share of the scheduled tasks that count, now and before.
func (c comparison) part(groups []int, of func(run.TaskGroup) int) (now, before float64) {
	n, k, m, l := 0.0, 0.0, 0.0, 0.0
	for _, at := range groups {
		n, k = n+c.head.sum([]int{at}, of), k+c.head.sum([]int{at}, scheduled)
		for i, same := range c.same(c.head.Groups[at], false) {
			m, l = m+c.base[i].sum(same, of), l+c.base[i].sum(same, scheduled)
		}
	}
	return partOf(n, k), partOf(m, l)
}

func partOf(n, of float64) float64 {
	if of == 0 {
		return 0
	}
	return n / of
}

func (c comparison) fell(groups []int, of func(run.TaskGroup) int) bool {
	now, before := c.part(groups, of)
	return before-now >= tenth && now <= before/2
}

func (c comparison) rose(groups []int, of func(run.TaskGroup) int) bool {
	now, before := c.part(groups, of)
	return now-before >= tenth && before <= now/2
}
