// Package gfxinfo prints the frames of a simulated phone's processes as its Android
// prints them: dumpsys gfxinfo. It works out no frame (package choreo does), and
// keeps of a process only what was shown and reset.
package gfxinfo

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/choreo"
	"github.com/apkgate/apkgate/internal/simlab/shell"
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

// Process is a process whose frames are kept.
type Process struct {
	Package, Component string // the window's name is PACKAGE/CLASS
	PID                int
	Window             int  // the ViewRootImpl's hash
	Profiled           bool // debug.hwui.profile was set when it began
	// Frames holds what is rendered and what will be, by time.
	Frames []choreo.Frame
	Since  time.Duration // of the statistics
	// counted is the first frame that the statistics since the last reset hold,
	// drained the first that the table of Android 4 and 5 has not shown.
	counted, drained int
}

// Rendered is how many frames are done.
func (pr *Process) Rendered(now time.Duration) int {
	return sort.Search(len(pr.Frames), func(i int) bool { return pr.Frames[i].Completed > now })
}

// Phone is what a dump says of the phone itself.
type Phone struct {
	API           int
	Now, Boottime time.Duration // CLOCK_MONOTONIC and CLOCK_BOOTTIME
	Period        time.Duration // of the vsync
}

// Dump is gfxinfo [PKG] [framestats] [reset], of the processes that run.
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
		d := dump{api: ph.API, now: ph.Now, period: ph.Period, process: pr}
		c.Printf("%s", d.print(stats && ph.API >= 23))
		if reset && ph.API >= 23 {
			pr.counted, pr.Since = pr.Rendered(ph.Now), ph.Now
		}
	}
	return 0
}

// dump prints one process.
type dump struct {
	api     int
	now     time.Duration
	period  time.Duration
	process *Process
	b       []byte
}

func (d *dump) f(format string, args ...any) { d.b = fmt.Appendf(d.b, format, args...) }

func (d *dump) print(stats bool) []byte {
	pr := d.process
	done := pr.Rendered(d.now)
	counted := pr.Frames[min(pr.counted, done):done]
	if d.api >= 23 {
		d.summary(counted)
	}
	d.caches()
	d.f("Profile data in ms:\n\n\t%s/android.view.ViewRootImpl@%x", pr.Component, pr.Window)
	if d.api >= 21 {
		d.f(" (visibility=0)")
	}
	if pr.Profiled {
		d.table(done)
	}
	if stats {
		d.f("\nWindow: %s", pr.Component)
		d.summary(counted)
		d.frameStats(counted)
	}
	d.f("\nView hierarchy:\n\n  %s/android.view.ViewRootImpl@%x\n  41 views, 21.36 kB of display lists", pr.Component, pr.Window)
	if d.api < 21 {
		d.f(", %d frames rendered", done)
	}
	d.f("\n\n\nTotal ViewRootImpl: 1\nTotal Views:        41\nTotal DisplayList:  21.36 kB\n\n")
	return d.b
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

// table prints the frames since the last dump, and forgets them. Where there
// were more than it holds, they stand where the ring has them.
func (d *dump) table(done int) {
	pr := d.process
	columns := "\n\tDraw\tPrepare\tProcess\tExecute\n"
	if d.api < 21 {
		columns = "\n\tDraw\tProcess\tExecute\n"
	}
	d.f("%s", columns)
	frames := pr.Frames[min(pr.drained, done):done]
	pr.drained = done
	if n := len(frames); n > maxTable {
		ring := make([]choreo.Frame, maxTable)
		for i, f := range frames {
			ring[i%maxTable] = f
		}
		frames = ring
	}
	for _, f := range frames {
		// Draw holds all of the UI thread's work, a computation included.
		execute := f.Completed - f.Swap
		process := f.Swap - f.Issue
		prepare := f.Issue - f.Sync
		draw := f.Busy - execute - process - prepare
		if d.api < 21 {
			d.f("\t%3.2f\t%3.2f\t%3.2f\n", ms(draw), ms(prepare+process), ms(execute))
		} else {
			d.f("\t%3.2f\t%3.2f\t%3.2f\t%3.2f\n", ms(draw), ms(prepare), ms(process), ms(execute))
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// frameStats prints the last 120 frames.
func (d *dump) frameStats(frames []choreo.Frame) {
	columns := frameStatsColumns(d.api)
	d.f("\n\n---PROFILEDATA---\n%s,", strings.Join(columns, ","))
	first := max(0, len(frames)-120)
	for i, f := range frames[first:] {
		d.b = append(d.b, '\n')
		for _, column := range columns {
			d.b = strconv.AppendInt(d.b, d.value(column, f, first+i), 10)
			d.b = append(d.b, ',')
		}
	}
	d.f("\n---PROFILEDATA---\n\n")
}

// frameStatsColumns are those of an API level, as AOSP's FrameInfo has them.
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

// value is one number of framestats. The GPU is done when the frame is.
func (d *dump) value(column string, f choreo.Frame, index int) int64 {
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
		t = f.Intended
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
		t = d.deadline(f)
	case "FrameInterval":
		t = d.period
	case "FrameStartTime":
		t = f.Input - 4*time.Microsecond
	case "SyncQueued":
		t = f.SyncQueued
	case "SyncStart":
		t = f.Sync
	case "IssueDrawCommandsStart":
		t = f.Issue
	case "SwapBuffers":
		t = f.Swap
	case "FrameCompleted", "GpuCompleted", "CommandSubmissionCompleted":
		t = f.Completed
	case "SwapBuffersCompleted":
		t = f.Swap + f.Queue
	case "DequeueBufferDuration":
		t = f.Dequeue
	case "QueueBufferDuration":
		t = f.Queue
	case "DisplayPresentTime":
		t = (f.Completed + d.period - 1) / d.period * d.period
	}
	return int64(t)
}

// deadline is one vsync after the one meant, and two where vsyncs come faster
// than at 60 Hz, as on phones with Android 12.
func (d *dump) deadline(f choreo.Frame) time.Duration {
	if d.period < 16*time.Millisecond {
		return f.Intended + 2*d.period
	}
	return f.Intended + d.period
}
