package choreo

import (
	"cmp"
	"slices"
	"time"
)

// Work is the amount of work of one frame, not its timing.
type Work struct {
	// Held is how long the UI thread is busy otherwise at the frame's vsync.
	Held time.Duration
	// Wake is the delay from when the UI thread could begin until it does.
	Wake time.Duration
	// Cost is the cost of an ordinary frame of the app. BeyondUI is additional work of the UI
	// thread if the app is slow, BeyondRender that of the render thread, which occasionally
	// compiles a shader.
	Cost, BeyondUI, BeyondRender time.Duration
	// Starts are the times at which each stage begins, as a share of the ordinary cost.
	Starts [Stages]float64
	// Think is the app's own work on the UI thread after the frame.
	Think time.Duration
	// Layout reports that a window is laid out.
	Layout bool
	// Delays are the causes from the app's file. Little reports that its threads are limited
	// to the little CPUs, SlowClock that the CPUs' frequency is limited.
	Delays            []Delay
	Little, SlowClock bool
	// GPUApart reports that the app's file specifies GPU work: the render thread is free while
	// the GPU draws, otherwise it counts as busy.
	GPUApart bool
}

// The stages of a frame, in order.
const (
	Input = iota
	Animation
	Traversals
	Draw
	SyncQueued
	Sync
	Issue
	Swap
	Stages
)

// shares are the stages' shares of an ordinary frame.
var shares = [Stages]float64{Input: 0.02, Animation: 0.08, Traversals: 0.12, Draw: 0.26, SyncQueued: 0.01, Sync: 0.09, Issue: 0.28, Swap: 0.14}

// FrameCalls is how many of the system's methods are called in each frame, as far as they are
// recorded: one for each stage.
const FrameCalls = 5

// slack keeps rounding errors of a vsync from requesting an additional frame.
const slack = 50 * time.Microsecond

// ready sorts the plan before frames are requested.
func (s *stage) ready() {
	s.shows = merged(s.shows)
	slices.SortStableFunc(s.perf.Blocks, func(a, b Block) int { return cmp.Compare(a.At, b.At) })
	slices.Sort(s.layouts)
}

func merged(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var out []interval
	for _, v := range list {
		if n := len(out); n > 0 && v.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, v.to)
			continue
		}
		out = append(out, v)
	}
	return out
}

// Asks returns when an animation first requests a frame, at or after a time, and when that
// animation ends. ok is false if there are no more.
func (p *Performance) Asks(from time.Duration) (at, until time.Duration, ok bool) {
	s := p.source
	for s.nextShow < len(s.shows) && from+slack >= s.shows[s.nextShow].to {
		s.nextShow++
	}
	if s.nextShow == len(s.shows) {
		return 0, 0, false
	}
	v := s.shows[s.nextShow]
	return max(from, v.from), v.to, true
}

// Work returns the work of the frame at a vsync. Vsyncs must be in order.
func (p *Performance) Work(at time.Duration) Work {
	s := p.source
	w := Work{Held: s.heldUp(at)}
	factor := s.workFactor(at)
	noise, tail := s.frameNoise()
	w.Cost = scale(s.app.Cost, factor*noise*tail)
	slow := min(w.Cost, scale(s.app.Cost, factor*noise))
	ordinary := min(slow, scale(s.app.Cost, s.factor*noise))
	w.BeyondUI, w.BeyondRender = slow-ordinary, w.Cost-slow
	w.Think = scale(s.app.Think, factor)
	if s.c.Recorded != nil {
		more := s.c.Recorded(FrameCalls+s.app.FrameCalls, w.Cost)
		w.Cost, w.BeyondUI = w.Cost+more, w.BeyondUI+more
	}
	if s.nextLayout < len(s.layouts) && s.layouts[s.nextLayout] <= at+w.Held {
		w.Layout = true
		s.nextLayout++
	}
	w.Wake = scale(350*time.Microsecond, 0.4+1.2*s.r.Float64())
	spent := 0.0
	for i, share := range shares {
		w.Starts[i] = min(spent, 1)
		spent += share * (0.7 + 0.6*s.r.Float64())
	}
	s.delays(&w, at)
	return w
}

// Hold blocks the UI thread from a time on.
func (p *Performance) Hold(b Block) {
	s := p.source
	i, _ := slices.BinarySearchFunc(s.perf.Blocks[s.nextBlock:], b, func(a, b Block) int { return cmp.Compare(a.At, b.At) })
	s.perf.Blocks = slices.Insert(s.perf.Blocks, s.nextBlock+i, b)
}

// Free returns when the UI thread is free of pending computations, at or after a time.
func (p *Performance) Free(at time.Duration) time.Duration {
	for _, b := range p.source.perf.Blocks {
		if b.At <= at {
			at = max(at, b.At+b.For)
		}
	}
	return at
}

// heldUp returns how long the frame at a vsync waits for pending computations.
func (s *stage) heldUp(at time.Duration) time.Duration {
	busyUntil := at
	for s.nextBlock < len(s.perf.Blocks) && s.perf.Blocks[s.nextBlock].At <= busyUntil {
		b := s.perf.Blocks[s.nextBlock]
		// Computations that fit before the frame do not delay it.
		busyUntil = max(busyUntil, b.At+b.For)
		s.nextBlock++
	}
	return busyUntil - at
}

// workFactor returns the factor on all work at a time, from the rules of its bucket.
func (s *stage) workFactor(at time.Duration) float64 {
	for s.nextMark < len(s.perf.Marks) && s.perf.Marks[s.nextMark].At <= at {
		s.nextMark++
	}
	event := ""
	if s.nextMark > 0 {
		event = s.perf.Marks[s.nextMark-1].Event.Name
	}
	f := s.factor
	for _, slow := range s.app.Slow {
		if slow.When.Holds(s.c.Context) && (slow.After == nil || contains(slow.After, event)) {
			f *= slow.Factor
		}
	}
	for _, u := range s.unsteady {
		if u.from <= at && at < u.to {
			return f * s.unsteadyFactor
		}
	}
	return f
}

// frameNoise draws the factors of one frame: its own noise, and that of a tail frame.
func (s *stage) frameNoise() (noise, tail float64) {
	n := s.app.Noise
	noise, tail = lognormal(s.r, n.Frame*s.c.LowEnd), 1
	if s.r.Float64() < n.Tail*s.c.LowEnd*s.c.LowEnd {
		tail = n.TailFactor * (0.7 + 0.5*s.r.ExpFloat64())
	}
	return noise, tail
}
