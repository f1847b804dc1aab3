package sched

import (
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

// How long it takes to wake a thread and the app's thread of vsyncs to pass one on, and
// what the UI thread still does once the render thread has what it needs.
const (
	vsyncTakes = 60 * time.Microsecond
	passesOn   = 40 * time.Microsecond
	unblocks   = 15 * time.Microsecond
	afterSync  = 130 * time.Microsecond
)

// uiShare is the part of a frame's work that the UI thread does, more or less.
const uiShare = 0.5

// Frame is the work of a frame: the UI thread is woken by the vsync, records what is to
// be drawn and waits until the render thread, which it wakes, has taken that over; the
// render thread works on until the frame is done.
func Frame(ui, render, vsync *Thread, f *timeline.Frame) []Item {
	tells := Item{Thread: vsync, Woken: f.Vsync, From: f.Vsync + unblocks, To: f.Vsync + vsyncTakes, Kind: power.Service}
	woken := min(f.Vsync+passesOn, f.Input)
	done := f.Actual.To
	if f.Kind == timeline.RenderThread {
		return []Item{tells, {Thread: render, Woken: woken, Waker: vsync.TID, From: f.Input, To: done, Method: power.System}}
	}
	tail := min(afterSync, max(0, done-f.Issue-unblocks))
	return []Item{
		tells,
		{Thread: ui, Woken: woken, Waker: vsync.TID, From: f.Input, To: f.SyncQueued, Method: power.Mixed, Share: uiShare},
		{Thread: render, Woken: f.SyncQueued, Waker: ui.TID, From: f.Sync, To: done, Method: power.System},
		{Thread: ui, Woken: f.Issue, Waker: render.TID, From: f.Issue + unblocks, To: f.Issue + unblocks + tail, Method: power.Mixed, Share: uiShare},
	}
}

// Composition is SurfaceFlinger's work on a frame of the display.
func Composition(flinger *Thread, d *timeline.DisplayFrame) Item {
	const composes = 1500 * time.Microsecond
	return Item{Thread: flinger, Woken: d.Expected.From, From: d.Actual.From, To: min(d.Actual.From+composes, d.Actual.To), Kind: power.Service}
}
