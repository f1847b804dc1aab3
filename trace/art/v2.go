package art

import (
	"math/bits"
	"strings"
	"time"
)

// Kinds of records of version 2 (kThreadInfoHeaderV2 and so on).
const (
	threadInfo = 0
	methodInfo = 1
	entryBlock = 2
	summaryV2  = 3
)

// dialect is how the entries of a block of version 2 are written. The file does not name it.
type dialect int

const (
	undecided dialect = iota
	// inMethod: the action is in the method's id, which each entry has; times are unsigned
	// differences (trace.cc).
	inMethod
	// inTime: the action is in two low bits of the time; entries alone have a method
	// (Perfetto's art_method_v2_tokenizer.cc).
	inTime
	// inBit: an exit is the lowest bit of the time; entries alone have a method
	// (trace_profile.cc, long-running methods).
	inBit
)

// entry is an event as a block has it.
type entry struct {
	action Action
	id     uint64 // the method's; 0 where the entry has none
	time   uint64 // in ticks or ns
	cpu    uint64 // ns; 0 of one clock
}

// version2 reads blocks of entries, with methods and threads between them.
func (d *decoder) version2(dual bool) {
	if dual {
		d.t.Clock = Dual
	}
	// ART leaves the rest of the header 0; Perfetto's reader expects the start of a counter and its
	// frequency.
	v := blocks{decoder: d, dual: dual}
	if head, ok := v.fileHead(); ok {
		if v.frequency = u.Uint64(head[22:]); v.frequency != 0 {
			v.dialect = inTime
		}
		v.read()
	}
}

// longRunning reads version 6: dumps of long-running methods in a packet of Perfetto. Times are
// on CLOCK_MONOTONIC.
func (d *decoder) longRunning() {
	v := blocks{decoder: d, dialect: inBit, fixedSummary: true}
	if _, ok := v.fileHead(); ok {
		v.origin = d.t.Begin
		v.read()
	}
}

// blocks reads the blocks of a file.
type blocks struct {
	*decoder
	dialect      dialect
	dual         bool
	frequency    uint64        // of the counter in Hz, 0 where times are nanoseconds
	fixedSummary bool          // version 6: 16 bytes, before the blocks
	origin       time.Duration // what the entries' times are before Trace.Begin
	entries      []entry
	last         sums // of the block before
	allCalls     bool // a dump of all calls
	wrapped      int  // rings of all calls that were full
}

func (v *blocks) fileHead() ([]byte, bool) {
	head, ok := v.need(32, "the header")
	if ok {
		v.t.Begin = times(int64(u.Uint64(head[6:])), time.Nanosecond)
	}
	return head, ok
}

// sums are what the differences of a block's entries have come to.
type sums struct {
	tid   uint32
	time  uint64 // with the action, in dialects that have it there
	value uint64 // the method, with the action in the dialect that has it there
	cpu   uint64
}

// read reads records to the end of the file.
func (v *blocks) read() {
	for more := true; more; {
		kind := v.source.peek(1)
		if len(kind) == 0 {
			if v.dialect != inBit {
				v.cut("the records, before their summary")
			}
			return
		}
		switch {
		case kind[0] == threadInfo:
			more = v.threadInfo()
		case kind[0] == methodInfo:
			more = v.methodInfo()
		case kind[0] == entryBlock && v.allCalls:
			more = v.ring()
		case kind[0] == entryBlock:
			more = v.block()
		case kind[0] == summaryV2 && v.fixedSummary:
			_, more = v.need(1+16, "the summary")
		case kind[0] == summaryV2 && !v.allCalls:
			v.summary(1 + 2)
			return
		default:
			v.warn("a record of kind %d, want 0 to 3: what follows is not read", kind[0])
			return
		}
	}
}

func (v *blocks) threadInfo() bool {
	b, ok := v.need(5, "a thread")
	if !ok {
		return false
	}
	tid := u.Uint32(b[1:])
	name, ok := v.counted()
	if ok {
		v.thread(tid, name)
	}
	return ok
}

func (v *blocks) methodInfo() bool {
	b, ok := v.need(9, "a method")
	if !ok {
		return false
	}
	id := u.Uint64(b[1:])
	line, ok := v.counted()
	if ok {
		v.name(id, strings.TrimRight(line, "\n"))
	}
	return ok
}

// entriesHead reads what begins a block: its thread, how many entries it has, and their bytes.
func (v *blocks) entriesHead() (tid uint32, count int, size uint32, ok bool) {
	head, ok := v.need(blockHead, "a block of entries")
	if !ok {
		return 0, 0, 0, false
	}
	return u.Uint32(head[1:]), u24(head[5:]), u.Uint32(head[8:]), true
}

