package art

import (
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace"
)

// text reads a trace with a header in text (TraceWriter::FinishTracing, kFile): sections that
// begin with *version, *threads, *methods and *end, then the binary header and its records.
func (d *decoder) text() {
	d.t.Format = Text
	if !d.header() {
		d.cut("the header")
		return
	}
	head, ok := d.need(18, "the header of the records") // up to the size of a record
	if !ok {
		return
	}
	if u.Uint32(head) != magic {
		d.warn("the records begin without SLOW: they are not read")
		return
	}
	version, offset := int(u.Uint16(head[4:])), int(u.Uint16(head[6:]))
	d.t.Begin = times(int64(u.Uint64(head[8:])), time.Microsecond)
	if d.t.Version != version {
		d.warn("the header states version %d, and the records version %d, which is taken", d.t.Version, version)
		d.t.Version = version
	}
	size, ok := d.recordSize(version, int(u.Uint16(head[16:])))
	if !ok {
		return
	}
	if offset < len(head) {
		d.warn("the records begin %d bytes after their header begins, want 32: they are not read", offset)
		return
	}
	d.source.skip(offset - len(head))
	d.records(version, size)
}

// header reads the sections up to *end.
func (d *decoder) header() bool {
	section := ""
	for {
		line, ok := d.source.line()
		if !ok {
			return false
		}
		switch {
		case line == "*end":
			return true
		case strings.HasPrefix(line, "*"):
			section = line
		case section == "*version" && !strings.Contains(line, "="):
			d.t.Version, _ = strconv.Atoi(line)
		case section == "*version":
			d.option(line)
		case section == "*threads":
			id, name, _ := strings.Cut(line, "\t")
			if tid, err := strconv.ParseUint(id, 10, 32); err == nil {
				d.thread(uint32(tid), name)
			} else {
				d.warn("%s is no thread: want its id, a tab and its name", trace.Quote(line))
			}
		case section == "*methods":
			d.methodLine(line)
		}
	}
}

// methodLine reads a line of *methods, or of a method in a stream: its id in hexadecimal comes
// first.
func (d *decoder) methodLine(line string) {
	hex, rest, _ := strings.Cut(line, "\t")
	id, err := strconv.ParseUint(strings.TrimPrefix(hex, "0x"), 16, 32)
	if err != nil {
		d.warn("%s is no method: want its id in hexadecimal, a tab and its class", trace.Quote(line))
		return
	}
	d.name(id&^actionBits, rest)
}

// actionBits are the bits of a method's id that hold the action.
const actionBits = 3

// recordSize is the size of a record by its version: of version 3 the file states it.
func (d *decoder) recordSize(version, stated int) (size int, ok bool) {
	if version < 3 && d.t.Clock == Dual {
		d.warn("the header states two clocks, and records of version %d have one: they are taken as wall time", version)
		d.t.Clock = Wall
	}
	switch version {
	case 1:
		return 9, true
	case 2:
		return 10, true
	case 3:
		if least := 6 + 4*d.clockCount(); stated >= least && stated <= 64 {
			return stated, true
		}
		d.warn("a record has %d bytes, want 10 or 14: they are not read", stated)
		return 0, false
	}
	d.warn("version %d of the format is unknown, want 1 to 3: the records are not read", version)
	return 0, false
}

// clockCount is how many times a record has.
func (d *decoder) clockCount() int {
	if d.t.Clock == Dual {
		return 2
	}
	return 1
}

// records reads records of a fixed size to the end of the file.
func (d *decoder) records(version, size int) {
	for {
		b, ok := d.source.next(size)
		if !ok {
			if len(d.source.peek(1)) > 0 {
				d.cut("a record")
			}
			return
		}
		if version == 1 { // its thread has one byte
			d.record(uint32(b[0]), b[1:])
			continue
		}
		d.record(uint32(u.Uint16(b)), b[2:])
	}
}

// record reads a method with its action and its times, processor time before wall time.
func (d *decoder) record(tid uint32, b []byte) {
	c := d.clockOf(tid)
	if c == nil {
		d.noThread++
		return
	}
	value := u.Uint32(b)
	e := Event{Thread: tid, Method: d.method(uint64(value &^ actionBits)), Action: Action(value & actionBits)}
	if e.Action > Unroll {
		d.warn("an event has the action 3, want 0 to 2: it is left out")
		return
	}
	b = b[4:]
	if d.t.Clock == Dual {
		e.CPU = follow(&c.cpu, u.Uint32(b))
		b = b[4:]
	}
	e.Time = follow(&c.time, u.Uint32(b))
	d.event(e)
}
