package pipeline

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// rough is an app whose frames are often late, in the UI thread and in the render thread.
const rough = `apkgate-simulated-app/1
package a.b
noise session 0% repetition 0% frame 30% tail 6%x3
cost 9ms
jank 90ms after tap
scenario s 12s
  start 120
  1s tap 120
  4s tap 200
  9s other 90
`

// rates are refresh rates of real screens.
var rates = []int{60, 90, 120, 144}

// A window shows at most one frame at each vsync, and never uses more than three buffers,
// however long its frames take.
func TestAtMostThreeBuffers(t *testing.T) {
	t.Parallel()
	for _, hz := range rates {
		for seed := range uint64(5) {
			p := playAt(t, rough, good("14", 34), time.Second/time.Duration(hz), seed)
			for i, f := range p.Frames {
				if i > 0 && f.Presented-p.Frames[i-1].Presented < f.Period {
					t.Fatalf("%d Hz, seed %d: frame %d is shown %v after the one before", hz, seed, i, f.Presented-p.Frames[i-1].Presented)
				}
				inUse, at := 1, f.Issue+f.Dequeue
				for _, g := range p.Frames[:i] {
					if g.Released > at {
						inUse++
					}
				}
				if inUse > 3 {
					t.Fatalf("%d Hz, seed %d: frame %d is the %dth buffer in use", hz, seed, i, inUse)
				}
			}
		}
	}
}

// Every late frame has a reason: the app itself, a buffer before it, or SurfaceFlinger. Frames
// without one, and frames shown on time, are not janky.
func TestJankHasAReason(t *testing.T) {
	t.Parallel()
	seen := map[timeline.Jank]int{}
	for seed := range uint64(30) {
		for i, f := range playAt(t, rough, good("14", 34), period, seed).Frames {
			late := f.Presented > f.Due
			if late != (f.Jank != timeline.NoJank) || late != (f.Present == timeline.LatePresent) {
				t.Fatalf("seed %d: frame %d is due at %v, shown at %v: jank %d, present %d", seed, i, f.Due, f.Presented, f.Jank, f.Present)
			}
			if f.Jank&timeline.AppDeadline != 0 && f.Drawn() <= f.Expected.To {
				t.Fatalf("seed %d: frame %d meets its deadline: jank %d", seed, i, f.Jank)
			}
			for bit := timeline.Jank(1); bit <= timeline.UnknownJank; bit <<= 1 {
				if f.Jank&bit != 0 {
					seen[bit]++
				}
			}
		}
	}
	for _, reason := range []timeline.Jank{timeline.AppDeadline, timeline.BufferStuffing, timeline.SFCPUDeadline, timeline.SFGPUDeadline, timeline.SFScheduling} {
		if seen[reason] == 0 {
			t.Errorf("no frame has jank %d: %v", reason, seen)
		}
	}
}

// An app's frames do not depend on how often its progress is requested.
func TestAdvanceInSteps(t *testing.T) {
	t.Parallel()
	app, err := simapp.Parse([]byte(rough))
	if err != nil {
		t.Fatal(err)
	}
	frames := func(step time.Duration) []timeline.Frame {
		a, l := newApp(34, period)
		a.Play(choreo.Play(app, app.Scenarios[0], good("14", 34), rand.New(rand.NewPCG(3, 1))), 0)
		for now := time.Duration(0); now < 13*time.Second; now += step {
			a.Advance(now)
		}
		return l.Frames
	}
	often, once := frames(700*time.Microsecond), frames(13*time.Second-1)
	if len(often) != len(once) || len(once) == 0 {
		t.Fatalf("%d frames, and %d where it is asked often", len(once), len(often))
	}
	for i := range once {
		if !reflect.DeepEqual(often[i], once[i]) {
			t.Fatalf("frame %d is %+v, and %+v where it is asked often", i, once[i], often[i])
		}
	}
}

