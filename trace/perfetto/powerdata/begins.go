package powerdata

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// begins is when the records of the CPUs begin. Each CPU has a buffer of its own: in
// a trace whose buffer went round, their records begin at different times, and times
// on the CPUs are comparable from the latest on (ftrace_event_bundle.proto,
// previous_bundle_end_timestamp; since Android 15's Perfetto, v44).
type begins struct {
	latest int64 // ns of the bundles' clock; 0 where not told
	told   bool
	// early are the first turns on a CPU: what of them was before the latest beginning
	// is known only when every CPU was seen.
	early  []turn
	missed int64 // the earliest beginning of a turn that is not among them
	full   bool
}

// turn is a time that a thread had on a CPU, in ns of the bundles' clock.
type turn struct {
	tid      int32
	from, to int64
}

// maxEarly is some seconds of a busy phone's switches.
const maxEarly = 1 << 18

// at notes when the record of one more CPU begins; 0 where that is not told.
func (b *begins) at(ns uint64) {
	if ns > 0 && ns <= packets.MaxTime {
		b.latest, b.told = max(b.latest, int64(ns)), true
	}
}

// took notes a turn.
func (b *begins) took(t turn) {
	switch {
	case !b.told:
	case len(b.early) < maxEarly:
		b.early = append(b.early, t)
	case !b.full || t.from < b.missed:
		b.full, b.missed = true, t.from
	}
}

// uneven reports that turns before the latest beginning were not noted.
func (k *kernel) uneven() bool { return k.begins.full && k.begins.missed < k.begins.latest }

// dropUneven takes the time before the latest beginning off.
func (k *kernel) dropUneven() {
	for _, t := range k.begins.early {
		if r := k.ran[t.tid]; r != nil && t.from < k.begins.latest {
			r.cpu -= time.Duration(min(t.to, k.begins.latest) - t.from)
		}
	}
}
