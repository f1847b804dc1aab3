package rendering

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/sched"
)

// maxBusy is how many states of a main thread are looked at to find since when it was busy.
const maxBusy = 2_000

// asked is the vsync that a frame was meant for which only slices tell of: the first that came
// while the main thread was at something else. Choreographer begins a frame once the thread
// comes back to its queue of messages, and says no more than that it does (Choreographer.java,
// FrameDisplayEventReceiver.onVsync).
func (h *history) asked(d *drawing, vsyncs []time.Duration) time.Duration {
	const passesOn = time.Millisecond // from the vsync to the thread that is woken for it
	since := h.busySince(d.main, d.slices[0].at) - passesOn
	since = max(since, h.lastFrame(d.main, d.slices[0].at))
	if i, _ := slices.BinarySearch(vsyncs, since); i < len(vsyncs) && vsyncs[i] < d.At {
		return vsyncs[i]
	}
	return d.At
}

// meantFor has the frame begin at a vsync.
func (d *drawing) meantFor(at time.Duration) {
	d.At, d.Took = at, d.end-at
}

// lastFrame is when the frame of a thread ended that came before a time, 0 for none.
func (h *history) lastFrame(thread int32, at time.Duration) time.Duration {
	const near = 64 // slices that end since
	list := h.spanRows.of(thread)
	last := before(list, at, func(row int32) time.Duration { return h.spans[row].at })
	for i := last; i >= 0 && last-i < near; i-- {
		*h.work++
		for row := list[i]; row != none; row = h.spans[row].parent {
			if s := &h.spans[row]; strings.HasPrefix(s.name, doFrame) {
				return s.end()
			}
		}
	}
	return 0
}

// busySince is since when a thread had something to do without a pause, until a time at which it
// did. One that sleeps within a slice, or for an answer, has.
func (h *history) busySince(thread int32, at time.Duration) time.Duration {
	for range maxBusy {
		*h.work++
		s, _ := h.stateBefore(thread, at)
		if s == nil || !h.busy(thread, s, at) {
			return at
		}
		at = s.At
	}
	return at
}

// busy reports whether a thread in a state that lasts until a time has something to do.
func (h *history) busy(thread int32, s *sched.State, at time.Duration) bool {
	name := h.sched.Names[s.Name]
	return strings.HasPrefix(name, "R") || strings.HasPrefix(name, "D") || h.within(thread, at) != none || h.callAt(thread, at) != nil
}
