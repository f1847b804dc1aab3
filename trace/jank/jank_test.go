package jank_test

import (
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
)

const ms = time.Millisecond

// JankTracker::finishFrame judges by the deadline since Android 12, and by the duration before.
func TestRowJanky(t *testing.T) {
	t.Parallel()
	sixty, ninety := jank.Display{}, jank.Display{Period: time.Second / 90}
	for name, c := range map[string]struct {
		row  jank.Row
		on   jank.Display
		want bool
	}{
		"met its deadline, after a long time":      {jank.Row{HasDeadline: true, Overrun: -1, Took: time.Second}, sixty, false},
		"ended at its deadline":                    {jank.Row{HasDeadline: true}, sixty, true},
		"exempt, late by its deadline":             {jank.Row{HasDeadline: true, Overrun: ms, Exempt: true}, sixty, false},
		"one period":                               {jank.Row{Took: jank.VsyncPeriod}, sixty, false},
		"a little more than a period":              {jank.Row{Took: jank.VsyncPeriod + 1}, sixty, true},
		"exempt, longer than a period":             {jank.Row{Took: time.Second, Exempt: true}, sixty, false},
		"12 ms at 90 Hz":                           {jank.Row{Took: 12 * ms}, ninety, true},
		"12 ms at 90 Hz, drawn while at 60 Hz":     {jank.Row{Took: 12 * ms, Interval: jank.VsyncPeriod}, ninety, false},
		"20 ms, 4 of them behind the frame before": {jank.Row{Took: 20 * ms, SyncWait: 4 * ms}, sixty, false},
		"the same on Android 6":                    {jank.Row{Took: 20 * ms, SyncWait: 4 * ms, Whole: true}, sixty, true},
		"a stamp before the other":                 {jank.Row{Took: 17 * ms, SyncWait: -4 * ms}, sixty, true},
		// 19 ms less 5 - 2 ms of a wait of 3 is 16.
		"a wait for a buffer that was not free": {jank.Row{Took: 19 * ms, BufferWait: 3 * ms, Drew: 2 * ms}, jank.Display{Forgiven: 5 * ms}, false},
		"nothing is forgiven":                   {jank.Row{Took: 19 * ms, BufferWait: 3 * ms, Drew: 2 * ms}, sixty, true},
		// 17 ms less 0.5 would be in time.
		"a wait too short to count":            {jank.Row{Took: 17 * ms, BufferWait: ms / 2}, jank.Display{Forgiven: 5 * ms}, true},
		"a wait just long enough to count":     {jank.Row{Took: 17 * ms, BufferWait: ms/2 + 1}, jank.Display{Forgiven: 5 * ms}, false},
		"drew after the buffer had to be free": {jank.Row{Took: 17 * ms, BufferWait: 9 * ms, Drew: 7 * ms}, jank.Display{Forgiven: 5 * ms}, true},
	} {
		if got := c.row.Janky(c.on); got != c.want {
			t.Errorf("%s: janky is %v", name, got)
		}
	}
}

