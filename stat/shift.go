package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Shift is how far one sample lies above another: the estimate of Hodges and
// Lehmann (1963) with the confidence interval that inverts the rank test. Low
// and High are infinite where there are too few values for the level.
type Shift struct{ Estimate, Low, High float64 }

// mostValues limits the values of which pairs are made: more are replaced by that many evenly
// spaced order statistics.
const mostValues = 500

// PairedShift returns the shift of differences in pairs: the median of the means of all pairs of
// them (Walsh averages), including each with itself. The interval's confidence is at least 1-alpha.
// Without differences it is NaN.
func PairedShift(differences []float64, alpha float64) Shift {
	ds := thinned(differences)
	if len(ds) == 0 {
		return Shift{math.NaN(), math.Inf(-1), math.Inf(1)}
	}
	means := make([]float64, 0, len(ds)*(len(ds)+1)/2)
	for i, a := range ds {
		for _, b := range ds[i:] {
			means = append(means, a/2+b/2)
		}
	}
	slices.Sort(means)
	n := float64(len(ds))
	drop := 0
	if len(ds) <= exactPairs {
		drop = lowest(untiedSigned[len(ds)](), alpha/2)
	} else {
		sd := math.Sqrt(n * (n + 1) * (2*n + 1) / 24)
		drop = int(math.Floor(n*(n+1)/4 + distuv.UnitNormal.Quantile(alpha/2)*sd))
	}
	return between(means, drop)
}

// lowest returns how many of a statistic's smallest values have a chance of at most p together.
func lowest(chance []float64, p float64) int {
	sum, n := 0.0, 0
	for _, c := range chance {
		if sum += c; sum > p {
			break
		}
		n++
	}
	return n
}

// between returns the median of sorted values, and the interval from the drop-th value to the
// drop-th from the end; infinite where there are too few values.
func between(sorted []float64, drop int) Shift {
	s := Shift{middleOf(sorted), math.Inf(-1), math.Inf(1)}
	if drop >= 1 && drop <= len(sorted)/2 {
		s.Low, s.High = sorted[drop-1], sorted[len(sorted)-drop]
	}
	return s
}

func middleOf(sorted []float64) float64 {
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// SampleShift returns the shift of Y above X: the median of the differences of all pairs within
// strata, each weighted as VanElteren weights its stratum. The interval's confidence is about
// 1-alpha; at least that for one small stratum. Without pairs it is NaN.
func SampleShift(strata []Pair, alpha float64) Shift {
	if len(strata) == 1 && len(strata[0].X)+len(strata[0].Y) <= exactPooled && len(strata[0].X)*len(strata[0].Y) > 0 {
		return exactShift(strata[0], alpha)
	}
	var ds []weighted
	variance := 0.0
	for _, p := range strata {
		xs, ys := thinned(p.X), thinned(p.Y)
		m, n := float64(len(xs)), float64(len(ys))
		weight := 1 / (m + n + 1)
		for _, x := range xs {
			for _, y := range ys {
				ds = append(ds, weighted{y - x, weight})
			}
		}
		variance += weight * weight * m * n * (m + n + 1) / 12
	}
	return weightedBetween(ds, -distuv.UnitNormal.Quantile(alpha/2)*math.Sqrt(variance))
}

func exactShift(p Pair, alpha float64) Shift {
	ds := make([]float64, 0, len(p.X)*len(p.Y))
	for _, x := range p.X {
		for _, y := range p.Y {
			ds = append(ds, y-x)
		}
	}
	slices.Sort(ds)
	ranks := make([]int, len(p.X)+len(p.Y))
	for i := range ranks {
		ranks[i] = i + 1
	}
	least := len(p.Y) * (len(p.Y) + 1) / 2 // the smallest sum of ranks
	return between(ds, lowest(sumDistribution(ranks, len(p.Y))[least:], alpha/2))
}

type weighted struct{ value, weight float64 }

// weightedBetween returns the weighted median, and the interval out to where the weight beyond is
// half of the total minus reach.
func weightedBetween(ds []weighted, reach float64) Shift {
	s := Shift{math.NaN(), math.Inf(-1), math.Inf(1)}
	if len(ds) == 0 {
		return s
	}
	slices.SortFunc(ds, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total := 0.0
	for _, d := range ds {
		total += d.weight
	}
	s.Estimate = weightedAt(ds, total/2)
	if reach < total/2 {
		s.Low, s.High = weightedAt(ds, total/2-reach), weightedAt(ds, total/2+reach)
	}
	return s
}

// weightedAt returns the value at which the cumulative weight reaches w.
func weightedAt(ds []weighted, w float64) float64 {
	const rounding = 1e-9
	sum := 0.0
	for i, d := range ds {
		sum += d.weight
		switch {
		case math.Abs(sum-w) < rounding && i+1 < len(ds):
			return d.value/2 + ds[i+1].value/2
		case sum >= w:
			return d.value
		}
	}
	return ds[len(ds)-1].value
}

// thinned returns at most mostValues of the values, sorted and evenly spaced.
func thinned(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n <= mostValues {
		return sorted
	}
	out := make([]float64, mostValues)
	for i := range out {
		out[i] = sorted[(2*i+1)*n/(2*mostValues)]
	}
	return out
}
