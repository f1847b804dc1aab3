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
		s.walk(func(_, _ int, e Entry) bool { return yield(e) })
	}
}

// walk goes through the entries backwards, each with the places of its first and its last slot.
func (s Snapshot) walk(each func(from, to int, e Entry) bool) {
	later := s.Reference
	for at := len(s.Slots) - 1; at >= 0; at-- {
		slot, to := s.Slots[at], at
		now := before(later, uint32(slot>>32))
		e := Entry{Ticks: now, Uncertain: at < s.Uncertain}
		switch tag := slot & (wrap - 1); {
		case tag == tagExit:
			e.Action = art.Exit
		case tag == tagLeft:
			e.Action = art.Unroll
		case tag == tagWide && s.Mode == Mode64:
			if at--; at < 0 {
				return // the slot with its method is overwritten
			}
			e.Method = s.Slots[at]
		default:
			e.Method = tag
		}
		if !each(at, to, e) {
			return
		}
		later = now
	}
}

// before is the newest time up to later whose lower half is given.
func before(later uint64, low uint32) uint64 {
	now := later&^(wrap-1) | uint64(low)
	if now > later {
		now -= wrap
	}
	return now
}

// Entries returns the entries, the oldest first. Where they begin is found backwards before, and
// kept in a bit a slot.
func (s Snapshot) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		wide := make([]uint64, len(s.Slots)/64+1) // a bit for each slot that holds a method alone
		first, now := len(s.Slots), uint64(0)
		s.walk(func(from, to int, e Entry) bool {
			if from != to {
				wide[from/64] |= 1 << (from % 64)
			}
			first, now = from, e.Ticks
			return true
		})
		for at := first; at < len(s.Slots); at++ {
			method, alone := s.Slots[at], wide[at/64]>>(at%64)&1 != 0
			if alone {
				at++
			}
			now = after(now, uint32(s.Slots[at]>>32))
			e := Entry{Ticks: now, Uncertain: at < s.Uncertain}
			switch tag := s.Slots[at] & (wrap - 1); {
			case alone:
				e.Method = method
			case tag == tagExit:
				e.Action = art.Exit
			case tag == tagLeft:
				e.Action = art.Unroll
			default:
				e.Method = tag
			}
			if !yield(e) {
				return
			}
		}
	}
}

// after is the oldest time from earlier on whose lower half is given.
func after(earlier uint64, low uint32) uint64 {
	now := earlier&^(wrap-1) | uint64(low)
	if now < earlier {
		now += wrap
	}
	return now
}
