package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Series are values in time. Times may be in any unit; there are as many as values.
type Series struct{ Times, Values []float64 }

// Drift is the change of values over time.
type Drift struct {
	// Slope is the change per unit of time: the median of the slopes between all pairs of values of
	// a series (Theil 1950, Sen 1968). Low and High are its interval, infinite where there are too
	// few values.
	Slope, Low, High float64
	// Falling and Rising are the one-sided chances of so many pairs being in that order if values
	// did not depend on time (Mann 1945, Kendall); 1 without pairs.
	Falling, Rising float64
}

// mostTimes limits the values of one series: all pairs are made, and the newest values matter most.
const mostTimes = 200

// DriftOf returns the drift that all series have in common, such as one of each device: pairs are
// only made within a series. alpha is one minus the confidence of the interval. Without a pair at
// different times Slope is NaN.
func DriftOf(series []Series, alpha float64) Drift {
	d := Drift{Slope: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), Falling: 1, Rising: 1}
	var slopes []float64
	for _, s := range series {
		s = s.newest()
		for i := range s.Values {
			for j := range i {
				if s.Times[i] != s.Times[j] {
					slopes = append(slopes, (s.Values[i]-s.Values[j])/(s.Times[i]-s.Times[j]))
				}
			}
		}
	}
	if len(slopes) == 0 {
		return d
	}
	slices.Sort(slopes)
	d.Slope = middleOf(slopes)
	order, sd := orderOf(series)
	if !(sd > 0) {
		return d
	}
	d.Falling, d.Rising = inOrder(order, sd)
	reach := -distuv.UnitNormal.Quantile(alpha/2) * sd
	drop := int(math.Floor((float64(len(slopes)) - reach) / 2))
	if drop >= 1 {
		d.Low, d.High = slopes[drop-1], slopes[len(slopes)-drop]
	}
	return d
}

// InOrder returns only Falling and Rising of the drift of the series, for a tenth of its cost.
func InOrder(series []Series) (falling, rising float64) {
	order, sd := orderOf(series)
	if !(sd > 0) {
		return 1, 1
	}
	return inOrder(order, sd)
}

func inOrder(order, sd float64) (falling, rising float64) {
	return distuv.UnitNormal.Survival((-order - 1) / sd), distuv.UnitNormal.Survival((order - 1) / sd)
}

// orderOf returns Kendall's S of all series, and its standard deviation if values did not depend on
// time.
func orderOf(series []Series) (order, sd float64) {
	variance := 0.0
	for _, s := range series {
		s = s.newest()
		for i := range s.Values {
			for j := range i {
				if s.Times[i] != s.Times[j] {
					order += float64(cmp.Compare(s.Values[i], s.Values[j]))
				}
			}
		}
		variance += s.orderVariance()
	}
	return order, math.Sqrt(variance)
}

// newest returns the series' last values in the order of time.
func (s Series) newest() Series {
	order := ascending(s.Times)
	order = order[max(0, len(order)-mostTimes):]
	var out Series
	for _, i := range order {
		out.Times, out.Values = append(out.Times, s.Times[i]), append(out.Values, s.Values[i])
	}
	return out
}

// orderVariance returns the variance of Kendall's S if values did not depend on time, corrected for
// equal values and times (Kendall 1955).
func (s Series) orderVariance() float64 {
	n := float64(len(s.Values))
	if n < 3 { // one pair, or none where the two are equal in time or value
		if n < 2 || len(ties(s.Times)) > 0 || len(ties(s.Values)) > 0 {
			return 0
		}
		return 1
	}
	term := func(n float64) float64 { return n * (n - 1) * (2*n + 5) }
	all := term(n)
	var threes, pairs [2]float64
	for k, values := range [][]float64{s.Times, s.Values} {
		for _, t := range ties(values) {
			all -= term(t)
			threes[k] += t * (t - 1) * (t - 2)
			pairs[k] += t * (t - 1)
		}
	}
	return all/18 + threes[0]*threes[1]/(9*n*(n-1)*(n-2)) + pairs[0]*pairs[1]/(2*n*(n-1))
}

// ties returns the sizes of the groups of equal values.
func ties(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	var out []float64
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to] == sorted[from] {
			to++
		}
		if to-from > 1 {
			out = append(out, float64(to-from))
		}
		from = to
	}
	return out
}
