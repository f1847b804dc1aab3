package powerdata

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// begins is when the records of the CPUs begin. Each CPU has a buffer of its own: in a trace whose
// ring buffers wrapped, their records begin at different times, and times on the CPUs are
// comparable from the latest on (ftrace_event_bundle.proto, previous_bundle_end_timestamp; since
// Android 15's Perfetto, v44).
type begins struct {
	latest int64 // ns of the bundles' clock; 0 if unknown
	known  bool
	// early are the first turns on a CPU: the part before the latest beginning is known only when
	// every CPU has been seen.
	early  []turn
	missed int64 // the earliest beginning of a turn that is not among them
	full   bool
}

// turn is a thread's turn on a CPU, in ns of the bundles' clock.
type turn struct {
	tid      int32
	from, to int64
}

// maxEarly is some seconds of a busy phone's switches.
const maxEarly = 1 << 18

// at records when the record of another CPU begins; 0 if unknown.
func (b *begins) at(ns uint64) {
	if ns > 0 && ns <= packets.MaxTime {
		b.latest, b.known = max(b.latest, int64(ns)), true
	}
}

// took records a turn.
func (b *begins) took(t turn) {
	switch {
	case !b.known:
	case len(b.early) < maxEarly:
		b.early = append(b.early, t)
	case !b.full || t.from < b.missed:
		b.full, b.missed = true, t.from
	}
}

// uneven reports whether turns before the latest beginning were not recorded.
func (k *kernel) uneven() bool { return k.begins.full && k.begins.missed < k.begins.latest }

// dropUneven subtracts the time before the latest beginning.
func (k *kernel) dropUneven() {
	for _, t := range k.begins.early {
		if r := k.ran[t.tid]; r != nil && t.from < k.begins.latest {
			r.cpu -= time.Duration(min(t.to, k.begins.latest) - t.from)
		}
	}
}
