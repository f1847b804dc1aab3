// Package stat computes the gate's statistics over plain []float64: quantiles and fences, the
// chance of a value given a sample, and the correction for many tests.
//
// It owns no policy and knows no metric. Distribution functions come from gonum; here is only what
// gonum lacks.
package stat

import (
	"cmp"
	"math"
	"slices"
)

// Sample is values with their weights. Weights may be nil (all equal);
// otherwise there are as many as values, none negative, not all zero.
type Sample struct {
	Values  []float64
	Weights []float64
}

// EffectiveN returns Kish's effective sample size, (Σw)²/Σw²: the number of equally weighted values
// with the same information.
func (s Sample) EffectiveN() float64 {
	if s.Weights == nil {
		return float64(len(s.Values))
	}
	sum, squares := 0.0, 0.0
	for _, w := range s.Weights {
		sum += w
		squares += w * w
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// Quantiles returns the sample's quantiles at each p in [0, 1].
//
// It is Hyndman and Fan's type 6 (position p(n+1), limited to the ends), as in the paper's worked
// example of section 5.3.3: of 448, 453, 450, 457, 430, 270 the quartiles are 390 and 454. Weights
// generalise it: scaled to sum to the effective sample size m, the k-th value in order, with weight
// v and cumulative weight S, is at (S - v/2 + 1/2)/(m+1), which for equal weights is k/(n+1). The
// quantiles of an empty sample are NaN.
func (s Sample) Quantiles(ps ...float64) []float64 {
	out := make([]float64, len(ps))
	values, positions := s.ordered()
	for i, p := range ps {
		out[i] = interpolate(values, positions, p)
	}
	return out
}

// ordered returns the values in ascending order and the position in (0, 1) of each.
func (s Sample) ordered() (values, positions []float64) {
	n := len(s.Values)
	if s.Weights == nil { // the common case, many million times in a check of a lab
		room := make([]float64, 2*n)
		values, positions = room[:n:n], room[n:]
		copy(values, s.Values)
		slices.Sort(values)
		for k := range positions {
			positions[k] = float64(k+1) / float64(n+1)
		}
		return values, positions
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.Values[a], s.Values[b]) })
	m, sum := s.EffectiveN(), 0.0
	for _, w := range s.Weights {
		sum += w
	}
	scale := m / sum
	values, positions = make([]float64, n), make([]float64, n)
	cumulated := 0.0
	for k, i := range order {
		v := s.Weights[i] * scale
		cumulated += v
		values[k], positions[k] = s.Values[i], (cumulated-v/2+0.5)/(m+1)
	}
	return values, positions
}

func interpolate(values, positions []float64, p float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	k, _ := slices.BinarySearch(positions, p)
	switch {
	case k == 0:
		return values[0]
	case k == n:
		return values[n-1]
	}
	gap := positions[k] - positions[k-1]
	if gap <= 0 {
		return values[k]
	}
	return values[k-1] + (p-positions[k-1])/gap*(values[k]-values[k-1])
}

// Median returns the median of the values, NaN for none.
func Median(values []float64) float64 { return Sample{Values: values}.Quantiles(0.5)[0] }

// Fences are quartiles and the limits beyond which a value is an outlier.
type Fences struct{ Q1, Q3, Lower, Upper float64 }

// FencesOf returns the interquartile fences of the sample: Q1 - factor·(Q3-Q1)
// and Q3 + factor·(Q3-Q1) (paper, section 5.3.3, equations 1 and 2).
func FencesOf(s Sample, factor float64) Fences {
	q := s.Quantiles(0.25, 0.75)
	return Fences{Q1: q[0], Q3: q[1]}.widened(factor)
}

func (f Fences) widened(factor float64) Fences {
	reach := factor * (f.Q3 - f.Q1)
	f.Lower, f.Upper = f.Q1-reach, f.Q3+reach
	return f
}

// WekaFences is FencesOf by the quartiles of Weka's filter InterquartileRange. With half and
// quarter the number of values divided by two and four and rounded down, the first quartile is the
// value in order at quarter, counted from 0, where half is odd, else the middle of that and the
// next. The third quartile is the same from the largest value, one place up where half is even.
// Both quartiles of a single value are that value, where Weka fails.
func WekaFences(values []float64, factor float64) Fences {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	switch {
	case n == 0:
		return Fences{Q1: math.NaN(), Q3: math.NaN()}.widened(factor)
	case n == 1:
		return Fences{Q1: sorted[0], Q3: sorted[0]}.widened(factor)
	}
	low, high := n/2/2, n-n/2/2-1
	f := Fences{Q1: sorted[low], Q3: sorted[high]}
	if n/2%2 == 0 {
		f.Q1, f.Q3 = (sorted[low]+sorted[low+1])/2, (sorted[high]+sorted[high+1])/2
	}
	return f.widened(factor)
}
