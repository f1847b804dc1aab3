package energy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Power is the device's power supply.
type Power int8

// The states of the power supply.
const (
	PowerUnknown Power = iota // not reported
	OnBattery                 // no charger is connected
	External                  // a charger or a USB port is
)

// BatteryReading is the state of the battery at one instant, in the device's units. A nil field was
// not reported then.
type BatteryReading struct {
	Time    time.Duration // on CLOCK_MONOTONIC
	Current *float64      // by the specification µA, negative out of the battery
	Voltage *float64      // µV of Perfetto and the kernel, mV of dumpsys battery
	Charge  *float64      // the charge counter, µAh by the specification
	Percent *float64      // the battery's level
	Power   Power
}

// BatteryFacts is what is known of the device besides its readings; it helps to determine units.
type BatteryFacts struct {
	CapacityMAh  float64 // of the full battery, 0 if unknown
	LevelPercent float64 // used if no reading has it; 0 if unknown
	// ScreenOn is set if the screen was on throughout, so that a few milliwatts are impossible.
	ScreenOn bool
	// AmperesPerUnit is the unit found by an earlier Correction on the device, 0 if there was none.
	// It resolves ambiguity.
	AmperesPerUnit float64
}

// Correction is the battery's power and the corrections that were needed to compute it.
type Correction struct {
	AmperesPerUnit float64 // of the reported current: 1e-6 by the specification
	Flipped        bool    // the current out of the battery was reported as positive
	VoltsPerUnit   float64
	// CounterRatio is the charge that the counter lost divided by the integral of the current: 1 if
	// they agree, 0 if there is no usable counter.
	CounterRatio float64
	// Update is the median time between two values of the current, and Updates the number of
	// values.
	Update  time.Duration
	Updates int
	// LeftOut counts readings that no battery can have.
	LeftOut int
	// Curve is the power that the device drew, positive.
	Curve Curve
}

// Reasons to reject a battery's readings.
var (
	ErrCharging     = errors.New("the device was not on battery")
	ErrPowerUnknown = errors.New("nothing says whether the device was on battery")
	ErrNoCurrent    = errors.New("the battery reports no current")
	ErrNoVoltage    = errors.New("the battery reports no plausible voltage")
	ErrNoUpdates    = errors.New("the current does not change often enough")
	ErrUnit         = errors.New("the unit of the current can't be determined")
	ErrDirection    = errors.New("the current flows both ways")
	ErrCounter      = errors.New("the charge counter contradicts the current")
	ErrUnsteady     = errors.New("too many readings are impossible")
)

// Limits of plausible readings.
const (
	leastMean  = 0.005 // W: a device that is awake to be read draws more
	leastLit   = 0.1   // W: and with its screen on
	mostWatts  = 40.0  // W: no phone or tablet draws more
	leastTrue  = 0.001 // W: a single reading below is invalid
	fewUpdates = 5
	mostGap    = 5 * time.Second // without a plausible current, for power to be known
	shortGap   = 0.1             // the quantile of times between two values that is certainly an update
	mostOut    = 0.1             // the share of readings that may be impossible
	mostWrong  = 0.05            // the share of charge that may flow the wrong way
)

// Correct determines the unit and the sign of a device's reported battery current, and returns the
// power that it drew: current × voltage, recomputed whenever either changes, joined by the
// trapezoid (EDATA, sections 3.5.1 and 6.1.1; there the current stays until its next value).
//
// The unit is the power of ten that is consistent with the battery's range and, if it moves enough,
// with its charge counter. An ambiguous unit is rejected with one of the errors above; so is a
// measurement during which a charger was connected. The order of the readings does not matter.
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

// onBattery rejects a measurement during which a charger was connected.
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
	reported := len(current)
	current = c.amperes(current, volts.median())
	c.LeftOut += reported - len(current)
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

// direction requires evidence that the battery was discharging.
func direction(readings []BatteryReading, counter counter) error {
	switch {
	case counter.rose:
		return fmt.Errorf("%w: its charge counter rose", ErrCharging)
	case counter.fell, slices.ContainsFunc(readings, func(r BatteryReading) bool { return r.Power == OnBattery }):
		return nil
	}
	return fmt.Errorf("%w: it reports no chargers, and its charge counter does not move enough", ErrPowerUnknown)
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

// join multiplies current and voltage, whenever either changes, from the first of the currents to
// the last. Between two of its values the current is interpolated.
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

// line returns the points between which the current is interpolated. A value that stays for long
// was read again and had not changed: it holds until shortly before the next, by as much as the
// shorter times between two values are.
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
