// Package choreo works out how a simulated app plays a scenario: what its UI events set
// in motion, and how much work each frame of that is.
//
// It is pure: a performance follows from the app, the scenario, the conditions
// and the source of randomness, and from nothing else. It knows nothing of
// phones, logs or dumps, and not when a frame is drawn: package pipeline asks for the
// work of each frame in turn, at the vsync for which it begins, and what that asks for
// follows from what came before.
//
// Noise multiplies: a factor for the session (a warm phone), one for the
// repetition, one for each frame, and now and then a frame from a heavy tail.
package choreo

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Conditions are where and how a scenario is played.
type Conditions struct {
	simapp.Context
	Speed   float64 // a factor on all work; 1 is a good phone, 1.4 a low-end one
	LowEnd  float64 // a factor on frame noise and on the chance of a tail frame; 1 is none
	Session float64 // the session's factor, see SessionFactor
	Start   Start   // what is done before the app shows
	// Little and SlowClock are factors on work that is kept on the little CPUs, and on CPUs
	// whose speed is held down.
	Little, SlowClock float64
	// Slow is how much later content arrives because the network is slowed down; nil where
	// nothing does that.
	Slow func(*rand.Rand) time.Duration
}

// Performance is one scenario played. Times count from its beginning, which is
// a vsync.
type Performance struct {
	Marks     []Mark
	Blocks    []Block
	Start     Start
	Displayed time.Duration // the first frame is on the screen; 0 where the app shows already
	End       time.Duration

	source *stage // of the work of frames
}

// Start is what is done before an app shows.
type Start int

// The starts of an app. Nothing is started where it shows already.
const (
	Shows Start = iota
	Cold        // its process is started, and its activity made
	Warm        // its activity is made in a process that is there
	Hot         // its activity is brought to the front
)

// share is how much of a cold start a start costs.
func (s Start) share() float64 { return [...]float64{Shows: 0, Cold: 1, Warm: 0.45, Hot: 0.12}[s] }

// Mark is a UI event that happened.
type Mark struct {
	At    time.Duration
	Event simapp.Event
}

// Block is a time in which the UI thread did something else.
type Block struct{ At, For time.Duration }

// SessionFactor draws the factor of a session: what a warm or a busy phone adds.
func SessionFactor(app *simapp.App, deviceNoise float64, r *rand.Rand) float64 {
	return lognormal(r, math.Hypot(app.Noise.Session, app.Noise.Phone*deviceNoise))
}

// settle is the time between the first frame and the start of a scenario.
const settle = 100 * time.Millisecond

// Play plays a scenario.
func Play(app *simapp.App, sc simapp.Scenario, c Conditions, r *rand.Rand) *Performance {
	s := &stage{app: app, c: c, r: r}
	s.factor = c.Speed * c.Session * lognormal(r, app.Noise.Repetition)
	if app.Noise.Repetition > 0 && r.Float64() < 0.04 { // something else keeps the phone busy for this repetition
		s.factor *= 1.12 + 0.3*r.Float64()
	}
	begin := time.Duration(0)
	s.perf.Start = c.Start
	if c.Start != Shows {
		begin = s.launch()
	}
	s.animate(begin, sc.Start)
	s.plan(begin, sc.Events)
	s.perf.End = begin + sc.Duration
	s.ready()
	s.perf.source = s
	return &s.perf
}

// stage is a performance under way.
type stage struct {
	app            *simapp.App
	c              Conditions
	r              *rand.Rand
	factor         float64 // of the session, the repetition and the phone
	perf           Performance
	shows          []interval // when an animation runs, by start
	layouts        []time.Duration
	unsteady       []interval // when the app has not recovered from a jank
	unsteadyFactor float64

	nextShow, nextBlock, nextLayout, nextMark int // while frames are asked for
	filledKB                                  int // of the heap, beyond what the collector keeps up with
	framesOf, frames                          int // which event's frames are counted, and how many there were
}

type interval struct{ from, to time.Duration }

