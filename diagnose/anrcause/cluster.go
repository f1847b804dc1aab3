package anrcause

import (
	"maps"
	"slices"
	"strings"
)

// clustered are points of a history in the components that are connected by pairs above a threshold
// of similarity, whichever point came first. Equal points are compared once.
type clustered struct {
	distinct []point         // one of each group of equal ones, in the order of their keys
	part     []int           // of each of them
	points   map[int][]point // of each part, in their order
	above    float64
}

func cluster(points []point, above float64) clustered {
	groups := map[string][]point{}
	for _, p := range points {
		groups[p.key] = append(groups[p.key], p)
	}
	c := clustered{points: map[int][]point{}, above: above}
	keys := slices.SortedFunc(maps.Keys(groups), strings.Compare)
	for _, key := range keys {
		c.distinct = append(c.distinct, groups[key][0])
	}
	c.part = connected(len(c.distinct), func(a, b int) bool { return alike(&c.distinct[a], &c.distinct[b], above) })
	for i, key := range keys {
		c.points[c.part[i]] = append(c.points[c.part[i]], groups[key]...)
	}
	return c
}

// touched returns the components that a point is connected with; it merges them.
func (c clustered) touched(p point) []int {
	var out []int
	for i := range c.distinct {
		if alike(&p, &c.distinct[i], c.above) {
			out = append(out, c.part[i])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// connected numbers the connected components of n things. Each pair is compared at most once.
func connected(n int, alike func(a, b int) bool) []int {
	part := make([]int, n)
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for number := 0; len(left) > 0; number++ {
		open := []int{left[0]}
		left = left[1:]
		for len(open) > 0 {
			i := open[len(open)-1]
			open = open[:len(open)-1]
			part[i] = number
			others := left[:0]
			for _, j := range left {
				if alike(i, j) {
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
