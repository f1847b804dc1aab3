package framesource

import (
	"time"

	"github.com/apkgate/apkgate/trace/jank"
)

// NearestWindow returns when the first frame of a window was done, on CLOCK_MONOTONIC, by the frame
// timeline, and how far that is from the interval from..to: of the windows that were drawn after
// since, the nearest one. It returns false if there is none, as in apps that render by themselves.
//
// Any window counts: an activity that leads to another one may have drawn too, and the start ends
// with the last.
func (s *Sampler) NearestWindow(since, from, to time.Duration) (done, off time.Duration, ok bool) {
	for _, f := range s.Frames {
		end := f.At
		if f.Took != jank.Unknown {
			end += f.Took
		}
		if !f.First || end < since {
			continue
		}
		if d := max(from-end, end-to, 0); !ok || d < off {
			done, off, ok = end, d, true
		}
	}
	return done, off, ok
}
