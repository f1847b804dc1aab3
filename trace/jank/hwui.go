package jank

import "time"

// VsyncPeriod is the period of a 60 Hz display, assumed where none is stated.
const VsyncPeriod = time.Second / 60

// Display is what Android judges a frame by that its row in a dump before Android 12 does not
// state. The zero Display is one of 60 Hz that forgives nothing.
type Display struct {
	Period time.Duration // between two vsyncs, 0: VsyncPeriod
	// Forgiven is how long after its vsync a frame may wait for a buffer without
	// being late, on Android 7 to 11: see Forgiveness.
	Forgiven time.Duration
}

// Forgiveness returns Display.Forgiven (the constructor of JankTracker, Android 7 to
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

// Row has the times of a frame by which hwui's JankTracker judges it ("dumpsys gfxinfo
// framestats").
type Row struct {
	Exempt      bool          // never janky: its window changed, or it was drawn on a surface's canvas
	HasDeadline bool          // Android 12 and later
	Overrun     time.Duration // by how much it missed its deadline, below 0 where it met it

	Took       time.Duration // from its vsync to its end
	Interval   time.Duration // the display's period when it was drawn, 0 where the row does not state it
	SyncWait   time.Duration // in which the render thread was still drawing the frame before
	BufferWait time.Duration // for a buffer to draw into
	Drew       time.Duration // from its vsync to its first draw command
	Whole      bool          // Android 6: judged by all of Took
}

// Janky reports whether the frame was late as its Android judges it
// (JankTracker::finishFrame): since Android 12 by its deadline, before by how long it took.
func (r Row) Janky(on Display) bool {
	if r.Exempt {
		return false
	}
	if r.HasDeadline {
		return r.Overrun >= 0
	}
	return r.charged(on.Forgiven) > r.period(on.Period)
}

// period is the display's when the frame was drawn.
func (r Row) period(display time.Duration) time.Duration {
	switch {
	case r.Interval > 0:
		return r.Interval
	case display > 0:
		return display
	}
	return VsyncPeriod
}

// charged is the part of the frame's duration that Android counts: not the time in
// which the render thread was drawing the frame before, nor a wait for a buffer
// that could not have been free yet.
func (r Row) charged(forgiven time.Duration) time.Duration {
	if r.Whole {
		return r.Took
	}
	const leastWait = 500 * time.Microsecond // shorter waits for a buffer are not looked at
	took := r.Took - max(r.SyncWait, 0)
	if forgiven > 0 && r.BufferWait > leastWait {
		took -= max(min(forgiven-r.Drew, r.BufferWait), 0)
	}
	return took
}
