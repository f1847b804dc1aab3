package gate

import (
	"math"

	"github.com/apkgate/apkgate/metric"
)

// Worsening returns how much worse a change makes a metric: as a share of the old value; of a ratio
// in percentage points, since half of a smooth ratio of 3 % is invisible to a user. A change that
// is judged as odds, or of a metric that spreads wider than a mean, counts as the worsening of a
// mean that matters as much (metric.Metric.Span). Where the old value was zero (no ANR before), or
// where values may be below zero, any change that matters counts as 1. A negative result is an
// improvement. shift is the change in the metric's unit, share the same as a share of from.
func Worsening(m metric.Metric, from, shift, share float64) float64 {
	switch {
	case m.Odds:
		share = signedStepBack(m, m.On(metric.Odds, from+shift)-m.On(metric.Odds, from))
	case m.Ratio:
		share = shift
	case (from == 0 || m.Signed) && math.Abs(shift) >= m.Resolution && shift != 0:
		share = math.Copysign(1, shift)
	case m.Signed:
		share = 0
	}
	if m.Span > 0 && !m.Odds && share > -1 {
		share = signedStepBack(m, math.Log1p(share))
	}
	if m.Direction == metric.HigherIsBetter {
		return -share
	}
	return share
}

// signedStepBack returns the share that a distance amounts to, with the distance's sign.
func signedStepBack(m metric.Metric, distance float64) float64 {
	return math.Copysign(m.StepBack(math.Abs(distance)), distance)
}
