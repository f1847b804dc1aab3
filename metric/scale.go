package metric

import "math"

// Scale is the scale on which a metric's noise is even, so that differences are judged there.
type Scale int8

// The scales.
const (
	Linear Scale = iota
	// Log is for multiplicative noise: times, joules.
	Log
	// Odds is for shares: half as many bad frames again matters about as much at one in a hundred
	// as at twenty. It is the logarithm of (p+c)/(1-p+c), where c is fewShare: half as many again
	// of almost no bad frames is nothing, and zero has odds too.
	Odds
)

// ScaleOf returns the scale on which the metric's values are judged, given the least of them: zero
// has no logarithm.
func (m Metric) ScaleOf(least float64) Scale {
	switch {
	case m.Odds:
		return Odds
	case m.Log && least > 0:
		return Log
	}
	return Linear
}

// On converts a value to the scale.
func (m Metric) On(s Scale, v float64) float64 {
	switch s {
	case Log:
		return math.Log(v)
	case Odds:
		v = min(max(v, 0), 1)
		return math.Log((v + fewShare) / (1 - v + fewShare))
	}
	return v
}

// fewShare is a share that hardly matters: one bad frame in two hundred.
const fewShare = 0.005

// Slope returns the derivative of the scale at v.
func (m Metric) Slope(s Scale, v float64) float64 {
	switch s {
	case Log:
		return 1 / v
	case Odds:
		v = min(max(v, 0), 1)
		return 1/(v+fewShare) + 1/(1-v+fewShare)
	}
	return 1
}

// Back converts a number on the scale to a value.
func (m Metric) Back(s Scale, x float64) float64 {
	switch s {
	case Log:
		return math.Exp(x)
	case Odds:
		odds := math.Exp(min(x, mostOdds))
		return min(max((odds*(1+fewShare)-fewShare)/(1+odds), 0), 1)
	}
	return x
}

// mostOdds is beyond the odds of a share of 1.
const mostOdds = 20

// Step returns how far a worsening by the share moves the metric on the scale of logarithms or of
// odds, without its sign: log(1+share) for a mean, Span times as far for a metric that spreads
// wider.
func (m Metric) Step(share float64) float64 { return m.span() * math.Log1p(share) }

// StepBack returns the share that a distance on that scale amounts to.
func (m Metric) StepBack(distance float64) float64 { return math.Expm1(distance / m.span()) }

func (m Metric) span() float64 {
	if m.Span > 0 {
		return m.Span
	}
	return 1
}

// oddsSpan is the Span of shares: a worsening by 10 % is half as many bad frames again, one by 20 %
// is 2.2 times as many.
var oddsSpan = math.Log(1.5) / math.Log(1.1)
