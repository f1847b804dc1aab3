package pipeline

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

const scrolls = steady + "scenario s 3s\n500ms scroll 60\n"

// A delay of the UI thread is in the stage that the file names, or to which the work belongs:
// later stages are shifted by its duration, and nothing else is.
func TestDelayIsInItsStage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line     string
		from, to func(f *timeline.Frame) time.Duration
	}{
		{"blocks disk 20ms after scroll every 6 in input", func(f *timeline.Frame) time.Duration { return f.Input }, func(f *timeline.Frame) time.Duration { return f.Animation }},
		{"blocks disk 20ms after scroll every 6", func(f *timeline.Frame) time.Duration { return f.Animation }, func(f *timeline.Frame) time.Duration { return f.Traversals }},
		{"work inflate 20ms after scroll every 6", func(f *timeline.Frame) time.Duration { return f.Animation }, func(f *timeline.Frame) time.Duration { return f.Traversals }},
		{"work compose 20ms after scroll every 6", func(f *timeline.Frame) time.Duration { return f.Animation }, func(f *timeline.Frame) time.Duration { return f.Traversals }},
		{"work measure 20ms after scroll every 6", func(f *timeline.Frame) time.Duration { return f.Traversals }, func(f *timeline.Frame) time.Duration { return f.Draw }},
		{"gc 20ms after scroll every 6 in layout", func(f *timeline.Frame) time.Duration { return f.Traversals }, func(f *timeline.Frame) time.Duration { return f.Draw }},
		{"work draw 20ms after scroll every 6", func(f *timeline.Frame) time.Duration { return f.Draw }, func(f *timeline.Frame) time.Duration { return f.SyncQueued }},
		{"work shader 20ms after scroll every 6", func(f *timeline.Frame) time.Duration { return f.Issue }, func(f *timeline.Frame) time.Duration { return f.Swap }},
		{"gpu 20ms after scroll every 6", func(f *timeline.Frame) time.Duration { return f.Swap }, func(f *timeline.Frame) time.Duration { return f.GPUDone }},
	} {
		struck, others := 0, 0
		for i, f := range play(t, scrolls[:len(steady)]+tt.line+"\n"+scrolls[len(steady):], good("14", 34), 3).Frames {
			if len(f.Delays) == 0 {
				if took := f.Drawn() - f.Sync; f.Kind == timeline.Whole && took < 5*time.Millisecond {
					others++
				}
				continue
			}
			struck++
			d := f.Delays[0]
			long := d.To - d.From
			if from, to := tt.from(&f), tt.to(&f); d.From < from || d.To > to || to-from > long+4*time.Millisecond {
				t.Errorf("%s: frame %d is delayed from %v to %v, the stage goes from %v to %v", tt.line, i, d.From, d.To, from, to)
			}
			if took := f.Drawn() - f.Actual.From; took < long+4800*time.Microsecond || took > long+5500*time.Microsecond+f.Dequeue {
				t.Errorf("%s: frame %d takes %v with a delay of %v", tt.line, i, took, long)
			}
			if long < 10*time.Millisecond || long > 40*time.Millisecond || len(f.Delays) != 1 {
				t.Errorf("%s: delays %v", tt.line, f.Delays)
			}
		}
		if struck < 4 || others < 10 {
			t.Errorf("%s: %d frames are delayed, %d are as ever", tt.line, struck, others)
		}
	}
}

// Two delays in one stage follow each other.
func TestDelaysOfAStageFollowEachOther(t *testing.T) {
	t.Parallel()
	lines := "blocks disk 7ms after scroll every 8\nblocks lock writer 9ms after scroll every 8\nwork measure 5ms after scroll every 8\n"
	found := 0
	for _, f := range play(t, scrolls[:len(steady)]+lines+scrolls[len(steady):], good("14", 34), 3).Frames {
		if len(f.Delays) != 3 {
			continue
		}
		found++
		if f.Delays[0].To != f.Delays[1].From || f.Delays[1].To >= f.Delays[2].From || f.Delays[1].To > f.Traversals || f.Delays[2].From < f.Traversals || f.Delays[2].To > f.Draw {
			t.Errorf("delays %v, traversals from %v to %v", f.Delays, f.Traversals, f.Draw)
		}
	}
	if found < 4 {
		t.Errorf("%d frames", found)
	}
}

// While the GPU is slow the render thread is free; if the app's file does not specify GPU
// work, the render thread is busy until the frame is drawn.
func TestRenderThreadIsFreeWhileTheGPUDraws(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"gpu 20ms after scroll every 6\n", "work shader 20ms after scroll every 6\n"} {
		hands := time.Duration(0)
		for _, f := range play(t, scrolls[:len(steady)]+line+scrolls[len(steady):], good("14", 34), 3).Frames {
			if long := f.Drawn() - f.Rendered; len(f.Delays) > 0 && (line[:3] == "gpu") != (long > 10*time.Millisecond) || f.Rendered < f.Queued {
				t.Errorf("%s: the render thread is done %v before the frame", line, long)
			}
			hands += f.Rendered - f.Queued
		}
		if hands == 0 {
			t.Errorf("%s: the render thread has nothing to do once a frame is queued", line)
		}
	}
}

// While SurfaceFlinger composes for longer it latches nothing, and what it shows is late by
// its own fault: it is shown when the composition ends.
func TestLongCompositionIsLate(t *testing.T) {
	t.Parallel()
	late := 0
	frames := play(t, scrolls[:len(steady)]+"blocks composition 40ms after scroll every 10\n"+scrolls[len(steady):], good("14", 34), 3).Frames
	for i, f := range frames {
		if f.Jank&timeline.SFCPUDeadline == 0 {
			continue
		}
		late++
		if took := f.Presented - f.Latched; took < 2*f.Period || took > 4*f.Period || f.Presented%f.Period != 0 {
			t.Errorf("it is seen %v after it was taken", took)
		}
		if i+1 < len(frames) && frames[i+1].Latched < f.Presented {
			t.Errorf("the next is taken %v before it is seen", f.Presented-frames[i+1].Latched)
		}
	}
	if late < 3 {
		t.Errorf("%d frames of SurfaceFlinger's", late)
	}
}

// A long composition delays all windows until it ends, and no longer.
func TestLongCompositionDelaysAllWindows(t *testing.T) {
	t.Parallel()
	s, first, second := onTime(t), &timeline.Layer{}, &timeline.Layer{}
	s.occupy(2*period, 40*time.Millisecond)
	for _, tt := range []struct{ vsync, taken int }{{1, 2}, {2, 5}, {7, 8}} {
		if f := add(s, first, tt.vsync, 8*time.Millisecond); f.Latched != time.Duration(tt.taken)*period {
			t.Errorf("the frame of vsync %d is taken at vsync %v", tt.vsync, float64(f.Latched)/float64(period))
		}
	}
	if f := add(s, second, 2, 8*time.Millisecond); f.Latched != 5*period {
		t.Errorf("the other window's frame is taken at vsync %v", float64(f.Latched)/float64(period))
	}
}
