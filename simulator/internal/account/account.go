// Package account keeps the books of what a simulated phone draws and what its apps
// used: the CPU time, loads, locks and traffic of each process, the screen and the
// charger since the phone was made, and what is left in the battery.
//
// It owns what is true. What dumps and recorders show of it is rounded and distorted
// there (packages dumps and recorders), and the physics are package power's. It knows
// no apps but by what their files say of power, and no processes but by the spans in
// which they kept a CPU busy. It has no lock: the phone's is held around all of it.
package account

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/profile"
)

// Account is the books of one phone.
type Account struct {
	Phone
	Hardware power.Hardware
	// Vsync is SurfaceFlinger's thread that tells apps of vsyncs.
	Vsync *sched.Thread
	// Binder are the system's processes that apps call.
	Binder sched.Binder

	scheduler          *sched.Scheduler
	flinger            *sched.Thread
	reader, dispatcher *sched.Thread // of input events
	seed               uint64
	idle               power.Idle
	deeds              []*Deeds
	peers              map[string]*peer
	screens            []Screen
	supplies           []supply
	emulated           int // per cent that an emulator's console has set, 0 for none
	ledger             ledger
	mark               mark
	gauged             power.Reading // the last
	fake               fakeBattery
	stats              batteryStats
}

// Phone is whose books they are.
type Phone struct {
	Profile profile.Profile
	Sensors profile.Sensors // what it shows of its power
	Clock   *clock.Queue
	// Hot reports whether heat slows it down.
	Hot func() bool
	// Worked is for how long each CPU was busy with the phone's start.
	Worked func() time.Duration
	// Random is a source that follows from the phone and some words.
	Random func(words ...any) *rand.Rand
	// Timeline is where runs are written.
	Timeline *timeline.Timeline
	// Composed are the frames of the display that SurfaceFlinger began to compose from
	// one time until before another, neither later than now.
	Composed func(from, to time.Duration) []timeline.DisplayFrame
	// Kept is since when somebody may still ask who ran.
	Kept func() time.Duration
}

// ledger is what was used up to a time.
type ledger struct {
	at       time.Duration
	batteryJ float64 // what is in the battery
}

// mark is what was in the battery at some time that was asked for.
type mark struct {
	at       time.Duration
	batteryJ float64
}

// firstCharge is how full a phone is when it is made.
const firstCharge = 0.96

// New opens the books of a phone that is made now.
func New(p Phone) *Account {
	r := p.Random("power")
	hw := power.HardwareOf(p.Profile.Speed)
	a := &Account{Phone: p, Hardware: hw, peers: map[string]*peer{}, seed: r.Uint64(), idle: power.Idle{
		Seed: r.Uint64(), Factor: math.Exp(p.Profile.Noise / 2 * r.NormFloat64()), Noise: 0.03, Gain: hw.HeatGain, Warm: clock.Boot,
	}}
	a.screens = []Screen{{at: clock.Boot, On: true, Brightness: 102}}
	a.supplies = []supply{{at: clock.Boot, from: p.Sensors.Powered}}
	a.ledger = ledger{at: clock.Boot, batteryJ: firstCharge * hw.Battery.FullJ()}
	a.startSystem()
	a.ResetStats()
	return a
}

// remembered is for how long what a process did can be looked at.
const remembered = 2 * time.Hour

// forget drops what ended long ago, once it is in the ledger.
func (a *Account) forget() {
	a.Settle()
	kept := a.deeds[:0]
	for _, d := range a.deeds {
		if d.ended == 0 || d.ended > a.Clock.Now()-remembered {
			kept = append(kept, d)
		}
	}
	clear(a.deeds[len(kept):])
	a.deeds = kept
}

// Joules is what the whole phone drew between two instants, by part.
func (a *Account) Joules(from, to time.Duration) power.Sum {
	out := power.Sum{}
	a.eachScreen(from, to, func(s Screen, from, to time.Duration) {
		hw := a.Hardware
		if !s.On {
			out[power.Base] += a.idle.Joules(hw.AsleepW, from, to)
			return
		}
		out[power.Base] += a.idle.Joules(hw.AwakeW, from, to)
		out[power.Screen] += (hw.DarkW + (hw.BrightW-hw.DarkW)*float64(s.Brightness)/255) * (to - from).Seconds()
	})
	for _, d := range a.deeds {
		if d.Lives(from, to) {
			out.Add(d.joules(a, from, to))
		}
	}
	return out
}

// Settle carries the ledger on to now.
func (a *Account) Settle() {
	l := &a.ledger
	now := a.Clock.Now()
	if now <= l.at {
		return
	}
	l.batteryJ = a.batteryJ(now)
	l.at = now
}
