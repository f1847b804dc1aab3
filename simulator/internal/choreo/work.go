package choreo

import (
	"cmp"
	"slices"
	"time"
)

// Work is what one frame asks of the app: how much, not when.
type Work struct {
	// Held is how long something else keeps the UI thread at the frame's vsync.
	Held time.Duration
	// Wake is how long the UI thread takes to begin, from when it could.
	Wake time.Duration
	// Cost is all that the frame costs: what an ordinary frame of the app costs, with
	// what the UI thread does beyond that where the app is slow, and what the render
	// thread does, which now and then has a shader to compile.
	Cost, BeyondUI, BeyondRender time.Duration
	// Starts are when each stage begins, as a share of the ordinary cost.
	Starts [Stages]float64
	// Think is the app's own work on the UI thread after the frame.
	Think time.Duration
	// Layout says that a window is laid out.
	Layout bool
	// Delays are what the app's file adds to it. Little says that its threads are kept on
	// the little CPUs, SlowClock that the CPUs' speed is held down.
	Delays            []Delay
	Little, SlowClock bool
	// GPUApart says that the app's file tells of the GPU: the render thread is free while
	// that draws, where it counts as busy else.
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

// shares is what part of an ordinary frame each stage takes.
var shares = [Stages]float64{Input: 0.02, Animation: 0.08, Traversals: 0.12, Draw: 0.26, SyncQueued: 0.01, Sync: 0.09, Issue: 0.28, Swap: 0.14}

// slack keeps what rounding leaves of a vsync from asking for one more frame.
const slack = 50 * time.Microsecond

// ready puts what was planned in order, for frames to be asked of it.
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

// Asks is when an animation first asks for a frame, not before a time, and when that
// animation is over. There is none any more where ok is false.
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

// Work draws what the frame of one vsync asks of the app. Vsyncs come in order.
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
	s.delays(&w)
	return w
}

// Hold keeps the UI thread from a time on.
func (p *Performance) Hold(b Block) {
	s := p.source
	i, _ := slices.BinarySearchFunc(s.perf.Blocks[s.nextBlock:], b, func(a, b Block) int { return cmp.Compare(a.At, b.At) })
	s.perf.Blocks = slices.Insert(s.perf.Blocks, s.nextBlock+i, b)
}

// heldUp is how long the frame of a vsync waits for computations that are due.
func (s *stage) heldUp(at time.Duration) time.Duration {
	busyUntil := at
	for s.nextBlock < len(s.perf.Blocks) && s.perf.Blocks[s.nextBlock].At <= busyUntil {
		b := s.perf.Blocks[s.nextBlock]
		// What ran in the pause before the frame holds nothing up.
		busyUntil = max(busyUntil, b.At+b.For)
		s.nextBlock++
	}
	return busyUntil - at
}

// workFactor is what all work costs at a time: the rules of the bucket that it
// falls in.
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

// frameNoise draws the factors of one frame: its own, and that of a tail frame.
func (s *stage) frameNoise() (noise, tail float64) {
	n := s.app.Noise
	noise, tail = lognormal(s.r, n.Frame*s.c.LowEnd), 1
	if s.r.Float64() < n.Tail*s.c.LowEnd*s.c.LowEnd {
		tail = n.TailFactor * (0.7 + 0.5*s.r.ExpFloat64())
	}
	return noise, tail
}
