package methods

import "math"

// wilson returns a share with Wilson's score interval for n independent draws, at t standard
// errors: unlike the textbook's p ± z·√(p(1-p)/n), it holds for p near 0 or 1 and never leaves that
// range (Wilson 1927; Brown, Cai and DasGupta 2001).
func wilson(p, n, t float64) Estimate {
	if !(n > 0) {
		return Estimate{Value: p}
	}
	if math.IsInf(n, 1) { // no spread was observed
		return Estimate{Value: p, Low: p, High: p}
	}
	k := t * t
	centre := (p + k/(2*n)) / (1 + k/n)
	half := t / (1 + k/n) * root(p*(1-p)/n+k/(4*n*n))
	return Estimate{Value: p, Low: max(0, centre-half), High: min(1, centre+half)}
}

// scaled returns an amount with a known relative variance, with the score interval of a scaled
// Poisson count: as if it consisted of 1/variance equal parts. For few parts it extends further up
// than down, as is right for an amount that can't be negative; for many it is the textbook's.
func scaled(value, variance, t float64) Estimate {
	if !(value > 0) || !(variance >= 0) || math.IsInf(variance, 0) {
		return Estimate{Value: value}
	}
	k := t * t * variance
	half := root(k + k*k/4)
	return Estimate{Value: value, Low: max(0, value*(1+k/2-half)), High: value * (1 + k/2 + half)}
}

func root(x float64) float64 { return math.Sqrt(max(0, x)) }

// ratio returns a/b, 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
