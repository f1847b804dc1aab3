package phone

import (
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
	"github.com/apkgate/apkgate/internal/simlab/profile"
)

// sensors are what the phone shows of its power.
func (p *Phone) sensors() profile.Sensors {
	s := p.profile.Sensors
	if o := p.options.Sensors; o != nil {
		s = *o
	}
	if p.options.Powered != "" {
		s.Powered = p.options.Powered
	}
	return s
}

// SetPowered plugs a charger in, or out: "usb", "ac", "wireless", "battery".
func (p *Phone) SetPowered(from string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	ps := &p.state.power
	if len(ps.supplies) == maxChanges {
		ps.supplies = append(ps.supplies[:0], ps.supplies[maxChanges/2:]...)
	}
	was := p.onBattery()
	ps.supplies = append(ps.supplies, supply{at: p.clock.Now(), from: from})
	p.userActivity()
	p.countOnBattery(was)
}

func (p *Phone) suppliedFrom(at time.Duration) string {
	from := ""
	for _, s := range p.state.power.supplies {
		if s.at <= at || from == "" {
			from = s.from
		}
	}
	return from
}

// supplied is the energy that a charger gave between two instants.
func (p *Phone) supplied(from, to time.Duration) (joules float64) {
	list := p.state.power.supplies
	for i, s := range list {
		end := to
		if i+1 < len(list) {
			end = min(to, list[i+1].at)
		}
		if begin := max(s.at, from); s.from != "battery" && begin < end {
			joules += p.state.power.hardware.SupplyW * (end - begin).Seconds()
		}
	}
	return joules
}

// batteryJ is the energy in the battery at a time.
func (p *Phone) batteryJ(at time.Duration) float64 {
	ps := &p.state.power
	full := ps.hardware.Battery.FullJ()
	at = max(at, bootTime)
	// The nearest time that is known, of two: readings go forward step by step.
	m := mark{ps.ledger.at, ps.ledger.batteryJ}
	if (at-ps.mark.at).Abs() < (at-m.at).Abs() && ps.mark.at > 0 {
		m = ps.mark
	}
	if at < m.at {
		m.batteryJ += p.joules(at, m.at).Total() - p.supplied(at, m.at)
	} else {
		m.batteryJ -= p.joules(m.at, at).Total() - p.supplied(m.at, at)
	}
	m.at, m.batteryJ = at, min(full, max(0, m.batteryJ))
	ps.mark = m
	return m.batteryJ
}

// gauge reads the battery's gauge at a time, now or before.
func (p *Phone) gauge(at time.Duration) power.Reading {
	s, hw := p.sensors(), p.state.power.hardware
	update := s.Gauge
	if update == 0 {
		update = time.Second
	}
	if last := p.state.power.gauged; last.At > 0 && last.At == at.Truncate(update) {
		return last
	}
	full := hw.Battery.FullJ()
	r := hw.Battery.Gauge(at, update, p.state.power.seed, p.batteryJ, func(from, to time.Duration) float64 {
		if from = max(from, bootTime); from >= to {
			return hw.AwakeW
		}
		out := p.joules(from, to).Total() - p.supplied(from, to)
		if out < 0 && p.batteryJ(to) >= full {
			out = 0 // a full battery takes no more
		}
		return out / (to - from).Seconds()
	})
	p.state.power.gauged = r
	return r
}

// shown is a reading of the gauge in the phone's own units and signs.
type shown struct {
	current, average, charge float64
	hasCurrent, hasCharge    bool
	voltageUV                float64
	percent                  int
}

// show distorts a reading as this phone does.
func (p *Phone) show(r power.Reading) shown {
	s := p.sensors()
	if s.Emulator { // constants of the emulator's battery
		return shown{current: 900_000, average: 900_000, charge: 10_000, hasCurrent: true, hasCharge: true, voltageUV: 5_000_000, percent: 100}
	}
	sign := 1.0
	if s.Outward {
		sign = -1
	}
	out := shown{voltageUV: r.VoltageUV, percent: int(r.Percent + 0.5), hasCharge: s.ChargeUnit > 0}
	if out.hasCurrent = s.Gauge > 0; out.hasCurrent {
		out.current, out.average = sign*r.CurrentUA/s.CurrentUnit, sign*r.AverageUA/s.CurrentUnit
	}
	if out.hasCharge {
		out.charge = r.ChargeUAh / s.ChargeUnit
	}
	return out
}
