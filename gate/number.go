package gate

import (
	"math"

	"github.com/apkgate/apkgate/metric"
)

// Finite replaces numbers that JSON can't represent.
func Finite(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}

// Change returns a shift, which is on the scale on which the metric is judged, as a change from the
// value from: in the metric's unit, and as a share of from. The share is 0 where from is 0 or the
// metric may be below it.
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

// SampleEvenly returns n of the values, evenly spaced.
func SampleEvenly(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = values[i*len(values)/n]
	}
	return out
}
