package energy

import (
	"math"
	"time"
)

const (
	// fewSteps is the minimum number of changes for a counter's slope to count.
	fewSteps = 4
	// counterAgrees is the tolerated difference between the counter and the current, as a power of
	// ten: a factor of 1.6. Less is wear and rounding, more means that one of them is wrong.
	counterAgrees = 0.2
	// leastLevel is the lowest level in percent that predicts the counter's value: below it, the
	// phone's reserve is larger.
	leastLevel = 10
	// The charge of a battery in Ah, from a nearly empty small one to a full tablet's: less than a
	// factor of 1000, so that at most one unit of nAh, µAh, mAh and Ah fits.
	leastAh = 0.04
	mostAh  = 30.0
)

// counter is the evidence of the charge counter about the current.
type counter struct {
	fell, rose bool // it moved enough in this direction
	// lostAh is the charge that it lost between two instants, 0 if its unit is unknown. The
	// evidence is strong if the unit does not rest on typical batteries.
	lostAh   float64
	from, to time.Duration
	strong   bool
}

// readCounter uses the counter between its first and its last change, where the lost charge is
// known to a step.
func readCounter(readings []BatteryReading, facts BatteryFacts) counter {
	reported := take(readings, func(r BatteryReading) *float64 { return r.Charge })
	changes := reported.changes()
	if len(changes) < fewSteps+1 || !steady(changes) {
		return counter{}
	}
	first, last := changes[1], changes[len(changes)-1]
	lost := first.value - last.value
	if percent := take(readings, func(r BatteryReading) *float64 { return r.Percent }); len(percent) > 0 {
		facts.LevelPercent = percent[0].value
	}
	unit, strong := counterUnit(reported[:min(len(reported), fewSteps+1)].median(), facts) // when the level was reported
	return counter{fell: lost > 0, rose: lost < 0, lostAh: max(lost, 0) * unit, from: first.at, to: last.at, strong: strong}
}

// steady reports whether a counter moves in one direction, apart from an occasional step, and has
// ended on that side: a gauge that recalibrates in between is no evidence.
func steady(changes series) bool {
	down, up := 0, 0
	for i := 1; i < len(changes); i++ {
		if changes[i].value < changes[i-1].value {
			down++
		} else {
			up++
		}
	}
	fell := changes[len(changes)-1].value < changes[1].value
	return 8*min(down, up) <= max(down, up) && fell == (down > up)
}

// counterUnit returns the counter's unit in Ah, 0 if none fits. It is strong evidence if the
// battery's capacity and level predict the reading.
func counterUnit(reading float64, facts BatteryFacts) (ah float64, strong bool) {
	if reading <= 0 {
		return 0, false
	}
	if facts.CapacityMAh > 0 && facts.LevelPercent >= leastLevel {
		should := facts.CapacityMAh / 1000 * facts.LevelPercent / 100
		exact := math.Log10(should / reading)
		if math.Abs(exact-math.Round(exact)) <= counterAgrees {
			return math.Pow10(int(math.Round(exact))), true
		}
		return 0, false
	}
	for exponent := -9; exponent <= 0; exponent += 3 {
		if ah := reading * math.Pow10(exponent); ah >= leastAh && ah <= mostAh {
			return math.Pow10(exponent), false
		}
	}
	return 0, false
}
