package pipeline

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Android is what of the system a frame depends on.
type Android struct {
	API int
	// Period is between two vsyncs, now. Still is that of a screen on which nothing
	// moves, where it is longer; 0 where the display keeps to one rate.
	Period, Still func() time.Duration
}

// renderThreadSince is the API level from which the UI thread does not draw itself.
const renderThreadSince = 21

// App is the pipeline of one process. Its frames are worked out up to an instant and no
// further, so that what happens to the process then changes those that follow.
//
//	vsync → UI thread: input, animation, traversal, draw → sync with the render thread,
//	for which the UI thread waits → render thread: wait for a buffer, issue, swap → GPU
//	→ SurfaceFlinger (see there) → the screen
type App struct {
	Flinger *SurfaceFlinger
	Android Android

	windows []*window // open ones, the last is in front
	plays   *choreo.Performance
	began   time.Duration // when what it plays began
	next    time.Duration // no frame begins before
	ui      time.Duration // the UI thread is free
	render  time.Duration // the render thread is
	gpu     time.Duration // the GPU is
	boosted time.Duration // somebody touched the screen: the fastest rate until then
	last    time.Duration // the vsync of the newest frame
	streak  int           // frames since nothing moved
	half    half          // what the UI thread has done, and the render thread not begun
}

// window is a window with what the process keeps of it.
type window struct {
	*timeline.Layer
	tracker tracker
	surface *window // in it, which the app draws itself; nil: none
}

// half is a frame that waits for the render thread; none where it has no token.
type half struct {
	timeline.Frame
	work choreo.Work
	in   *window
}

// Open opens a window, in front of those that are open.
func (a *App) Open(l *timeline.Layer) {
	a.Advance(l.Opened)
	w := &window{Layer: a.Flinger.Timeline.Open(l)}
	if l.Surface != nil {
		w.surface = &window{Layer: a.Flinger.Timeline.Open(l.Surface)}
	}
	a.windows = append(a.windows, w)
}

// front is where the next frame is drawn: the window in front, or, once that has its first
// frame, the surface in it.
func (a *App) front() *window {
	w := a.windows[len(a.windows)-1]
	if w.surface != nil && len(w.Frames) > 0 {
		return w.surface
	}
	return w
}

// Close closes a window: what SurfaceFlinger has not taken by now is never seen.
func (a *App) Close(l *timeline.Layer, now time.Duration) {
	a.Advance(now)
	for i, w := range a.windows {
		if w.Layer == l {
			a.windows = append(a.windows[:i], a.windows[i+1:]...)
			if a.half.in == w || a.half.in == w.surface {
				a.half = half{}
			}
		}
	}
	l.Closed = now
	a.Flinger.Compose(now)
	a.Flinger.drop(l, now)
	if l.Surface != nil {
		l.Surface.Closed = now
		a.Flinger.drop(l.Surface, now)
	}
	a.Flinger.Refresh(now, a.Period(now))
}

// Play has the app play something from the first vsync on at which its UI thread is free,
// and says when that is. What it played before gives way.
func (a *App) Play(perf *choreo.Performance, now time.Duration) (begins time.Duration) {
	a.Advance(now)
	a.plays = perf
	a.began = a.vsync(max(now, a.ui))
	a.next = max(a.next, a.began)
	return a.began
}

// Resume goes on, from a time on, with what another process played.
func (a *App) Resume(other *App, from time.Duration) {
	a.plays, a.began, a.next = other.plays, other.began, a.vsync(from)
}

// Stop has it play nothing more: the screen is off, or another app is in front.
func (a *App) Stop(now time.Duration) {
	a.Advance(now)
	a.plays = nil
}

// Hold keeps the UI thread from now on.
func (a *App) Hold(now, long time.Duration) {
	a.Advance(now)
	if a.plays != nil {
		a.plays.Hold(choreo.Block{At: now - a.began, For: long})
	}
}

