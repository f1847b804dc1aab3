package framesource

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
)

// Which window's first frame a start is compared with, in ms: it was to be done between 900 and
// 1000, after 100.
func TestNearestWindow(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	first := func(at, took time.Duration) jank.Frame {
		return jank.Frame{At: at * ms, Took: took * ms, First: true}
	}
	dropped := jank.Frame{At: 950 * ms, Took: jank.Unknown, First: true}
	for name, c := range map[string]struct {
		frames    []jank.Frame
		done, off time.Duration
		ok        bool
	}{
		"none":                                  {nil, 0, 0, false},
		"in time":                               {[]jank.Frame{first(800, 150)}, 950, 0, true},
		"too early":                             {[]jank.Frame{first(300, 150)}, 450, 450, true},
		"too late, and it began before":         {[]jank.Frame{first(850, 1150)}, 2000, 1000, true},
		"an activity that leads to another":     {[]jank.Frame{first(300, 20), first(880, 30), first(2000, 20)}, 910, 0, true},
		"the nearest":                           {[]jank.Frame{first(300, 20), first(1080, 20)}, 1100, 100, true},
		"a window from before the start":        {[]jank.Frame{first(60, 20)}, 0, 0, false},
		"one of which the end is not told":      {[]jank.Frame{dropped}, 950, 0, true},
		"what a window draws later is no start": {[]jank.Frame{first(300, 20), {At: 900 * ms, Took: 20 * ms}}, 320, 580, true},
	} {
		s := &Sampler{Frames: c.frames}
		done, off, ok := s.NearestWindow(100*ms, 900*ms, 1000*ms)
		if done != c.done*ms || off != c.off*ms || ok != c.ok {
			t.Errorf("%s: done at %v, %v off, %v", name, done, off, ok)
		}
	}
}
