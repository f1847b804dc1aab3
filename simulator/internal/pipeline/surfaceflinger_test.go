package pipeline

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// onTime returns a SurfaceFlinger that is not late itself in the first second.
func onTime(t *testing.T) *SurfaceFlinger {
	t.Helper()
	for seed := range uint64(1000) {
		s := &SurfaceFlinger{Timeline: &timeline.Timeline{}, Seed: seed}
		late := false
		for at := time.Duration(0); at < time.Second; at += period {
			late = late || s.late(at, period) != timeline.NoJank
		}
		if !late {
			return s
		}
	}
	t.Fatal("every SurfaceFlinger is late")
	return nil
}

// add makes a layer queue a frame for a vsync, given by number, drawn after took, and
// SurfaceFlinger latch it.
func add(s *SurfaceFlinger, l *timeline.Layer, vsync int, took time.Duration) *timeline.Frame {
	at := time.Duration(vsync) * period
	l.Frames = append(l.Frames, timeline.Frame{
		Period: period, Expected: timeline.Interval{From: at, To: at + period}, Due: at + 2*period,
		Actual: timeline.Interval{From: at, To: at + took}, Queued: at + took, GPUDone: at + took, Counted: at + took,
	})
	s.take(l, 0)
	return &l.Frames[len(l.Frames)-1]
}

// A frame in time is shown when it is due. A late one is the app's fault, and the next one
// waits for it, although it was in time.
func TestLatchOneBufferPerVsync(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	s, l := onTime(t), &timeline.Layer{}
	for i, tt := range []struct {
		vsync  int
		took   time.Duration
		latch  int
		jank   timeline.Jank
		onTime bool
	}{
		{1, 8 * ms, 2, timeline.NoJank, true},
		{2, 20 * ms, 4, timeline.AppDeadline, false},
		{3, 8 * ms, 5, timeline.BufferStuffing, true},
		{4, 40 * ms, 7, timeline.BufferStuffing | timeline.AppDeadline, false},
		{12, 8 * ms, 13, timeline.NoJank, true},
	} {
		f := add(s, l, tt.vsync, tt.took)
		if f.Latched != time.Duration(tt.latch)*period || f.Presented != f.Latched+period || f.Jank != tt.jank || f.OnTime != tt.onTime {
			t.Errorf("frame %d: taken at vsync %v, jank %d, in time %v", i, float64(f.Latched)/float64(period), f.Jank, f.OnTime)
		}
	}
	if first := l.Frames[0]; first.Released <= l.Frames[1].Latched || first.Released >= l.Frames[1].Latched+period {
		t.Errorf("the first buffer is given back at %v, its successor taken at %v", first.Released, l.Frames[1].Latched)
	}
}

// If SurfaceFlinger is late itself, its frames are late through no fault of the app's, and
// nothing is latched at the missed vsync.
func TestLateSurfaceFlinger(t *testing.T) {
	t.Parallel()
	seen := map[timeline.Jank]bool{}
	for seed := range uint64(50) {
		s := &SurfaceFlinger{Timeline: &timeline.Timeline{}, Seed: seed}
		l := &timeline.Layer{}
		for vsync := 1; vsync < 400; vsync++ {
			f := add(s, l, vsync, 8*time.Millisecond)
			own := s.late(f.Latched, period)
			if own == timeline.NoJank {
				continue
			}
			if f.Presented != f.Latched+2*period || f.Jank&own == 0 || f.Jank&timeline.AppDeadline != 0 {
				t.Fatalf("seed %d, vsync %d: taken at %v, seen at %v, jank %d, want %d", seed, vsync, f.Latched, f.Presented, f.Jank, own)
			}
			if next := add(s, l, vsync+1, 8*time.Millisecond); next.Latched < f.Latched+2*period {
				t.Fatalf("seed %d, vsync %d: the next one is taken %v after it", seed, vsync, next.Latched-f.Latched)
			}
			s.Compose(time.Hour)
			d := s.Timeline.Displays[len(s.Timeline.Displays)-2]
			if d.Jank != own || d.Present != timeline.LatePresent || d.OnTime || d.GPU != (own == timeline.SFGPUDeadline) {
				t.Errorf("the display's frame: %+v", d)
			}
			seen[own] = true
			break
		}
	}
	if !seen[timeline.SFCPUDeadline] || !seen[timeline.SFGPUDeadline] {
		t.Errorf("late for %v", seen)
	}
}

// Frames of several windows that are latched at one vsync belong to one display frame. It is
// reported when the next one is under way, and only if it has been composed.
func TestDisplayFramesAreReportedAfterTheirSuccessors(t *testing.T) {
	t.Parallel()
	s, a, b := onTime(t), &timeline.Layer{}, &timeline.Layer{}
	add(s, a, 1, 8*time.Millisecond)
	add(s, b, 1, 9*time.Millisecond)
	add(s, a, 4, 8*time.Millisecond)
	s.Compose(3 * period)
	d := s.Timeline.Displays
	if len(d) != 1 || len(d[0].Shows) != 2 || d[0].Traced != 0 || a.Frames[0].Display != d[0].Token || b.Frames[0].Display != d[0].Token || a.Frames[1].Display != 0 {
		t.Fatalf("at vsync 3: %+v, frames %+v", d, a.Frames)
	}
	s.Compose(6 * period)
	d = s.Timeline.Displays
	if len(d) != 2 || d[0].Traced < d[1].Expected.From || d[1].Traced != 0 || a.Frames[1].Display != d[1].Token {
		t.Fatalf("at vsync 6: %+v", d)
	}
	s.Refresh(10*period, period)
	if told := s.Timeline.Displays[1].Traced; told < 10*period || told > 11*period {
		t.Errorf("the last frame is told at %v", told)
	}
}

// Buffers of a closing window are never shown, and those not even drawn are no frames; other
// windows' are shown.
func TestClosingWindowDropsItsBuffers(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	s, l, other := onTime(t), &timeline.Layer{}, &timeline.Layer{}
	for _, one := range []*timeline.Layer{l, other} {
		add(s, one, 1, 8*ms)
		add(s, one, 2, 8*ms) // drawn by 2.5, latched at 3
		add(s, one, 3, 8*ms) // not drawn by 2.5
	}
	l.Frames[1].Counted = 4 * period // by SurfaceFlinger, which never latches it
	at := 2*period + 10*ms
	s.Compose(at)
	s.drop(l, at)
	s.Compose(time.Hour)
	if len(l.Frames) != 2 || l.Frames[0].Presented == 0 || l.Frames[1].Presented != 0 || l.Frames[1].Present != timeline.DroppedPresent || l.Frames[1].Counted != 0 {
		t.Errorf("frames of the window that closed: %+v", l.Frames)
	}
	if len(other.Frames) != 3 || len(s.Timeline.Displays) != 3 {
		t.Errorf("%d frames of the other window, %d of the display", len(other.Frames), len(s.Timeline.Displays))
	}
	shown := 0
	for _, d := range s.Timeline.Displays {
		shown += len(d.Shows)
	}
	if shown != 4 {
		t.Errorf("%d frames are shown, want one of the closed window and three of the other", shown)
	}
}
