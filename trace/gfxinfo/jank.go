package gfxinfo

import (
	"time"

	"github.com/apkgate/apkgate/trace/jank"
)

// Janky reports whether the frame was late by the rule of its Android version.
func (f Frame) Janky(on jank.Display) bool { return f.row().Janky(on) }

// row returns the times by which Android judges the frame.
func (f Frame) row() jank.Row {
	exempt := int64(FlagSurfaceCanvas)
	if f.early {
		exempt |= FlagWindowChanged
	}
	r := jank.Row{
		Exempt: f.Flags&exempt != 0, Took: f.Duration(), Interval: time.Duration(f.Interval), Whole: f.early,
		BufferWait: time.Duration(f.DequeueBufferDuration), Drew: time.Duration(f.IssueDrawCommandsStart - f.Vsync),
	}
	r.Overrun, r.HasDeadline = f.Overrun()
	if f.SyncQueued > 0 {
		r.SyncWait = time.Duration(f.SyncStart - f.SyncQueued)
	}
	return r
}

// Overrun returns how far the frame missed its deadline, negative if it met it, and whether it has
// one (Android 12 and later). A frame ends with the GPU's work.
func (f Frame) Overrun() (over time.Duration, stated bool) {
	if f.Deadline <= 0 {
		return 0, false
	}
	done := f.FrameCompleted
	if f.GPUCompleted > f.IntendedVsync && f.GPUCompleted < done {
		done = f.GPUCompleted
	}
	return time.Duration(done - f.Deadline), true
}
