package energy

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// value is one number that a device reported, and when.
type value struct {
	at    time.Duration
	value float64
}

// toward interpolates between a and a later value.
func (a value) toward(b value, at time.Duration) float64 {
	return a.value + (b.value-a.value)*float64(at-a.at)/float64(b.at-a.at)
}

// series are values in chronological order.
type series []value

// take collects one number of every reading that has it. Android's "not supported" (the smallest
// and the largest integers) counts as absent.
func take(readings []BatteryReading, pick func(BatteryReading) *float64) series {
	var s series
	for _, r := range readings {
		v := pick(r)
		if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) || math.Abs(*v) >= math.MaxInt64 || *v == math.MinInt32 || *v == math.MaxInt32 {
			continue
		}
		if len(s) > 0 && r.Time <= s[len(s)-1].at {
			continue
		}
		s = append(s, value{r.Time, *v})
	}
	return s
}

// changes returns the values that differ from the one before.
func (s series) changes() series {
	var out series
	for i, v := range s {
		if i == 0 || v.value != s[i-1].value {
			out = append(out, v)
		}
	}
	return out
}

// sizes returns the absolute values.
func (s series) sizes() []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = math.Abs(v.value)
	}
	return out
}

func (s series) median() float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = v.value
	}
	return quantile(out, 0.5)
}

// gaps returns the times between neighbours, in ns.
func (s series) gaps() []float64 {
	var out []float64
	for i := 1; i < len(s); i++ {
		out = append(out, float64(s[i].at-s[i-1].at))
	}
	return out
}

// unbroken splits a series at long gaps.
func (s series) unbroken() []series {
	most := max(mostGap, 5*time.Duration(quantile(s.gaps(), 0.5)))
	var parts []series
	begin := 0
	for i := 1; i <= len(s); i++ {
		if i == len(s) || s[i].at-s[i-1].at > most {
			parts = append(parts, s[begin:i])
			begin = i
		}
	}
	return parts
}

// area returns the integral between two instants, in units × seconds, by the trapezoid.
func (s series) area(from, to time.Duration) float64 {
	area := 0.0
	for i := 1; i < len(s); i++ {
		a, b := s[i-1], s[i]
		if begin, end := max(a.at, from), min(b.at, to); begin < end {
			area += (a.toward(b, begin) + a.toward(b, end)) / 2 * (end - begin).Seconds()
		}
	}
	return area
}

// whole reports whether all values are whole numbers.
func whole(s series) bool {
	return !slices.ContainsFunc(s, func(v value) bool { return v.value != math.Trunc(v.value) })
}

// quantile returns the value below which a share of the values lies; 0 for none.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(share*float64(len(sorted)-1)+0.5)]
}

// The voltages that a battery of one cell or of two can have, in V. The highest is less than ten
// times the lowest, so that at most one power of ten fits.
const (
	leastVolts = 2.5
	mostVolts  = 9.2
)

// voltages determines the unit of the voltage and returns volts.
func voltages(readings []BatteryReading, c *Correction) (series, error) {
	reported := take(readings, func(r BatteryReading) *float64 { return r.Voltage })
	if len(reported) == 0 {
		return nil, ErrNoVoltage
	}
	middle := reported.median()
	for exponent := -9; exponent <= 0; exponent++ {
		if v := middle * math.Pow10(exponent); v >= leastVolts && v <= mostVolts {
			c.VoltsPerUnit = math.Pow10(exponent)
		}
	}
	if c.VoltsPerUnit == 0 {
		return nil, fmt.Errorf("%w: %g is none in any unit from nV to V", ErrNoVoltage, middle)
	}
	if whole(reported) && c.VoltsPerUnit > 0.01*leastVolts {
		return nil, fmt.Errorf("%w: %g is rounded to whole units of %g V", ErrNoVoltage, middle, c.VoltsPerUnit)
	}
	var volts series
	for _, v := range reported {
		if scaled := v.value * c.VoltsPerUnit; scaled >= leastVolts && scaled <= mostVolts {
			volts = append(volts, value{v.at, scaled})
		}
	}
	if out := len(reported) - len(volts); float64(out) > mostOut*float64(len(reported)) {
		return nil, fmt.Errorf("%w: %d of %d voltages", ErrUnsteady, out, len(reported))
	}
	c.LeftOut += len(reported) - len(volts)
	return volts, nil
}

// coarse is the minimum median current in units if it is reported in whole units: below, the
// rounding error is no longer negligible.
const coarse = 10

// currents collects the reported currents, and determines whether positive ones flow out of the
// battery.
func currents(readings []BatteryReading, c *Correction) (series, error) {
	reported := take(readings, func(r BatteryReading) *float64 { return r.Current })
	if len(reported) == 0 {
		return nil, ErrNoCurrent
	}
	middle := quantile(reported.sizes(), 0.5)
	switch n := len(reported.changes()); {
	case middle == 0:
		return nil, fmt.Errorf("%w: it is 0 most of the time", ErrNoCurrent)
	case whole(reported) && middle < coarse:
		return nil, fmt.Errorf("%w: %g is rounded to whole units", ErrNoCurrent, middle)
	case n < fewUpdates:
		return nil, fmt.Errorf("%w: %d values in %d readings, at least %d are needed", ErrNoUpdates, n, len(reported), fewUpdates)
	}
	return reported, c.setDirection(reported)
}

// setDirection takes the direction in which most of the charge flows for out of the battery. If too much
// flows against it, a charger was connected or disconnected, or the sensor is unreliable.
func (c *Correction) setDirection(reported series) error {
	limit := 2 * quantile(reported.sizes(), 0.9) // an outlier must not outweigh the rest
	positive, negative := 0.0, 0.0
	for _, v := range reported {
		if size := min(math.Abs(v.value), limit); v.value > 0 {
			positive += size
		} else {
			negative += size
		}
	}
	c.Flipped = positive > negative
	if share := min(positive, negative) / (positive + negative); share > mostWrong {
		return fmt.Errorf("%w: %.0f %% of the charge against the rest", ErrDirection, 100*share)
	}
	return nil
}