// launch starts the app: two long frames that lay the window out, where there was
// none, which a phone marks as its first.
func (s *stage) launch() time.Duration {
	up := scale(s.app.Startup, s.c.Start.share()*s.factor*lognormal(s.r, 0.05))
	s.perf.Displayed = up
	s.perf.Blocks = append(s.perf.Blocks, Block{At: up * 2 / 3, For: up / 3})
	if s.c.Start != Hot {
		s.layouts = append(s.layouts, up*2/3)
	}
	s.shows = append(s.shows, interval{up * 2 / 3, up})
	return up + settle
}

// plan lays out what the events set in motion.
func (s *stage) plan(begin time.Duration, events []simapp.Event) {
	for i, e := range events {
		at := begin + e.At + scale(12*time.Millisecond, clamp(s.r.NormFloat64(), -2.5, 2.5))
		at = max(at, 0)
		if n := len(s.perf.Marks); n > 0 {
			at = max(at, s.perf.Marks[n-1].At+time.Millisecond)
		}
		next := at + 4*time.Second
		if i+1 < len(events) {
			next = begin + events[i+1].At
		}
		s.perf.Marks = append(s.perf.Marks, Mark{At: at, Event: e})
		if e.Opens {
			s.layouts = append(s.layouts, at)
		}
		s.answer(at, e)
		s.lag(at, s.app.Lag)
		s.jank(at, next, e.Name)
	}
}

// answer starts the event's animation; most of it waits where content has to
// come over the network.
func (s *stage) answer(at time.Duration, e simapp.Event) {
	if !e.Loads {
		s.animate(at, e.Frames)
		return
	}
	net := s.app.Networks[s.c.Network]
	first := e.Frames * 3 / 10
	s.animate(at, first)
	arrives := at + scale(net.Delay, lognormal(s.r, net.Spread))
	if s.c.Slow != nil {
		arrives += s.c.Slow(s.r)
	}
	s.animate(max(arrives, at+nominal(first)), e.Frames-first)
	s.lag(arrives, net.Lag)
}

// nominal is how long an animation of that many frames runs at 60 Hz.
func nominal(frames int) time.Duration { return time.Duration(frames) * time.Second / 60 }

func (s *stage) animate(at time.Duration, frames int) {
	if frames <= 0 {
		return
	}
	s.shows = append(s.shows, interval{at, at + nominal(frames)})
}

func (s *stage) lag(at time.Duration, l simapp.Lag) {
	if l.Chance > 0 && s.r.Float64() < l.Chance {
		s.block(at+scale(200*time.Millisecond, s.r.Float64()), scale(l.For, s.factor*s.r.ExpFloat64()))
	}
}

func (s *stage) block(at, long time.Duration) {
	s.perf.Blocks = append(s.perf.Blocks, Block{At: at, For: min(long, simapp.MaxDuration)})
}

// jank adds the heavy computations that follow an event, and their after-effect
// on the next one (paper, section 8.4).
func (s *stage) jank(at, next time.Duration, event string) {
	for _, j := range s.app.Janks {
		if !contains(j.After, event) {
			continue
		}
		long := scale(j.For, s.factor*lognormal(s.r, 0.12))
		s.block(at+20*time.Millisecond, long)
		if j.Recover == 0 {
			continue
		}
		if s.r.Float64() < 0.85 {
			s.block(next+60*time.Millisecond, scale(long, j.Recover*lognormal(s.r, 0.35)))
		}
		s.unsteady = append(s.unsteady, interval{at, next + time.Second})
		s.unsteadyFactor = max(s.unsteadyFactor, 1+j.Recover/2)
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

func scale(d time.Duration, f float64) time.Duration {
	v := float64(d) * f
	if v > float64(simapp.MaxDuration) {
		return simapp.MaxDuration
	}
	return time.Duration(v)
}

func lognormal(r *rand.Rand, sigma float64) float64 {
	return math.Exp(sigma * clamp(r.NormFloat64(), -4, 4))
}

func clamp(v, low, high float64) float64 { return math.Max(low, math.Min(high, v)) }
