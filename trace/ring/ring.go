// Package ring keeps the newest calls of a long method trace in memory, in the encoding of Hubble
// (OSDI 2022, section 5.1): slots of eight bytes, written in a ring for each thread, of which the
// oldest are overwritten.
//
// It owns the encoding (Ring, Snapshot), the hand-over between who writes and who saves (Handover,
// section 6), and Keep, which puts the events of a stream into rings of bounded memory and writes
// what is in them as a method trace of ART when something went wrong.
//
// It saves memory and disk of the computer that reads the stream. It saves the app nothing: the app
// has paid for each event before it arrives here (3,366 ns on a Pixel 1, Table 2 of the paper,
// compared with Hubble's 0.65 ns on the device).
package ring

import "github.com/apkgate/apkgate/trace/art"

// Mode is that of the CPU that ran the methods: how wide a pointer to a method is.
type Mode uint8

// The modes (section 5.1.1 and 5.1.2).
const (
	Mode64 Mode = iota // a method of more than 32 bits takes two slots
	Mode32             // each entry is one slot
)

// SlotBytes is the size of a slot. Every entry is aligned to it (section 5.1.4).
const SlotBytes = 8

// What the lower half of an entry's last slot holds in place of a method; its upper half is the
// lower 32 bits of the time. Left is not in the paper, which has one kind of exit: ART tells a
// method that an exception left from one that returned. It is no address of a method either.
const (
	tagExit = 0 // the innermost method returned
	tagWide = 1 // the slot before holds the method
	tagLeft = 2 // the innermost method was left by an exception
	// FirstMethod is the lowest number that a method may have.
	FirstMethod = 3
)

// wrap is how many ticks the 32 bits of a slot can tell apart.
const wrap = 1 << 32

// Ring is the newest entries of one thread. It is not for several goroutines at a time; Handover
// lets one write and another save.
type Ring struct {
	slots []uint64 // a power of two of them
	next  uint64   // slots written since the ring began
	last  uint64   // ticks of the newest entry
	mode  Mode
	// gap is where the newest entry begins that came 2^32 ticks or more after the one before, 0
	// for none.
	gap uint64
	// refused counts methods that have no encoding.
	refused int
}

// New returns an empty ring of at most so many bytes: the largest power of two of slots, 2 at least.
func New(bytes int, mode Mode) *Ring {
	slots := 2
	for slots*2*SlotBytes <= bytes {
		slots *= 2
	}
	return &Ring{slots: make([]uint64, slots), mode: mode}
}

// Enter notes that the thread entered a method, which is FirstMethod or more. A time before the
// last one is raised to it: it would be decoded as 2^32 ticks earlier.
func (r *Ring) Enter(ticks uint64, method uint32) {
	if method < FirstMethod {
		r.refused++
		return
	}
	r.put(r.tick(ticks)<<32 | uint64(method))
}

// EnterWide is Enter for a method of any width.
func (r *Ring) EnterWide(ticks, method uint64) {
	switch {
	case method < wrap:
		r.Enter(ticks, uint32(method))
	case r.mode == Mode32:
		r.refused++
	default:
		ticks = r.tick(ticks)
		r.put(method)
		r.put(ticks<<32 | tagWide)
	}
}

// Exit notes that the innermost method ended: it returned, or an exception left it.
func (r *Ring) Exit(ticks uint64, action art.Action) {
	// tagExit and tagLeft are twice the action's distance from Exit.
	r.put(r.tick(ticks)<<32 | uint64(action-art.Exit)*tagLeft)
}

// tick follows the time, and notes where it can't be recovered. Where entries are written, nothing
// but what the compiler inlines is called.
func (r *Ring) tick(ticks uint64) uint64 {
	ticks = max(ticks, r.last)
	if ticks-r.last >= wrap {
		r.gap = r.next
	}
	r.last = ticks
	return ticks
}

func (r *Ring) put(slot uint64) {
	r.slots[r.next&uint64(len(r.slots)-1)] = slot
	r.next++
}

// reset empties the ring for another thread.
func (r *Ring) reset() { *r = Ring{slots: r.slots, mode: r.mode} }

// oldest is where the oldest slot stands that is not overwritten.
func (r *Ring) oldest() uint64 { return r.next - min(r.next, uint64(len(r.slots))) }

// Bytes is how many bytes the ring's entries take.
func (r *Ring) Bytes() int { return int(r.next-r.oldest()) * SlotBytes }
