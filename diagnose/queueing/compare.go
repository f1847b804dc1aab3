package queueing

import (
	"math"

	"github.com/apkgate/apkgate/diagnose/contrast"
	"github.com/apkgate/apkgate/run"
)

// comparison is the tasks of a run and those of the runs before.
type comparison struct {
	run     run.Run
	earlier []run.Run
	head    side
	base    []side
	overMS  float64
	paces   []pace
}

func compared(head run.Run, base []run.Run) comparison {
	c := comparison{run: head, earlier: base, head: sideOf(head)}
	for _, b := range base {
		c.base = append(c.base, sideOf(b))
	}
	c.overMS = c.head.overMS()
	c.paces = c.pacesOf()
	return c
}

// alone reports that there are no runs before.
func (c comparison) alone() bool { return len(c.base) == 0 }

// repetitions counts those of the runs before.
func (c comparison) repetitions() (n int) {
	for _, b := range c.base {
		n += b.repetitions
	}
	return n
}

// finds returns the groups of a run that are the same tasks as one of another.
type finds func(in, of side, g run.TaskGroup) []int

// before returns the groups of all runs before that are the same tasks as one of the head's.
func (c comparison) before(g run.TaskGroup, find finds) (out []run.TaskGroup) {
	for _, b := range c.base {
		for _, i := range find(b, c.head, g) {
			out = append(out, b.Groups[i])
		}
	}
	return out
}

// change compares a number of the head's groups in each repetition with that of the same tasks
// before, multiplied by a factor.
func (c comparison) change(g run.TaskGroup, groups []int, of values, factor float64) estimate {
	var base [][]float64
	for _, b := range c.base {
		base = append(base, of(b, b.find(c.head, g)))
	}
	return change(of(c.head, groups), base, factor)
}

// estimate is a difference of means over repetitions.
type estimate struct {
	contrast.Estimate
	head, base float64 // base is multiplied by the pace
	was        float64 // base without it
	// settled is set where there are enough repetitions to rule out chance, varied where there are
	// enough to show how much they vary.
	settled, varied bool
}

// change compares values of the head's repetitions with those of the runs before, which are
// multiplied by a factor. Where too few repetitions show how much they vary, each of the head's has
// to be larger than any before.
func change(head []float64, base [][]float64, factor float64) estimate {
	var now, before contrast.Scatter
	now.Add(head)
	least, most, sum := math.Inf(1), 0.0, 0.0
	for _, v := range head {
		least = min(least, v)
	}
	for _, list := range base {
		paced := make([]float64, len(list))
		for i, v := range list {
			paced[i] = v * factor
			most, sum = max(most, paced[i]), sum+paced[i]
		}
		before.Add(paced)
	}
	out := estimate{head: contrast.Mean(head), base: sum / max(before.Repetitions, 1), varied: now.Varies(before), settled: now.Settles(before)}
	out.was, out.Mean = out.base/factor, out.head-out.base
	drift := contrast.Drifted * math.Hypot(out.head, out.base)
	switch {
	case out.varied:
		out.Err = math.Hypot(now.Error(before, contrast.Tail), drift)
	case least > most:
		out.Err = drift
	default:
		out.Err = math.Abs(out.Mean)
	}
	return out
}
