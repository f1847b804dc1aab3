package power

import (
	"math"
	"time"
)

// Battery is the true state of a battery: its capacity and its voltage.
type Battery struct {
	CapacityMAh   float64
	FullV, EmptyV float64 // without a load; linear in between
	Ohm           float64 // the inner resistance
}

const secondsPerHour = 3600

// FullJ returns the energy of a full battery.
func (b Battery) FullJ() float64 {
	return b.CapacityMAh / 1000 * secondsPerHour * (b.FullV + b.EmptyV) / 2
}

// ChargeMAh returns the remaining charge for a remaining energy.
func (b Battery) ChargeMAh(joules float64) float64 {
	// joules = charge × (EmptyV + slope × charge / 2), the charge in coulombs.
	full := b.CapacityMAh / 1000 * secondsPerHour
	slope := (b.FullV - b.EmptyV) / full
	coulombs := (math.Sqrt(b.EmptyV*b.EmptyV+2*slope*math.Max(joules, 0)) - b.EmptyV) / slope
	return coulombs * 1000 / secondsPerHour
}

// Reads returns voltage (V) and current (A, negative out of the battery) for a remaining
// charge and the power drawn from the battery.
func (b Battery) Reads(chargeMAh, watts float64) (volts, amperes float64) {
	open := b.EmptyV + (b.FullV-b.EmptyV)*chargeMAh/b.CapacityMAh
	// watts = volts × i, and volts = open - i × Ohm.
	root := math.Sqrt(math.Max(open*open-4*b.Ohm*watts, 0.01))
	volts = (open + root) / 2
	return volts, -watts / volts
}

// Reading is a reading of the battery's gauge.
type Reading struct {
	At        time.Duration // of the gauge's last update
	ChargeUAh float64
	CurrentUA float64 // mean since the previous update, negative out of the battery
	AverageUA float64 // mean over ten updates
	VoltageUV float64
	Percent   float64
}

// Gauge returns the gauge's reading at an instant. joules returns the energy in the battery at
// a time, draw the mean power out of it between two instants. update is the gauge's update
// interval, smooth the weight of the previous reading in the next one, as in average current
// registers (0: none).
func (b Battery) Gauge(at, update time.Duration, smooth float64, seed uint64, joules func(at time.Duration) float64, draw func(from, to time.Duration) float64) Reading {
	at = at.Truncate(update)
	charge := b.ChargeMAh(joules(at))
	noise := 1 + 0.003*normal(seed, uint64(at))
	volts, amperes := b.Reads(charge, smoothed(at, update, smooth, draw)*noise)
	_, average := b.Reads(charge, draw(at-10*update, at))
	return Reading{
		At: at, ChargeUAh: math.Round(charge * 1000), CurrentUA: math.Round(amperes * 1e6), AverageUA: math.Round(average * 1e6),
		VoltageUV: math.Round(volts*1000) * 1000, Percent: 100 * charge / b.CapacityMAh,
	}
}

// smoothed returns the mean power of the updates up to one, with weights that decrease with
// age.
func smoothed(at, update time.Duration, smooth float64, draw func(from, to time.Duration) float64) float64 {
	const least = 0.001 // relative to the latest weight
	watts, weight, all := 0.0, 1.0, 0.0
	for ; weight > least; weight *= smooth {
		watts, all = watts+weight*draw(at-update, at), all+weight
		at -= update
	}
	return watts / all
}
