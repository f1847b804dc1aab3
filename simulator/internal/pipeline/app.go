package pipeline

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Android is the part of the system that frames depend on.
type Android struct {
	API int
	// Period returns the current time between two vsyncs. Still returns the longer one of a
	// screen on which nothing moves, 0 if the display does not change its rate.
	Period, Still func() time.Duration
}

// renderThreadSince is the API level from which on a render thread draws instead of the UI
// thread.
const renderThreadSince = 21

// App is the pipeline of one process. Its frames are computed up to a given instant and no
// further, so that later events in the process affect the frames that follow.
//
//	vsync → UI thread: input, animation, traversal, draw → sync with the render thread,
//	for which the UI thread waits → render thread: wait for a buffer, issue, swap → GPU
//	→ SurfaceFlinger (see there) → the screen
type App struct {
	Flinger *SurfaceFlinger
	Android Android

	windows []*window // open ones, the last is in front
	plays   *choreo.Performance
	began   time.Duration // when the current performance began
	next    time.Duration // no frame begins earlier
	ui      time.Duration // when the UI thread is free
	render  time.Duration // when the render thread is free
	gpu     time.Duration // when the GPU is free
	boosted time.Duration // the end of the fastest rate after a touch
	last    time.Duration // the vsync of the newest frame
	streak  int           // frames since the display was idle
	half    half          // the UI thread's finished half that the render thread has not begun
}

// window is a window with the process's state for it.
type window struct {
	*timeline.Layer
	tracker tracker
	surface *window // drawn by the app itself within the window; nil: none
}

// half is a frame that waits for the render thread; none if it has no token.
type half struct {
	timeline.Frame
	work choreo.Work
	in   *window
}

// Open opens a window in front of the others.
func (a *App) Open(l *timeline.Layer) {
	a.Advance(l.Opened)
	w := &window{Layer: a.Flinger.Timeline.Open(l)}
	if l.Surface != nil {
		w.surface = &window{Layer: a.Flinger.Timeline.Open(l.Surface)}
	}
	a.windows = append(a.windows, w)
}

// front returns where the next frame is drawn: the front window, or after its first frame the
// surface in it.
func (a *App) front() *window {
	w := a.windows[len(a.windows)-1]
	if w.surface != nil && len(w.Frames) > 0 {
		return w.surface
	}
	return w
}

// Close closes a window: buffers that SurfaceFlinger has not latched are never shown.
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

// Play makes the app play a performance from the first vsync on at which its UI thread is
// free, and returns that time. An earlier performance is cancelled.
func (a *App) Play(perf *choreo.Performance, now time.Duration) (begins time.Duration) {
	a.Advance(now)
	a.plays = perf
	a.began = a.vsync(max(now, a.ui))
	a.next = max(a.next, a.began)
	return a.began
}

// Resume continues another process's performance from a time on.
func (a *App) Resume(other *App, from time.Duration) {
	a.plays, a.began, a.next = other.plays, other.began, a.vsync(from)
}

// Stop ends the performance: the screen is off, or another app is in front.
func (a *App) Stop(now time.Duration) {
	a.Advance(now)
	a.plays = nil
}

// Hold blocks the UI thread from now on.
func (a *App) Hold(now, long time.Duration) { a.HoldFrom(now, now, long) }

// HoldFrom blocks the UI thread from a time on, now or later.
func (a *App) HoldFrom(now, from, long time.Duration) {
	a.Advance(now)
	if a.plays != nil {
		a.plays.Hold(choreo.Block{At: from - a.began, For: long})
	}
}

// Free returns when the UI thread is free of computations, now or later.
func (a *App) Free(now time.Duration) time.Duration {
	if a.plays == nil {
		return max(now, a.ui)
	}
	return a.plays.Free(now-a.began) + a.began
}

