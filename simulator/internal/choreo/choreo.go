// Package choreo computes how a simulated app performs a scenario: the animations that its UI
// events start, and the work of each of their frames.
//
// It is pure: a performance is determined by the app, the scenario, the conditions and the
// random source. It knows nothing of phones, logs or dumps, nor when a frame is drawn: package
// pipeline requests the work of each frame in turn, at the vsync at which it begins, and that
// work depends on the preceding frames.
//
// Noise is multiplicative: a factor for the session (a warm phone), one for the repetition,
// one for each frame, and occasionally a frame from a heavy tail.
package choreo

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/dispatch"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Conditions are the conditions under which a scenario is performed.
type Conditions struct {
	simapp.Context
	Speed   float64 // a factor on all work; 1 is a good phone, 1.4 a low-end one
	LowEnd  float64 // a factor on frame noise and on the probability of a tail frame; 1 is none
	Session float64 // from SessionFactor
	Start   Start   // how the app is started
	// Little and SlowClock are factors on work on the little CPUs, and on CPUs with a limited
	// frequency.
	Little, SlowClock float64
	// Tasks draws the noise of the app's asynchronous tasks, and Loads are the factors on them,
	// of which that of the CPU is in Speed too.
	Tasks *rand.Rand
	Loads dispatch.Loads
	// Slow returns the additional delay of content on a slowed network; nil for none.
	Slow func(*rand.Rand) time.Duration
	// Recorded returns how much longer that many calls take in such a span of the UI thread's work
	// because they are being recorded; nil for none.
	Recorded func(calls int, work time.Duration) time.Duration
}

// Performance is one performed scenario. Times count from its beginning, which is a vsync.
type Performance struct {
	Marks     []Mark
	Blocks    []Block
	Tasks     []timeline.Task // its asynchronous tasks
	Start     Start
	Displayed time.Duration // when the first frame is on the screen; 0 if the app is already shown
	End       time.Duration

	source *stage // computes the work of frames
}

// Start is how an app is started.
type Start int

// The kinds of starts. Shows is for an app that is already shown.
const (
	Shows Start = iota
	Cold        // process start and activity creation
	Warm        // activity creation in an existing process
	Hot         // activity brought to the front
)

// share is the cost of a start relative to a cold start.
func (s Start) share() float64 { return [...]float64{Shows: 0, Cold: 1, Warm: 0.45, Hot: 0.12}[s] }

// Mark is a UI event and its time.
type Mark struct {
	At    time.Duration
	Event simapp.Event
}

// Block is a span in which the UI thread is busy otherwise.
type Block struct {
	At, For time.Duration
	// Task is what it executes then, nil for a computation that is no task.
	Task *simapp.Task
	// Event is the one after which the app makes the calls of its file, "" for another computation.
	Event string
}

// SessionFactor draws the factor of a session: the effect of a warm or busy phone.
func SessionFactor(app *simapp.App, deviceNoise float64, r *rand.Rand) float64 {
	return lognormal(r, math.Hypot(app.Noise.Session, app.Noise.Phone*deviceNoise))
}

// settle is the time between the first frame and the start of a scenario.
const settle = 100 * time.Millisecond

// Play computes the performance of a scenario.
func Play(app *simapp.App, sc simapp.Scenario, c Conditions, r *rand.Rand) *Performance {
	s := &stage{app: app, c: c, r: r}
	s.factor = c.Speed * c.Session * lognormal(r, app.Noise.Repetition)
	if app.Noise.Repetition > 0 && r.Float64() < 0.04 { // the phone is busy otherwise during this repetition
		s.factor *= 1.12 + 0.3*r.Float64()
	}
	begin := time.Duration(0)
	s.perf.Start = c.Start
	if c.Start != Shows {
		begin = s.launch()
	}
	s.animate(begin, sc.Start)
	s.plan(begin, sc.Events)
	s.dispatch(begin, sc)
	s.perf.End = begin + sc.Duration
	s.ready()
	s.perf.source = s
	return &s.perf
}

// stage is a performance in progress.
type stage struct {
	app            *simapp.App
	c              Conditions
	r              *rand.Rand
	factor         float64 // of the session, the repetition and the phone
	perf           Performance
	shows          []interval // when animations run, by start
	layouts        []time.Duration
	unsteady       []interval // when the app is still recovering from a jank
	unsteadyFactor float64

	nextShow, nextBlock, nextLayout, nextMark int // the state of the frame requests
	filledKB                                  int // of the heap, beyond what the collector frees
	framesOf, frames                          int // the event whose frames are counted, and their number
}

type interval struct{ from, to time.Duration }

// launch starts the app: two long frames that lay out the window, if there was none, which a
// phone marks as its first.
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

// plan computes the effects of the events.
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
		s.calls(at, e.Name)
	}
}

// answer starts the event's animation, most of which waits for content that comes over the
// network.
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

// nominal is the duration of an animation with that many frames at 60 Hz.
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

// jank adds the heavy computations after an event, and their effect on the next event (paper,
// section 8.4).
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

// calls makes the calls after an event: they take the UI thread, as a heavy computation does.
func (s *stage) calls(at time.Duration, event string) {
	if len(s.app.Calls) == 0 {
		return
	}
	if _, total := simapp.Count(s.app.CallsAfter(event, s.c.Context)); total > 0 {
		long := min(scale(total, s.factor*lognormal(s.r, 0.04)), simapp.MaxDuration)
		s.perf.Blocks = append(s.perf.Blocks, Block{At: at + 20*time.Millisecond, For: long, Event: event})
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
