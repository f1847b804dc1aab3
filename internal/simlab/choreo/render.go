package choreo

import (
	"cmp"
	"slices"
	"time"
)

// Frame is one rendered frame: when each of its stages began, by the names of
// Android's framestats.
type Frame struct {
	Token      int64 // of the vsync, 0: it is not recorded yet
	Flags      int64
	Intended   time.Duration // the vsync that it was meant for
	Vsync      time.Duration // the vsync at which it could begin
	Input      time.Duration // HandleInputStart
	Animation  time.Duration
	Traversals time.Duration // PerformTraversalsStart
	Draw       time.Duration
	SyncQueued time.Duration
	Sync       time.Duration
	Issue      time.Duration // IssueDrawCommandsStart
	Swap       time.Duration
	Completed  time.Duration
	Dequeue    time.Duration // how long a buffer was waited for
	Queue      time.Duration
	// Busy is the work in it, with a heavy computation that held it up and
	// without the wait for the thread: what the stages of the tables of Android
	// 4 and 5 add up to.
	Busy time.Duration
}

// The flags of frames, as Android has them.
const (
	LayoutChanged = 1 // a window is laid out; Android 6 does not call it janky
	RTAnimation   = 2 // the render thread draws alone
)

// fading is how long the render thread alone draws the end of each animation, as it
// does a ripple's.
const fading = 120 * time.Millisecond

// Shift moves a frame in time.
func (f Frame) Shift(by time.Duration) Frame {
	for _, t := range []*time.Duration{&f.Intended, &f.Vsync, &f.Input, &f.Animation, &f.Traversals,
		&f.Draw, &f.SyncQueued, &f.Sync, &f.Issue, &f.Swap, &f.Completed} {
		*t += by
	}
	return f
}

// slack keeps what rounding leaves of a vsync from asking for one more frame.
const slack = 50 * time.Microsecond

// render fills in the frames, vsync by vsync.
func (s *stage) render() {
	s.shows = merged(s.shows)
	slices.SortStableFunc(s.perf.Blocks, func(a, b Block) int { return cmp.Compare(a.At, b.At) })
	slices.Sort(s.layouts)
	c := cursor{stage: s}
	at := time.Duration(0) // a vsync
	for _, show := range s.shows {
		at = max(at, s.vsyncAfter(show.from))
		for at+slack < show.to {
			f, free := c.frame(at)
			if f.Flags == 0 && f.Vsync == at && show.to-at <= fading {
				f.Flags = RTAnimation
			}
			s.perf.Frames = append(s.perf.Frames, f)
			at = max(at+s.c.Period, s.vsyncAfter(free))
		}
	}
}

// vsyncAfter is the first vsync at or after t.
func (s *stage) vsyncAfter(t time.Duration) time.Duration {
	return (t + s.c.Period - 1) / s.c.Period * s.c.Period
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

// cursor walks over what happens beside the frames.
type cursor struct {
	*stage
	block, layout, mark int
}

// frame renders the frame of one vsync and says when the UI thread is free again.
func (c *cursor) frame(at time.Duration) (f Frame, free time.Duration) {
	held := c.heldUp(at)
	cost := scale(c.app.Cost, c.workFactor(at)*c.frameNoise())
	think := scale(c.app.Think, c.workFactor(at))
	f.Intended = at
	if c.layout < len(c.layouts) && c.layouts[c.layout] <= at+held {
		f.Flags |= LayoutChanged
		c.layout++
	}
	begin := at + held + scale(350*time.Microsecond, 0.4+1.2*c.r.Float64())
	f.Vsync = at + held/c.c.Period*c.c.Period
	c.stages(&f, begin, cost)
	f.Busy = cost + held
	return f, f.Completed + think
}

// heldUp is how long the frame of a vsync waits for computations that are due.
func (c *cursor) heldUp(at time.Duration) time.Duration {
	busyUntil := at
	for c.block < len(c.perf.Blocks) && c.perf.Blocks[c.block].At <= busyUntil {
		b := c.perf.Blocks[c.block]
		// What ran in the pause before the frame holds nothing up.
		busyUntil = max(busyUntil, b.At+b.For)
		c.block++
	}
	return busyUntil - at
}

// workFactor is what all work costs at a time: the rules of the bucket that it
// falls in.
func (c *cursor) workFactor(at time.Duration) float64 {
	for c.mark < len(c.perf.Marks) && c.perf.Marks[c.mark].At <= at {
		c.mark++
	}
	event := ""
	if c.mark > 0 {
		event = c.perf.Marks[c.mark-1].Event.Name
	}
	f := c.factor
	for _, s := range c.app.Slow {
		if s.When.Holds(c.c.Context) && (s.After == nil || contains(s.After, event)) {
			f *= s.Factor
		}
	}
	for _, u := range c.unsteady {
		if u.from <= at && at < u.to {
			return f * c.unsteadyFactor
		}
	}
	return f
}

func (c *cursor) frameNoise() float64 {
	n := c.app.Noise
	f := lognormal(c.r, n.Frame*c.c.LowEnd)
	if c.r.Float64() < n.Tail*c.c.LowEnd*c.c.LowEnd {
		f *= n.TailFactor * (0.7 + 0.5*c.r.ExpFloat64())
	}
	return f
}

// stages splits the cost of a frame as a phone's pipeline does.
func (c *cursor) stages(f *Frame, begin, cost time.Duration) {
	shares := [...]struct {
		start *time.Duration
		share float64
	}{
		{&f.Input, 0.02}, {&f.Animation, 0.08}, {&f.Traversals, 0.12}, {&f.Draw, 0.26},
		{&f.SyncQueued, 0.01}, {&f.Sync, 0.09}, {&f.Issue, 0.28}, {&f.Swap, 0.14},
	}
	at, spent := begin, 0.0
	for _, s := range shares {
		*s.start = at
		spent += s.share * (0.7 + 0.6*c.r.Float64())
		at = begin + min(cost, scale(cost, spent))
	}
	f.Completed = begin + cost
	f.Dequeue = scale(cost, 0.002)
	f.Queue = scale(cost, 0.02)
}
