package rendering_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Without a frame timeline, a frame that the main thread was too busy to begin was meant for the
// vsync that came in the meantime; one before which it was idle begins when it begins.
func TestAskedWhileTheMainThreadIsBusy(t *testing.T) {
	t.Parallel()
	const meant, begins = 908, 1001
	for _, c := range []struct {
		name  string
		first func(p *phone) // what the main thread does before it begins the frame
		at    time.Duration
		class string
		waits map[string]float64
	}{
		{"it computes", func(p *phone) { p.run(0, ui, 905, begins, waiting) }, meant, run.SlowFrames, map[string]float64{"main running": 97, "RenderThread running": 3}},
		{"it waits for an answer", func(p *phone) {
			p.run(0, ui, 905, 910, asleep)
			p.call(70, ui, peerBinder, 910, 910, 990)
			p.run(2, peerBinder, 910, 990, asleep)
			p.wake(990, ui, peerBinder)
			p.run(0, ui, 990, begins, waiting)
		}, meant, run.SlowFrames, map[string]float64{"main running": 17, "binder:200_1 binder": 80, "RenderThread running": 3}},
		{"it has nothing to do in between", func(p *phone) {
			p.run(0, ui, 905, 950, asleep)
			p.wake(begins, ui, worker)
		}, begins, run.NormalFrames, map[string]float64{"main running": 4, "RenderThread running": 3}},
	} {
		p := newPhone()
		for n := range 14 { // one each 16 ms, the last at 908 ms
			p.print(700+16*float64(n), flinger, fmt.Sprintf("C|%d|VSYNC-app|%d", flinger, n%2))
		}
		c.first(p)
		p.run(0, ui, begins, begins+5, asleep)
		p.wake(begins+4, render, ui)
		p.run(1, render, begins+4, begins+7, asleep)
		p.older(begins, 5, 2)
		f := only(t, p.read(t))
		if f.At != c.at*time.Millisecond || f.Class != c.class || f.Deadline != 16*time.Millisecond {
			t.Errorf("%s: at %v, %s, deadline %v", c.name, f.At, f.Class, f.Deadline)
		}
		got := map[string]float64{}
		for _, s := range f.Path {
			got[s.Thread+" "+s.Kind] += float64(s.To-s.From) / 1e6
		}
		expect(t, c.name, got, c.waits)
	}
}

// TestAskedSinceTheLastFrame: a main thread that went from one frame to another without a pause was
// asked for the second one by the first vsync after the end of the first: that of 908 ms, and not
// that of 860 ms.
func TestAskedSinceTheLastFrame(t *testing.T) {
	t.Parallel()
	p := newPhone()
	for n := range 14 { // one each 16 ms, the last at 908 ms
		p.print(700+16*float64(n), flinger, fmt.Sprintf("C|%d|VSYNC-app|%d", flinger, n%2))
	}
	p.run(0, ui, 855, 1006, asleep)
	p.slice(ui, "Choreographer#doFrame", 860, 895)
	p.slice(ui, "traversal", 870, 890)
	p.slice(ui, "postponed work", 910, 950)
	p.wake(893, render, ui)
	p.run(1, render, 893, 897, asleep)
	p.slice(render, "DrawFrame", 893, 897)
	p.wake(1005, render, ui)
	p.run(1, render, 1005, 1008, asleep)
	p.older(1001, 5, 2)
	trace := p.read(t)
	if len(trace.Frames) != 2 || trace.Frames[1].At != 908*time.Millisecond {
		t.Errorf("%d frames, the last one meant for %v, want 908 ms", len(trace.Frames), trace.Frames[len(trace.Frames)-1].At)
	}
}
