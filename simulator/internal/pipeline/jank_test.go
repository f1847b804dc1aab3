package pipeline

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// frame returns a frame at 60 Hz for the vsync at 100 ms, done some time after it.
func frame(took time.Duration, change func(f *timeline.Frame)) *timeline.Frame {
	const at = 100 * time.Millisecond
	f := &timeline.Frame{
		Period: period, Expected: timeline.Interval{From: at, To: at + period}, Due: at + 2*period,
		Vsync: at, SyncQueued: at + 3*time.Millisecond, Sync: at + 3*time.Millisecond, Issue: at + 4*time.Millisecond,
		Queued: at + took, Actual: timeline.Interval{From: at, To: at + took}, Latched: at + period,
	}
	if change != nil {
		change(f)
	}
	return f
}

// JankTracker's rules by version: the duration of a frame, and from when on it is janky.
func TestJankTracker(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	waited := func(f *timeline.Frame) { f.Sync += 5 * ms }
	first := func(f *timeline.Frame) { f.Flags = timeline.WindowChanged }
	gpu := func(f *timeline.Frame) { f.Queued -= 8 * ms }
	for _, tt := range []struct {
		name    string
		api     int
		took    time.Duration
		change  func(f *timeline.Frame)
		charged time.Duration
		janky   bool
		legacy  bool
	}{
		{"Android 6, in time", 23, 16 * ms, nil, 16 * ms, false, false},
		{"Android 6, late", 23, 17 * ms, nil, 17 * ms, true, true},
		{"Android 6, the first of a window", 23, 30 * ms, first, 30 * ms, false, true},
		{"Android 6, which waited", 23, 18 * ms, waited, 18 * ms, true, true},
		{"Android 9, which waited", 28, 18 * ms, waited, 13 * ms, false, false},
		{"Android 9, late", 28, 18 * ms, nil, 18 * ms, true, true},
		{"Android 9, the first of a window", 28, 30 * ms, first, 30 * ms, true, true},
		{"Android 12, which waited", 31, 18 * ms, waited, 18 * ms, true, true},
		{"Android 12, at the deadline", 31, period, nil, period, true, false},
		{"Android 12, just before it", 31, period - 1, nil, period - 1, false, false},
		{"Android 12, late on the GPU alone", 31, 20 * ms, gpu, 20 * ms, true, false},
	} {
		f := frame(tt.took, tt.change)
		(&tracker{}).judge(f, Android{API: tt.api})
		if f.Charged != tt.charged || f.Janky != tt.janky || f.Legacy != tt.legacy {
			t.Errorf("%s: counts %v, janky %v, legacy %v", tt.name, f.Charged, f.Janky, f.Legacy)
		}
		if f.Janky == (f.Types == 0) {
			t.Errorf("%s: janky %v for %b", tt.name, f.Janky, f.Types)
		}
		if done := f.Drawn(); tt.api < 31 && f.Counted != done || tt.api >= 31 && f.Counted <= f.Latched {
			t.Errorf("%s: counted at %v, done at %v", tt.name, f.Counted, done)
		}
	}
}

// After a janky frame a buffer waits: the deadline is one vsync later, until there was a
// pause.
func TestDeadlineAfterAJankyFrame(t *testing.T) {
	t.Parallel()
	shift := func(by time.Duration) func(f *timeline.Frame) {
		return func(f *timeline.Frame) {
			for _, at := range []*time.Duration{&f.Expected.From, &f.Expected.To, &f.Actual.To, &f.Queued, &f.Vsync, &f.Sync, &f.SyncQueued, &f.Issue} {
				*at += by
			}
		}
	}
	var tr tracker
	for i, tt := range []struct {
		at, took time.Duration
		later    bool
		janky    bool
		latency  bool
	}{
		{0, 25 * time.Millisecond, false, true, false},
		{period, 20 * time.Millisecond, true, false, true}, // begun while the first one was drawn
		{2 * period, 40 * time.Millisecond, true, true, false},
		{20 * period, 5 * time.Millisecond, false, false, false},
	} {
		f := frame(tt.took, shift(tt.at))
		tr.judge(f, Android{API: 34})
		if got := f.Deadline > f.Expected.To; got != tt.later || f.Janky != tt.janky || (f.Types&timeline.HighInputLatency != 0) != tt.latency {
			t.Errorf("frame %d: deadline moved %v, janky %v, types %b", i, got, f.Janky, f.Types)
		}
	}
}

// The slow stage is reported for janky frames only.
func TestJankReasons(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		change func(f *timeline.Frame)
		want   timeline.JankTypes
	}{
		"the UI thread": {func(f *timeline.Frame) {
			f.SyncQueued, f.Sync, f.Issue = f.Vsync+9*ms, f.Vsync+9*ms, f.Vsync+10*ms
			f.Actual.To = f.Vsync + 21*ms
		}, timeline.SlowUI},
		"a vsync that went by": {func(f *timeline.Frame) {
			f.Vsync += period
			f.SyncQueued, f.Sync, f.Issue = f.Vsync+3*ms, f.Vsync+3*ms, f.Vsync+4*ms
			f.Actual.To = f.Vsync + 10*ms
		}, timeline.MissedVsync},
		"the copy":          {func(f *timeline.Frame) { f.Issue = f.Sync + 8*ms; f.Actual.To = f.Issue + 11*ms }, timeline.SlowSync},
		"the render thread": {func(f *timeline.Frame) { f.Actual.To = f.Issue + 14*ms }, timeline.SlowRender},
	} {
		f := frame(30*ms, tt.change)
		(&tracker{}).judge(f, Android{API: 34})
		if got := f.Types &^ timeline.MissedDeadline; !f.Janky || got != tt.want {
			t.Errorf("%s: janky %v for %b, want %b", name, f.Janky, got, tt.want)
		}
	}
	quick := frame(5*ms, func(f *timeline.Frame) { f.SyncQueued, f.Sync = f.Vsync+12*ms, f.Vsync+12*ms })
	(&tracker{}).judge(quick, Android{API: 34})
	if quick.Types != 0 {
		t.Errorf("a frame in time has types %b", quick.Types)
	}
}
