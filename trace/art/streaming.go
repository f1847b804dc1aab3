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
	head, ok := d.need(32, "the header")
	if !ok {
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
		b, ok := d.need(2, "the records, before their summary")
		if !ok {
			return
		}
		tid := uint32(u.Uint16(b))
		if tid == 0 {
			if more := d.op(); !more {
				return
			}
			continue
		}
		if b, ok = d.need(size-2, "a record"); !ok {
			return
		}
		d.record(tid, b)
	}
}

// op reads what stands behind a thread of 0, and reports whether records follow.
func (d *decoder) op() bool {
	b, ok := d.need(1, "a record")
	if !ok {
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
		id, ok := d.need(2, "a thread")
		if !ok {
			return false
		}
		tid := uint32(u.Uint16(id))
		name, ok := d.counted()
		if ok {
			d.thread(tid, name)
		}
		return ok
	case opSummary:
		d.summary(4)
		return false
	}
	d.warn("the code %d is unknown, want 1 to 3: what follows is not read", b[0])
	return false
}

// summary reads the sections that end a file, after their size in some bytes. Its methods and threads
// are those that were named before.
func (d *decoder) summary(size int) {
	if _, ok := d.need(size, "the summary"); !ok {
		return
	}
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