// Stall keeps the render thread, once it is free, and says from when. A dump of its
// frames runs there (RenderProxy::dumpProfileInfo).
func (a *App) Stall(now, long time.Duration) (from time.Duration) {
	a.Advance(now)
	from = max(now, a.render)
	if a.Android.API < renderThreadSince { // it is drawn by the thread that dumps
		from = max(now, a.ui)
		a.ui = from + long
		a.next = max(a.next, a.vsync(a.ui))
	}
	a.render = from + long
	return from
}

// Busy reports whether frames are being drawn.
func (a *App) Busy(now time.Duration) bool {
	a.Advance(now)
	at, _, ok := a.asked()
	const soon = 100 * time.Millisecond
	return ok && at-now < soon
}

// Advance works out what happens up to now.
func (a *App) Advance(now time.Duration) {
	for {
		if a.half.Token != 0 {
			if a.half.SyncQueued > now {
				return
			}
			a.draw()
			continue
		}
		at, until, ok := a.asked()
		if !ok || at > now {
			return
		}
		a.begin(at, until)
	}
}

// Begun is the frame that the UI thread is at, or waits with for the render thread; nil:
// none. Nothing is known yet of what comes behind the UI thread.
func (a *App) Begun() *timeline.Frame {
	if a.half.Token == 0 {
		return nil
	}
	f := a.half.Frame
	f.Sync, f.Issue, f.Actual.To = never, never, never
	return &f
}

// never is later than anything.
const never = time.Duration(math.MaxInt64 / 2)

// asked is the next vsync at which a frame is asked for, and until when that goes on.
func (a *App) asked() (at, until time.Duration, ok bool) {
	if a.plays == nil || len(a.windows) == 0 {
		return 0, 0, false
	}
	for at = a.vsync(a.next); ; at = a.vsync(at) {
		from := at
		at, until, ok = a.plays.Asks(from - a.began)
		at, until = at+a.began, until+a.began
		if !ok || at == from {
			return at, until, ok
		}
	}
}

// vsync is the first vsync at or after a time.
func (a *App) vsync(t time.Duration) time.Duration {
	return roundUp(t, a.Period(t))
}

// The display rests after a time without frames, and goes up again once that many have
// come, or when the screen is touched (SurfaceFlinger's idle and touch timers, and its
// LayerHistory).
const (
	rests  = 250 * time.Millisecond
	rises  = 6
	boosts = time.Second
)

// Touch says that somebody touches the screen.
func (a *App) Touch(now time.Duration) {
	a.Advance(now)
	a.boosted = now + boosts
}

// Period is the time between two vsyncs at an instant.
func (a *App) Period(at time.Duration) time.Duration {
	if a.Android.Still == nil || at < a.boosted || a.streak >= rises && at-a.last < rests {
		return a.Android.Period()
	}
	return max(a.Android.Still(), a.Android.Period())
}

// roundUp is the first multiple of a period at or after a time.
func roundUp(t, period time.Duration) time.Duration { return (t + period - 1) / period * period }

// fading is how long the render thread alone draws the end of each animation, as it
// does a ripple's.
const fading = 120 * time.Millisecond

// begin does the UI thread's half of the frame of a vsync.
func (a *App) begin(at, until time.Duration) {
	period := a.Period(at)
	if at-a.last >= rests {
		a.streak = 0
	}
	a.streak, a.last = a.streak+1, at
	w := a.plays.Work(at - a.began)
	deadline := at + period
	if period < 16*time.Millisecond {
		deadline += period // phones of faster screens give two vsyncs
	}
	a.half = half{work: w, in: a.front(), Frame: timeline.Frame{
		Token: a.Flinger.Timeline.AppToken(), Period: period, Held: w.Held,
		Expected: timeline.Interval{From: at, To: deadline}, Due: deadline + period,
		Vsync: at + w.Held/period*period,
	}}
	f := &a.half.Frame
	f.Little, f.SlowClock = w.Little, w.SlowClock
	ready := at + w.Held
	if w.Held == 0 { // a thread that was at something else goes on at once
		ready += w.Wake
	}
	switch {
	case w.Layout:
		f.Flags = timeline.WindowChanged
	case w.Held < period && until-at <= fading:
		f.Flags, f.Kind = timeline.RTAnimation, timeline.RenderThread
	}
	f.Actual.From = ready
	if f.Kind == timeline.RenderThread {
		// The stages of the UI thread are told as if they were the vsync's.
		f.Input, f.Animation, f.Traversals, f.Draw, f.SyncQueued = at, at, at, at, ready
	} else {
		stage := func(i int) time.Duration { return ready + part(&w, w.Starts[i]) }
		f.Input, f.Animation, f.Traversals, f.Draw = ready, stage(choreo.Animation), stage(choreo.Traversals), stage(choreo.Draw)
		f.SyncQueued = stage(choreo.SyncQueued) + w.BeyondUI
		delayUI(f, w.Delays)
	}
}

