package pipeline

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

const period = time.Second / 60

func good(sdk string, api int) choreo.Conditions {
	return choreo.Conditions{Context: simapp.Context{SDK: sdk, API: api, Network: "wifi"}, Speed: 1, LowEnd: 1, Session: 1}
}

// performance is a played scenario with its frames.
type performance struct {
	*choreo.Performance
	Frames []timeline.Frame
}

// play plays an app's scenario to its end on a screen of 60 Hz.
func play(t testing.TB, text string, c choreo.Conditions, seed uint64) performance {
	t.Helper()
	return playAt(t, text, c, period, seed)
}

func playAt(t testing.TB, text string, c choreo.Conditions, period time.Duration, seed uint64) performance {
	t.Helper()
	app, err := simapp.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, l := newApp(c.API, period)
	a.Flinger.Seed = seed
	perf := choreo.Play(app, app.Scenarios[0], c, rand.New(rand.NewPCG(seed, 1)))
	a.Play(perf, 0)
	a.Advance(perf.End + time.Minute)
	return performance{perf, l.Frames}
}

// newApp returns the pipeline of an app with one window.
func newApp(api int, period time.Duration) (*App, *timeline.Layer) {
	a := &App{Flinger: &SurfaceFlinger{Timeline: &timeline.Timeline{}, Seed: 7}, Android: Android{API: api, Period: func() time.Duration { return period }}}
	l := &timeline.Layer{Title: "a.b/a.b.Main"}
	a.Open(l)
	return a, l
}

