package pipeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

// SurfaceFlinger takes the buffers of all layers and puts them on the screen. It wakes at
// each vsync for which there is something to show, takes of each layer the oldest buffer
// that is drawn, and has until the next vsync to compose them, which is when they are
// seen.
type SurfaceFlinger struct {
	Timeline *timeline.Timeline

	waiting []timeline.Shown // taken, and in no frame of the display yet
	seen    time.Duration    // when the display's last frame was
}

// presentTolerance is by how much a frame may come to the screen too late or too early
// and still be on time (FrameTimeline's JankClassificationThresholds).
const presentTolerance = 2 * time.Millisecond

// Take decides when the newest frame of a layer, which is queued and drawn by then, is
// taken and seen, and what that makes of it.
func (s *SurfaceFlinger) Take(l *timeline.Layer) {
	i := len(l.Frames) - 1
	f := &l.Frames[i]
	ready := max(f.Queued, f.GPUDone)
	before := time.Duration(0) // when the frame before was taken
	for j := i - 1; j >= 0 && before == 0; j-- {
		before = l.Frames[j].Latched
	}
	f.Latched = (ready + f.Period - 1) / f.Period * f.Period
	if before > 0 {
		f.Latched = max(f.Latched, before+f.Period)
	}
	f.Presented = f.Latched + f.Period
	judge(f, before)
	s.waiting = append(s.waiting, timeline.Shown{Layer: l, Frame: i})
}

// judge says how a frame came to the screen, as SurfaceFrame::classifyJankLocked does.
func judge(f *timeline.Frame, before time.Duration) {
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
}

// show makes one frame of the display.
func (s *SurfaceFlinger) show(at time.Duration, shows []timeline.Shown) {
	const wakes, composes = 200 * time.Microsecond, 2 * time.Millisecond
	first := shows[0].Of()
	d := timeline.DisplayFrame{
		Token: s.Timeline.DisplayToken(), Period: first.Period,
		Expected: timeline.Interval{From: at, To: first.Presented},
		Actual:   timeline.Interval{From: at + wakes, To: first.Presented},
		Present:  timeline.OnTimePresent, OnTime: true, Shows: shows,
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
	s.trace((now+period-1)/period*period + 2*time.Millisecond)
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

// Drop forgets the frames of a layer that were not taken by a time: its window is gone.
func (s *SurfaceFlinger) Drop(l *timeline.Layer, at time.Duration) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w timeline.Shown) bool { return w.Layer == l && w.Of().Latched > at })
	l.Frames = slices.DeleteFunc(l.Frames, func(f timeline.Frame) bool { return f.Latched > at })
}
