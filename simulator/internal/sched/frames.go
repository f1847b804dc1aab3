package sched

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// How long it takes to wake a thread and the app's thread of vsyncs to pass one on, and
// what the UI thread still does before it sleeps and once the render thread has what it
// needs.
const (
	vsyncTakes = 60 * time.Microsecond
	passesOn   = 40 * time.Microsecond
	unblocks   = 15 * time.Microsecond
	parks      = 5 * time.Microsecond
	afterSync  = 130 * time.Microsecond
)

// uiShare is the part of a frame's work that the UI thread does, more or less.
const uiShare = 0.5

// Binder are the processes that the threads of an app call as they draw.
type Binder struct {
	System, Flinger *Pool
	// Blast says that the app hands over its buffers in transactions, for which it does
	// not wait (Android 12; BLASTBufferQueue).
	Blast bool
}

// What is called, by its code, and how long a thread of the other process works on it.
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

// laysOut is what the UI thread calls as it lays out a window.
func (b *Binder) laysOut(f *timeline.Frame) []Call {
	if f.Flags&timeline.WindowChanged == 0 {
		return nil
	}
	return []Call{{At: (f.Traversals + f.Draw) / 2, To: b.System, Takes: relayoutTakes, Code: relayout}}
}

// drawn is what it calls once the window that was laid out is drawn.
func (b *Binder) drawn(f *timeline.Frame, at time.Duration) []Call {
	if f.Flags&timeline.WindowChanged == 0 {
		return nil
	}
	return []Call{{At: at, To: b.System, Takes: finishTakes, Code: finishDrawing}}
}

// queue is what the render thread calls to hand over a buffer.
func (b *Binder) queue(f *timeline.Frame) []Call {
	if b.Blast {
		return []Call{{At: f.Queued, To: b.Flinger, Takes: setStateTakes, Code: setState, OneWay: true}}
	}
	return []Call{{At: f.Swap, To: b.Flinger, Takes: queueTakes, Code: queueBuffer}}
}

// Frame is the work of a frame: the UI thread is woken by the vsync, records what is to
// be drawn and waits until the render thread, which it wakes, has taken that over; the
// render thread works on until the frame is done. Where there is no render thread, as
// before Android 5, it is the UI thread itself. What the app's file says that delays the
// frame has others work, or the frame's threads stop.
func (c *Cast) Frame(f *timeline.Frame) []Item {
	stops, others := c.delays(f)
	items := c.threads(f, stops)
	return slices.Concat(c.where(f, items), others, c.waitsForGPU(f))
}

// threads is the work of a frame's own threads, where the UI thread stops at times.
func (c *Cast) threads(f *timeline.Frame, stops []Call) []Item {
	ui, render, vsync, b := c.UI, c.Render, c.Vsync, c.Binder
	calls := inOrder(append(stops, b.laysOut(f)...))
	at := f.Expected.From // whether the UI thread is free then or not
	tells := Item{Thread: vsync, Woken: at, From: at + unblocks, To: at + vsyncTakes, Kind: power.Service}
	woken, waker := min(f.Vsync+passesOn, f.Input), vsync.TID
	if f.Held > 0 && f.Kind != timeline.RenderThread { // it did not sleep
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

// draw is the render thread's work on a frame, which sleeps where it waits for a buffer.
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

// Composition is SurfaceFlinger's work on a frame of the display. It tells the apps that
// it shows, which handed over their buffers in transactions.
func Composition(flinger *Thread, d *timeline.DisplayFrame, shows []*Pool) Item {
	const usual = 1500 * time.Microsecond
	composes := cmp.Or(d.Takes, usual)
	it := Item{Thread: flinger, Woken: d.Expected.From, From: d.Actual.From, To: min(d.Actual.From+composes, d.Actual.To), Kind: power.Service}
	for _, app := range shows {
		it.Calls = append(it.Calls, Call{At: it.To, To: app, Takes: completedTakes, Code: completed, OneWay: true})
	}
	return it
}

// Touch is what an input event has the system and the app's UI thread do, which starts an
// activity where the event opens one.
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

// Wake is work of a thread that sleeps until something outside the phone's threads wakes it.
func Wake(thread *Thread, at, takes time.Duration) Item {
	return Item{Thread: thread, Woken: at, From: at + unblocks, To: at + unblocks + takes, Kind: power.Service, Method: power.System, Background: true}
}
