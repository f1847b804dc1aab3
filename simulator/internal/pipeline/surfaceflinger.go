package pipeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// SurfaceFlinger latches the buffers of all layers and puts them on the screen. It wakes at
// each vsync for which there is something to show, latches the oldest drawn buffer of each
// layer, and has until the next vsync to compose them, when they are shown.
type SurfaceFlinger struct {
	Timeline *timeline.Timeline
	Seed     uint64
	Punctual bool // it is never late itself

	waiting []timeline.Shown    // latched, but in no display frame yet
	seen    time.Duration       // when the last display frame was shown
	busy    []timeline.Interval // long compositions, by time
}

// composes is how long it takes to hand the latched buffers to the display. Then the buffers
// that it showed before are released.
const composes = 2 * time.Millisecond

// presentTolerance is the deviation within which a frame still counts as on time
// (FrameTimeline's JankClassificationThresholds).
const presentTolerance = 2 * time.Millisecond

// take determines when the newest frame of a layer, which is queued and drawn by then, is
// latched and shown, and classifies it. takes is the duration of its composition, 0 for the
// usual one.
func (s *SurfaceFlinger) take(l *timeline.Layer, takes time.Duration) {
	i := len(l.Frames) - 1
	f := &l.Frames[i]
	before := time.Duration(0) // when the previous frame was latched
	if i > 0 {
		before = l.Frames[i-1].Latched
	}
	at := roundUp(f.Drawn(), f.Period)
	if before > 0 { // one at each vsync, even if the rate has changed
		at = max(at, roundUp(max(before+f.Period, l.Frames[i-1].Presented), f.Period))
	}
	for s.late(at-f.Period, f.Period) != timeline.NoJank || s.isBusy(at) {
		at += f.Period // the previous frame is still at this vsync
	}
	s.occupy(at, takes)
	f.Latched, f.Presented = at, at+f.Period
	own := s.late(at, f.Period)
	if own != timeline.NoJank {
		f.Presented = max(f.Presented+f.Period, roundUp(at+takes, f.Period))
	}
	if i > 0 {
		l.Frames[i-1].Released = at + composes
	}
	judge(f, before, own)
	s.waiting = append(s.waiting, timeline.Shown{Layer: l, Frame: i})
}

// late reports whether SurfaceFlinger takes more than one vsync for a composition, and why:
// occasionally its thread is delayed, or the GPU if that composes.
func (s *SurfaceFlinger) late(vsync, period time.Duration) timeline.Jank {
	const once = 900 // vsyncs
	number := mix(mix(s.Seed) ^ uint64(vsync/period))
	switch {
	case s.takes(vsync) > period:
		return timeline.SFCPUDeadline
	case s.Punctual, number%once != 0:
		return timeline.NoJank
	case number/once%3 == 0:
		return timeline.SFGPUDeadline
	}
	return timeline.SFCPUDeadline
}

// occupy makes it compose for the duration from a vsync on.
func (s *SurfaceFlinger) occupy(vsync, long time.Duration) {
	if long == 0 || s.takes(vsync) > 0 {
		return
	}
	s.busy = append(s.busy, timeline.Interval{From: vsync, To: vsync + long})
}

// takes returns the duration of the composition at a vsync; 0 for the usual one.
func (s *SurfaceFlinger) takes(vsync time.Duration) time.Duration {
	for _, b := range s.busy {
		if b.From == vsync {
			return b.To - b.From
		}
	}
	return 0
}

// isBusy reports whether it is still composing what it latched at an earlier vsync.
func (s *SurfaceFlinger) isBusy(vsync time.Duration) bool {
	return slices.ContainsFunc(s.busy, func(b timeline.Interval) bool { return b.From < vsync && vsync < b.To })
}

