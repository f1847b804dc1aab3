package gfxinfo

import "time"

// Display is what rows before Android 12 don't state and Android judges them by.
// The zero Display is one of 60 Hz that forgives nothing.
type Display struct {
	Period time.Duration // between two vsyncs, 0: VsyncPeriod
	// Forgiven is how long after its vsync a frame may wait for a buffer without
	// being late, on Android 7 to 11: see Forgiveness.
	Forgiven time.Duration
}

// leastWait is the wait for a buffer that Android does not look at.
const leastWait = 500 * time.Microsecond

// Forgiveness is what Android forgives (the constructor of JankTracker, Android 7 to
// 11): the app's frames begin appOffset after the vsync, the compositor has to be
// done presentationDeadline before it. Where the compositor begins up to 4 ms after
// the app, a buffer can't be free before it does, and 4 ms later at the latest.
func Forgiveness(period, appOffset, presentationDeadline time.Duration) time.Duration {
	const most = 4 * time.Millisecond
	behind := period - (presentationDeadline - time.Millisecond) - appOffset
	if behind < 0 || behind > most {
		return 0
	}
	return behind + most
}

// Janky reports whether the frame was late as its Android judges it
// (JankTracker::finishFrame): since Android 12 by the deadline that the row states,
// before by how long it took.
func (f Frame) Janky(on Display) bool {
	exempt := int64(FlagSurfaceCanvas)
	if f.early {
		exempt |= FlagWindowChanged
	}
	if f.Flags&exempt != 0 {
		return false
	}
	if over, stated := f.Overrun(); stated {
		return over >= 0
	}
	return f.charged(on.Forgiven) > f.period(on.Period)
}

// Overrun is by how much the frame missed its deadline, below 0 where it met it, and
// whether it has one (Android 12 and later). It was done when the GPU was.
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

// period is the display's when the frame was drawn.
func (f Frame) period(display time.Duration) time.Duration {
	switch {
	case f.Interval > 0:
		return time.Duration(f.Interval)
	case display > 0:
		return display
	}
	return VsyncPeriod
}

// charged is what of its duration Android holds against a frame: not the time in
// which the render thread was still at the frame before, nor a wait for a buffer
// that could not have been free yet.
func (f Frame) charged(forgiven time.Duration) time.Duration {
	took := f.Duration()
	if f.early {
		return took // Android 6 takes it as it is
	}
	if f.SyncQueued > 0 && f.SyncStart > f.SyncQueued {
		took -= time.Duration(f.SyncStart - f.SyncQueued)
	}
	wait := time.Duration(f.DequeueBufferDuration)
	if forgiven > 0 && wait > leastWait {
		expected := forgiven + time.Duration(f.Vsync-f.IssueDrawCommandsStart)
		took -= max(min(expected, wait), 0)
	}
	return took
}
