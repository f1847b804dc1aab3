package figure

import (
	"math"
	"strings"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
)

// scale maps values to pixels, linearly or by their logarithm.
type scale struct {
	low, high float64 // the values at the two ends; low < high
	from, to  float64 // their pixels
	log       bool
}

// wideRange is the ratio of the largest to the smallest value from which on a metric with
// multiplicative noise is drawn on a logarithmic axis.
const wideRange = 8

// newScale covers the values with a margin. logarithmic is used if all values are positive and
// their range is wide.
func newScale(low, high, from, to float64, logarithmic bool) scale {
	if !finite(low) || !finite(high) || low > high || low == 0 && high == 0 {
		low, high = 0, 1
	}
	s := scale{low: low, high: high, from: from, to: to}
	if logarithmic && low > 0 && high/low >= wideRange {
		s.log = true
		s.low, s.high = low/1.15, min(high*1.15, math.MaxFloat64)
		return s
	}
	air := (high - low) * 0.06
	if !(air > 0) || math.IsInf(air, 0) {
		air = max(math.Abs(high)*0.05, 1e-9)
	}
	s.low, s.high = max(low-air, -math.MaxFloat64/4), min(high+air, math.MaxFloat64/4)
	if low >= 0 && s.low < 0 {
		s.low = 0
	}
	return s
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// at returns the pixel of a value, limited to the ends.
func (s scale) at(v float64) float64 {
	share := 0.0
	if s.log {
		if v > 0 {
			share = math.Log(v/s.low) / math.Log(s.high/s.low)
		}
	} else {
		share = (v - s.low) / (s.high - s.low)
	}
	if math.IsNaN(share) {
		share = 0
	}
	return s.from + min(max(share, 0), 1)*(s.to-s.from)
}

func (s scale) holds(v float64) bool { return finite(v) && s.low <= v && v <= s.high }

// ticks returns round values inside the scale, at most about n of them.
func (s scale) ticks(n int) []float64 {
	if s.log {
		if t := s.logTicks(n); len(t) >= 2 {
			return t
		}
	}
	step := roundStep((s.high - s.low) / float64(max(n, 1)))
	if finer := roundStep(step / 3); (s.high-s.low)/finer <= float64(n)+2 {
		step = finer // a tick or two too many rather than almost none
	}
	if !(step > 0) || math.IsInf(step, 0) {
		return nil
	}
	var out []float64
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high*(1+1e-12) && len(out) <= 2*n; i++ {
		out = append(out, i*step+0) // +0 turns -0 into 0
	}
	return out
}

// roundStep returns the least of 1, 2 or 5 times a power of ten that is not below v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logTicks tries 1-2-5, then 1-3, then 1 in each power of ten, then every other power and so on,
// until there are few enough.
func (s scale) logTicks(n int) []float64 {
	first, last := int(math.Floor(math.Log10(s.low))), int(math.Ceil(math.Log10(s.high)))
	collect := func(every int, multiples ...float64) (out []float64) {
		for e := first; e <= last; e++ {
			if e%every != 0 {
				continue
			}
			for _, m := range multiples {
				if v := m * math.Pow(10, float64(e)); s.holds(v) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	for _, multiples := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		if t := collect(1, multiples...); len(t) <= n {
			return t
		}
	}
	return collect(max(2, (last-first)/n+1), 1)
}

// tickText formats a tick with as many digits as its neighbours need.
func tickText(m metric.Metric, v float64, all []float64) string {
	if m.Ratio {
		return wording.Minus(wording.Digits(100*v, stepOf(all)*100)) + wording.NBSP + "%"
	}
	return wording.Minus(wording.Digits(v, stepOf(all)))
}

// stepOf returns the least distance between neighbours.
func stepOf(all []float64) float64 {
	step := math.Inf(1)
	for i := 1; i < len(all); i++ {
		step = min(step, all[i]-all[i-1])
	}
	if math.IsInf(step, 0) || step <= 0 {
		return 1
	}
	return step
}

// axisTitle returns the metric with its unit: "time per frame (ms, logarithmic)".
func axisTitle(m metric.Metric, s scale) string {
	var parts []string
	if m.Unit != "" && !m.Ratio && m.Unit != "frames" {
		parts = append(parts, wording.Name(m.Unit))
	}
	if s.log {
		parts = append(parts, "logarithmic")
	}
	if len(parts) == 0 {
		return wording.Brief(m.Title)
	}
	return wording.Brief(m.Title) + " (" + strings.Join(parts, ", ") + ")"
}
