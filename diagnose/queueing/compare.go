package queueing

import (
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

// same returns the groups of each run before that are the same tasks as one of the head's, in the
// same event or in any.
func (c comparison) same(g run.TaskGroup, anyEvent bool) [][]int {
	out := make([][]int, len(c.base))
	for i, b := range c.base {
		if out[i] = b.find(c.head, g); anyEvent {
			out[i] = b.findAny(c.head, g)
		}
	}
	return out
}

// values returns a number of each repetition of the groups of each run before.
func (c comparison) values(groups [][]int, of func(side, []int) []float64) [][]float64 {
	var out [][]float64
	for i, b := range c.base {
		out = append(out, of(b, groups[i]))
	}
	return out
}
