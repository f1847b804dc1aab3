package energy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// unit determines the power of ten of the current.
func (c *Correction) unit(current series, volts float64, counter counter, facts BatteryFacts) error {
	sizes := current.sizes()
	middle, high := quantile(sizes, 0.5)*volts, quantile(sizes, 0.9)*volts
	least := leastMean
	if facts.ScreenOn {
		least = leastLit
	}
	var possible []int
	for exponent := -9; exponent <= 0; exponent++ {
		scale := math.Pow10(exponent)
		usual := exponent%3 == 0 || counter.strong || facts.AmperesPerUnit > 0
		if middle*scale >= least && high*scale <= mostWatts && usual {
			possible = append(possible, exponent)
		}
	}
	if counter.lostAh > 0 {
		return c.byCounter(possible, current, volts, counter)
	}
	if facts.AmperesPerUnit > 0 {
		possible = slices.DeleteFunc(possible, func(e int) bool { return e != exponentOf(facts.AmperesPerUnit) })
	}
	switch len(possible) {
	case 0:
		return fmt.Errorf("%w: in no unit from nA to A is %.3g a plausible power", ErrUnit, quantile(sizes, 0.5))
	case 1:
		c.AmperesPerUnit = math.Pow10(possible[0])
		return nil
	}
	return fmt.Errorf("%w: it could be %s or %s", ErrUnit, watts(middle*math.Pow10(possible[0])), watts(middle*math.Pow10(possible[1])))
}

// byCounter selects the unit in which the integral of the current equals the charge that the
// counter lost.
func (c *Correction) byCounter(possible []int, current series, volts float64, counter counter) error {
	nearest := math.Inf(1)
	for _, exponent := range possible {
		c.AmperesPerUnit = math.Pow10(exponent)
		ratio := counter.lostAh * time.Hour.Seconds() / c.amperes(current, volts).area(counter.from, counter.to)
		if math.Abs(math.Log10(ratio)) <= counterAgrees {
			c.CounterRatio = ratio
			return nil
		}
		if math.Abs(math.Log10(ratio)) < math.Abs(math.Log10(nearest)) {
			nearest = ratio
		}
	}
	return fmt.Errorf("%w: in the unit that fits best it lost %.2g times the integral of the current", ErrCounter, nearest)
}

// exponentOf returns the power of ten next to a scale.
func exponentOf(scale float64) int { return int(math.Round(math.Log10(scale))) }

func watts(w float64) string {
	if w < 0.5 {
		return fmt.Sprintf("%.3g mW", w*1000)
	}
	return fmt.Sprintf("%.3g W", w)
}

// amperes converts the current to amperes out of the battery and leaves out what a discharging
// battery can't have: zero, too large, the wrong direction.
func (c *Correction) amperes(current series, volts float64) series {
	scale := -c.AmperesPerUnit
	if c.Flipped {
		scale = c.AmperesPerUnit
	}
	var kept series
	for _, v := range current {
		if w := v.value * scale * volts; w >= leastTrue && w <= mostWatts {
			kept = append(kept, value{v.at, v.value * scale})
		}
	}
	return kept
}

// String describes the corrections: "current in mA (× 1000), sign flipped".
func (c Correction) String() string {
	parts := []string{"current in " + unitName(c.AmperesPerUnit, "A")}
	if by := c.AmperesPerUnit / 1e-6; math.Abs(by-1) > 1e-9 {
		parts[0] += fmt.Sprintf(" (× %.6g)", by)
	}
	if c.Flipped {
		parts = append(parts, "sign flipped")
	}
	parts = append(parts, "voltage in "+unitName(c.VoltsPerUnit, "V"))
	switch {
	case c.CounterRatio == 0:
		parts = append(parts, "no charge counter to check against")
	default:
		parts = append(parts, fmt.Sprintf("the charge counter confirms it (%.2f)", c.CounterRatio))
	}
	if c.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("%d readings left out", c.LeftOut))
	}
	return strings.Join(parts, ", ")
}

func unitName(scale float64, unit string) string {
	prefix, known := map[int]string{-9: "n", -6: "µ", -3: "m", 0: ""}[exponentOf(scale)]
	if !known {
		return fmt.Sprintf("%g %s", scale, unit)
	}
	return prefix + unit
}
