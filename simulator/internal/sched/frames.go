package sched

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// How long it takes to wake a thread, and the app's vsync thread to forward a vsync; and the
// UI thread's remaining work before it sleeps, and once the render thread has its data.
const (
	vsyncTakes = 60 * time.Microsecond
	passesOn   = 40 * time.Microsecond
	unblocks   = 15 * time.Microsecond
	parks      = 5 * time.Microsecond
	afterSync  = 130 * time.Microsecond
)

// uiShare is the UI thread's approximate share of a frame's work.
const uiShare = 0.5

// Binder is the processes that an app's threads call while drawing.
type Binder struct {
	System, Flinger *Pool
	// Blast reports that the app queues its buffers in one-way transactions (Android 12;
	// BLASTBufferQueue).
	Blast bool
}

// The called methods by their codes, and how long a thread of the other process works on each.
const (
	relayout      = 3 // IWindowSession
	finishDrawing = 5
	queueBuffer   = 7 // IGraphicBufferProducer
	setState      = 8 // ISurfaceComposer.setTransactionState
	completed     = 1 // ITransactionCompletedListener.onTransactionCompleted
	startActivity = 5 // IActivityTaskManager

	relayoutTakes  = 250 * time.Microsecond
	finishTakes    = 60 * time.Microsecond
	queueTakes     = 40 * time.Microsecond
	setStateTakes  = 50 * time.Microsecond
	completedTakes = 40 * time.Microsecond
	startTakes     = time.Millisecond
)

// laysOut returns the UI thread's calls for the layout of a window.
func (b *Binder) laysOut(f *timeline.Frame) []Call {
	if f.Flags&timeline.WindowChanged == 0 {
		return nil
	}
	return []Call{{At: (f.Traversals + f.Draw) / 2, To: b.System, Takes: relayoutTakes, Code: relayout}}
}

// drawn returns its calls once the new layout is drawn.
func (b *Binder) drawn(f *timeline.Frame, at time.Duration) []Call {
	if f.Flags&timeline.WindowChanged == 0 {
		return nil
	}
	return []Call{{At: at, To: b.System, Takes: finishTakes, Code: finishDrawing}}
}

// queue returns the render thread's calls to queue a buffer.
func (b *Binder) queue(f *timeline.Frame) []Call {
	if b.Blast {
		return []Call{{At: f.Queued, To: b.Flinger, Takes: setStateTakes, Code: setState, OneWay: true}}
	}
	return []Call{{At: f.Swap, To: b.Flinger, Takes: queueTakes, Code: queueBuffer}}
}

// Frame returns the work of a frame: the vsync wakes the UI thread, which records what to
// draw, wakes the render thread and waits until that has taken over; the render thread works
// until the frame is done. Without a render thread, before Android 5, the UI thread does its
// work. For the delays in the app's file, other threads work or the frame's threads stop.
func (c *Cast) Frame(f *timeline.Frame) []Item {
	stops, others := c.delays(f)
	items := c.threads(f, stops)
	return slices.Concat(c.where(f, items), others, c.waitsForGPU(f))
}

// threads returns the work of a frame's own threads, with the UI thread's stops.
func (c *Cast) threads(f *timeline.Frame, stops []Call) []Item {
	ui, render, vsync, b := c.UI, c.Render, c.Vsync, c.Binder
	calls := inOrder(append(stops, b.laysOut(f)...))
	at := f.Expected.From // whether or not the UI thread is free then
	tells := Item{Thread: vsync, Woken: at, From: at + unblocks, To: at + vsyncTakes, Kind: power.Service}
	woken, waker := min(f.Vsync+passesOn, f.Input), vsync.TID
	if f.Held > 0 && f.Kind != timeline.RenderThread { // it was not sleeping
		woken, waker = 0, 0
	}
	if f.Kind == timeline.RenderThread {
		return append(draw(render, b, f, woken, vsync.TID), tells)
	}
	if render == ui {
		it := Item{Thread: ui, Woken: woken, Waker: waker, From: f.Input, To: f.SyncQueued, Method: power.Mixed, Calls: calls}
		rest := draw(ui, b, f, 0, 0)
		for i := range rest {
			rest[i].Method = power.Mixed
		}
		return append(rest, tells, it)
	}
	tail := min(afterSync, max(0, f.Actual.To-f.Issue-unblocks))
	return append(draw(render, b, f, f.SyncQueued, ui.TID), tells,
		Item{Thread: ui, Woken: woken, Waker: waker, From: f.Input, To: f.SyncQueued + parks, Method: power.Mixed, Share: uiShare, Calls: calls},
		Item{Thread: ui, Woken: f.Issue, Waker: render.TID, From: f.Issue + unblocks, To: f.Issue + unblocks + tail, Method: power.Mixed, Share: uiShare, Calls: b.drawn(f, f.Issue+unblocks+tail/2)},
	)
}

// draw returns the render thread's work on a frame; it sleeps while it waits for a buffer.
func draw(render *Thread, b *Binder, f *timeline.Frame, woken time.Duration, waker int32) []Item {
	const short = time.Millisecond
	it := Item{Thread: render, Woken: woken, Waker: waker, From: f.Sync, To: cmp.Or(f.Rendered, f.Actual.To), Method: power.System}
	if f.Dequeue < short {
		it.Calls = b.queue(f)
		return []Item{it}
	}
	rest := it
	rest.Calls = b.queue(f)
	it.To, rest.From = f.Issue, f.Issue+f.Dequeue
	rest.Woken, rest.Waker = rest.From, 0
	return []Item{it, rest}
}

// Composition returns SurfaceFlinger's work on a display frame. It notifies the apps in it
// that queue their buffers in transactions.
func Composition(flinger *Thread, d *timeline.DisplayFrame, shows []*Pool) Item {
	const usual = 1500 * time.Microsecond
	composes := cmp.Or(d.Takes, usual)
	it := Item{Thread: flinger, Woken: d.Expected.From, From: d.Actual.From, To: min(d.Actual.From+composes, d.Actual.To), Kind: power.Service}
	for _, app := range shows {
		it.Calls = append(it.Calls, Call{At: it.To, To: app, Takes: completedTakes, Code: completed, OneWay: true})
	}
	return it
}

// Touch returns the work of the system and of the app's UI thread for an input event, which
// starts an activity if opens is set.
func Touch(reader, dispatcher, ui *Thread, b *Binder, at time.Duration, opens bool) Item {
	const reads, dispatches, handles = 70 * time.Microsecond, 90 * time.Microsecond, 120 * time.Microsecond
	answer := Item{Thread: ui, To: handles, Kind: power.Frame, Method: power.System, Background: true}
	if opens {
		answer.Calls = []Call{{At: handles / 2, To: b.System, Takes: startTakes, Code: startActivity}}
	}
	return Item{Thread: reader, Woken: at, From: at + unblocks, To: at + unblocks + reads, Kind: power.Service, Wakes: []Item{
		{Thread: dispatcher, To: dispatches, Kind: power.Service, Wakes: []Item{answer}},
	}}
}

// Wake returns work of a thread that sleeps until something other than the phone's threads
// wakes it.
func Wake(thread *Thread, at, takes time.Duration) Item {
	return Item{Thread: thread, Woken: at, From: at + unblocks, To: at + unblocks + takes, Kind: power.Service, Method: power.System, Background: true}
}
