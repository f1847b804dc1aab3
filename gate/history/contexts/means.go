package contexts

import (
	"math"
	"slices"
)

// mean is what the runs of one context show of its level.
type mean struct {
	context  int // its number
	code     []int
	centre   float64
	variance float64 // of the centre, from how much runs of one context differ
	runs     int
}

// priorDF is how much a context's own spread is drawn towards the middle of all: as much as two
// more runs would. It keeps two runs that happen to agree from looking exact.
const priorDF = 2

// meansOf summarizes the runs of each context that has any. within is the variance between runs of
// one context, the middle over all; ok is false where no context has two, so that it is unknown.
func (c *Contexts) meansOf(groups [][]float64) (means []mean, within float64, ok bool) {
	var spreads []float64
	squares := make([]float64, len(groups))
	for g, vs := range groups {
		if len(vs) == 0 {
			continue
		}
		m := mean{context: g, code: c.coded[g], runs: len(vs)}
		for _, v := range vs {
			m.centre += v / float64(len(vs))
		}
		for _, v := range vs {
			squares[g] += (v - m.centre) * (v - m.centre)
		}
		if len(vs) > 1 {
			spreads = append(spreads, squares[g]/float64(len(vs)-1))
		}
		means = append(means, m)
	}
	if len(spreads) == 0 {
		return nil, 0, false
	}
	slices.Sort(spreads)
	within = (spreads[(len(spreads)-1)/2] + spreads[len(spreads)/2]) / 2
	for i, m := range means {
		n := float64(m.runs)
		means[i].variance = (priorDF*within + squares[m.context]) / (priorDF + n - 1) / n
	}
	return means, within, within < math.Inf(1)
}
