package methods

import "math"

// wilson is a share with Wilson's score interval of n independent draws, at t
// standard errors: unlike the textbook's p ± z·√(p(1-p)/n), it holds where p is
// near 0 or 1 and never leaves that range (Wilson 1927; Brown, Cai and DasGupta
// 2001).
func wilson(p, n, t float64) Estimate {
	if !(n > 0) {
		return Estimate{Value: p}
	}
	if math.IsInf(n, 1) { // no spread at all was seen
		return Estimate{Value: p, Low: p, High: p}
	}
	k := t * t
	centre := (p + k/(2*n)) / (1 + k/n)
	half := t / (1 + k/n) * root(p*(1-p)/n+k/(4*n*n))
	return Estimate{Value: p, Low: max(0, centre-half), High: min(1, centre+half)}
}

// scaled is an amount of which the relative variance is known, with the score
// interval of a scaled Poisson count: as if it came from 1/variance equal parts.
// For few parts it reaches further up than down, as amounts do that can't be
// below 0; for many it is the textbook's.
func scaled(value, variance, t float64) Estimate {
	if !(value > 0) || !(variance >= 0) || math.IsInf(variance, 0) {
		return Estimate{Value: value}
	}
	k := t * t * variance
	half := root(k + k*k/4)
	return Estimate{Value: value, Low: max(0, value*(1+k/2-half)), High: value * (1 + k/2 + half)}
}

func root(x float64) float64 { return math.Sqrt(max(0, x)) }

// ratio is a/b, 0 where b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
