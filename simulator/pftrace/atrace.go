package pftrace

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// The kernel's name of render threads.
const renderThread = "RenderThread"

// sections adds the threads' atrace output: the system's code by category, and an app's own
// sections if its name is requested.
func (k *kernel) sections(t *timeline.Timeline) {
	view, gfx := slices.Contains(k.asked.Categories, "view"), slices.Contains(k.asked.Categories, "gfx")
	for _, l := range t.Layers {
		if _, scheduled := k.threads[l.PID]; !scheduled || l.Closed > 0 && l.Closed < k.during.From {
			continue
		}
		render := k.renderer(l.PID)
		for i := range l.Frames {
			f := &l.Frames[i]
			if f.Actual.To < k.during.From || f.Actual.From > k.during.To {
				continue
			}
			if view && f.Kind == timeline.Whole && !l.Own {
				k.doFrame(l.PID, f)
			}
			k.delays(l.PID, f)
			if gfx && !l.Own {
				k.drawFrame(l.PID, render, f)
			}
		}
	}
	if gfx {
		k.buffers(t)
		k.vsyncs(t)
	}
	if gfx {
		for i := range t.Displays {
			d := &t.Displays[i]
			if r, ok := k.running(surfaceFlingerPID, d.Actual.From); ok {
				k.section(surfaceFlingerPID, surfaceFlingerPID, k.composes(d), timeline.Interval{From: d.Actual.From, To: r.To})
			}
		}
	}
	k.taskSections(t)
	k.screens(t)
	for _, s := range t.Slices {
		one := k.threads[s.TID]
		if s.Category != "" && slices.Contains(k.asked.Categories, s.Category) || s.Category == "" && k.asksFor(one.Process) {
			k.section(one.PID, s.TID, s.Name, timeline.Interval{From: s.From, To: s.To})
		}
	}
}

// composes returns SurfaceFlinger's section for a display frame (SurfaceFlinger::composite,
// ::onMessageRefresh and ::handleMessageRefresh).
func (k *kernel) composes(d *timeline.DisplayFrame) string {
	switch {
	case k.api >= 33:
		return fmt.Sprintf("composite %d", d.Token)
	case k.api >= 31:
		return "onMessageRefresh"
	}
	return "handleMessageRefresh"
}

// asksFor reports whether a process's own sections are requested and permitted by its app.
func (k *kernel) asksFor(process string) bool {
	app, _, _ := strings.Cut(process, ":")
	return !slices.Contains(k.asked.Closed, app) && (slices.Contains(k.asked.Apps, process) || slices.Contains(k.asked.Apps, "*"))
}

// renderer returns a process's render thread.
func (k *kernel) renderer(pid int32) int32 {
	for tid, one := range k.threads {
		if one.PID == pid && one.Name == renderThread {
			return tid
		}
	}
	return 0
}

// token appends the vsync's token, with which sections of frames end since Android 12.
func (k *kernel) token(name string, f *timeline.Frame) string {
	if k.api < 31 {
		return name
	}
	return fmt.Sprintf("%s %d", name, f.Token)
}

// doFrame adds the UI thread's sections of a frame (Choreographer.doFrame,
// ViewRootImpl.performTraversals and performDraw).
func (k *kernel) doFrame(pid int32, f *timeline.Frame) {
	end := k.uiDone(pid, f)
	k.section(pid, pid, k.token("Choreographer#doFrame", f), timeline.Interval{From: f.Actual.From, To: end})
	k.section(pid, pid, "input", timeline.Interval{From: f.Input, To: f.Animation})
	k.section(pid, pid, "animation", timeline.Interval{From: f.Animation, To: f.Traversals})
	k.section(pid, pid, "traversal", timeline.Interval{From: f.Traversals, To: end})
	k.section(pid, pid, "draw", timeline.Interval{From: f.Draw, To: end})
	if recorded := (timeline.Interval{From: f.Draw + around, To: min(f.SyncQueued, end) - around}); recorded.From < recorded.To {
		k.section(pid, pid, "Record View#draw()", recorded) // ThreadedRenderer.updateRootDisplayList
	}
}

// uiDone returns when the UI thread is done with a frame: at the end of the run for which the
// render thread woke it.
func (k *kernel) uiDone(pid int32, f *timeline.Frame) time.Duration {
	if r, ok := k.next(pid, f.Issue); ok && r.Woken == f.Issue {
		return min(r.To, f.Actual.To)
	}
	return f.SyncQueued
}

// next returns the run of a thread at a time, or the next one.
func (k *kernel) next(tid int32, at time.Duration) (timeline.Run, bool) {
	list := k.of[tid]
	i := sort.Search(len(list), func(i int) bool { return list[i].To > at })
	if i == len(list) {
		return timeline.Run{}, false
	}
	return list[i], true
}

// drawFrame adds the render thread's sections of a frame (DrawFrameTask::run, CanvasContext,
// Surface::dequeueBuffer and queueBuffer).
func (k *kernel) drawFrame(pid, render int32, f *timeline.Frame) {
	name := "DrawFrame"
	switch {
	case f.Kind == timeline.RenderThread:
		name = "prepareAndDraw"
	case k.api >= 31:
		name = "DrawFrames"
	}
	k.section(pid, render, k.token(name, f), timeline.Interval{From: f.Sync, To: f.Queued})
	if f.Kind == timeline.Whole {
		k.section(pid, render, "syncFrameState", timeline.Interval{From: f.Sync, To: f.Issue})
	}
	k.section(pid, render, "dequeueBuffer", timeline.Interval{From: f.Issue, To: f.Issue + f.Dequeue})
	k.section(pid, render, "queueBuffer", timeline.Interval{From: f.Swap, To: f.Queued})
}

// section adds the beginning and the end of a section; an unfinished one has no end. A thread
// that is not running can't write: its line follows when it runs again.
func (k *kernel) section(pid, tid int32, name string, in timeline.Interval) {
	begins, at, ok := k.writes(tid, in.From)
	if !ok {
		return
	}
	ends, until, over := k.writes(tid, in.To)
	if in.To > 0 && over && until <= at {
		return
	}
	k.print(begins, at, beginsBefore, fmt.Sprintf("B|%d|%s\n", pid, name))
	if in.To > 0 && over {
		k.print(ends, until, endsBefore, fmt.Sprintf("E|%d\n", pid))
	}
}

// writes returns when a thread with something to write at a time does so, and the run.
func (k *kernel) writes(tid int32, at time.Duration) (timeline.Run, time.Duration, bool) {
	if r, ok := k.running(tid, at); ok {
		return r, at, true
	}
	r, ok := k.next(tid, at)
	return r, r.From, ok
}

// print adds a line that a thread writes: if its run begins at that time, after the switch to
// it, otherwise before the switch from it.
func (k *kernel) print(r timeline.Run, at time.Duration, rank int8, line string) {
	if r.From == at {
		rank += endsAfter - endsBefore
	}
	k.add(event{at: at, cpu: r.CPU, rank: rank, pid: r.TID, kind: eventPrint, body: message(nil, 2, []byte(line))})
}
