// Package gfxinfo prints the frames of a simulated phone's processes in the form of its
// Android version: dumpsys gfxinfo. It is a view of the timeline: it computes nothing, and
// keeps only what was shown and reset for each process.
package gfxinfo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// What dumpsys gfxinfo prints, by version:
//
//	4.1 to 4.4  Draw, Process and Execute of up to 128 frames, if profiled
//	5           Draw, Prepare, Process and Execute
//	6           a summary; with framestats the last 120 frames in 14 columns
//	7           with a histogram; 16 columns
//	11          with the GPU's histogram; 17 columns
//	12          with legacy janks; 22 columns, by frame timeline
//	13          23 columns

// Process is a process with frames.
type Process struct {
	Package  string
	PID      int
	Profiled bool // debug.hwui.profile was set when it started
	// Layers are its windows since it started, including closed ones.
	Layers []*timeline.Layer
	Since  time.Duration // start of the statistics
	// drained is the time up to which the table of Android 4 and 5 was printed.
	drained time.Duration
}

// open returns the open windows.
func (pr *Process) open() (out []*timeline.Layer) {
	for _, l := range pr.Layers {
		if l.Closed == 0 {
			out = append(out, l)
		}
	}
	return out
}

// each returns the frames of the windows that pass.
func (pr *Process) each(layers []*timeline.Layer, pass func(f *timeline.Frame) bool) (out []*timeline.Frame) {
	for _, l := range layers {
		for i := range l.Frames {
			if f := &l.Frames[i]; pass(f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Phone is the phone's part of a dump.
type Phone struct {
	API           int
	Now, Boottime time.Duration // CLOCK_MONOTONIC and CLOCK_BOOTTIME
}

// Dump is gfxinfo [PKG] [framestats] [reset], for the running processes.
func (ph Phone) Dump(c *shell.Call, running []*Process) int {
	stats, reset := slices.Contains(c.Args, "framestats"), slices.Contains(c.Args, "reset")
	pkg := c.Arg(0)
	if pkg == "framestats" || pkg == "reset" {
		pkg = ""
	}
	var shown []*Process
	for _, pr := range running {
		if pkg == "" || pr.Package == pkg || fmt.Sprint(pr.PID) == pkg {
			shown = append(shown, pr)
		}
	}
	if len(shown) == 0 {
		c.Printf("No process found for: %s\n", pkg)
		return 0
	}
	c.Printf("Applications Graphics Acceleration Info:\nUptime: %d Realtime: %d\n",
		ph.Now.Milliseconds(), ph.Boottime.Milliseconds())
	for _, pr := range shown {
		c.Printf("\n** Graphics info for pid %d [%s] **\n\n", pr.PID, pr.Package)
		d := dump{api: ph.API, now: ph.Now, process: pr}
		c.Printf("%s", d.print(stats && ph.API >= 23))
		if reset && ph.API >= 23 {
			pr.Since = ph.Now
		}
	}
	return 0
}

// dump prints one process.
type dump struct {
	api     int
	now     time.Duration
	process *Process
	b       []byte
}

func (d *dump) f(format string, args ...any) { d.b = fmt.Appendf(d.b, format, args...) }

// counted reports whether a frame is included in the statistics.
func (d *dump) counted(f *timeline.Frame) bool {
	return f.Counted > d.process.Since && f.Counted <= d.now
}

func (d *dump) print(stats bool) []byte {
	pr := d.process
	if d.api >= 23 {
		d.summary(pr.each(pr.Layers, d.counted))
	}
	d.caches()
	d.f("Profile data in ms:\n")
	windows := pr.open()
	for _, l := range windows {
		d.f("\n\t%s", root(l))
		if d.api >= 21 {
			d.f(" (visibility=0)")
		}
		if pr.Profiled {
			d.table(l)
		}
		if stats {
			d.f("\nWindow: %s", l.Title)
			d.summary(pr.each([]*timeline.Layer{l}, d.counted))
			d.frameStats(l)
		}
	}
	pr.drained = d.now
	d.f("\nView hierarchy:\n\n")
	for _, l := range windows {
		d.f("  %s\n  41 views, 21.36 kB of display lists", root(l))
		if d.api < 21 {
			d.f(", %d frames rendered", len(pr.each([]*timeline.Layer{l}, func(f *timeline.Frame) bool { return f.Drawn() <= d.now })))
		}
		d.f("\n\n")
	}
	d.f("\nTotal ViewRootImpl: %d\nTotal Views:        %d\nTotal DisplayList:  21.36 kB\n\n", len(windows), 41*len(windows))
	return d.b
}

// root returns the beginning of a window's dump.
func root(l *timeline.Layer) string {
	return fmt.Sprintf("%s/android.view.ViewRootImpl@%x", l.Title, l.Hash)
}

func (d *dump) caches() {
	if d.api >= 24 && d.api < 28 {
		d.f("\n")
	}
	if d.api < 28 {
		d.f("Caches:\nCurrent memory usage / total memory usage (bytes):\n  TextureCache           669300 / 50331648\n")
		d.f("Total memory usage:\n  1194548 bytes, 1.14 MB\n\n")
		if d.api >= 24 {
			d.f("\nPipeline=FrameBuilder\n")
		}
		return
	}
	d.f("Pipeline=Skia (OpenGL)\nCPU Caches:\nGPU Caches:\n  Other:\n    Buffer Object: 63.00 KB (2 entries)\n")
	d.f("Total GPU memory usage:\n  1536700 bytes, 1.47 MB (476.68 KB is purgeable)\n\n")
}

// maxTable is how many frames the table of Android 4 and 5 holds.
const maxTable = 128

// table prints a window's frames since the last dump, and clears them. If there were more than
// it holds, they are in the order of the ring.
func (d *dump) table(l *timeline.Layer) {
	pr := d.process
	columns := "\n\tDraw\tPrepare\tProcess\tExecute\n"
	if d.api < 21 {
		columns = "\n\tDraw\tProcess\tExecute\n"
	}
	d.f("%s", columns)
	frames := pr.each([]*timeline.Layer{l}, func(f *timeline.Frame) bool { return f.Drawn() > pr.drained && f.Drawn() <= d.now })
	if n := len(frames); n > maxTable {
		ring := make([]*timeline.Frame, maxTable)
		for i, f := range frames {
			ring[i%maxTable] = f
		}
		frames = ring
	}
	for _, f := range frames {
		// Draw includes all of the UI thread's work, computations as well.
		draw := f.Held + f.SyncQueued - f.Input
		if d.api < 21 { // without a render thread to wait for
			draw = f.Held + f.Sync - f.Input
		}
		prepare := f.Issue - f.Sync
		process := f.Swap - f.Issue
		execute := f.Drawn() - f.Swap
		if d.api < 21 {
			d.f("\t%3.2f\t%3.2f\t%3.2f\n", ms(draw), ms(prepare+process), ms(execute))
		} else {
			d.f("\t%3.2f\t%3.2f\t%3.2f\t%3.2f\n", ms(draw), ms(prepare), ms(process), ms(execute))
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ring is how many frames of a window are kept (JankTracker's RingBuffer).
const ring = 120

// frameStats prints the rows of a window: its last 120 frames, in a ring of buffers. Since
// Android 12 a frame whose end SurfaceFlinger has not reported yet is already in its place,
// with the end of the frame that was there before.
func (d *dump) frameStats(l *timeline.Layer) {
	columns := frameStatsColumns(d.api)
	d.f("\n\n---PROFILEDATA---\n%s,", strings.Join(columns, ","))
	frames := d.process.each([]*timeline.Layer{l}, func(f *timeline.Frame) bool {
		return f.Counted > d.process.Since && (f.Counted <= d.now || d.api >= 31 && f.Queued <= d.now)
	})
	first := max(0, len(frames)-ring)
	for i, f := range frames[first:] {
		end := f
		if f.Counted > d.now {
			end = &timeline.Frame{}
			if first+i >= ring {
				end = frames[first+i-ring]
			}
		}
		d.b = append(d.b, '\n')
		for _, column := range columns {
			of := f
			if column == "FrameCompleted" || column == "GpuCompleted" || column == "DisplayPresentTime" {
				of = end
			}
			d.b = strconv.AppendInt(d.b, value(column, of), 10)
			d.b = append(d.b, ',')
		}
	}
	d.f("\n---PROFILEDATA---\n\n")
}

// frameStatsColumns are the columns of an API level, from AOSP's FrameInfo.
func frameStatsColumns(api int) []string {
	const (
		tail6  = "SyncQueued,SyncStart,IssueDrawCommandsStart,SwapBuffers,FrameCompleted"
		head6  = "Flags,IntendedVsync,Vsync,OldestInputEvent,NewestInputEvent,HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,"
		head12 = "Flags,FrameTimelineVsyncId,IntendedVsync,Vsync,InputEventId,HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,FrameDeadline,FrameInterval,FrameStartTime,"
		tail7  = tail6 + ",DequeueBufferDuration,QueueBufferDuration"
		tail12 = tail7 + ",GpuCompleted,SwapBuffersCompleted,DisplayPresentTime"
	)
	switch {
	case api >= 33:
		return strings.Split(head12+tail12+",CommandSubmissionCompleted", ",")
	case api >= 31:
		return strings.Split(head12+tail12, ",")
	case api >= 30:
		return strings.Split(head6+tail7+",GpuCompleted", ",")
	case api >= 24:
		return strings.Split(head6+tail7, ",")
	}
	return strings.Split(head6+tail6, ",")
}

// value returns one number of framestats.
func value(column string, f *timeline.Frame) int64 {
	var t time.Duration
	switch column {
	case "Flags":
		return f.Flags
	case "FrameTimelineVsyncId":
		return f.Token
	case "OldestInputEvent":
		return 1<<63 - 1
	case "NewestInputEvent", "InputEventId":
		return 0
	case "IntendedVsync":
		t = f.Expected.From
	case "Vsync":
		t = f.Vsync
	case "HandleInputStart":
		t = f.Input
	case "AnimationStart":
		t = f.Animation
	case "PerformTraversalsStart":
		t = f.Traversals
	case "DrawStart":
		t = f.Draw
	case "FrameDeadline":
		t = f.Deadline
	case "FrameInterval":
		t = f.Period
	case "FrameStartTime":
		t = f.Input - 4*time.Microsecond
	case "SyncQueued":
		t = f.SyncQueued
	case "SyncStart":
		t = f.Sync
	case "IssueDrawCommandsStart":
		t = f.Issue
	case "SwapBuffers", "CommandSubmissionCompleted":
		t = f.Swap
	case "FrameCompleted", "GpuCompleted":
		t = f.Drawn()
	case "SwapBuffersCompleted":
		t = f.Queued
	case "DequeueBufferDuration":
		t = f.Dequeue
	case "QueueBufferDuration":
		t = f.Queue
	case "DisplayPresentTime":
		t = f.Presented
	}
	return int64(t)
}
