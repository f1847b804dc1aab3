// Package account keeps the accounts of a simulated phone's energy and of its apps' usage: CPU
// time, loads, locks and traffic of each process, the screen and the charger since the phone
// was created, and the battery's remaining energy.
//
// It owns the truth. Dumps and recorders show a rounded and distorted view of it (packages
// dumps and recorders), and package power has the physics. It knows apps only by the power
// sections of their files, and processes only by the spans in which they kept a CPU busy. It
// has no lock of its own: the phone's lock is held around all of its methods.
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

// Account is the account of one phone.
type Account struct {
	Phone
	Hardware power.Hardware
	// Vsync is SurfaceFlinger's thread that sends vsyncs to apps.
	Vsync *sched.Thread
	// Binder are the system processes that apps call.
	Binder sched.Binder

	scheduler          *sched.Scheduler
	flinger            *sched.Thread
	reader, dispatcher *sched.Thread // for input events
	seed               uint64
	idle               power.Idle
	processes          []*Process
	peers              map[string]*peer
	screens            []Screen
	supplies           []supply
	loads              []*cpuLoad
	// HeldKB is the memory that programs of the shell hold, in KiB.
	HeldKB   int
	emulated int // percentage set by an emulator's console, 0 for none
	ledger   ledger
	mark     mark
	gauged   power.Reading // the latest
	fake     fakeBattery
	stats    batteryStats
}

// Phone is the phone that the account belongs to.
type Phone struct {
	Profile profile.Profile
	Sensors profile.Sensors // the power sensors that it exposes
	Clock   *clock.Queue
	// Hot reports whether the phone is throttled by heat.
	Hot func() bool
	// Worked returns how long each CPU was busy booting.
	Worked func() time.Duration
	// Random returns a random source that is determined by the phone and the words.
	Random func(words ...any) *rand.Rand
	// Timeline receives the threads' runs.
	Timeline *timeline.Timeline
	// Composed returns the display frames that SurfaceFlinger began to compose from one time
	// until before another, neither later than now.
	Composed func(from, to time.Duration) []timeline.DisplayFrame
	// Kept returns the earliest time whose thread runs may still be requested.
	Kept func() time.Duration
}

// ledger is the usage up to a time.
type ledger struct {
	at       time.Duration
	batteryJ float64 // remaining in the battery
}

// mark is the battery's energy at a time that was requested.
type mark struct {
	at       time.Duration
	batteryJ float64
}

// firstCharge is the initial charge of a phone.
const firstCharge = 0.96

// New returns the account of a phone that is created now.
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

// remembered is how long the activity of a process can be looked up.
const remembered = 2 * time.Hour

// forget drops what ended long ago, after it was added to the ledger.
func (a *Account) forget() {
	a.Settle()
	kept := a.processes[:0]
	for _, d := range a.processes {
		if d.ended == 0 || d.ended > a.Clock.Now()-remembered {
			kept = append(kept, d)
		}
	}
	clear(a.processes[len(kept):])
	a.processes = kept
}

// Joules returns the energy that the whole phone used between two instants, by part.
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
	for _, d := range a.processes {
		if d.Lives(from, to) {
			out.Add(d.joules(a, from, to))
		}
	}
	return out
}

// Settle updates the ledger to now.
func (a *Account) Settle() {
	l := &a.ledger
	now := a.Clock.Now()
	if now <= l.at {
		return
	}
	l.batteryJ = a.batteryJ(now)
	l.at = now
}
