package energy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Power says where the device gets its power from.
type Power int8

// What a device can say of its power.
const (
	PowerUnknown Power = iota // it does not say
	OnBattery                 // no charger is connected
	External                  // a charger or a USB port is
)

// BatteryReading is what the device told of its battery at one instant, in
// whatever unit it chose. A nil was not told then.
type BatteryReading struct {
	Time    time.Duration // on CLOCK_MONOTONIC
	Current *float64      // by the specification µA, negative out of the battery
	Voltage *float64      // µV of Perfetto and the kernel, mV of dumpsys battery
	Charge  *float64      // the charge counter, by the specification µAh
	Percent *float64      // the battery's level
	Power   Power
}

// BatteryFacts are what is known of the device beside its readings; they help
// to tell one unit from another.
type BatteryFacts struct {
	CapacityMAh  float64 // of the full battery, 0 where unknown
	LevelPercent float64 // where no reading tells it; 0 where unknown
	// ScreenOn says that the screen was on all along, so that some milliwatts
	// can't be the truth.
	ScreenOn bool
	// AmperesPerUnit is what an earlier Correction found on the device, 0 where
	// there was none. It settles what is ambiguous.
	AmperesPerUnit float64
}

// Correction is the battery's power and what had to be done to get it.
type Correction struct {
	AmperesPerUnit float64 // of the current as reported: 1e-6 by the specification
	Flipped        bool    // the current out of the battery was reported as positive
	VoltsPerUnit   float64
	// CounterRatio is the charge that the counter lost over the charge that the
	// current comes to: 1 where they agree, 0 where there is no counter to use.
	CounterRatio float64
	// Update is the median time between two values of the current, and Updates
	// how many there were.
	Update  time.Duration
	Updates int
	// LeftOut counts readings that no battery can have.
	LeftOut int
	// Curve is the power that the device drew, positive.
	Curve Curve
}

// The reasons to refuse a battery's readings.
var (
	ErrCharging     = errors.New("the device was not on battery")
	ErrPowerUnknown = errors.New("nothing says whether the device was on battery")
	ErrNoCurrent    = errors.New("the battery tells no current")
	ErrNoVoltage    = errors.New("the battery tells no voltage that a battery can have")
	ErrNoUpdates    = errors.New("the current does not change often enough")
	ErrUnit         = errors.New("the unit of the current can't be told")
	ErrDirection    = errors.New("the current flows both ways")
	ErrCounter      = errors.New("the charge counter contradicts the current")
	ErrUnsteady     = errors.New("too many readings are impossible")
)

// Limits of what is believed of a battery.
const (
	leastMean  = 0.005 // W: a device that is awake to be read draws more
	leastLit   = 0.1   // W: and with its screen on
	mostWatts  = 40.0  // W: no phone or tablet draws more
	leastTrue  = 0.001 // W: a single reading below is none
	fewUpdates = 5
	mostGap    = 5 * time.Second // without a believable current, for power to be known
	shortGap   = 0.1             // the quantile of times between two values that is an update for sure
	mostOut    = 0.1             // the share of readings that may be impossible
	mostWrong  = 0.05            // the share of charge that may flow the wrong way
)

// Correct finds out in which unit and with which sign a device reports its
// battery's current, and gives the power that it drew: current × voltage, anew
// each time that either changes, joined by the trapezoid (EDATA, sections 3.5.1
// and 6.1.1; there the current stays until its next value).
//
// The unit is the power of ten that the battery's own range and, where it moves
// enough, its charge counter allow. What stays ambiguous is refused with one of
// the errors above; so is a measurement during which a charger was connected.
// The order of the readings does not matter.
func Correct(readings []BatteryReading, facts BatteryFacts) (Correction, error) {
	readings = slices.Clone(readings)
	slices.SortStableFunc(readings, func(a, b BatteryReading) int { return cmp.Compare(a.Time, b.Time) })
	if err := onBattery(readings); err != nil {
		return Correction{}, fmt.Errorf("measure by the battery: %w", err)
	}
	c, err := correct(readings, facts)
	if err != nil {
		return Correction{}, fmt.Errorf("measure by the battery: %w", err)
	}
	return c, nil
}

