package art

// Sizes of low-overhead dumps (trace_profile.cc).
const (
	ringSize   = 2048              // kAlwaysOnTraceBufSize: entries of a thread's ring
	dumpBuffer = ringSize * 8 * 10 // kBufSizeForEncodedData: bytes of a block at most
	blockHead  = 12                // kAlwaysOnTraceHeaderSize
)

// headless reads a low-overhead dump (`am profile lowoverhead`), which has no header: blocks of
// entries, then threads and methods. Whether it is of all calls or of long ones is told from the
// first block: one of long calls has its size at byte 8, where one of all calls has whatever was
// in memory.
func (d *decoder) headless() {
	d.source.lookAhead(2 * dumpBuffer)
	v := &blocks{decoder: d, dialect: inBit}
	switch long, all := v.fits(); {
	case long && !all:
		d.t.Format = LongOnes
		v.read()
	case all && !long:
		d.t.Format, d.t.Clock = AllCalls, NoClock
		v.allCalls = true
		v.read()
		v.warnings.Counted(0, v.wrapped,
			"the ring of %d thread was full: where its oldest call stands is not known, so that its calls are in two parts in the wrong order",
			"the rings of %d threads were full: where their oldest calls stand is not known, so that their calls are in two parts in the wrong order")
	case long && all:
		d.warn("the first entries can be of all calls and of long ones: they are not read")
	default:
		d.warn("the first entries are neither of all calls nor of long ones, or are cut: they are not read")
	}
}

// fits reports as what the first block that has entries can be read. Blocks of threads without
// entries fit both, unless they have a size.
func (v *blocks) fits() (long, all bool) {
	const mostEmpty = 1024 // of blocks that are passed over
	for at := 0; at < mostEmpty*blockHead; at += blockHead {
		head := v.source.peek(at + blockHead)
		if len(head) < at+blockHead || head[at] != entryBlock {
			return false, false
		}
		count, size := u24(head[at+5:]), u.Uint32(head[at+8:])
		if count == 0 && size == 0 {
			continue
		}
		long = size <= dumpBuffer && v.isLong(v.source.peek(at+blockHead+int(size)), at+blockHead, count, int(size))
		all = count < ringSize && isAll(v.source.peek(at+blockHead+count*maxLEB128+1), at+blockHead, count)
		return long, all
	}
	return false, false
}

// isLong reports whether the entries at a place of the front are of long calls: they take the size,
// are as many as stated, and don't run back in time.
func (v *blocks) isLong(front []byte, at, count, size int) bool {
	if len(front) < at+size {
		return false
	}
	entries, used, _ := v.decode(inBit, sums{}, front[at:])
	return used == size && len(entries) == count && v.plausible(entries)
}

// isAll reports whether the entries at a place of the front are of all calls: there are as many as
// stated, their methods are aligned pointers, and another record follows them, or nothing.
func isAll(front []byte, at, count int) bool {
	r := ringEntries{cursor: cursor{b: front[at:]}}
	for range count {
		if id, exit := r.next(); r.cut || !exit && (id == 0 || id&actionBits != 0) {
			return false
		}
	}
	rest := front[at+r.at:]
	return len(rest) == 0 || rest[0] <= entryBlock
}

// ringEntries reads the entries of a block of all calls (TraceProfiler::DumpBuffer): an entry is
// the difference to the entry before it, which counts as 1 where it was an exit.
type ringEntries struct {
	cursor
	last uint64
}

// next returns the method that was entered, or that one was left.
func (r *ringEntries) next() (id uint64, exit bool) {
	r.last += uint64(r.signed())
	if r.last&1 != 0 {
		r.last = 1
		return 0, true
	}
	return r.last, false
}

// ring reads the block of one thread in a dump of all calls.
func (v *blocks) ring() bool {
	tid, count, _, ok := v.entriesHead()
	if !ok {
		return false
	}
	if count >= ringSize {
		v.warn("a block of thread %d has %d entries, at most %d are in a ring: what follows is not read", tid, count, ringSize-1)
		return false
	}
	if count == ringSize-1 {
		v.wrapped++
	}
	r := ringEntries{cursor: cursor{b: v.source.peek(count * maxLEB128)}}
	entries := v.entries[:0]
	for range count {
		id, exit := r.next()
		if r.cut {
			v.cut("a block of entries")
			break
		}
		e := entry{id: id}
		if exit {
			e.action = Exit
		}
		entries = append(entries, e)
	}
	v.entries = entries
	v.emit(tid, entries)
	v.source.skip(r.at)
	return !r.cut
}
