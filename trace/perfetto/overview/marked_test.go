package overview

import (
	"testing"

	sections "github.com/apkgate/apkgate/trace/perfetto/slices"
)

// However long a trace is, a start keeps a few of its frames, and what is no start keeps none.
func TestFewMarksAreKept(t *testing.T) {
	t.Parallel()
	m, main, render := newMarked(), &sections.Track{Thread: 1}, &sections.Track{Thread: 2}
	frames := func() (kept int) {
		for range 100_000 {
			for _, one := range []bool{m.keeps("Choreographer#doFrame 7", main), m.keeps("measure", main), m.keeps("DrawFrames 7", render)} {
				if one {
					kept++
				}
			}
		}
		return kept
	}
	if n := frames(); n != 0 {
		t.Errorf("%d slices of frames before any start are kept, want 0", n)
	}
	for range 2 {
		if !m.keeps("activityStart", main) || !m.keeps("activityResume", main) {
			t.Error("the start of an activity is not kept")
		}
		if n := frames(); n < 2 || n > firsts+firsts*firsts {
			t.Errorf("%d slices of frames after a start are kept, want the first frame and its draw, and at most %d", n, firsts+firsts*firsts)
		}
	}
}
