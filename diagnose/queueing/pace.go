package queueing

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// pace is by which factor the tasks of a name take longer than before.
type pace struct {
	name   string
	factor float64
	behind bool // they are tasks of another thread than the main one
}

// The least from which a pace is taken.
const (
	pacedTasks = 3   // of each build
	pacedMS    = 2.0 // that one takes
)

// framePace names the pace of frames.
const framePace = "\x00frames"

// pacesOf returns how much longer the tasks of each name take than before, and frames.
func (c comparison) pacesOf() (out []pace) {
	for _, g := range c.head.Groups {
		if slices.ContainsFunc(out, func(p pace) bool { return p.name == g.Name }) {
			continue
		}
		var own []run.TaskGroup
		for _, i := range c.head.findAny(c.head, g) {
			own = append(own, c.head.Groups[i])
		}
		earlier := c.before(g, side.findAny)
		now, n := meanRan(own)
		before, m := meanRan(earlier)
		if n >= pacedTasks && m >= pacedTasks && before >= pacedMS {
			// The lesser of both: tasks that were cut short before take longer in the mean alone.
			factor := min(now/before, longest(spreads(own, ran)...)/longest(spreads(earlier, ran)...))
			out = append(out, pace{g.Name, factor, c.head.unit(g).Kind != run.MainThread})
		}
	}
	if now, before := medianFrame(c.run), medianFrame(c.earlier...); now > 0 && before > 0 {
		out = append(out, pace{framePace, now / before, false})
	}
	return out
}

// medianFrame returns the mean over repetitions of the median frame, 0 where unknown.
func medianFrame(runs ...run.Run) float64 {
	var all []float64
	for _, r := range runs {
		for _, it := range r.Iterations {
			if v := it.Metrics["frames.duration_ms.p50"]; v > 0 {
				all = append(all, v)
			}
		}
	}
	return contrast.Mean(all)
}

// pace returns by which factor half of everything but the tasks of a name takes longer, at least
// 1; and false where there is nothing else to tell.
func (c comparison) pace(but string) (float64, bool) {
	all := c.others(but)
	if len(all) == 0 {
		return 1, false
	}
	slices.Sort(all)
	return max(1, all[(len(all)-1)/2]), true
}

// others returns the factors of everything but the tasks of a name.
func (c comparison) others(but string) (out []float64) {
	for _, p := range c.paces {
		if p.name != but {
			out = append(out, p.factor)
		}
	}
	return out
}

// alikeGrowth is the part of a task's growth, on the log scale, from which on another has grown as
// much.
const alikeGrowth = 0.6

// common reports whether other tasks take as much longer as those of a name: at least two, or half
// of them. A busy network makes all tasks longer that use it, and no other.
func (c comparison) common(name string, factor float64) bool {
	others, as := c.others(name), 0
	for _, other := range others {
		if math.Log(other) >= alikeGrowth*math.Log(factor) {
			as++
		}
	}
	return as >= 2 || as > 0 && 2*as >= len(others)
}

// witnessed reports whether other tasks in the background do not take as much longer as those of a
// name: else, it may be the phone that is slower.
func (c comparison) witnessed(name string, factor float64) bool {
	return slices.ContainsFunc(c.paces, func(p pace) bool {
		return p.behind && p.name != name && math.Log(p.factor) < alikeGrowth*math.Log(factor)
	})
}
