package level

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/stat"
)

const (
	// leastSide is how many sessions a step needs on either side: two bad ones are no level.
	leastSide = 3
	// leastOfStep is the least number of sessions in which a step can be detected: with seven, the
	// most that ranks can show is not rare.
	leastOfStep = 8
)

// clearly returns how many standard deviations of its rank sums a step has to reach so that one of
// a hundred series of n shows one somewhere where nothing changed, and for the better, which is
// accepted sooner, five of a hundred (TestPresentOfConstantLevel counts them).
func clearly(n int, better bool) float64 {
	if better {
		return 3 - 6/float64(n)
	}
	return 3.5 - 9.5/float64(n)
}

// stepIn returns where the level changes, 0 where it does not by that much. A level that was left
// and came back is hidden in the whole series, so that the newer half is searched too, and the
// newer half of that. What a steady drift explains better is no step.
func stepIn(centres []float64, worse, least float64) int {
	for n := len(centres); n >= leastOfStep; n /= 2 {
		newer := centres[len(centres)-n:]
		at, clear := split(newer, worse)
		if clear && math.Abs(stat.Median(newer[at:])-stat.Median(newer[:at])) >= least && stepped(newer, at) {
			return len(centres) - n + at
		}
	}
	return 0
}

// split returns where the two sides differ most by Mann and Whitney's test (as Pettitt 1979, and
// Ross, Tasoulis and Adams 2011, section 2), and whether they clearly differ.
func split(centres []float64, worse float64) (at int, clear bool) {
	n := len(centres)
	ranks, variance := ranksOf(centres)
	best, sum := 0.0, 0.0
	for k := 1; k <= n-leastSide; k++ { // the newest k
		sum += ranks[n-k]
		if k < leastSide {
			continue
		}
		a, b := float64(k), float64(n-k)
		z := (sum - a*float64(n+1)/2) / math.Sqrt(variance*a*b/float64(n-1))
		if over := math.Abs(z) / clearly(n, z*worse < 0); over > best {
			at, best = n-k, over
		}
	}
	return at, best > 1
}

// ranksOf returns the ranks from 1 on, equal values having their mean rank, and the variance of
// all.
func ranksOf(values []float64) (ranks []float64, variance float64) {
	n := len(values)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks = make([]float64, n)
	for from, to := 0, 0; from < n; from = to {
		for to = from + 1; to < n && values[order[to]] == values[order[from]]; {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+to+1) / 2
			d := ranks[i] - float64(n+1)/2
			variance += d * d / float64(n)
		}
	}
	return ranks, variance
}

// stepped reports whether two levels leave less unexplained than a straight line does.
func stepped(centres []float64, at int) bool {
	slope, level := driftOf(centres).Slope, make([]float64, len(centres))
	for i, y := range centres {
		level[i] = y - slope*float64(i)
	}
	return around(centres[:at])+around(centres[at:]) <= around(level)
}

// around returns the sum of squares of the values about their mean.
func around(values []float64) (sum float64) {
	middle := stat.Median(values)
	for _, v := range values {
		sum += math.Abs(v - middle)
	}
	return sum
}
