package jank

import "time"

// VsyncPeriod is the period of a 60 Hz display, assumed if none is stated.
const VsyncPeriod = time.Second / 60

// Display is the display by which Android judges frames, for rows before Android 12, which do not
// state it. The zero Display runs at 60 Hz and forgives no wait.
type Display struct {
	Period time.Duration // between two vsyncs, 0: VsyncPeriod
	// Forgiven is how long after its vsync a frame may wait for a buffer without
	// being late, on Android 7 to 11: see Forgiveness.
	Forgiven time.Duration
}

// Forgiveness returns Display.Forgiven (the constructor of JankTracker, Android 7 to 11): the app's
// frames begin appOffset after the vsync, and the compositor must finish presentationDeadline
// before it. If the compositor begins up to 4 ms after the app, a buffer can't be free before it
// does, and is free 4 ms later at the latest.
func Forgiveness(period, appOffset, presentationDeadline time.Duration) time.Duration {
	const most = 4 * time.Millisecond
	behind := period - (presentationDeadline - time.Millisecond) - appOffset
	if behind < 0 || behind > most {
		return 0
	}
	return behind + most
}

// Row is the times by which hwui's JankTracker judges a frame ("dumpsys gfxinfo framestats").
type Row struct {
	Exempt      bool          // never janky: its window changed, or it was drawn on a surface's canvas
	HasDeadline bool          // Android 12 and later
	Overrun     time.Duration // how far it missed its deadline, negative if it met it

	Took       time.Duration // from its vsync to its end
	Interval   time.Duration // the display's period when it was drawn, 0 if not stated
	SyncWait   time.Duration // while the render thread was still drawing the frame before
	BufferWait time.Duration // for a buffer to draw into
	Drew       time.Duration // from its vsync to its first draw command
	Whole      bool          // Android 6: judged by all of Took
}

// Janky reports whether the frame was late by the rule of its Android version
// (JankTracker::finishFrame): since Android 12 by its deadline, before by its duration.
func (r Row) Janky(on Display) bool {
	if r.Exempt {
		return false
	}
	if r.HasDeadline {
		return r.Overrun >= 0
	}
	return r.charged(on.Forgiven) > r.period(on.Period)
}

// period returns the display's period when the frame was drawn.
func (r Row) period(display time.Duration) time.Duration {
	switch {
	case r.Interval > 0:
		return r.Interval
	case display > 0:
		return display
	}
	return VsyncPeriod
}

// charged returns the part of the duration that Android counts against the frame: not the time in
// which the render thread was drawing the frame before, nor a wait for a buffer that could not have
// been free yet.
func (r Row) charged(forgiven time.Duration) time.Duration {
	if r.Whole {
		return r.Took
	}
	const leastWait = 500 * time.Microsecond // shorter waits for a buffer are ignored
	took := r.Took - max(r.SyncWait, 0)
	if forgiven > 0 && r.BufferWait > leastWait {
		took -= max(min(forgiven-r.Drew, r.BufferWait), 0)
	}
	return took
}
