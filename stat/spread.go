package stat

import (
	"math"
	"slices"
)

// HodgesLehmann returns the centre of the values: the median of the means of all pairs of them,
// including each with itself (Hodges and Lehmann 1963). It resists up to 29 % of wild values: one
// of four, and none of three. Without values it is NaN.
func HodgesLehmann(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	pairs := n * (n + 1) / 2
	kth := func(k int) float64 {
		return kthValue(sorted[0], sorted[n-1], k, func(x float64) int { return meansUpTo(sorted, x) })
	}
	low := kth((pairs + 1) / 2)
	if pairs%2 == 1 {
		return low
	}
	return mean2(low, kth(pairs/2+1))
}

// mean2 is exact where both are equal, and doesn't overflow.
func mean2(a, b float64) float64 { return a/2 + b/2 }

// meansUpTo counts the pairs of sorted values, including each with itself, whose mean is at most x.
func meansUpTo(sorted []float64, x float64) int {
	n, j := 0, len(sorted)-1
	for i, a := range sorted {
		for j >= i && mean2(a, sorted[j]) > x {
			j--
		}
		if j < i {
			break
		}
		n += j - i + 1
	}
	return n
}

// RobustSD returns the standard deviation of the distribution of the values, if that is normal
// except for a few wild ones. Its square is unbiased, so that squares of several samples can be
// averaged.
//
// For four or more values it is the estimate of Shamos (1976): the median of all distances between
// two of them (the lower one of an even number), times a factor for the number of values. It
// resists one wild value of four, two of eight, nearly 29 % of many. Two or three values can't show
// which of them is wild, which affects HodgesLehmann too; for these it is the ordinary standard
// deviation (SD). For fewer it is 0.
func RobustSD(values []float64) float64 {
	n := len(values)
	switch {
	case n < 2:
		return 0
	case n < leastShamos:
		return SD(values)
	}
	sorted := slices.Sorted(slices.Values(values))
	pairs := n * (n - 1) / 2
	middle := kthValue(0, sorted[n-1]-sorted[0], (pairs+1)/2, func(x float64) int { return distancesUpTo(sorted, x) })
	return middle * shamosFactor(n)
}

// SD returns the ordinary standard deviation, with one degree of freedom less than there are
// values; 0 for fewer than two.
func SD(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}

// distancesUpTo counts the pairs of two sorted values that are at most x apart.
func distancesUpTo(sorted []float64, x float64) int {
	n, i := 0, 0
	for j, b := range sorted {
		for b-sorted[i] > x {
			i++
		}
		n += j - i
	}
	return n
}

// kthValue returns the least number from low to high at which count reaches k. It bisects the
// numbers by their place in the order of float64, and so ends within 64 steps at the number itself.
func kthValue(low, high float64, k int, count func(float64) int) float64 {
	from, to := place(low), place(high)
	for from < to {
		if half := from + (to-from)/2; count(number(half)) >= k {
			to = half
		} else {
			from = half + 1
		}
	}
	return number(to) + 0 // and 0, where -0 is found
}

// leastShamos is the least number of values that resists one wild one.
const leastShamos = 4

// shamosFactors are the factors by which the median distance of 4 to 12 values of a normal
// distribution has to be multiplied for its square to be the variance on average, from 5,000,000
// samples of each size (TestRobustSDIsUnbiased draws new ones).
var shamosFactors = [...]float64{1.0015, 0.9463, 0.8922, 0.9312, 0.9786, 0.9869, 0.9661, 0.9740, 0.9980}

// shamosFactor converges to 1/(√2·Φ⁻¹(3/4)) for large n. Where the number of distances is even the
// lower of the two in the middle counts, so that the factor is a little larger.
func shamosFactor(n int) float64 {
	if i := n - leastShamos; i < len(shamosFactors) {
		return shamosFactors[i]
	}
	const endless = 1.048358
	if n*(n-1)/2%2 == 0 {
		return endless * (1 - 0.61/float64(n))
	}
	return endless * (1 - 0.75/float64(n))
}

// place returns the index of x in the order of the float64s.
func place(x float64) uint64 {
	b := math.Float64bits(x)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// number returns the float64 at that index.
func number(place uint64) float64 {
	if place>>63 == 1 {
		return math.Float64frombits(place &^ (1 << 63))
	}
	return math.Float64frombits(^place)
}