// block reads a block of entries.
func (v *blocks) block() bool {
	tid, count, size, ok := v.entriesHead()
	if !ok {
		return false
	}
	if size > maxBlock {
		v.warn("a block of entries has %d bytes, at most %d are read: what follows is not", size, maxBlock)
		return false
	}
	body, whole := v.source.block(int(size))
	if v.dialect == undecided && !v.decide(body, count, whole) {
		return false
	}
	from := sums{tid: tid}
	entries, used, to := v.decode(v.dialect, from, body)
	if v.dialect == inMethod && v.last.tid == tid && !v.plausible(entries) {
		// ART writes what does not fit its buffer as another block, and goes on with the
		// differences (TraceWriter::FlushEntriesFormatV2).
		if more, _, _ := v.decode(v.dialect, v.last, body); v.plausible(more) {
			from = v.last
		}
		entries, used, to = v.decode(v.dialect, from, body)
	}
	v.last = to
	if whole && used != len(body) {
		v.warn("the entries of a block of thread %d end after %d of its %d bytes: the rest is left out", tid, used, len(body))
	}
	v.emit(tid, entries)
	if !whole {
		v.cut("a block of entries")
	}
	return whole
}

// decide finds the only dialect by which the first block can be read: its entries end with the
// block and are as many as it states, methods are aligned and known, and times don't run back.
// Where several are possible, or none, nothing is guessed.
func (v *blocks) decide(body []byte, count int, whole bool) bool {
	if !whole {
		v.cut("the first block of entries, before it shows how entries are written")
		return false
	}
	if len(body) == 0 {
		return true
	}
	var possible []dialect
	for _, dialect := range []dialect{inMethod, inTime, inBit} {
		entries, used, _ := v.decode(dialect, sums{}, body)
		if used == len(body) && len(entries) == count && v.plausible(entries) {
			possible = append(possible, dialect)
		}
	}
	if len(possible) != 1 {
		v.warn("entries of version 2 are written in three ways, and %d of them fit the first block: it is not read", len(possible))
		return false
	}
	v.dialect = possible[0]
	return true
}

// plausible reports whether entries can be a thread's.
func (v *blocks) plausible(entries []entry) bool {
	last := uint64(0)
	for _, e := range entries {
		if e.action > Unroll || e.time < last {
			return false
		}
		last = e.time
		if e.id == 0 {
			continue
		}
		place, known := v.places[e.id]
		if e.id&actionBits != 0 || len(v.places) > 0 && (!known || !v.named[place]) {
			return false
		}
	}
	return true
}

// decode reads the entries of a body, whose differences begin at from; used is how many of its
// bytes they have, and to what the differences come to.
func (v *blocks) decode(dialect dialect, from sums, body []byte) (entries []entry, used int, to sums) {
	entries, to = v.entries[:0], from
	for used < len(body) {
		now := to
		e, took := v.entry(dialect, &now, body[used:])
		if took == 0 {
			break
		}
		used, to = used+took, now
		entries = append(entries, e)
	}
	v.entries = entries[:0]
	return entries, used, to
}

// entry reads one entry; took is how many bytes it has, 0 where it is cut.
func (v *blocks) entry(dialect dialect, s *sums, b []byte) (e entry, took int) {
	c := cursor{b: b}
	if dialect == inMethod {
		s.value += uint64(c.signed())
		s.time += c.unsigned()
		if v.dual {
			s.cpu += c.unsigned()
		}
		return entry{Action(s.value & actionBits), s.value &^ actionBits, s.time, s.cpu}, c.taken()
	}
	low := 2
	if dialect == inBit {
		low = 1
	}
	s.time += uint64(c.signed())
	if v.dual && dialect == inTime {
		s.cpu += uint64(c.signed())
	}
	e = entry{action: Action(s.time & (uint64(1)<<low - 1)), time: s.time >> low, cpu: s.cpu}
	if e.action == Enter {
		s.value += uint64(c.signed())
		e.id = s.value
	}
	return e, c.taken()
}

// cursor reads integers one after the other.
type cursor struct {
	b   []byte
	at  int
	cut bool
}

func (c *cursor) signed() int64 {
	n, took := sleb128(c.b[c.at:])
	c.cut = c.cut || took == 0
	c.at += took
	return n
}

func (c *cursor) unsigned() uint64 {
	n, took := uleb128(c.b[c.at:])
	c.cut = c.cut || took == 0
	c.at += took
	return n
}

// taken is how many bytes were read, 0 where one of the integers is cut.
func (c *cursor) taken() int {
	if c.cut {
		return 0
	}
	return c.at
}

// emit hands the entries of a block on.
func (v *blocks) emit(tid uint32, entries []entry) {
	if v.clockOf(tid) == nil {
		v.noThread += len(entries)
		return
	}
	for _, e := range entries {
		out := Event{Thread: tid, Method: -1, Action: min(e.action, Unroll), Time: v.time(e.time), CPU: times(int64(e.cpu), time.Nanosecond)}
		if e.id != 0 {
			out.Method = v.method(e.id)
		}
		v.event(out)
	}
}

// time is an entry's time since the trace began.
func (v *blocks) time(at uint64) time.Duration {
	if v.frequency > 0 {
		high, low := bits.Mul64(at, uint64(time.Second))
		if high >= v.frequency {
			return times(-1, time.Nanosecond)
		}
		at, _ = bits.Div64(high, low, v.frequency)
	}
	return times(int64(at), time.Nanosecond) - v.origin
}