// The constructor of JankTracker, computed for offsets that devices print: at 60 Hz the compositor
// begins 16.67 - (deadline - 1) ms after the vsync.
func TestForgiveness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		app, deadline time.Duration
		want          time.Duration
	}{
		{"an emulator: both begin 1 ms after the vsync", ms, 16_666_666, 4 * ms},
		{"a Nexus 6: the compositor begins 2.5 ms before the app", 7_500_000, 12_666_667, 0},
		{"3 ms behind", 2 * ms, 12_666_666, 7 * ms},
		{"4 ms behind, the most", ms, 12_666_666, 8 * ms},
		{"too far behind", 0, 12_666_666 - ms/2, 0},
	} {
		if got := jank.Forgiveness(jank.VsyncPeriod, c.app, c.deadline); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// SurfaceFrame::getJankType: the app's fault makes a frame janky, whatever else was late.
func TestOnTimeline(t *testing.T) {
	t.Parallel()
	const early, late = jank.PresentedEarly, jank.PresentedLate
	for name, c := range map[string]struct {
		reasons jank.Type
		shown   jank.Present
		missed  bool
		want    bool
		display bool
	}{
		"no jank, after its deadline":       {jank.NoJank, late, true, false, false},
		"the app":                           {jank.AppDeadlineMissed, late, true, true, false},
		"the app, and it met its deadline":  {jank.AppResyncedJitter, late, false, true, false},
		"the app and the display":           {jank.AppDeadlineMissed | jank.DisplayHAL, late, true, true, false},
		"the app, never shown":              {jank.AppDeadlineMissed | jank.DroppedFrame, late, true, false, false},
		"the app, not shown":                {jank.AppDeadlineMissed, jank.PresentedDropped, true, false, false},
		"unknown, after its deadline":       {jank.UnknownJank, late, true, true, false},
		"unknown, in time":                  {jank.UnknownJank, late, false, false, false},
		"unknown, shown early":              {jank.UnknownJank, early, true, false, false},
		"the display":                       {jank.DisplayHAL, late, true, false, true},
		"the compositor's prediction":       {jank.PredictionError, late, true, false, true},
		"the compositor, and shown in time": {jank.SurfaceFlingerCPU, 1, true, false, false},
		"the compositor's own queue":        {jank.SurfaceFlingerStuffing, late, true, false, true},
		"buffers that wait":                 {jank.BufferStuffing, late, true, false, false},
	} {
		if got := jank.OnTimeline(c.reasons, c.shown, c.missed); got != c.want {
			t.Errorf("%s: janky is %v", name, got)
		}
		if got := jank.LateByDisplay(c.reasons, c.shown); got != c.display {
			t.Errorf("%s: late by the display is %v", name, got)
		}
	}
}

// A buffer that was ready when it should have been shown is late through the compositor.
func TestShown(t *testing.T) {
	t.Parallel()
	if !jank.Shown(1, false) || jank.Shown(1, true) || jank.Shown(0, false) {
		t.Error("want a frame to be janky that was shown late and was not ready")
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	frames := []jank.Frame{
		{Took: 10 * ms, Due: true, Over: -6 * ms},
		{Took: 30 * ms, Due: true, Over: 14 * ms, Janky: true},
		{Took: 701 * ms, Due: true, Over: 685 * ms, Janky: true},
		{Took: jank.Unknown},
	}
	got := jank.Metrics(frames)
	for name, want := range map[string]float64{
		"frames.count": 4, "frames.janky": 2, "frames.slow": 2, "frames.frozen": 1, "frames.late": 2, "frames.smooth_ratio": 0.5,
		"frames.duration_ms": 247, "frames.duration_ms.p50": 30, "frames.overrun_ms": 231, "frames.overrun_ms.p50": 14,
		"frames.duration_ms.p90": 566.8, // of 10, 30 and 701 at position 1.8
	} {
		if v, has := got[name]; !has || math.Abs(v-want) > 1e-9 {
			t.Errorf("%s is %g (%v), want %g", name, v, has, want)
		}
	}
	at := func(took, over time.Duration, due bool) map[string]float64 {
		return jank.Metrics([]jank.Frame{{Took: took, Over: over, Due: due}})
	}
	if m := at(jank.FrozenLimit, 0, true); m["frames.frozen"] != 0 || m["frames.late"] != 0 || m["frames.slow"] != 1 {
		t.Errorf("700 ms, done at the deadline: %v", m)
	}
	if m := at(jank.SlowLimit, 0, false); m["frames.slow"] != 0 {
		t.Errorf("a period of 60 Hz is slow: %v", m)
	}
	if m := at(ms, 0, false); has(m, "frames.late") || has(m, "frames.overrun_ms") {
		t.Errorf("frames without a deadline miss it: %v", m)
	}
	if none := jank.Metrics(nil); has(none, "frames.smooth_ratio") || has(none, "frames.duration_ms") || none["frames.count"] != 0 {
		t.Errorf("no frames: %v", none)
	}
}

func has(m map[string]float64, name string) bool { _, ok := m[name]; return ok }
