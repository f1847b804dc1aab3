package queueing

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/run"
)

// pace is by which factor the tasks of a name take longer than before.
type pace struct {
	name   string
	factor float64
}

// The least from which a pace is taken.
const (
	pacedTasks = 3   // of each build
	pacedMS    = 2.0 // that one takes
)

// framePace names the pace of frames.
const framePace = "\x00frames"

// pacesOf returns how much longer the tasks of each name take than before, and frames.
func (c comparison) pacesOf() []pace {
	var out []pace
	for _, g := range c.head.Groups {
		if slices.ContainsFunc(out, func(p pace) bool { return p.name == g.Name }) {
			continue
		}
		own := c.head.findAny(c.head, g)
		now, n := c.head.meanRan(own)
		before, m, most := 0.0, 0, 0.0
		for i, groups := range c.same(g, true) {
			ms, k := c.base[i].meanRan(groups)
			before, m, most = before+ms*float64(k), m+k, max(most, c.base[i].longestRun(groups))
		}
		before /= float64(max(m, 1))
		if n >= pacedTasks && m >= pacedTasks && before >= pacedMS {
			// The lesser of both: tasks that were cut short before take longer in the mean alone.
			out = append(out, pace{g.Name, min(now/before, c.head.longestRun(own)/most)})
		}
	}
	if now, before := medianFrame(c.run), medianFrame(c.earlier...); now > 0 && before > 0 {
		out = append(out, pace{framePace, now / before})
	}
	return out
}

// medianFrame returns the mean over repetitions of the median frame, 0 where unknown.
func medianFrame(runs ...run.Run) float64 {
	sum, n := 0.0, 0
	for _, r := range runs {
		for _, it := range r.Iterations {
			if v := it.Metrics["frames.duration_ms.p50"]; v > 0 {
				sum, n = sum+v, n+1
			}
		}
	}
	return sum / float64(max(n, 1))
}

// pace returns by which factor half of everything but the tasks of a name takes longer, at least
// 1; and false where there is nothing else to tell.
func (c comparison) pace(but string) (float64, bool) {
	var all []float64
	for _, p := range c.paces {
		if p.name != but {
			all = append(all, p.factor)
		}
	}
	if len(all) == 0 {
		return 1, false
	}
	slices.Sort(all)
	return max(1, all[(len(all)-1)/2]), true
}

// alikeGrowth is the part of a task's growth, on the log scale, from which on another has grown as
// much.
const alikeGrowth = 0.6

// common reports whether other tasks take as much longer as those of a name: at least two, or half
// of them. A busy network makes all tasks longer that use it, and no other.
func (c comparison) common(name string, factor float64) bool {
	as, others := 0, 0
	for _, p := range c.paces {
		if p.name == name {
			continue
		}
		others++
		if math.Log(p.factor) >= alikeGrowth*math.Log(factor) {
			as++
		}
	}
	return as >= 2 || as > 0 && 2*as >= others
}
