package gate

import (
	"math"

	"github.com/apkgate/apkgate/metric"
)

// Worsening is how much worse a change makes a metric: as a share of what it is a
// change of; of a ratio in percentage points, since half of a smooth ratio of 3 % is
// nothing that anybody sees. What is judged as odds, or spreads wider than a mean, counts as
// the worsening of a mean that matters as much (metric.Metric.Span). Where there was nothing (no ANR before), or where values
// may be below zero, any change that means something is a whole one. Below zero it is
// for the better. shift is the
// change in the metric's unit, share the same as a share of from.
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

// signedStepBack is the share that a distance amounts to, with the distance's sign.
func signedStepBack(m metric.Metric, distance float64) float64 {
	return math.Copysign(m.StepBack(math.Abs(distance)), distance)
}
