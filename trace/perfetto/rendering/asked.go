package rendering

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/sched"
)

// maxBusy limits the states of a main thread that are searched for the beginning of its busy
// period.
const maxBusy = 2_000

// asked returns the vsync that a frame was meant for if only slices show the frame: the first that
// came while the main thread was busy with something else. Choreographer begins a frame once the
// thread returns to its message queue, and reports nothing more (Choreographer.java,
// FrameDisplayEventReceiver.onVsync).
func (h *history) asked(d *drawing, vsyncs []time.Duration) time.Duration {
	const passesOn = time.Millisecond // from the vsync to the wake-up of the thread
	since := h.busySince(d.main, d.slices[0].at) - passesOn
	since = max(since, h.lastFrame(d.main, d.slices[0].at))
	if i, _ := slices.BinarySearch(vsyncs, since); i < len(vsyncs) && vsyncs[i] < d.At {
		return vsyncs[i]
	}
	return d.At
}

// meantFor sets the vsync at which the frame begins.
func (d *drawing) meantFor(at time.Duration) {
	d.At, d.Took = at, d.end-at
}

// lastFrame returns when a thread's last frame before a time ended, 0 for none.
func (h *history) lastFrame(thread int32, at time.Duration) time.Duration {
	const near = 64 // slices that ended since
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

// busySince returns since when a thread had been busy without a pause at a time. One that sleeps
// within a slice, or for a reply, counts as busy.
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

// busy reports whether a thread in a state that lasts until a time has work to do.
func (h *history) busy(thread int32, s *sched.State, at time.Duration) bool {
	name := h.sched.Names[s.Name]
	return strings.HasPrefix(name, "R") || strings.HasPrefix(name, "D") || h.within(thread, at) != none || h.callAt(thread, at) != nil
}
