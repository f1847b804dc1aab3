package grouping

import "slices"

// Threshold is the distance up to which two contexts are of similar tasks. docs/evaluation/tasks.md
// has the results of others.
const Threshold = 0.35

// comparer compares stacks, and keeps its memory from one comparison to the next.
type comparer struct {
	above, row []float64
}

// near reports whether the distance of two stacks is at most a limit. Most pairs are far apart by
// the functions alone that one of them lacks.
func (c *comparer) near(a, b *stack, limit float64) bool {
	most := limit * max(a.total, b.total)
	if !lacks(a, b, most) {
		return false
	}
	return c.edits(a, b, most) <= most
}

// lacks reports whether the weight of the functions that one of two stacks lacks is at most a limit,
// in either direction: no edit costs less.
func lacks(a, b *stack, most float64) bool {
	var ofA, ofB float64
	i, j := 0, 0
	for i < len(a.sorted) && j < len(b.sorted) {
		x, y := a.symbols[a.sorted[i]], b.symbols[b.sorted[j]]
		switch {
		case x < y:
			ofA += a.weights[a.sorted[i]]
			i++
		case x > y:
			ofB += b.weights[b.sorted[j]]
			j++
		default:
			for i < len(a.sorted) && a.symbols[a.sorted[i]] == x {
				i++
			}
			for j < len(b.sorted) && b.symbols[b.sorted[j]] == x {
				j++
			}
		}
	}
	for ; i < len(a.sorted); i++ {
		ofA += a.weights[a.sorted[i]]
	}
	for ; j < len(b.sorted); j++ {
		ofB += b.weights[b.sorted[j]]
	}
	return max(ofA, ofB) <= most
}

// edits is the edit distance of two stacks, each function a symbol (section 4.2): what is inserted
// or left out costs its weight, and what is replaced the larger of both. It returns more than most
// as soon as that is certain.
func (c *comparer) edits(a, b *stack, most float64) float64 {
	n := len(b.symbols)
	c.above, c.row = append(c.above[:0], 0), slices.Grow(c.row[:0], n+1)[:n+1]
	for j, w := range b.weights {
		c.above = append(c.above, c.above[j]+w)
	}
	for i, x := range a.symbols {
		w := a.weights[i]
		c.row[0] = c.above[0] + w
		least := c.row[0]
		for j, y := range b.symbols {
			replaced := c.above[j]
			if x != y {
				replaced += max(w, b.weights[j])
			}
			c.row[j+1] = min(replaced, c.above[j+1]+w, c.row[j]+b.weights[j])
			least = min(least, c.row[j+1])
		}
		if least > most {
			return least
		}
		c.above, c.row = c.row, c.above
	}
	return c.above[n]
}

// clusters joins stacks that are near each other, whichever stands between them: single linkage
// (section 4.2). Stacks of tasks with different names are never joined. It returns the number of each
// one's cluster, from 0.
func clusters(stacks []stack, limit float64) []int32 {
	part, left := make([]int32, len(stacks)), make([]int32, len(stacks))
	for i := range left {
		left[i] = int32(i)
	}
	var c comparer
	for number := int32(0); len(left) > 0; number++ {
		open := []int32{left[0]}
		left = left[1:]
		for len(open) > 0 {
			i := open[len(open)-1]
			open = open[:len(open)-1]
			part[i] = number
			others := left[:0]
			for _, j := range left {
				if stacks[i].task == stacks[j].task && c.near(&stacks[i], &stacks[j], limit) {
					open = append(open, j)
				} else {
					others = append(others, j)
				}
			}
			left = others
		}
	}
	return part
}
