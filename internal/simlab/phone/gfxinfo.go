package phone

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/choreo"
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

// gfxinfo is dumpsys gfxinfo [PKG] [framestats] [reset].
func gfxinfo(c *call) int {
	stats, reset := slices.Contains(c.Args, "framestats"), slices.Contains(c.Args, "reset")
	pkg := c.Arg(0)
	if pkg == "framestats" || pkg == "reset" {
		pkg = ""
	}
	var shown []*process
	for _, name := range sortedKeys(c.state.running) {
		if pkg == "" || name == pkg || fmt.Sprint(c.state.running[name].pid) == pkg {
			shown = append(shown, c.state.running[name])
		}
	}
	if len(shown) == 0 {
		c.Printf("No process found for: %s\n", pkg)
		return 0
	}
	c.Printf("Applications Graphics Acceleration Info:\nUptime: %d Realtime: %d\n",
		c.clock.Now().Milliseconds(), c.boottime().Milliseconds())
	for _, pr := range shown {
		c.Printf("\n** Graphics info for pid %d [%s] **\n\n", pr.pid, pr.app.Package)
		d := gfxDump{api: c.profile.API, now: c.clock.Now(), period: c.profile.Period(), process: pr}
		c.Printf("%s", d.print(stats && c.profile.API >= 23))
		if reset && c.profile.API >= 23 {
			pr.counted, pr.since = pr.rendered(c.clock.Now()), c.clock.Now()
		}
	}
	return 0
}

// gfxDump prints one process.
type gfxDump struct {
	api     int
	now     time.Duration
	period  time.Duration
	process *process
	b       []byte
}

func (d *gfxDump) f(format string, args ...any) { d.b = fmt.Appendf(d.b, format, args...) }

func (d *gfxDump) print(stats bool) []byte {
	pr := d.process
	done := pr.rendered(d.now)
	counted := pr.frames[min(pr.counted, done):done]
	if d.api >= 23 {
		d.summary(counted)
	}
	d.caches()
	d.f("Profile data in ms:\n\n\t%s/android.view.ViewRootImpl@%x", pr.component(), pr.window)
	if d.api >= 21 {
		d.f(" (visibility=0)")
	}
	if pr.profiled {
		d.table(done)
	}
	if stats {
		d.f("\nWindow: %s", pr.component())
		d.summary(counted)
		d.frameStats(counted)
	}
	d.f("\nView hierarchy:\n\n  %s/android.view.ViewRootImpl@%x\n  41 views, 21.36 kB of display lists", pr.component(), pr.window)
	if d.api < 21 {
		d.f(", %d frames rendered", done)
	}
	d.f("\n\n\nTotal ViewRootImpl: 1\nTotal Views:        41\nTotal DisplayList:  21.36 kB\n\n")
	return d.b
}

func (d *gfxDump) caches() {
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
func (d *gfxDump) table(done int) {
	pr := d.process
	columns := "\n\tDraw\tPrepare\tProcess\tExecute\n"
	if d.api < 21 {
		columns = "\n\tDraw\tProcess\tExecute\n"
	}
	d.f("%s", columns)
	frames := pr.frames[min(pr.drained, done):done]
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
func (d *gfxDump) frameStats(frames []choreo.Frame) {
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
func (d *gfxDump) value(column string, f choreo.Frame, index int) int64 {
	var t time.Duration
	switch column {
	case "Flags":
		return f.Flags
	case "FrameTimelineVsyncId":
		return int64(f.Intended/d.period) * 3
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
func (d *gfxDump) deadline(f choreo.Frame) time.Duration {
	if d.period < 16*time.Millisecond {
		return f.Intended + 2*d.period
	}
	return f.Intended + d.period
}
