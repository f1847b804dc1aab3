package history

import (
	"math"

	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/stat"
)

// borrowable is how far this cell moved from its own context's runs, per unit
// of standard error, if the scale of this check's other comparisons is to be
// lent to cells whose history shows none.
func (j *judgement) borrowable() (shift float64, ok bool) {
	if j.evidence.Kind != past.EveryContext || j.evidence.Own == 0 {
		return 0, false
	}
	return (j.x - stat.Median(j.own)) / math.Sqrt(1+1/float64(len(j.own))), true
}

// minBorrowed is how many comparisons of one metric it takes to lend a scale.
const minBorrowed = 8

// borrow gives judgements without a scale of their own the scale that the same
// metric shows over all events and runs of this check: the third quartile of
// the absolute shifts, as most of them are no regressions. Its degrees of
// freedom are those of the runs, which move as one when a phone is hot.
func borrow(js []*judgement, runs int) {
	type quantity struct{ metric, within string }
	shifts := map[quantity][]float64{}
	for _, j := range js {
		if s, ok := j.borrowable(); ok {
			of := quantity{j.Metric, j.within}
			shifts[of] = append(shifts[of], math.Abs(s))
		}
	}
	df := float64(min(runs-1, past.TailDF))
	for _, j := range js {
		lent := shifts[quantity{j.Metric, j.within}]
		if _, ok := j.borrowable(); !ok || len(lent) < minBorrowed || df < 1 {
			continue
		}
		j.tryBorrowed(stat.Sample{Values: lent}.Quantiles(0.75)[0]/normalThreeQuarters, df)
	}
}

// Of a standard normal distribution: the third quartile, and that of its
// absolute values.
const (
	normalQuartile      = 0.6745
	normalThreeQuarters = 1.1503
)

// tryBorrowed keeps the better of the two tests and pays for having tried both.
func (j *judgement) tryBorrowed(sd, df float64) {
	own := j.own
	before := j.evidence
	centre := stat.Median(own)
	q := normalQuartile * sd
	e := past.Evidence{Kind: past.OwnBorrowed, Own: len(own), N: len(own)}
	e.Fences = stat.Fences{Q1: centre - q, Q3: centre + q}
	e.Fences.Lower, e.Fences.Upper = centre-q*(1+2*j.policy.OutlierFactor), centre+q*(1+2*j.policy.OutlierFactor)
	e.Moments = stat.Moments{Mean: centre, SD: sd, N: float64(len(own)), DF: df}
	keep := j.tail
	j.baseOn(e)
	j.doubled = true
	if keep < j.tail {
		j.baseOn(before)
	}
}
