package sched

import (
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
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

// Frame is the work of a frame: the UI thread is woken by the vsync, records what is to
// be drawn and waits until the render thread, which it wakes, has taken that over; the
// render thread works on until the frame is done. Where there is no render thread, as
// before Android 5, it is the UI thread itself.
func Frame(ui, render, vsync *Thread, f *timeline.Frame) []Item {
	tells := Item{Thread: vsync, Woken: f.Vsync, From: f.Vsync + unblocks, To: f.Vsync + vsyncTakes, Kind: power.Service}
	woken := min(f.Vsync+passesOn, f.Input)
	if f.Kind == timeline.RenderThread {
		return append(draw(render, f, woken, vsync.TID), tells)
	}
	if render == ui {
		it := Item{Thread: ui, Woken: woken, Waker: vsync.TID, From: f.Input, To: f.SyncQueued, Method: power.Mixed}
		rest := draw(ui, f, 0, 0)
		for i := range rest {
			rest[i].Method = power.Mixed
		}
		return append(rest, tells, it)
	}
	tail := min(afterSync, max(0, f.Actual.To-f.Issue-unblocks))
	return append(draw(render, f, f.SyncQueued, ui.TID), tells,
		Item{Thread: ui, Woken: woken, Waker: vsync.TID, From: f.Input, To: f.SyncQueued + parks, Method: power.Mixed, Share: uiShare},
		Item{Thread: ui, Woken: f.Issue, Waker: render.TID, From: f.Issue + unblocks, To: f.Issue + unblocks + tail, Method: power.Mixed, Share: uiShare},
	)
}

// draw is the render thread's work on a frame, which sleeps where it waits for a buffer.
func draw(render *Thread, f *timeline.Frame, woken time.Duration, waker int32) []Item {
	const short = time.Millisecond
	it := Item{Thread: render, Woken: woken, Waker: waker, From: f.Sync, To: f.Actual.To, Method: power.System}
	if f.Dequeue < short {
		return []Item{it}
	}
	rest := it
	it.To, rest.From = f.Issue, f.Issue+f.Dequeue
	rest.Woken, rest.Waker = rest.From, 0
	return []Item{it, rest}
}

// Composition is SurfaceFlinger's work on a frame of the display.
func Composition(flinger *Thread, d *timeline.DisplayFrame) Item {
	const composes = 1500 * time.Microsecond
	return Item{Thread: flinger, Woken: d.Expected.From, From: d.Actual.From, To: min(d.Actual.From+composes, d.Actual.To), Kind: power.Service}
}
