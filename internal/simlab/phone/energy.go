package phone

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
)

// powerState is what the phone knows of its power.
type powerState struct {
	hardware power.Hardware
	idle     power.Idle
	deeds    []*deeds
	screens  []screen
	supplies []supply
	ledger   ledger
	mark     mark
	gauged   power.Reading // the last
	fake     fakeBattery
	stats    batteryStats
	seed     uint64
}

// screen and supply say what holds from a time on.
type (
	screen struct {
		at         time.Duration
		on         bool
		brightness int
	}
	supply struct {
		at   time.Duration
		from string // "usb", "ac", "wireless", "battery"
	}
)

// ledger is what was used up to a time.
type ledger struct {
	at       time.Duration
	batteryJ float64 // what is in the battery
	speeds   map[power.At]time.Duration
}

// mark is what was in the battery at some time that was asked for.
type mark struct {
	at       time.Duration
	batteryJ float64
}

// firstCharge is how full a phone is when it is made.
const firstCharge = 0.96

// powerUp begins the phone's account of power.
func (p *Phone) powerUp() {
	r := p.random("power")
	hw := power.HardwareOf(p.profile.Speed)
	ps := powerState{hardware: hw, seed: r.Uint64(), idle: power.Idle{
		Seed: r.Uint64(), Factor: math.Exp(p.profile.Noise / 2 * r.NormFloat64()), Noise: 0.03, Gain: hw.HeatGain, Warm: bootTime,
	}}
	ps.screens = []screen{{at: bootTime, on: true, brightness: 102}}
	ps.supplies = []supply{{at: bootTime, from: p.sensors().Powered}}
	ps.ledger = ledger{at: bootTime, batteryJ: firstCharge * hw.Battery.FullJ(), speeds: map[power.At]time.Duration{}}
	p.state.power = ps
	for _, dir := range p.policyDirs() {
		_ = p.files.MakeDir(dir, true)
	}
	p.resetStats()
}

// remembered is for how long what a process did can be looked at.
const remembered = 2 * time.Hour

// forget drops what ended long ago, once it is in the ledger.
func (p *Phone) forget() {
	ps := &p.state.power
	p.settle()
	kept := ps.deeds[:0]
	for _, d := range ps.deeds {
		if d.ended == 0 || d.ended > p.clock.Now()-remembered {
			kept = append(kept, d)
		}
	}
	clear(ps.deeds[len(kept):])
	ps.deeds = kept
}

// joules is what the whole phone drew between two instants, by part.
func (p *Phone) joules(from, to time.Duration) power.Sum {
	out := power.Sum{}
	p.eachScreen(from, to, func(s screen, from, to time.Duration) {
		hw := p.state.power.hardware
		if !s.on {
			out[power.Base] += p.state.power.idle.Joules(hw.AsleepW, from, to)
			return
		}
		out[power.Base] += p.state.power.idle.Joules(hw.AwakeW, from, to)
		out[power.Screen] += (hw.DarkW + (hw.BrightW-hw.DarkW)*float64(s.brightness)/255) * (to - from).Seconds()
	})
	for _, d := range p.state.power.deeds {
		if d.lives(from, to) {
			out.Add(d.joules(p, from, to))
		}
	}
	return out
}

// settle carries the ledger on to now.
func (p *Phone) settle() {
	l := &p.state.power.ledger
	now := p.clock.Now()
	if now <= l.at {
		return
	}
	l.batteryJ = p.batteryJ(now)
	for _, d := range p.state.power.deeds {
		if d.lives(l.at, now) {
			d.workNow(p).Speeds(l.at, now, func(at power.At, t time.Duration) { l.speeds[at] += t })
		}
	}
	l.at = now
}
