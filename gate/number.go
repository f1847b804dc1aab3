package gate

import (
	"math"

	"github.com/apkgate/apkgate/metric"
)

// Finite keeps numbers that JSON can't hold out of a verdict.
func Finite(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}

// Change is a shift of a metric on the scale on which it is judged, as a change of from:
// in the metric's unit, and as a share of from, 0 where that is 0 or may be below it.
func Change(m metric.Metric, from, shift float64, scale metric.Scale) (amount, share float64) {
	switch {
	case scale == metric.Log:
		return Finite(from * math.Expm1(shift)), Finite(math.Expm1(shift))
	case scale == metric.Odds:
		amount = m.Back(scale, m.On(scale, from)+shift) - from
		if from == 0 {
			return Finite(amount), 0
		}
		return Finite(amount), Finite(amount / from)
	case from != 0 && !m.Signed:
		return Finite(shift), Finite(shift / math.Abs(from))
	}
	return Finite(shift), 0
}

// Evenly chooses n of the values.
func Evenly(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = values[i*len(values)/n]
	}
	return out
}
