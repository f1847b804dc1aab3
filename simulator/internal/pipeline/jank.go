package pipeline

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// tracker is the app's own statistics of a window's frames: Android's JankTracker.
type tracker struct {
	unstuffed time.Duration // when the next frame would begin without a waiting buffer
}

// judge classifies a frame (JankTracker::finishFrame).
func (t *tracker) judge(f *timeline.Frame, on Android) {
	f.Deadline, f.Charged = f.Expected.To, f.Drawn()-f.Expected.From
	f.Counted = f.Drawn()
	switch {
	case on.API >= 31:
		// tells is the delay between latching a frame and telling the app when it was drawn.
		const tells = 3 * time.Millisecond
		f.Counted = f.Latched + tells
		f.Legacy = f.Queued-f.Expected.From > f.Period
		t.byDeadline(f)
	default:
		if on.API >= 24 { // the render thread was busy with the previous frame
			f.Charged -= f.Sync - f.SyncQueued
		}
		f.Legacy = f.Charged > f.Period
		// Android 6 does not count the first frames of a window as janky.
		f.Janky = f.Legacy && (on.API >= 24 || f.Flags&timeline.WindowChanged == 0)
	}
	if f.Janky {
		f.Types |= reasons(f)
	}
}

// byDeadline is the rule since Android 12.
func (t *tracker) byDeadline(f *timeline.Frame) {
	stuffed := t.unstuffed-f.Expected.From > f.Period/10
	if stuffed { // with a waiting buffer there is one more vsync
		f.Deadline += f.Period
	}
	if f.Drawn() < f.Deadline {
		if stuffed {
			f.Types |= timeline.HighInputLatency
			t.unstuffed += f.Period
		}
		return
	}
	f.Janky = true
	f.Types |= timeline.MissedDeadline
	t.unstuffed = f.Drawn() - (f.Drawn()-f.Vsync)%f.Period + f.Period
}

// reasons returns the stages that took too long (JankTracker's COMPARISONS).
func reasons(f *timeline.Frame) (types timeline.JankTypes) {
	for _, c := range []struct {
		from, to time.Duration
		most     float64 // in vsyncs
		is       timeline.JankTypes
	}{
		{f.Expected.From, f.Vsync, 0, timeline.MissedVsync},
		{f.Vsync, f.Sync, 0.5, timeline.SlowUI},
		{f.Sync, f.Issue, 0.2, timeline.SlowSync},
		{f.Issue, f.Drawn(), 0.75, timeline.SlowRender},
	} {
		if took := c.to - c.from; took > 0 && took >= time.Duration(c.most*float64(f.Period)) {
			types |= c.is
		}
	}
	return types
}
