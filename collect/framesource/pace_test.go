package framesource

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/jank"
)

func dumpOf(interval time.Duration, windows ...string) gfxinfo.Dump {
	p := gfxinfo.Process{PID: 1, Name: "app"}
	for _, name := range windows {
		p.Windows = append(p.Windows, gfxinfo.Window{Name: name, Frames: []gfxinfo.Frame{{Interval: int64(interval)}}})
	}
	return gfxinfo.Dump{Processes: []gfxinfo.Process{p}}
}

// No window's ring of 120 frames overflows between two dumps, at any rate of the display and
// however long a dump takes, unless dumps would take more than a third of the time.
func TestPauseAvoidsOverflow(t *testing.T) {
	t.Parallel()
	for _, hz := range []int{60, 90, 120, 144, 165} {
		period := time.Second / time.Duration(hz)
		for took := time.Duration(0); took <= 500*time.Millisecond; took += 10 * time.Millisecond {
			for name, p := range map[string]pace{"by the display": {}, "by the rows": {}} {
				display := period
				if name == "by the rows" {
					display = time.Second / 60 // of a still screen
					p.dumped(dumpOf(period, "a"), took, time.Second)
				} else {
					p.dumped(dumpOf(0, "a"), took, time.Second)
				}
				wait := p.wait(display, time.Minute)
				between := wait + took
				if overflows, busy := between >= 120*period, wait <= 2*took; overflows && !busy || wait < 2*took || wait > time.Second {
					t.Errorf("%d Hz, %s, dumps of %v: waits %v", hz, name, took, wait)
				}
			}
		}
	}
}

// The display is as fast as its fastest frame, though a still screen is slower.
func TestPaceUsesTheFastestFrame(t *testing.T) {
	t.Parallel()
	var p pace
	for _, interval := range []time.Duration{16 * time.Millisecond, 8 * time.Millisecond, 0, 16 * time.Millisecond} {
		p.dumped(dumpOf(interval, "a"), 0, time.Second)
	}
	if wait := p.wait(time.Second/60, time.Minute); wait >= 120*8*time.Millisecond || p.period != 8*time.Millisecond {
		t.Errorf("waits %v, for a period of %v", wait, p.period)
	}
}

// If a window came or went, the app is read more often for a while; not for its first ones.
func TestPaceOfChangingWindows(t *testing.T) {
	t.Parallel()
	var p pace
	const took = 40 * time.Millisecond
	p.dumped(gfxinfo.Dump{}, took, 1*time.Second)
	p.dumped(dumpOf(0, "list"), took, 2*time.Second)
	if calm := p.wait(0, 2*time.Second); calm != time.Second-took {
		t.Errorf("for the first window: %v", calm)
	}
	p.dumped(dumpOf(0, "list", "detail"), took, 3*time.Second)
	if soon := p.wait(0, 3*time.Second); soon != 500*time.Millisecond-took {
		t.Errorf("for another window: %v", soon)
	}
	p.dumped(dumpOf(0, "list", "detail"), took, 7*time.Second)
	if calm := p.wait(0, 7*time.Second); calm != time.Second-took {
		t.Errorf("a while after: %v", calm)
	}
}

// Android's count is limited by what was seen: a seen janky frame counts, and no more can be janky
// than were not seen.
func TestWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stated gfxinfo.Stated
		want   Whole
	}{
		{gfxinfo.Stated{}, Whole{}},
		{gfxinfo.Stated{Total: 10, Janky: 3}, Whole{}}, // all were seen
		{gfxinfo.Stated{Total: 9, Janky: 9}, Whole{}},  // a dump is a frame ahead
		{gfxinfo.Stated{Total: 12, Janky: 4}, Whole{12, 4}},
		{gfxinfo.Stated{Total: 12, Janky: 0}, Whole{12, 3}}, // an emulator that counts none
		{gfxinfo.Stated{Total: 12, Janky: 12}, Whole{12, 5}},
	} {
		s := &Sampler{stated: c.stated}
		for i := range 10 {
			s.Frames = append(s.Frames, jank.Frame{Janky: i < 3})
		}
		if got := s.Whole(); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.stated, got, c.want)
		}
	}
	if s := (Whole{Count: 12}).Seen(9); s != 0.75 {
		t.Errorf("9 of 12 are %g", s)
	}
}
