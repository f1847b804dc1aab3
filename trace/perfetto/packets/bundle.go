package packets

import (
	"cmp"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// Limits on the kernel's events.
const (
	MaxCPUs    = 1_024
	maxSources = 8
)

// ftraceMonoRaw is a clock of the kernel's tracing (ftrace_event_bundle.proto). If none is stated
// it is CLOCK_BOOTTIME.
const ftraceMonoRaw = 4

// Begins is when the record of a bundle's CPU begins, ns of the bundle's clock; 0 if unknown.
func Begins(b *messages.Bundle) uint64 {
	return cmp.Or(b.PreviousBundleEndTimestamp, b.LastReadEventTimestamp)
}

// FtraceClock returns the clock of a bundle's events. One that no packet's timestamp can be on is
// tied to CLOCK_BOOTTIME by the bundles themselves, several of which in a row may repeat it: synced
// is the last value.
func (f *File) FtraceClock(b *messages.Bundle, machine uint32, synced *int64) int32 {
	switch b.FtraceClock {
	case 0:
		return f.Clocks.Place(KeyOf(machine, 0, ClockBoottime))
	case ftraceMonoRaw:
		return f.Clocks.Place(KeyOf(machine, 0, ClockMonoRaw))
	}
	at, boottime := f.Clocks.Place(KeyOf(machine, 0, ClockFtrace)), f.Clocks.Place(KeyOf(machine, 0, ClockBoottime))
	ns, boot := Nanoseconds(uint64(b.FtraceTimestamp), 1), Nanoseconds(uint64(b.BootTimestamp), 1)
	if at >= 0 && boottime >= 0 && ns > 0 && boot > 0 && ns != *synced {
		*synced = ns
		f.Clocks.pair(Stamp{Clock: at, NS: ns}, Stamp{Clock: boottime, NS: boot})
	}
	return at
}

// kernel reads bundles in chronological order.
type kernel struct {
	file     *File
	home     uint32
	source   uint32 // the sequence being read
	sources  int
	synced   int64 // ns, as in FtraceClock
	lost     int
	early    int           // events left out
	started  time.Duration // recording, and the record of every CPU
	complete time.Duration
	asked    bool
	byKind   [maxKind][]EventReader
	writers  map[int32]bool // of this bundle; nil if no reader wants them
	names    map[string]string
}

// maxKind is above every field of FtraceEvent that is read.
const maxKind = 1_024

func (k *kernel) subscribe(reader EventReader) {
	wants := reader.Wants()
	if wants.Writers {
		k.asked, k.writers = true, map[int32]bool{}
		k.byKind[0] = append(k.byKind[0], reader)
	}
	for _, kind := range wants.Events {
		k.asked = true
		k.byKind[kind] = append(k.byKind[kind], reader)
	}
}

// wanted reports whether a reader wants events of a kind.
func (k *kernel) wanted(kind protowire.Number) bool {
	return kind > 0 && kind < maxKind && len(k.byKind[kind]) > 0
}

func (k *kernel) Wants() Wants { return Wants{Packets: []protowire.Number{field.PacketFtraceEvents}} }

func (k *kernel) Packet(p Packet) {
	bundle := messages.BundleOf(p.Data)
	if p.Machine != k.home || p.Seq.ID != k.source || bundle.CPU >= MaxCPUs {
		return
	}
	if bundle.LostEvents {
		k.lost++
	}
	clear(k.writers)
	t := timing{file: k.file, clock: k.file.FtraceClock(&bundle, p.Machine, &k.synced)}
	t.own = t.clock >= 0 && k.file.Clocks.resolve(t.clock) == k.file.own.Target
	b := k.file.order.block(p.Seq, int32(bundle.CPU))
	for event := range bundle.Event.Each {
		k.event(b, event, t)
		b = k.full(b, events)
	}
	b = k.compact(b, bundle.CompactSched, t)
	k.file.order.put(b, k.file.give)
}

// full replaces a full block by another one for the same bundle.
func (k *kernel) full(b *block, lane int) *block {
	const rows, bytes = 100_000, 8 << 20
	if len(b.rows[lane]) < rows && len(b.data) < bytes {
		return b
	}
	next := k.file.order.block(b.seq, b.cpu)
	next.names = append(next.names, b.names...)
	k.file.order.put(b, k.file.give)
	return next
}

// timing converts the times of a bundle to the trace's own clock.
type timing struct {
	file  *File
	clock int32
	own   bool // clock is the trace's own
}

func (t timing) at(ns int64) (time.Duration, bool) {
	if t.own {
		return time.Duration(ns), true
	}
	return t.file.Time(Stamp{Clock: t.clock, NS: ns})
}

// event keeps an FtraceEvent where a reader asks for its kind.
func (k *kernel) event(b *block, message []byte, t timing) {
	raw := messages.EventOf(message)
	if raw.NS > MaxTime {
		return
	}
	r := row{tid: raw.TID}
	switch {
	case k.wanted(raw.Kind):
		r.kind = int16(raw.Kind)
	case k.writers == nil || raw.TID < 0 || k.writers[raw.TID]:
		return
	}
	at, ok := t.at(int64(raw.NS))
	if !ok || at < k.complete && !k.admit(&r, at) {
		return
	}
	r.at = int64(at)
	if r.kind == 0 {
		k.writers[raw.TID] = true
	} else {
		r.from, r.size = uint32(len(b.data)), uint32(len(raw.Data))
		b.data = append(b.data, raw.Data...)
	}
	b.rows[events] = append(b.rows[events], r)
}

// admit reduces an event before the record of every CPU began to what readers get; false for
// nothing.
func (k *kernel) admit(r *row, at time.Duration) bool {
	r.early = true
	if r.compact && r.kind == int16(field.EventSchedSwitch) {
		return at >= k.started
	}
	if r.kind != 0 {
		k.early++
	}
	r.kind = 0
	return !r.compact && r.tid >= 0 && k.writers != nil && at >= k.started
}

// compact adds the rows of a CompactSched.
func (k *kernel) compact(b *block, message []byte, t timing) *block {
	on, woken := k.wanted(field.EventSchedSwitch), k.wanted(field.EventSchedWaking)
	if !on && !woken {
		return b
	}
	c := messages.CompactSchedOf(message)
	b.names = b.names[:0]
	for name := range c.InternTable.Each {
		if len(b.names) < MaxList {
			b.names = append(b.names, k.name(name))
		}
	}
	if on {
		b = k.rows(b, switches, field.EventSchedSwitch, c.Switches(), t)
	}
	if woken {
		b = k.rows(b, wakings, field.EventSchedWaking, c.Wakings(), t)
	}
	return b
}

// name interns a thread's name.
func (k *kernel) name(raw []byte) string {
	if one, known := k.names[string(raw)]; known {
		return one
	}
	const most = 100_000
	if len(k.names) >= most || k.names == nil {
		k.names = map[string]string{}
	}
	one := Name(raw)
	k.names[string(raw)] = one
	return one
}

func (k *kernel) rows(b *block, lane int, kind protowire.Number, rows messages.Rows, t timing) *block {
	for rows.Next() && rows.NS <= MaxTime {
		at, ok := t.at(int64(rows.NS))
		if !ok {
			continue
		}
		r := row{at: int64(at), tid: rows.TID, prio: rows.Prio, from: noPlace, size: uint32(rows.Last), kind: int16(kind), compact: true}
		if rows.Name < uint64(len(b.names)) {
			r.from = uint32(rows.Name)
		}
		if at < k.complete && !k.admit(&r, at) {
			continue
		}
		b.rows[lane] = append(b.rows[lane], r)
		b = k.full(b, lane)
	}
	return b
}
