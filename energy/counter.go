package energy

import (
	"math"
	"time"
)

const (
	// fewSteps is how often a counter must have changed for its slope to be
	// believed.
	fewSteps = 4
	// counterAgrees is how far the counter and the current may be apart, as a
	// power of ten: a factor of 1.6. Less is wear and rounding, more means that
	// one of them is wrong.
	counterAgrees = 0.2
	// leastLevel is the battery's level in per cent from which on it tells what
	// the counter should read: below, what a phone keeps in reserve is more.
	leastLevel = 10
	// The charge that a battery can hold in Ah, from a nearly empty small one
	// to a full tablet's: less than a factor of 1000, so that one unit of nAh,
	// µAh, mAh and Ah fits at most.
	leastAh = 0.04
	mostAh  = 30.0
)

// counter is what the charge counter tells of the current.
type counter struct {
	fell, rose bool // it moved enough to tell, one way or the other
	// lostAh is the charge that it lost between two instants, 0 where its unit
	// is not known. It is strong evidence where the unit does not rest on what
	// batteries hold in general.
	lostAh   float64
	from, to time.Duration
	strong   bool
}

// readCounter takes the counter between its first and its last change, where the
// charge that it lost is known to a step.
func readCounter(readings []BatteryReading, facts BatteryFacts) counter {
	told := take(readings, func(r BatteryReading) *float64 { return r.Charge })
	changes := told.changes()
	if len(changes) < fewSteps+1 || !steady(changes) {
		return counter{}
	}
	first, last := changes[1], changes[len(changes)-1]
	lost := first.value - last.value
	if percent := take(readings, func(r BatteryReading) *float64 { return r.Percent }); len(percent) > 0 {
		facts.LevelPercent = percent[0].value
	}
	unit, strong := counterUnit(told[:min(len(told), fewSteps+1)].median(), facts) // when the level was told
	return counter{fell: lost > 0, rose: lost < 0, lostAh: max(lost, 0) * unit, from: first.at, to: last.at, strong: strong}
}

// steady reports that a counter goes one way, but for a step now and then, and
// has come out on that side: a gauge that sets it anew in between tells nothing.
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

// counterUnit is the counter's unit in Ah, 0 where none fits. It is strong
// evidence where the battery's capacity and level say what it should read.
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