// mix spreads a number's bits (splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// judge classifies when a frame was shown, like SurfaceFrame::classifyJankLocked. before is
// when the previous frame was latched, own SurfaceFlinger's own delay.
func judge(f *timeline.Frame, before time.Duration, own timeline.Jank) {
	f.OnTime = f.Actual.To <= f.Expected.To
	late := f.Presented - f.Due
	switch {
	case late > presentTolerance:
		f.Present = timeline.LatePresent
	case late < -presentTolerance:
		f.Present = timeline.EarlyPresent
		f.Jank = timeline.SFScheduling
		if !f.OnTime {
			f.Jank = timeline.UnknownJank
		}
		return
	default:
		f.Present = timeline.OnTimePresent
		return
	}
	if before > 0 && f.Expected.To <= before {
		// The previous frame was shown in its place: there is one more vsync.
		f.Jank |= timeline.BufferStuffing
		f.OnTime = before+f.Period > f.Actual.To
	}
	f.Jank |= own
	switch {
	case !f.OnTime:
		f.Jank |= timeline.AppDeadline
	case f.Jank == 0:
		f.Jank = timeline.SFScheduling
	}
}

// Compose creates the display frames up to now. There are more of them than layers' frames:
// other changes are composed too, such as a closing window.
func (s *SurfaceFlinger) Compose(now time.Duration) {
	slices.SortStableFunc(s.waiting, func(a, b timeline.Shown) int { return cmp.Compare(a.Of().Latched, b.Of().Latched) })
	for len(s.waiting) > 0 && s.waiting[0].Of().Latched <= now {
		at, n := s.waiting[0].Of().Latched, 1
		for n < len(s.waiting) && s.waiting[n].Of().Latched == at {
			n++
		}
		s.show(at, slices.Clone(s.waiting[:n]))
		s.waiting = s.waiting[n:]
	}
	s.busy = slices.DeleteFunc(s.busy, func(b timeline.Interval) bool { return b.To < now-time.Second })
}

// show creates one display frame.
func (s *SurfaceFlinger) show(at time.Duration, shows []timeline.Shown) {
	const wakes = 200 * time.Microsecond
	first := shows[0].Of()
	d := timeline.DisplayFrame{
		Token: s.Timeline.DisplayToken(), Period: first.Period,
		Expected: timeline.Interval{From: at, To: at + first.Period},
		Actual:   timeline.Interval{From: at + wakes, To: first.Presented},
		Present:  timeline.OnTimePresent, OnTime: true, Shows: shows, Takes: s.takes(at),
	}
	if d.Jank = s.late(at, first.Period); d.Jank != timeline.NoJank {
		d.Present, d.OnTime, d.GPU = timeline.LatePresent, false, d.Jank == timeline.SFGPUDeadline
	}
	for _, shown := range shows {
		shown.Of().Display = d.Token
	}
	s.trace(at + wakes + composes)
	s.Timeline.Displays = append(s.Timeline.Displays, d)
	s.seen = first.Presented
}

// Refresh adds a display frame that no app's window requests, for instance for a closing
// window.
func (s *SurfaceFlinger) Refresh(now, period time.Duration) {
	s.Compose(now)
	s.trace(roundUp(now, period) + composes)
}

// trace reports the display frames whose fences have signalled: those that were shown before a
// newer one is handed to the display (FrameTimeline::flushPendingPresentFences).
func (s *SurfaceFlinger) trace(at time.Duration) {
	for i := len(s.Timeline.Displays) - 1; i >= 0 && s.Timeline.Displays[i].Traced == 0; i-- {
		if d := &s.Timeline.Displays[i]; d.Actual.To <= at {
			d.Traced = at
		}
	}
}

// drop ends the frames of a layer that were not latched by a time, because its window is gone.
// Those that were not drawn by then are discarded.
func (s *SurfaceFlinger) drop(l *timeline.Layer, at time.Duration) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w timeline.Shown) bool { return w.Layer == l && w.Of().Latched > at })
	l.Frames = slices.DeleteFunc(l.Frames, func(f timeline.Frame) bool { return f.Queued > at })
	for i := len(l.Frames) - 1; i >= 0 && l.Frames[i].Latched > at; i-- {
		f := &l.Frames[i]
		if f.Counted > at {
			f.Counted = 0
		}
		f.Latched, f.Presented, f.Jank, f.Present = 0, 0, timeline.NoJank, timeline.DroppedPresent
	}
}