// Stall blocks the render thread once it is free, and returns from when. A dump of its frames
// runs there (RenderProxy::dumpProfileInfo).
func (a *App) Stall(now, long time.Duration) (from time.Duration) {
	a.Advance(now)
	from = max(now, a.render)
	if a.Android.API < renderThreadSince { // the dumping thread draws it
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

// Advance computes the frames up to now.
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

// Begun returns the frame that the UI thread is working on, or that waits for the render
// thread; nil for none. The later stages are not known yet.
func (a *App) Begun() *timeline.Frame {
	if a.half.Token == 0 {
		return nil
	}
	f := a.half.Frame
	f.Sync, f.Issue, f.Actual.To = never, never, never
	return &f
}

// never is later than any time.
const never = time.Duration(math.MaxInt64 / 2)

// asked returns the next vsync at which a frame is requested, and until when that continues.
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

// vsync returns the first vsync at or after a time.
func (a *App) vsync(t time.Duration) time.Duration {
	return roundUp(t, a.Period(t))
}

// The display lowers its rate after a time without frames, and raises it again after a number
// of frames or a touch (SurfaceFlinger's idle and touch timers, and its LayerHistory).
const (
	rests  = 250 * time.Millisecond
	rises  = 6
	boosts = time.Second
)

// Touch handles a touch of the screen.
func (a *App) Touch(now time.Duration) {
	a.Advance(now)
	a.boosted = now + boosts
}

// Period returns the time between two vsyncs at an instant.
func (a *App) Period(at time.Duration) time.Duration {
	if a.Android.Still == nil || at < a.boosted || a.streak >= rises && at-a.last < rests {
		return a.Android.Period()
	}
	return max(a.Android.Still(), a.Android.Period())
}

// roundUp returns the first multiple of a period at or after a time.
func roundUp(t, period time.Duration) time.Duration { return (t + period - 1) / period * period }

// fading is how long the render thread alone draws the end of each animation, as for a ripple.
const fading = 120 * time.Millisecond

// begin computes the UI thread's half of the frame at a vsync.
func (a *App) begin(at, until time.Duration) {
	period := a.Period(at)
	if at-a.last >= rests {
		a.streak = 0
	}
	a.streak, a.last = a.streak+1, at
	w := a.plays.Work(at - a.began)
	deadline := at + period
	if period < 16*time.Millisecond {
		deadline += period // phones with faster screens allow two vsyncs
	}
	a.half = half{work: w, in: a.front(), Frame: timeline.Frame{
		Token: a.Flinger.Timeline.AppToken(), Period: period, Held: w.Held,
		Expected: timeline.Interval{From: at, To: deadline}, Due: deadline + period,
		Vsync: at + w.Held/period*period,
	}}
	f := &a.half.Frame
	f.Little, f.SlowClock = w.Little, w.SlowClock
	ready := at + w.Held
	if w.Held == 0 { // a busy thread continues without waking
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
		// The stages of the UI thread are reported with the time of the vsync.
		f.Input, f.Animation, f.Traversals, f.Draw, f.SyncQueued = at, at, at, at, ready
	} else {
		stage := func(i int) time.Duration { return ready + part(&w, w.Starts[i]) }
		f.Input, f.Animation, f.Traversals, f.Draw = ready, stage(choreo.Animation), stage(choreo.Traversals), stage(choreo.Draw)
		f.SyncQueued = stage(choreo.SyncQueued) + w.BeyondUI
		delayUI(f, w.Delays, a.began)
	}
}

// part returns a share of the cost of an ordinary frame.
func part(w *choreo.Work, share float64) time.Duration {
	return time.Duration(float64(w.Cost-w.BeyondUI-w.BeyondRender) * share)
}

// buffers is a window's number of buffers: being drawn, waiting or shown.
const buffers = 3

// draw computes the render thread's half, queues the buffer to SurfaceFlinger and classifies
// the frame.
func (a *App) draw() {
	w, f, work := a.half.in, &a.half.Frame, &a.half.work
	synced, stretch := work.Starts[choreo.Sync], 1.0
	waits := synced - work.Starts[choreo.SyncQueued]
	rest := 1 - synced
	if f.Kind == timeline.RenderThread { // it also does the UI thread's share
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
	f.GPUDone = max(f.GPUDone, a.gpu+f.GPUDone-f.Queued) // the GPU draws one frame at a time
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

// waitForBuffer returns how long from a time on all buffers of a window are in use: the buffer
// of the third last frame is released when its successor has been latched.
func (w *window) waitForBuffer(at time.Duration) time.Duration {
	n := len(w.Frames)
	if n < buffers {
		return 0
	}
	return max(0, w.Frames[n-buffers].Released-at)
}

// free sets when the threads are free after a frame.
func (a *App) free(f *timeline.Frame, work *choreo.Work) {
	ui := f.Issue // the UI thread is free once its half is copied
	if f.Kind == timeline.RenderThread || a.Android.API < renderThreadSince {
		ui = f.Drawn()
	}
	a.render = f.Queued
	a.ui = ui + work.Think
	a.next = max(f.Expected.From+f.Period, a.vsync(a.ui))
}
