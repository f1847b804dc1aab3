package gfxinfo

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
)

// maxDuration limits a frame's duration. A longer one is from a counter that was never set or
// memory that was reused.
const maxDuration = time.Minute

// The bits of Frame.Flags (FrameInfo.h of Android's hwui).
const (
	FlagWindowChanged = 1 << iota // a window appeared or was laid out again: slow by nature
	FlagRTAnimation               // the render thread drew alone
	FlagSurfaceCanvas             // drawn through Surface.lockHardwareCanvas
	FlagSkipped                   // nothing was drawn; the times are stale
)

// Frame is one frame. Times are nanoseconds of CLOCK_MONOTONIC, 0 if the layout has no such column.
// A frame of the older table has only Stages.
type Frame struct {
	Line  int
	Flags int64

	IntendedVsync, Vsync                  int64
	HandleInputStart, AnimationStart      int64
	PerformTraversalsStart, DrawStart     int64
	SyncQueued, SyncStart                 int64
	IssueDrawCommandsStart, SwapBuffers   int64
	FrameCompleted, GPUCompleted          int64
	DequeueBufferDuration, QueueBufferDur int64

	// Deadline is when the frame had to be complete, Interval the display's period for it in ns; 0
	// if not stated (before Android 12).
	Deadline, Interval int64

	// Stages are Draw, Prepare (0 before Android 5), Process and Execute.
	Stages [4]time.Duration

	// early is set if the row has no DequeueBufferDuration: it is from Android 6.
	early bool
}

// Timed reports whether the frame has a time.
func (f Frame) Timed() bool { return f.IntendedVsync != 0 }

// Duration returns FrameCompleted less IntendedVsync; for the older table, the sum of the stages.
func (f Frame) Duration() time.Duration {
	if !f.Timed() {
		return f.Stages[0] + f.Stages[1] + f.Stages[2] + f.Stages[3]
	}
	return time.Duration(f.FrameCompleted - f.IntendedVsync)
}

// Usable reports whether the frame's times are plausible: both ends are set, in order, and less
// than a minute apart. The other frames were still being drawn when the dump was made, or have
// stale times of Android's ring of frames.
func (f Frame) Usable() bool {
	if !f.Timed() {
		return true
	}
	return f.IntendedVsync > 0 && f.FrameCompleted > f.IntendedVsync &&
		f.FrameCompleted != math.MaxInt64 && f.Duration() <= maxDuration
}

// Counted reports whether the frame counts in totals, as in Android (JankTracker::finishFrame): all
// but the skipped ones do if their times are plausible.
func (f Frame) Counted() bool { return f.Flags&FlagSkipped == 0 && f.Usable() }

// Drawn converts a frame that counts, drawn on a display.
func (f Frame) Drawn(on jank.Display) jank.Frame {
	over, due := f.Overrun()
	return jank.Frame{
		At: time.Duration(f.IntendedVsync), Took: f.Duration(), Over: over, Due: due, Janky: f.Janky(on),
		Interval: time.Duration(f.Interval), First: f.Flags&FlagWindowChanged != 0,
	}
}

// columns maps the name of a framestats column to the setter of its value.
var columns = map[string]func(*Frame, int64){
	"Flags":                  func(f *Frame, v int64) { f.Flags = v },
	"IntendedVsync":          func(f *Frame, v int64) { f.IntendedVsync = v },
	"Vsync":                  func(f *Frame, v int64) { f.Vsync = v },
	"HandleInputStart":       func(f *Frame, v int64) { f.HandleInputStart = v },
	"AnimationStart":         func(f *Frame, v int64) { f.AnimationStart = v },
	"PerformTraversalsStart": func(f *Frame, v int64) { f.PerformTraversalsStart = v },
	"DrawStart":              func(f *Frame, v int64) { f.DrawStart = v },
	"FrameDeadline":          func(f *Frame, v int64) { f.Deadline = v },
	"FrameInterval":          func(f *Frame, v int64) { f.Interval = v },
	"SyncQueued":             func(f *Frame, v int64) { f.SyncQueued = v },
	"SyncStart":              func(f *Frame, v int64) { f.SyncStart = v },
	"IssueDrawCommandsStart": func(f *Frame, v int64) { f.IssueDrawCommandsStart = v },
	"SwapBuffers":            func(f *Frame, v int64) { f.SwapBuffers = v },
	"FrameCompleted":         func(f *Frame, v int64) { f.FrameCompleted = v },
	"DequeueBufferDuration":  func(f *Frame, v int64) { f.DequeueBufferDuration = v },
	"QueueBufferDuration":    func(f *Frame, v int64) { f.QueueBufferDur = v },
	"GpuCompleted":           func(f *Frame, v int64) { f.GPUCompleted = v },
}