func shipped(t *testing.T, name string) string {
	t.Helper()
	data, err := simapp.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// steady is an app without noise: 5 ms a frame, and an animation of 60 frames.
const steady = `apkgate-simulated-app/1
package a.b
noise session 0% repetition 0% frame 0% tail 0%
cost 5ms
`

func janky(p performance) (n int) {
	for _, f := range p.Frames {
		if f.Drawn()-f.Expected.From > period {
			n++
		}
	}
	return n
}

func TestAnimationDrawsAFrameEachVsync(t *testing.T) {
	p := play(t, steady+"scenario s 2s\nstart 60\n", good("9", 28), 1)
	if len(p.Frames) != 60 || janky(p) != 0 {
		t.Errorf("%d frames, %d janky; want 60 and none", len(p.Frames), janky(p))
	}
	for i, f := range p.Frames {
		if want := time.Duration(i) * period; f.Expected.From != want {
			t.Fatalf("frame %d is meant for %v, want %v", i, f.Expected.From, want)
		}
	}
}

// 5 ms × 5 is 25 ms: each frame takes two vsyncs, so half of them are rendered.
func TestSlowFramesDropVsyncs(t *testing.T) {
	p := play(t, steady+"slow sdk>=5.0 x5\nscenario s 2s\nstart 60\n", good("5.0.0", 21), 1)
	if len(p.Frames) != 30 || janky(p) != 30 {
		t.Errorf("%d frames, %d janky; want 30 and all", len(p.Frames), janky(p))
	}
	if p := play(t, steady+"slow sdk>=5.0 x5\nscenario s 2s\nstart 60\n", good("4.4.4", 19), 1); len(p.Frames) != 60 {
		t.Errorf("%d frames on Android 4.4.4, want 60", len(p.Frames))
	}
}

// Twice the refresh rate yields twice the frames.
func TestFasterScreenHasMoreFrames(t *testing.T) {
	c := good("14", 34)
	if p := playAt(t, steady+"scenario s 2s\nstart 60\n", c, time.Second/120, 1); len(p.Frames) != 120 {
		t.Errorf("%d frames at 120 Hz, want 120", len(p.Frames))
	}
}

// A computation of 100 ms covers six vsyncs: one long frame, and about six fewer. Its duration
// varies a little, and so does the time of the event.
func TestHeavyComputationSkipsFrames(t *testing.T) {
	const text = steady + "jank 100ms after tap\nscenario s 4s\n1s tap 60\n2s other 60\n"
	p := play(t, text, good("9", 28), 3)
	if n := len(p.Frames); n < 110 || n > 117 {
		t.Errorf("%d frames of 120, want about 6 fewer", n)
	}
	if janky(p) != 1 {
		t.Errorf("%d janky frames, want the one that was held up", janky(p))
	}
	for _, f := range p.Frames {
		if took := f.Drawn() - f.Expected.From; took > period {
			if took < 70*time.Millisecond || took > 150*time.Millisecond || f.Vsync <= f.Expected.From || f.Held < 65*time.Millisecond {
				t.Errorf("the long frame takes %v, begins at vsync +%v, is held up for %v", took, f.Vsync-f.Expected.From, f.Held)
			}
		}
	}
}

// A jank makes the next event worse in most repetitions (paper, section 8.4), and the one
// after that not.
func TestJankAffectsTheNextEvent(t *testing.T) {
	const text = steady + "jank 300ms after a recover 40%\nscenario s 12s\n1s a 60\n4s b 60\n8s c 60\n"
	worse := 0
	for seed := range uint64(40) {
		var late [3]int
		p := play(t, text, good("9", 28), seed)
		for _, f := range p.Frames {
			bucket := -1
			for _, m := range p.Marks {
				if m.At <= f.Drawn() {
					bucket++
				}
			}
			if bucket >= 0 && f.Drawn()-f.Expected.From > 2*period {
				late[bucket]++
			}
		}
		if late[0] == 0 || late[2] != 0 {
			t.Fatalf("seed %d: long frames after a, b, c: %v", seed, late)
		}
		if late[1] > 0 {
			worse++
		}
	}
	if worse < 25 || worse == 40 {
		t.Errorf("event b is worse in %d of 40 repetitions, want most and not all", worse)
	}
}

// The paper's section 8.1, over ten repetitions: 2,145 frames of 8 ms with 6
// janky on Android 4.3, 176 frames of 144 ms on 5.0.
func TestSpaceBlasterMatchesThePaper(t *testing.T) {
	for _, tt := range []struct {
		sdk             string
		frames, spread  float64
		ms, msSpread    float64
		jankyLo, jankHi float64
	}{
		{"4.3", 2145, 25, 8, 0.6, 1, 12},
		{"5.0.0", 176, 6, 144, 7, 165, 185},
	} {
		var frames, janks int
		var busy time.Duration
		for seed := range uint64(10) {
			p := play(t, shipped(t, "spaceblaster"), good(tt.sdk, 18), seed)
			frames += len(p.Frames)
			janks += janky(p)
			for _, f := range p.Frames {
				busy += f.Held + f.Drawn() - f.Actual.From
			}
		}
		mean := float64(busy) / float64(frames) / float64(time.Millisecond)
		if n := float64(frames) / 10; n < tt.frames-tt.spread || n > tt.frames+tt.spread {
			t.Errorf("Android %s: %.1f frames, the paper has %v", tt.sdk, n, tt.frames)
		}
		if mean < tt.ms-tt.msSpread || mean > tt.ms+tt.msSpread {
			t.Errorf("Android %s: %.2f ms a frame, the paper has %v", tt.sdk, mean, tt.ms)
		}
		if j := float64(janks) / 10; j < tt.jankyLo || j > tt.jankHi {
			t.Errorf("Android %s: %.1f janky frames, want %v to %v", tt.sdk, j, tt.jankyLo, tt.jankHi)
		}
	}
}

func TestSameSeedPlaysTheSame(t *testing.T) {
	text := shipped(t, "exoplayer-mutated")
	a, b := play(t, text, good("4.3", 18), 7), play(t, text, good("4.3", 18), 7)
	if !reflect.DeepEqual(a.Frames, b.Frames) || !reflect.DeepEqual(a.Marks, b.Marks) {
		t.Error("two performances of one seed differ")
	}
	if c := play(t, text, good("4.3", 18), 8); reflect.DeepEqual(a.Frames, c.Frames) {
		t.Error("two seeds play alike")
	}
}

func TestStagesAreInOrder(t *testing.T) {
	for _, name := range simapp.Shipped() {
		text := shipped(t, name)
		if app, _ := simapp.Parse([]byte(text)); len(app.Scenarios) == 0 {
			continue
		}
		c := good("5.0.0", 21)
		c.Start, c.Speed, c.LowEnd = choreo.Cold, 1.3, 1.4
		p := play(t, text, c, 5)
		last := time.Duration(0)
		for i, f := range p.Frames {
			stages := []time.Duration{last, f.Expected.From, f.Vsync, f.Input, f.Animation, f.Traversals, f.Draw, f.SyncQueued, f.Sync, f.Issue, f.Swap, f.Queued, f.Drawn(), f.Latched, f.Presented}
			for j := 1; j < len(stages); j++ {
				if stages[j] < stages[j-1] {
					t.Fatalf("%s: frame %d: stage %d at %v is before the one at %v", name, i, j, stages[j], stages[j-1])
				}
			}
			last = f.Expected.From + 1
		}
		if p.Displayed == 0 || p.Frames[0].Flags != timeline.WindowChanged {
			t.Errorf("%s: a cold start is displayed after %v, its first frame has flags %d", name, p.Displayed, p.Frames[0].Flags)
		}
	}
}

func BenchmarkPlay(b *testing.B) {
	data, err := simapp.Open("spaceblaster")
	if err != nil {
		b.Fatal(err)
	}
	app, err := simapp.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		a, _ := newApp(18, period)
		perf := choreo.Play(app, app.Scenarios[0], good("4.3", 18), rand.New(rand.NewPCG(uint64(i), 1)))
		a.Play(perf, 0)
		a.Advance(perf.End + time.Minute)
		a.Flinger.Compose(perf.End + time.Minute)
	}
}
