package methodtrace

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Lay spreads a tree of calls over the time from begin on, in which each takes its own time times a
// factor: half of it before the calls that it makes, and half after them. It calls call with each
// call, the outer one first, and self with each part of a method's own time, by time; either may be
// nil.
func Lay(tree []simapp.Called, begin time.Duration, factor float64, call, self func(c *simapp.Calls, from, to time.Duration)) (end time.Duration) {
	at := begin
	for _, c := range tree {
		own, inner := scaled(c.Self, factor), length(c.Inner, factor)
		for range c.Times {
			if call != nil {
				call(c.Calls, at, at+own+inner)
			}
			before := own / 2
			if self != nil {
				self(c.Calls, at, at+before)
			}
			at = Lay(c.Inner, at+before, factor, call, self)
			if self != nil {
				self(c.Calls, at, at+own-before)
			}
			at += own - before
		}
	}
	return at
}

func scaled(d time.Duration, factor float64) time.Duration {
	return time.Duration(float64(d) * factor)
}

// length returns how long a tree of calls takes, rounded as its parts are.
func length(tree []simapp.Called, factor float64) (sum time.Duration) {
	for _, c := range tree {
		sum += time.Duration(c.Times) * (scaled(c.Self, factor) + length(c.Inner, factor))
	}
	return sum
}

// Block is a span in which a UI thread handled something else than a frame.
type Block struct {
	From, To time.Duration
	Tree     []simapp.Called // the calls of the app's file; nil: Chain
	Chain    []Named         // the methods that run, the outermost first
	// Within reports that it is a part of what the thread does then, if it does something.
	Within bool
}

// Named is a method with the kind of its code.
type Named struct {
	Name string
	Kind simapp.Code
}

// UI is what a UI thread did, in any order.
type UI struct {
	Frames []timeline.Frame
	Blocks []Block
	// More is how many short methods each frame calls beyond those of every app.
	More int
}

// Methods of a UI thread: android.os.Looper, android.view.Choreographer and ViewRootImpl.
var (
	dispatch = Named{"android.os.Handler.dispatchMessage", simapp.Java}
	next     = []Named{{"android.os.MessageQueue.next", simapp.Java}}
	poll     = []Named{{"android.os.MessageQueue.nativePollOnce", simapp.Native}}
	stages   = [choreo.FrameCalls]Named{
		dispatch, {"android.view.Choreographer.doFrame", simapp.Java}, {"android.view.Choreographer.doCallbacks", simapp.Java},
		{"android.view.ViewRootImpl.performTraversals", simapp.Java}, {"android.view.View.draw", simapp.Java},
	}
	short = Named{"android.view.View.updateDisplayListIfDirty", simapp.Java}
)

// piece is a frame or a block.
type piece struct {
	from, to time.Duration
	frame    *timeline.Frame
	block    *Block
}

// pieces returns frames and blocks by time.
func (u UI) pieces() (out []piece) {
	for i := range u.Frames {
		f := &u.Frames[i]
		if f.Kind == 0 && f.Issue > f.Actual.From {
			out = append(out, piece{from: f.Actual.From, to: f.Issue, frame: f})
		}
	}
	for i := range u.Blocks {
		out = append(out, piece{from: u.Blocks[i].From, to: u.Blocks[i].To, block: &u.Blocks[i]})
	}
	slices.SortStableFunc(out, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	return out
}

// Lay adds a UI thread's calls up to a time to a thread, between them those in which it waits for a
// message, and around all of them those of a process's beginning.
func (u UI) Lay(c *Chart, t *Thread, from, until time.Duration) {
	idle := from
	t.Add(c, java("com.android.internal.os.ZygoteInit.main", "android.app.ActivityThread.main", "android.os.Looper.loop"), 0, forever)
	add := func(chain []Named, from, to time.Duration) { t.Add(c, chain, from, to) }
	wait := func(to time.Duration) {
		t.awaitMessage(c, idle, to)
	}
	for _, p := range u.pieces() {
		if p.to <= from || p.from >= until {
			continue
		}
		if p.block != nil && p.block.Within && p.from < idle {
			add(p.block.Chain, p.from, min(p.to, idle))
			continue
		}
		p.from = max(p.from, idle)
		if p.to <= p.from {
			continue
		}
		wait(p.from)
		idle = p.to
		if p.frame != nil {
			u.frame(p, add)
			continue
		}
		add([]Named{dispatch}, p.from, p.to)
		add(p.block.Chain, p.from, p.to)
		if _, total := simapp.Count(p.block.Tree); total > 0 {
			factor := float64(p.to-p.from) / float64(total)
			Lay(p.block.Tree, p.from, factor, func(m *simapp.Calls, from, to time.Duration) { add([]Named{{m.Method, m.Kind}}, from, to) }, nil)
		}
	}
	wait(until)
	t.Sort()
}

// forever is later than any time of a trace.
const forever = time.Duration(1<<62 - 1)

// awaitMessage adds that a looper waits for a message: the first poll returns at once.
func (t *Thread) awaitMessage(c *Chart, from, to time.Duration) {
	const atOnce = 4 * time.Microsecond
	if to > from {
		t.Add(c, next, from, to)
		t.Add(c, poll, from, min(from+atOnce, to))
		t.Add(c, poll, min(from+atOnce, to), to)
	}
}

// frame adds the calls of a frame.
func (u UI) frame(p piece, add func(chain []Named, from, to time.Duration)) {
	f := p.frame
	begins := [len(stages)]time.Duration{p.from, p.from, f.Animation, f.Traversals, f.Draw}
	for i, m := range stages {
		to := p.to
		if i > 1 {
			to = f.SyncQueued
		}
		add([]Named{m}, max(begins[i], p.from), min(to, p.to))
	}
	if u.More == 0 {
		return
	}
	each := (f.SyncQueued - f.Draw) / time.Duration(u.More)
	for n := range u.More {
		at := f.Draw + time.Duration(n)*each
		add([]Named{short}, at, at+each*9/10)
	}
}
