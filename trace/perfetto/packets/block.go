package packets

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// row is an event of a bundle, or a row of its columns.
type row struct {
	at   int64 // ns of the trace's own clock
	tid  int32 // the running thread; in columns, the thread concerned
	prio int32
	// from and size locate the event's data in the block. For a row of columns they are the index
	// of the name, or noPlace, and the state or the flags.
	from, size uint32
	kind       int16 // a field of FtraceEvent, 0 for the writer
	compact    bool
	early      bool
}

const (
	rowSize = 32      // bytes of a row
	noPlace = 1 << 31 // of a name
)

// block is the wanted content of a bundle.
type block struct {
	seq   *Sequence
	cpu   int32
	data  []byte
	names []string
	rows  [lanesOfCPU][]row
	left  int // rows not delivered yet
}

// The lanes of a CPU, in their order for equal times: as Perfetto's trace processor reads a bundle
// (FtraceTokenizer::TokenizeFtraceBundle).
const (
	switches = iota
	wakings
	events
	lanesOfCPU
)

// lane is rows of one kind on a CPU, as runs of which each begins after the one before it, unless
// they are mixed.
type lane struct {
	runs, left []run
	mixed      bool
}

// run is rows of one bundle in chronological order.
type run struct {
	of   *block
	rows []row
}

// block returns an empty block.
func (o *order) block(seq *Sequence, cpu int32) *block {
	if n := len(o.free); n > 0 {
		b := o.free[n-1]
		o.free = o.free[:n-1]
		b.seq, b.cpu = seq, cpu
		return b
	}
	return &block{seq: seq, cpu: cpu}
}

// release recycles a block.
func (o *order) release(b *block) {
	const most, large = 4_096, 1 << 20 // blocks, and bytes of one
	if len(o.free) >= most || cap(b.data) > large {
		return
	}
	b.seq, b.data = nil, b.data[:0]
	clear(b.names)
	b.names = b.names[:0]
	for i := range b.rows {
		b.rows[i] = b.rows[i][:0]
	}
	o.free = append(o.free, b)
}

// put adds the rows of a block, and delivers the earliest if there are too many.
func (o *order) put(b *block, give func(*Event)) {
	for kind, rows := range b.rows {
		if len(rows) == 0 {
			continue
		}
		if !slices.IsSortedFunc(rows, byTime) {
			slices.SortStableFunc(rows, byTime)
		}
		late, _ := slices.BinarySearchFunc(rows, o.done, func(r row, done int64) int { return cmp.Compare(r.at, done) })
		o.late += late
		if rows = rows[late:]; len(rows) == 0 {
			continue
		}
		number := int(b.cpu)*lanesOfCPU + kind
		for len(o.lanes) <= number {
			o.lanes = append(o.lanes, lane{})
		}
		l := &o.lanes[number]
		if n := len(l.runs); n > 0 {
			before := l.runs[n-1].rows
			l.mixed = l.mixed || before[len(before)-1].at > rows[0].at
		}
		l.runs = append(l.runs, run{b, rows})
		b.left += len(rows)
	}
	if b.left == 0 {
		o.release(b)
		return
	}
	o.waiting += b.left
	if o.held += len(b.data) + rowSize*b.left; o.held > window {
		o.give(o.waiting/2+1, give)
	}
}

func byTime(a, b row) int { return cmp.Compare(a.at, b.at) }

// row delivers the first row of a head's runs; it returns the time of the next, if there is one.
func (o *order) row(h *head, give func(*Event)) (int64, bool) {
	now := &h.runs[h.taken]
	r, b := &now.rows[0], now.of
	e := &o.event
	e.read = false
	e.At, e.CPU, e.TID, e.Kind, e.Early, e.Seq = time.Duration(r.at), b.cpu, r.tid, protowire.Number(r.kind), r.early, b.seq
	if r.compact {
		c := &o.compact
		*c = Compact{TID: r.tid, Prio: r.prio, State: int64(r.size), Flags: r.size}
		if r.from < uint32(len(b.names)) {
			c.Comm = b.names[r.from]
		}
		e.TID, e.Data, e.Compact = -1, nil, c
	} else {
		e.Data, e.Compact = b.data[r.from:r.from+r.size:r.from+r.size], nil
	}
	give(e)
	o.held -= rowSize
	now.rows = now.rows[1:]
	if b.left--; b.left == 0 {
		o.held -= len(b.data)
		o.release(b)
	}
	if len(now.rows) == 0 {
		if h.taken++; h.taken == len(h.runs) {
			return 0, false
		}
		now = &h.runs[h.taken]
	}
	return now.rows[0].at, true
}
