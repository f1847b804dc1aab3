package ring

import (
	"slices"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/art"
)

// batch is how many entries are timed together. A batch during which the machine did something
// else does not move the median.
const batch = 1 << 16

// medianOf times batches of what write does, and reports the median for one entry.
func medianOf(b *testing.B, write func(from uint64)) {
	var took []time.Duration
	for i := 0; i < b.N; i += batch {
		begun := time.Now()
		write(uint64(i))
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/batch, "ns/op")
}

// BenchmarkEntry is the entry of a method or its exit, with the checks of section 6, in a ring of
// the paper's 32 MiB.
func BenchmarkEntry(b *testing.B) {
	r := New(32<<20, Mode64)
	var h Handover
	h.Start()
	medianOf(b, func(from uint64) {
		for i := from; i < from+batch; i += 2 {
			if h.On() {
				r.Enter(i, FirstMethod+uint32(i%4096))
				h.Ended(r.next)
			}
			if h.On() {
				r.Exit(i, art.Exit)
				h.Ended(r.next)
			}
		}
	})
}

// BenchmarkAppend appends as many slots to a slice of as many bytes, which begins again where it is
// full.
func BenchmarkAppend(b *testing.B) {
	slots := make([]uint64, 0, 4<<20)
	medianOf(b, func(from uint64) {
		for i := from; i < from+batch; i++ {
			if len(slots) == cap(slots) {
				slots = slots[:0]
			}
			slots = append(slots, i<<32|i%4096)
		}
	})
}
