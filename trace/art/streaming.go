package art

import (
	"strings"
	"time"
)

// Codes of what stands between the records of a stream, behind a thread of 0 (kOpNewMethod,
// kOpNewThread, kOpTraceSummary).
const (
	opMethod  = 1
	opThread  = 2
	opSummary = 3
)

// binary reads a trace that begins with SLOW, by its version.
func (d *decoder) binary(version int) {
	d.t.Version = version
	switch version {
	case 0xf2, 0xf3:
		d.t.Format = Streaming
		d.streaming(version ^ 0xf0)
	case 4, 5, 0xf4, 0xf5:
		d.t.Format = V2
		d.version2(version&0xf == 5)
	case 0xf6:
		d.t.Format = LongOnes
		d.longRunning()
	default:
		d.warn("version %#x of the format is unknown, want 0xf2 to 0xf6, 4 or 5", version)
	}
}

// streaming reads records as they were written: the name of a method and of a thread comes
// before its first event, and a summary last, which alone names the clock. Records of version 3
// have both times, those of version 2 one, which is processor time where the summary says so.
func (d *decoder) streaming(version int) {
	head, ok := d.source.next(32)
	if !ok {
		d.cut("the header")
		return
	}
	d.t.Begin = times(int64(u.Uint64(head[8:])), time.Microsecond)
	size := 10
	if version == 3 {
		d.t.Clock = Dual
		if size, ok = d.recordSize(version, int(u.Uint16(head[16:]))); !ok {
			return
		}
	}
	for {
		b, ok := d.source.next(2)
		if !ok {
			d.cut("the records, before their summary")
			return
		}
		if tid := uint32(u.Uint16(b)); tid != 0 {
			if b, ok = d.source.next(size - 2); !ok {
				d.cut("a record")
				return
			}
			d.record(tid, b)
			continue
		}
		if more := d.op(); !more {
			return
		}
	}
}

// op reads what stands behind a thread of 0, and reports whether records follow.
func (d *decoder) op() bool {
	b, ok := d.source.next(1)
	if !ok {
		d.cut("a record")
		return false
	}
	switch b[0] {
	case opMethod:
		line, ok := d.counted()
		if ok {
			d.methodLine(strings.TrimRight(line, "\n"))
		}
		return ok
	case opThread:
		id, ok := d.source.next(2)
		if !ok {
			d.cut("a thread")
			return false
		}
		tid := uint32(u.Uint16(id))
		name, ok := d.counted()
		if ok {
			d.thread(tid, name)
		}
		return ok
	case opSummary:
		if _, ok := d.source.next(4); !ok {
			d.cut("the summary")
			return false
		}
		d.summary()
		return false
	}
	d.warn("the code %d is unknown, want 1 to 3: what follows is not read", b[0])
	return false
}

// counted reads text with its length of 16 bits before it.
func (d *decoder) counted() (string, bool) {
	b, ok := d.source.next(2)
	if ok {
		b, ok = d.source.next(int(u.Uint16(b)))
	}
	if !ok {
		d.cut("a name")
		return "", false
	}
	return string(b), true
}

// summary reads the sections that end a stream. Its methods and threads are those that were
// named before.
func (d *decoder) summary() {
	clock, version := d.t.Clock, d.t.Version
	if !d.header() {
		d.cut("the summary")
	}
	d.t.Version = version
	if clock == Dual && d.t.Clock != Dual {
		d.warn("the summary states the clock %s, and the records have two: they are taken as both", d.t.Clock)
		d.t.Clock = Dual
	}
}
