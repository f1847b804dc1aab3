package account

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/power"
)

// batteryJ returns the energy in the battery at a time.
func (a *Account) batteryJ(at time.Duration) float64 {
	full := a.Hardware.Battery.FullJ()
	at = max(at, clock.Boot)
	// The nearer of the two known times: readings advance step by step.
	m := mark{a.ledger.at, a.ledger.batteryJ}
	if (at-a.mark.at).Abs() < (at-m.at).Abs() && a.mark.at > 0 {
		m = a.mark
	}
	if at < m.at {
		m.batteryJ += a.Joules(at, m.at).Total() - a.supplied(at, m.at)
	} else {
		m.batteryJ -= a.Joules(m.at, at).Total() - a.supplied(m.at, at)
	}
	m.at, m.batteryJ = at, min(full, max(0, m.batteryJ))
	a.mark = m
	return m.batteryJ
}

// gauge reads the battery's gauge at the present or an earlier time.
func (a *Account) gauge(at time.Duration) power.Reading {
	update := a.Sensors.Gauge
	if update == 0 {
		update = time.Second
	}
	if a.gauged.At > 0 && a.gauged.At == at.Truncate(update) {
		return a.gauged
	}
	full := a.Hardware.Battery.FullJ()
	a.gauged = a.Hardware.Battery.Gauge(at, update, a.Sensors.Smooth, a.seed, a.batteryJ, func(from, to time.Duration) float64 {
		if from = max(from, clock.Boot); from >= to {
			return a.Hardware.AwakeW
		}
		out := a.Joules(from, to).Total() - a.supplied(from, to)
		if out < 0 && a.batteryJ(to) >= full {
			out = 0 // a full battery takes no charge
		}
		return out / (to - from).Seconds()
	})
	return a.gauged
}

// Shown is a reading of the gauge with the phone's own units and signs.
type Shown struct {
	Current, Average, Charge float64
	HasCurrent, HasCharge    bool
	VoltageUV                float64
	Percent                  int
}

// Battery returns what the battery's gauge shows at the present or an earlier time, with this
// phone's distortions.
func (a *Account) Battery(at time.Duration) Shown {
	a.Settle()
	s, r := a.Sensors, a.gauge(at)
	if s.Emulator { // constants of the emulator's battery
		return Shown{Current: 900_000, Average: 900_000, Charge: 10_000, HasCurrent: true, HasCharge: true, VoltageUV: 5_000_000, Percent: 100}
	}
	sign := 1.0
	if s.Outward {
		sign = -1
	}
	out := Shown{VoltageUV: r.VoltageUV, Percent: int(r.Percent + 0.5), HasCharge: s.ChargeUnit > 0}
	if out.HasCurrent = s.Gauge > 0; out.HasCurrent {
		out.Current, out.Average = sign*r.CurrentUA/s.CurrentUnit, sign*r.AverageUA/s.CurrentUnit
	}
	if out.HasCharge {
		out.Charge = r.ChargeUAh / s.ChargeUnit
	}
	return out
}