// A dump runs on the render thread: it delays the frame that waits for the render thread, and
// the UI thread, which waits for that frame.
func TestStallDelaysFrames(t *testing.T) {
	t.Parallel()
	app, err := simapp.Parse([]byte(steady + "scenario s 2s\nstart 60\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, api := range []int{18, 21, 34} {
		a, l := newApp(api, period)
		a.Play(choreo.Play(app, app.Scenarios[0], good("14", api), rand.New(rand.NewPCG(1, 1))), 0)
		from := a.Stall(300*time.Millisecond, 100*time.Millisecond)
		a.Advance(3 * time.Second)
		late := 0
		for _, f := range l.Frames {
			if f.Sync > from && f.Sync < from+100*time.Millisecond {
				t.Errorf("Android %d: a frame is drawn at %v, %v after the dump began", api, f.Sync, f.Sync-from)
			}
			if f.Drawn()-f.Expected.From > 2*period {
				late++
			}
		}
		if n := len(l.Frames); late != 1 || n < 53 || n > 56 {
			t.Errorf("Android %d: %d frames of 60, %d of them late", api, n, late)
		}
	}
}

// The last 0.12 s of an animation are drawn by the render thread alone, which also does the UI
// thread's share. Before that the UI thread takes part.
func TestRenderThreadDrawsTheEndOfAnAnimation(t *testing.T) {
	t.Parallel()
	p := play(t, steady+"jank 60ms after tap\nscenario s 3s\n500ms tap 60\n", good("14", 34), 2)
	alone := 0
	for i, f := range p.Frames {
		if f.Kind == timeline.RenderThread {
			alone++
			if f.Flags != timeline.RTAnimation || f.Held > 0 || f.Draw != f.Expected.From {
				t.Errorf("frame %d: flags %d, held for %v, drawn from %v after its vsync", i, f.Flags, f.Held, f.Draw-f.Expected.From)
			}
		} else if i >= len(p.Frames)-6 {
			t.Errorf("frame %d of %d is not the render thread's alone", i, len(p.Frames))
		}
		if took := f.Drawn() - f.Actual.From; took < 4900*time.Microsecond || took > 5100*time.Microsecond {
			t.Errorf("frame %d takes %v, want 5 ms", i, took)
		}
	}
	if alone < 6 || alone > 8 {
		t.Errorf("%d frames of 120 ms at 60 Hz are the render thread's", alone)
	}
}

// A display that lowers its rate when idle shows the first frames of an animation at 60 Hz,
// and all of them at the fast rate after a touch.
func TestAdaptiveDisplay(t *testing.T) {
	t.Parallel()
	app, err := simapp.Parse([]byte(steady + "scenario s 2s\nstart 60\n"))
	if err != nil {
		t.Fatal(err)
	}
	slow := func(touch bool) (n, all int) {
		a, l := newApp(34, time.Second/120)
		a.Android.Still = func() time.Duration { return period }
		if touch {
			a.Touch(0)
		}
		a.Play(choreo.Play(app, app.Scenarios[0], good("14", 34), rand.New(rand.NewPCG(1, 1))), 0)
		a.Advance(2 * time.Second)
		for _, f := range l.Frames {
			if f.Period == period {
				n++
			}
		}
		if rest, moves := a.Period(2*time.Second), a.Period(l.Frames[len(l.Frames)-1].Expected.From+100*time.Millisecond); rest != period || moves != time.Second/120 {
			t.Errorf("touched %v: %v between vsyncs a second later, %v a moment later", touch, rest, moves)
		}
		return n, len(l.Frames)
	}
	if n, all := slow(false); n != rises || all != 2*60-rises {
		t.Errorf("%d of %d frames at 60 Hz, want %d of %d", n, all, rises, 2*60-rises)
	}
	if n, all := slow(true); n != 0 || all != 2*60 {
		t.Errorf("after a touch: %d of %d frames at 60 Hz, want none of %d", n, all, 2*60)
	}
}

// The next performance begins once the UI thread is free, and the previous one is cancelled. A
// frame in progress in a window that closes is discarded.
func TestPlayCancelsThePreviousPerformance(t *testing.T) {
	t.Parallel()
	app, err := simapp.Parse([]byte(strings.Replace(steady, "cost 5ms", "cost 100ms\nthink 30ms", 1) + "scenario s 2s\nstart 60\n"))
	if err != nil {
		t.Fatal(err)
	}
	// Without a render thread the UI thread draws the whole frame before its own work.
	for api, free := range map[int]time.Duration{18: 130 * time.Millisecond, 34: 80 * time.Millisecond} {
		perf := func() *choreo.Performance {
			return choreo.Play(app, app.Scenarios[0], good("14", api), rand.New(rand.NewPCG(1, 1)))
		}
		a, l := newApp(api, period)
		a.Play(perf(), 0)
		a.Advance(75 * time.Millisecond)
		if begins := a.Play(perf(), 75*time.Millisecond); begins < free || begins > free+2*period {
			t.Errorf("Android %d: what is played next begins at %v", api, begins)
		}
		if a.Busy(76*time.Millisecond) == a.Busy(10*time.Second) {
			t.Errorf("Android %d: as busy at first as in the end", api)
		}
		second := &timeline.Layer{}
		a.Open(second)
		second.Opened = 5 * time.Second
		a.Close(second, 5*time.Second)
		if len(second.Frames) != 0 || len(l.Frames) == 0 {
			t.Errorf("Android %d: %d frames of a window that was closed when it opened", api, len(second.Frames))
		}
	}
}

// Even if the display changes its rate while an app draws, each frame is shown at a vsync, at
// most one at each, and the GPU finishes frames in order.
func TestFramesAreInOrderAtAnyRate(t *testing.T) {
	t.Parallel()
	app, err := simapp.Parse([]byte(rough))
	if err != nil {
		t.Fatal(err)
	}
	for _, hz := range rates[1:] {
		for seed := range uint64(20) {
			a, l := newApp(34, time.Second/time.Duration(hz))
			a.Android.Still = func() time.Duration { return period }
			a.Flinger.Seed = seed
			a.Play(choreo.Play(app, app.Scenarios[0], good("14", 34), rand.New(rand.NewPCG(seed, 1))), 0)
			for _, second := range []time.Duration{0, 3, 8} { // the rate is lowered right after the taps a second later
				a.Touch(second*time.Second + time.Duration(seed)*5*time.Millisecond)
			}
			a.Advance(14 * time.Second)
			a.Flinger.Compose(14 * time.Second)
			for i, f := range l.Frames {
				if f.Latched%f.Period != 0 {
					t.Errorf("%d Hz, seed %d: frame %d is taken %v behind a vsync of %v", hz, seed, i, f.Latched%f.Period, f.Period)
				}
				if i > 0 && (f.Presented <= l.Frames[i-1].Presented || f.Drawn() < l.Frames[i-1].Drawn()) {
					t.Errorf("%d Hz, seed %d: frame %d is drawn at %v and shown at %v, the one before at %v and %v", hz, seed, i, f.Drawn(), f.Presented, l.Frames[i-1].Drawn(), l.Frames[i-1].Presented)
				}
			}
			for i, d := range a.Flinger.Timeline.Displays {
				if i > 0 && d.Actual.From < a.Flinger.Timeline.Displays[i-1].Expected.To {
					t.Errorf("%d Hz, seed %d: the display's frame %d begins at %v, before the end %v of the one before", hz, seed, i, d.Actual.From, a.Flinger.Timeline.Displays[i-1].Expected.To)
				}
			}
		}
	}
}
