package pipeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// SurfaceFlinger takes the buffers of all layers and puts them on the screen. It wakes at
// each vsync for which there is something to show, takes of each layer the oldest buffer
// that is drawn, and has until the next vsync to compose them, which is when they are
// seen.
type SurfaceFlinger struct {
	Timeline *timeline.Timeline
	Seed     uint64
	Punctual bool // it is never late itself

	waiting []timeline.Shown    // taken, and in no frame of the display yet
	seen    time.Duration       // when the display's last frame was
	busy    []timeline.Interval // in which it composes for longer, by time
}

// composes is how long it takes to hand what it took to the display. Then the buffers
// that it showed before can be drawn to again.
const composes = 2 * time.Millisecond

// presentTolerance is by how much a frame may come to the screen too late or too early
// and still be on time (FrameTimeline's JankClassificationThresholds).
const presentTolerance = 2 * time.Millisecond

// take decides when the newest frame of a layer, which is queued and drawn by then, is
// taken and seen, and what that makes of it. To compose it takes so long, 0: no longer
// than others.
func (s *SurfaceFlinger) take(l *timeline.Layer, takes time.Duration) {
	i := len(l.Frames) - 1
	f := &l.Frames[i]
	before := time.Duration(0) // when the frame before was taken
	if i > 0 {
		before = l.Frames[i-1].Latched
	}
	at := roundUp(f.Drawn(), f.Period)
	if before > 0 { // one at each vsync, also where they come faster or slower now
		at = max(at, roundUp(max(before+f.Period, l.Frames[i-1].Presented), f.Period))
	}
	for s.late(at-f.Period, f.Period) != timeline.NoJank || s.isBusy(at) {
		at += f.Period // it is still at the vsync before
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

// late says whether SurfaceFlinger takes more than a vsync for what it shows at one, and
// why: now and then its thread is held up, or the GPU where that composes.
func (s *SurfaceFlinger) late(vsync, period time.Duration) timeline.Jank {
	const once = 900 // in so many vsyncs
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

// occupy has it compose for so long from a vsync on.
func (s *SurfaceFlinger) occupy(vsync, long time.Duration) {
	if long == 0 || s.takes(vsync) > 0 {
		return
	}
	s.busy = append(s.busy, timeline.Interval{From: vsync, To: vsync + long})
}

// takes is how long it composes for what it shows at a vsync; 0: no longer than ever.
func (s *SurfaceFlinger) takes(vsync time.Duration) time.Duration {
	for _, b := range s.busy {
		if b.From == vsync {
			return b.To - b.From
		}
	}
	return 0
}

// isBusy reports whether it composes what it took at an earlier vsync.
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

// judge says how a frame came to the screen, as SurfaceFrame::classifyJankLocked does,
// where the one before it was taken at a time, and SurfaceFlinger was late itself.
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
		// One before it took the place that it was meant for: it has a vsync more.
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

// Compose makes the frames of the display up to now. More than what there is to show is
// seen then: whatever else it is told of is composed too, as when a window closes.
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

// show makes one frame of the display.
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

// Refresh is a frame of the display that no window of an app asks for, as when one
// closes.
func (s *SurfaceFlinger) Refresh(now, period time.Duration) {
	s.Compose(now)
	s.trace(roundUp(now, period) + composes)
}

// trace tells of the frames of the display whose fences have signalled: those that were
// seen before a newer one is handed to the display (FrameTimeline::flushPendingPresentFences).
func (s *SurfaceFlinger) trace(at time.Duration) {
	for i := len(s.Timeline.Displays) - 1; i >= 0 && s.Timeline.Displays[i].Traced == 0; i-- {
		if d := &s.Timeline.Displays[i]; d.Actual.To <= at {
			d.Traced = at
		}
	}
}

// drop ends the frames of a layer that were not taken by a time: its window is gone.
// Those that were not even drawn by then never are.
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