// onBattery refuses a measurement with a charger at any time of it.
func onBattery(readings []BatteryReading) error {
	for _, r := range readings {
		switch since := r.Time - readings[0].Time; {
		case r.Power != External:
		case since <= 0:
			return fmt.Errorf("%w: a charger is connected", ErrCharging)
		default:
			return fmt.Errorf("%w: a charger was connected %v after the beginning", ErrCharging, since.Round(time.Millisecond))
		}
	}
	return nil
}

func correct(readings []BatteryReading, facts BatteryFacts) (Correction, error) {
	var c Correction
	volts, err := voltages(readings, &c)
	if err != nil {
		return c, err
	}
	current, err := currents(readings, &c)
	if err != nil {
		return c, err
	}
	counter := readCounter(readings, facts)
	if err := direction(readings, counter); err != nil {
		return c, err
	}
	if err := c.unit(current, volts.median(), counter, facts); err != nil {
		return c, err
	}
	told := len(current)
	current = c.amperes(current, volts.median())
	c.LeftOut += told - len(current)
	if share := float64(c.LeftOut) / float64(len(current)+c.LeftOut); share > mostOut {
		return c, fmt.Errorf("%w: %d of %d", ErrUnsteady, c.LeftOut, len(current)+c.LeftOut)
	}
	if err := c.updates(current); err != nil {
		return c, err
	}
	hold := time.Duration(quantile(current.changes().gaps(), shortGap))
	for _, part := range current.unbroken() {
		c.Curve.pieces = append(c.Curve.pieces, join(part, volts.changes(), hold).pieces...)
	}
	c.Curve.number(current.changes())
	return c, nil
}

// direction wants it to be known that the battery was discharged.
func direction(readings []BatteryReading, counter counter) error {
	switch {
	case counter.rose:
		return fmt.Errorf("%w: its charge counter rose", ErrCharging)
	case counter.fell, slices.ContainsFunc(readings, func(r BatteryReading) bool { return r.Power == OnBattery }):
		return nil
	}
	return fmt.Errorf("%w: it states no chargers, and its charge counter does not move enough to tell", ErrPowerUnknown)
}

// updates measures how often the current changes.
func (c *Correction) updates(current series) error {
	changes := current.changes()
	c.Updates = len(changes)
	if len(changes) < fewUpdates {
		return fmt.Errorf("%w: %d values in %d readings, at least %d are needed", ErrNoUpdates, len(changes), len(current), fewUpdates)
	}
	c.Update = time.Duration(quantile(changes.gaps(), 0.5))
	return nil
}

// join multiplies current and voltage, anew each time that either changes, from
// the first of the currents to the last. Between two of its values the current is
// on the line that joins them.
func join(current, volts series, hold time.Duration) Curve {
	var readings []Reading
	points := line(current, hold)
	v := 0
	for i, b := range points {
		for v+1 < len(volts) && volts[v+1].at < b.at {
			v++
			if at := volts[v].at; i > 0 && at > points[i-1].at {
				readings = append(readings, Reading{at, points[i-1].toward(b, at) * volts[v].value})
			}
		}
		if v+1 < len(volts) && volts[v+1].at == b.at {
			v++
		}
		readings = append(readings, Reading{b.at, b.value * volts[v].value})
	}
	return OfReadings(readings, 0)
}

// line are the points that the current's values are joined by. One that stays
// for long was read again and was the same: it holds until shortly before the
// next, by as much as the shorter times between two values are.
func line(current series, hold time.Duration) series {
	var points series
	changes := current.changes()
	for i, a := range changes {
		if i > 0 {
			before := changes[i-1]
			if held := a.at - hold; held > before.at+hold/2 {
				points = append(points, value{held, before.value})
			}
		}
		points = append(points, a)
	}
	last := current[len(current)-1]
	return append(points, value{last.at, last.value})
}
