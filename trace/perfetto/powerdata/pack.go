package powerdata

import (
	"fmt"
	"time"
)

// pack is one battery of the traced devices with its readings.
type pack struct {
	name    string
	machine uint32
	samples []BatterySample
}

// BatteryDetails is one battery. A counter that was never read is nil.
type BatteryDetails struct {
	Name     string `json:"name"`
	Machine  uint32 `json:"machine,omitempty"`
	Readings int    `json:"readings"`
	// UpdateMS is the median time between two readings that differ.
	UpdateMS       float64  `json:"update_ms"`
	MeanCurrentUA  *float64 `json:"mean_current_ua,omitempty"`
	MeanVoltageUV  *float64 `json:"mean_voltage_uv,omitempty"`
	FirstChargeUAH *int64   `json:"first_charge_uah,omitempty"`
	LastChargeUAH  *int64   `json:"last_charge_uah,omitempty"`
	FirstPercent   *float64 `json:"first_percent,omitempty"`
	LastPercent    *float64 `json:"last_percent,omitempty"`
}

// batteries returns the readings of each battery, as they come in the trace.
func (t *Trace) batteries() []pack {
	type key struct {
		name    string
		machine uint32
	}
	places := map[key]int{}
	var out []pack
	for _, s := range t.Battery {
		k := key{s.Name, s.Machine}
		place, ok := places[k]
		if !ok {
			place = len(out)
			places[k] = place
			out = append(out, pack{name: s.Name, machine: s.Machine})
		}
		out[place].samples = append(out[place].samples, s)
	}
	return out
}

func (p pack) details() BatteryDetails {
	d := BatteryDetails{Name: p.name, Machine: p.machine, Readings: len(p.samples)}
	d.MeanCurrentUA = mean(p.samples, func(s BatterySample) *int64 { return s.CurrentUA })
	d.MeanVoltageUV = mean(p.samples, func(s BatterySample) *int64 { return s.VoltageUV })
	var times []time.Duration
	last := 0
	for i, s := range p.samples {
		if s.ChargeUAH != nil {
			if d.FirstChargeUAH == nil {
				d.FirstChargeUAH = s.ChargeUAH
			}
			d.LastChargeUAH = s.ChargeUAH
		}
		if s.Percent != nil {
			if d.FirstPercent == nil {
				d.FirstPercent = s.Percent
			}
			d.LastPercent = s.Percent
		}
		if !s.same(p.samples[last]) {
			times = append(times, s.Time-p.samples[last].Time)
			last = i
		}
	}
	d.UpdateMS = median(times)
	return d
}

// same reports whether two readings have the same values.
func (s BatterySample) same(o BatterySample) bool {
	return equal(s.ChargeUAH, o.ChargeUAH) && equal(s.EnergyUWH, o.EnergyUWH) && equal(s.CurrentUA, o.CurrentUA) &&
		equal(s.CurrentAverageUA, o.CurrentAverageUA) && equal(s.VoltageUV, o.VoltageUV) && equal(s.Percent, o.Percent)
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// mean returns the mean of the existing readings; nil if there are none.
func mean(samples []BatterySample, of func(BatterySample) *int64) *float64 {
	sum, n := 0.0, 0
	for _, s := range samples {
		if v := of(s); v != nil {
			sum += float64(*v)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// The power that a running phone or tablet can draw and the voltage that its battery can have.
// Readings beyond are in another unit than the interface specifies.
const (
	leastW, mostW   = 0.005, 50.0
	leastUV, mostUV = 2_000_000, 20_000_000
)

// energy returns the battery's energy: current × voltage, by the trapezoid between readings. It
// returns nil if the trace does not have both, and a doubt if a charger, the sign or the unit of
// the current prevents it: this package corrects nothing.
func (p pack) energy(t *Trace) (*Energy, string) {
	var both []BatterySample
	for _, s := range p.samples {
		if s.CurrentUA != nil && s.VoltageUV != nil {
			both = append(both, s)
		}
	}
	if len(both) < 2 {
		return nil, ""
	}
	if powered, _ := t.Powered(); powered {
		return nil, "a charger was connected: the battery's current is not what the device drew, and no energy is given"
	}
	const no = ": no energy is given"
	joules, negative, positive := 0.0, 0, 0
	for i, s := range both {
		if *s.VoltageUV < leastUV || *s.VoltageUV > mostUV {
			return nil, fmt.Sprintf("the battery's voltage is stated as %d µV, which no battery of a phone has", *s.VoltageUV) + no
		}
		if *s.CurrentUA < 0 {
			negative++
		} else if *s.CurrentUA > 0 {
			positive++
		}
		if i > 0 {
			joules -= (s.watts() + both[i-1].watts()) / 2 * (s.Time - both[i-1].Time).Seconds()
		}
	}
	seconds := (both[len(both)-1].Time - both[0].Time).Seconds()
	rise := p.rise()
	switch w := joules / seconds; {
	case seconds <= 0:
		return nil, "the battery's readings are all of one time" + no
	case positive > 0 && negative > 0:
		return nil, "the battery's current changes its direction" + no
	case positive > 0:
		return nil, "the battery's current is above 0, which means charging, or the device reports it with the opposite sign" + no
	case rise > 0:
		return nil, fmt.Sprintf("the battery's charge rose by %d µAh while its current indicates that it fell", rise) + no
	case w < leastW || w > mostW:
		return nil, fmt.Sprintf("the battery's current and voltage amount to %.3g W, which no such device draws", w) + no
	}
	return &Energy{Source: "battery", Of: []string{p.name}, Joules: joules, Seconds: seconds}, ""
}

// watts returns current × voltage, negative while discharging.
func (s BatterySample) watts() float64 {
	return float64(*s.CurrentUA) * 1e-6 * float64(*s.VoltageUV) * 1e-6
}

// rise returns the increase of the battery's charge over the trace, µAh.
func (p pack) rise() int64 {
	d := p.details()
	if d.FirstChargeUAH == nil {
		return 0
	}
	return *d.LastChargeUAH - *d.FirstChargeUAH
}
