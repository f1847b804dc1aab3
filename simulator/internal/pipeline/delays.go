package pipeline

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// stageOf returns the stage of the UI thread that a cause delays, "" for a cause in another
// thread.
func stageOf(c *simapp.Cause) simapp.CauseKind {
	switch c.Kind {
	case simapp.Inflate, simapp.Compose:
		return simapp.StageAnimation
	case simapp.Measure, simapp.Layout, simapp.Draw:
		return c.Kind
	}
	return c.Stage
}

// delayUI adds a frame's delays to the stages of its UI thread, and shifts the rest of the
// frame. The performance began at a time.
func delayUI(f *timeline.Frame, delays []choreo.Delay, began time.Duration) {
	if len(delays) == 0 {
		return
	}
	between := func(from, to time.Duration, share float64) time.Duration {
		return from + time.Duration(float64(to-from)*share)
	}
	later := time.Duration(0)
	for _, stage := range []struct {
		is simapp.CauseKind
		at time.Duration // when it would begin in an ordinary frame
	}{
		{simapp.StageInput, between(f.Input, f.Animation, 0.5)},
		{simapp.StageAnimation, between(f.Animation, f.Traversals, 0.5)},
		{simapp.Measure, between(f.Traversals, f.Draw, 0.3)},
		{simapp.Layout, between(f.Traversals, f.Draw, 0.7)},
		{simapp.Draw, between(f.Draw, f.SyncQueued, 0.3)},
	} {
		before := later
		for _, d := range delays {
			if stageOf(d.Cause) != stage.is {
				continue
			}
			at := stage.at + later
			if d.Thread != "" {
				if d.For = d.Until + began - at; d.For <= 0 {
					continue
				}
			}
			f.Delays = append(f.Delays, timeline.Delay{Interval: timeline.Interval{From: at, To: at + d.For}, Cause: d.Cause, Thread: d.Thread})
			later += d.For
		}
		postpone(f, stage.is, later-before)
	}
}

// postpone shifts the stages after one.
func postpone(f *timeline.Frame, stage simapp.CauseKind, by time.Duration) {
	f.SyncQueued += by
	switch stage {
	case simapp.StageInput:
		f.Animation += by
		fallthrough
	case simapp.StageAnimation:
		f.Traversals += by
		fallthrough
	case simapp.Measure, simapp.Layout:
		f.Draw += by
	}
}

// sum returns the total of the delays of one kind.
func sum(delays []choreo.Delay, kind simapp.CauseKind) (long time.Duration) {
	for _, d := range delays {
		if d.Cause.Kind == kind {
			long += d.For
		}
	}
	return long
}

// delay records in a frame that it was delayed from a time on.
func delay(f *timeline.Frame, delays []choreo.Delay, kind simapp.CauseKind, at time.Duration) {
	for _, d := range delays {
		if d.Cause.Kind == kind {
			f.Delays = append(f.Delays, timeline.Delay{Interval: timeline.Interval{From: at, To: at + d.For}, Cause: d.Cause})
			at += d.For
		}
	}
}
