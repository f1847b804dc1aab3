package ring

import (
	"sync"
	"sync/atomic"
	"time"
)

// Handover lets one goroutine stop another that writes entries, with the last entry whole (section
// 6, Figure 4). The writer pays two loads an entry, and takes no lock where it writes.
//
// The writer calls On before an entry and Ended behind it; whoever saves calls Start and Stop. Only
// one may save at a time.
type Handover struct {
	start atomic.Uint64 // not 0: entries are written
	stop  atomic.Uint64 // 1: the writer shall stop; above: it has, with so many slots and 2
	// away and place are of a writer that does something else, and can't see stop for now: it was
	// in native code in the paper, and waits for input here.
	away       atomic.Bool
	place      uint64
	transition sync.Mutex // is held where the writer comes back, and where it is stopped meanwhile
}

// Start lets the writer write.
func (h *Handover) Start() {
	h.stop.Store(0)
	h.start.Store(1)
}

// On reports whether the writer shall write entries.
func (h *Handover) On() bool { return h.start.Load() != 0 }

// Ended ends an entry of the writer, and reports whether it was the last one for now. next is how
// far the writer is.
func (h *Handover) Ended(next uint64) bool {
	if h.stop.Load() == 0 {
		return false
	}
	h.end(next)
	return true
}

func (h *Handover) end(next uint64) {
	h.stop.Store(next + 2)
	h.start.Store(0)
}

// Leave notes that the writer will write nothing until it calls Return.
func (h *Handover) Leave(next uint64) {
	h.place = next
	h.away.Store(true)
}

// Return notes that the writer is back. It waits for a Stop that is under way.
func (h *Handover) Return() {
	h.transition.Lock()
	h.away.Store(false)
	h.transition.Unlock()
}

// poll is how often Stop looks whether the writer has stopped.
const poll = 20 * time.Microsecond

// Stop stops the writer, and returns how far it is. When it returns, all that the writer did
// before is visible, and the writer does no more until Start.
//
// Figure 4 waits for stop alone. The writer resets start after it: a Start between the two would be
// undone, and nothing be written from then on. So both are waited for.
func (h *Handover) Stop() (next uint64) {
	h.stop.Store(1)
	for {
		if next, stopped := h.stopped(); stopped {
			return next
		}
		if h.away.Load() {
			h.stopAway()
			continue
		}
		time.Sleep(poll)
	}
}

// stopped reports whether the writer has stopped, and how far it is.
func (h *Handover) stopped() (next uint64, stopped bool) {
	at := h.stop.Load()
	return at - 2, at > 1 && h.start.Load() == 0
}

// stopAway stops a writer that is away. It may have come back before the lock was there, so that
// this is looked at again; the paper's authors debugged that for weeks.
func (h *Handover) stopAway() {
	h.transition.Lock()
	defer h.transition.Unlock()
	if h.away.Load() && h.stop.Load() == 1 {
		h.end(h.place)
	}
}
