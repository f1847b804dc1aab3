package ring

import (
	"iter"

	"github.com/apkgate/apkgate/trace/art"
)

// Snapshot is a copy of a ring, with what its entries are decoded by.
type Snapshot struct {
	Slots []uint64 // the oldest first; the first may be the second half of an entry
	Mode  Mode
	// Reference is the whole time when the ring was saved, in ticks: less than 2^32 after the
	// newest entry.
	Reference uint64
	// Uncertain is how many of the first slots are of before a gap of 2^32 ticks or more, so that
	// their times are too late by a multiple of 2^32 ticks. Nothing in the slots shows a gap: it is
	// the only error that the encoding makes (section 5.1), and the writer notes it.
	Uncertain int
	Refused   int // methods that have no encoding, and are missing
}

// Snapshot copies the ring. reference is the time now, in ticks.
func (r *Ring) Snapshot(reference uint64) Snapshot {
	from, size := r.oldest(), uint64(len(r.slots))
	s := Snapshot{Slots: make([]uint64, r.next-from), Mode: r.mode, Reference: max(reference, r.last), Refused: r.refused}
	copied := copy(s.Slots, r.slots[from%size:min(from%size+r.next-from, size)])
	copy(s.Slots[copied:], r.slots)
	switch {
	case s.Reference-r.last >= wrap:
		s.Uncertain = len(s.Slots)
	case r.gap > from:
		s.Uncertain = int(r.gap - from)
	}
	return s
}

// Entry is what a thread did.
type Entry struct {
	Ticks  uint64
	Method uint64 // 0 of exits, which end the innermost method
	Action art.Action
	// Uncertain reports that the time is too late by an unknown multiple of 2^32 ticks.
	Uncertain bool
}

// Backwards returns the entries, the newest first: only so is it certain where each begins. The
// upper half of each time follows from the entry after it (Figure 3).
func (s Snapshot) Backwards() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		s.walk(func(_ int, _ bool, e Entry) bool { return yield(e) })
	}
}

// walk goes through the entries backwards, each with the place of its last slot, and whether the
// slot before has its method.
func (s Snapshot) walk(each func(at int, wide bool, e Entry) bool) {
	later := s.Reference
	for at := len(s.Slots) - 1; at >= 0; at-- {
		last, wide := at, s.Mode == Mode64 && s.Slots[at]&(wrap-1) == tagWide
		if wide {
			if at--; at < 0 {
				return // the slot with its method is overwritten
			}
		}
		e := s.entry(last, wide)
		if e.Ticks |= later &^ (wrap - 1); e.Ticks > later {
			e.Ticks -= wrap
		}
		if !each(last, wide, e) {
			return
		}
		later = e.Ticks
	}
}

// entry decodes the entry whose last slot is at a place, with the lower half of its time.
func (s Snapshot) entry(at int, wide bool) Entry {
	tag := s.Slots[at] & (wrap - 1)
	e := Entry{Ticks: s.Slots[at] >> 32, Uncertain: at < s.Uncertain}
	switch {
	case wide:
		e.Method = s.Slots[at-1]
	case tag == tagExit, tag == tagLeft:
		e.Action = art.Exit + art.Action(tag/tagLeft)
	default:
		e.Method = tag
	}
	return e
}

// Entries returns the entries, the oldest first. Where they begin is found backwards before, and
// kept in a bit a slot.
func (s Snapshot) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		last := make([]uint64, len(s.Slots)/64+1) // a bit for each slot in which an entry ends
		first, earlier := len(s.Slots), uint64(0)
		s.walk(func(at int, wide bool, e Entry) bool {
			last[at/64] |= 1 << (at % 64)
			if first, earlier = at, e.Ticks; wide {
				first--
			}
			return true
		})
		for at := first; at < len(s.Slots); at++ {
			wide := last[at/64]>>(at%64)&1 == 0
			if wide {
				at++
			}
			e := s.entry(at, wide)
			if e.Ticks |= earlier &^ (wrap - 1); e.Ticks < earlier {
				e.Ticks += wrap
			}
			if !yield(e) {
				return
			}
			earlier = e.Ticks
		}
	}
}
