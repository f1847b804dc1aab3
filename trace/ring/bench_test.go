package ring

import (
	"testing"

	"github.com/apkgate/apkgate/trace/art"
)

// appended is where BenchmarkAppend ends up, so that it isn't optimized away.
var appended []uint64

// BenchmarkEntry is an entry of a method and its exit, each with the checks of section 6, in the ring
// of the paper's size; ns/op is of one of the two.
func BenchmarkEntry(b *testing.B) {
	r := New(32<<20, Mode64)
	var h Handover
	h.Start()
	for i := range uint64(b.N) {
		if h.On() {
			if i%2 == 0 {
				r.Enter(i, FirstMethod+uint32(i%4096))
			} else {
				r.Exit(i, art.Exit)
			}
			h.Ended(r.next)
		}
	}
}

// BenchmarkAppend appends the same number of slots to a slice of that size, and begins again where
// it is full.
func BenchmarkAppend(b *testing.B) {
	slots := make([]uint64, 0, 4<<20)
	for i := range uint64(b.N) {
		if len(slots) == cap(slots) {
			slots = slots[:0]
		}
		slots = append(slots, i<<32|i%4096)
	}
	appended = slots
}

// BenchmarkDecode decodes a ring of the paper's size; ns/op is of all of its 4,194,304 entries.
func BenchmarkDecode(b *testing.B) {
	r := New(32<<20, Mode64)
	for i := range uint64(4 << 20) {
		r.Enter(i, FirstMethod+uint32(i%4096))
	}
	s := r.Snapshot(r.last)
	for b.Loop() {
		n := 0
		for range s.Entries() {
			n++
		}
		if n != len(s.Slots) {
			b.Fatal(n)
		}
	}
}