// part is a share of what an ordinary frame costs.
func part(w *choreo.Work, share float64) time.Duration {
	return time.Duration(float64(w.Cost-w.BeyondUI-w.BeyondRender) * share)
}

// buffers is how many a window has: those that are drawn to, wait or are shown.
const buffers = 3

// draw does the render thread's half, hands the buffer to SurfaceFlinger and has the
// frame judged.
func (a *App) draw() {
	w, f, work := a.half.in, &a.half.Frame, &a.half.work
	synced, stretch := work.Starts[choreo.Sync], 1.0
	waits := synced - work.Starts[choreo.SyncQueued]
	rest := 1 - synced
	if f.Kind == timeline.RenderThread { // it does the UI thread's share too
		stretch, rest = (1-waits)/rest, 1-waits
	}
	stage := func(i int) time.Duration { return part(work, stretch*(work.Starts[i]-synced)) }

	f.Sync = max(f.SyncQueued+part(work, waits), a.render)
	f.Issue = f.Sync + stage(choreo.Issue)
	wait := w.waitForBuffer(f.Issue)
	f.Dequeue = wait + part(work, 0.002)
	shader := sum(work.Delays, simapp.Shader)
	delay(f, work.Delays, simapp.Shader, f.Issue+f.Dequeue)
	f.Swap = f.Sync + stage(choreo.Swap) + work.BeyondRender + shader + wait
	f.GPUDone = f.Sync + part(work, rest) + work.BeyondRender + shader + wait
	if f.Kind == timeline.RenderThread {
		f.GPUDone += work.BeyondUI
	}
	f.Queue = min(part(work, 0.02), f.GPUDone-f.Swap)
	f.Queued = f.Swap + f.Queue
	f.Rendered = max(f.Queued, f.GPUDone)
	f.GPUDone += sum(work.Delays, simapp.GPU)
	f.GPUDone = max(f.GPUDone, a.gpu+f.GPUDone-f.Queued) // which draws one frame after the other
	delay(f, work.Delays, simapp.GPU, f.GPUDone-sum(work.Delays, simapp.GPU))
	a.gpu = f.GPUDone
	f.Actual.To = max(f.Queued, f.GPUDone)
	if !work.GPUApart {
		f.Rendered = f.Actual.To
	}
	a.free(f, work)

	w.Frames = append(w.Frames, *f)
	a.Flinger.take(w.Layer, sum(work.Delays, simapp.Composition))
	w.tracker.judge(&w.Frames[len(w.Frames)-1], a.Android)
	a.half.Token = 0
}

// waitForBuffer is how long from a time on all buffers of a window are in use: that of
// the third last frame is given back when the one after it has been taken.
func (w *window) waitForBuffer(at time.Duration) time.Duration {
	n := len(w.Frames)
	if n < buffers {
		return 0
	}
	return max(0, w.Frames[n-buffers].Released-at)
}

// free says when the threads go on after a frame.
func (a *App) free(f *timeline.Frame, work *choreo.Work) {
	ui := f.Issue // the UI thread is let go once its half is copied
	if f.Kind == timeline.RenderThread || a.Android.API < renderThreadSince {
		ui = f.Drawn()
	}
	a.render = f.Queued
	a.ui = ui + work.Think
	a.next = max(f.Expected.From+f.Period, a.vsync(a.ui))
}
