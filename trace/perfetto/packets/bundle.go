package packets

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// Limits on the kernel's events.
const (
	MaxCPUs    = 1_024
	maxSources = 8
)

// ftraceMonoRaw is a clock of the kernel's tracing (ftrace_event_bundle.proto). None
// stated is CLOCK_BOOTTIME.
const ftraceMonoRaw = 4

// Head is what an FtraceEventBundle says beside its events, which are of one CPU.
type Head struct {
	CPU  uint64
	Lost bool // events are missing before it
	// Begins is when the record of the CPU begins, ns of the bundle's clock, 0 where
	// not told.
	Begins uint64

	clock          uint64
	ftrace, boot   uint64 // ns of both clocks at one time
	lastRead, last uint64
}

// HeadOf reads a bundle's head, which stands around its events.
func HeadOf(message []byte) Head {
	var h Head
	for f := FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.BundleCPU:
			h.CPU = f.Value
		case field.BundleLostEvents:
			h.Lost = f.Value != 0
		case field.BundleFtraceClock:
			h.clock = f.Value
		case field.BundleFtraceTimestamp:
			h.ftrace = f.Value
		case field.BundleBootTimestamp:
			h.boot = f.Value
		case field.BundleLastReadEventTimestamp:
			h.lastRead = f.Value
		case field.BundlePreviousBundleEndTimestamp:
			h.last = f.Value
		}
	}
	if h.Begins = h.last; h.Begins == 0 {
		h.Begins = h.lastRead
	}
	return h
}

// FtraceClock is the clock of a bundle's events. One that no packet's timestamp can be
// on is tied to CLOCK_BOOTTIME by the bundles themselves, of which several in a row may
// say the same: synced holds what the last one said.
func (f *File) FtraceClock(h Head, machine uint32, synced *int64) int32 {
	switch h.clock {
	case 0:
		return f.Clocks.Place(KeyOf(machine, 0, ClockBoottime))
	case ftraceMonoRaw:
		return f.Clocks.Place(KeyOf(machine, 0, ClockMonoRaw))
	}
	at, boottime := f.Clocks.Place(KeyOf(machine, 0, ClockFtrace)), f.Clocks.Place(KeyOf(machine, 0, ClockBoottime))
	ns, boot := Nanoseconds(h.ftrace, 1), Nanoseconds(h.boot, 1)
	if at >= 0 && boottime >= 0 && ns > 0 && boot > 0 && ns != *synced {
		*synced = ns
		f.Clocks.pair(Stamp{Clock: at, NS: ns}, Stamp{Clock: boottime, NS: boot})
	}
	return at
}

// kernel reads bundles into the order of time.
type kernel struct {
	file     *File
	home     uint32
	source   uint32 // the sequence that is read
	sources  int
	synced   int64 // ns, as for FtraceClock
	lost     int
	early    int           // events that are left out
	started  time.Duration // recording, and complete every CPU's
	complete time.Duration
	asked    bool
	byKind   map[protowire.Number][]EventReader
	wanted   [maxKind]bool
	writers  map[int32]bool // of this bundle; nil where nobody asks
}

// maxKind is above every field of FtraceEvent that is read.
const maxKind = 1_024

func (k *kernel) subscribe(reader EventReader) {
	wants := reader.Wants()
	if k.byKind == nil {
		k.byKind = map[protowire.Number][]EventReader{}
	}
	if wants.Writers {
		k.asked, k.writers = true, map[int32]bool{}
		k.byKind[0] = append(k.byKind[0], reader)
	}
	for _, kind := range wants.Events {
		k.asked, k.wanted[kind] = true, true
		k.byKind[kind] = append(k.byKind[kind], reader)
	}
}

func (k *kernel) readersOf(kind protowire.Number) []EventReader { return k.byKind[kind] }

func (k *kernel) Wants() Wants { return Wants{Packets: []protowire.Number{field.PacketFtraceEvents}} }

func (k *kernel) Packet(p Packet) {
	head := HeadOf(p.Data)
	if p.Machine != k.home || p.Seq.ID != k.source || head.CPU >= MaxCPUs {
		return
	}
	if head.Lost {
		k.lost++
	}
	clear(k.writers)
	clock := k.file.FtraceClock(head, p.Machine, &k.synced)
	for f := FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.BundleEvent:
			k.event(f.Bytes, p.Seq, clock, int32(head.CPU))
		case field.BundleCompactSched:
			k.compact(f.Bytes, clock, int32(head.CPU))
		}
	}
}

// event keeps an FtraceEvent where a reader asks for its kind.
func (k *kernel) event(message []byte, seq *Sequence, clock, cpu int32) {
	raw := RawOf(message)
	e := Event{CPU: cpu, TID: raw.TID, Kind: raw.Kind, Seq: seq}
	switch {
	case raw.NS > MaxTime:
		return
	case raw.Kind > 0 && raw.Kind < maxKind && k.wanted[raw.Kind]:
		e.Data = append([]byte(nil), raw.Data...)
	case k.writers != nil && e.TID >= 0 && !k.writers[e.TID]:
		k.writers[e.TID] = true
		e.Kind = 0
	default:
		return
	}
	k.keep(e, clock, int64(raw.NS))
}

func (k *kernel) keep(e Event, clock int32, ns int64) {
	at, ok := k.file.Time(Stamp{Clock: clock, NS: ns})
	if !ok {
		return
	}
	e.At = at
	if at < k.complete && !k.admit(&e) {
		return
	}
	size := len(e.Data)
	if e.Compact != nil {
		size = compactSize
	}
	k.file.order.add(int(e.CPU)+1, item{at: int64(at), size: int32(size), event: e}, k.file.give)
}

// compactSize is how many bytes a Compact takes.
const compactSize = 48

// admit makes of an event before every CPU is recorded what is given of it; false for
// nothing.
func (k *kernel) admit(e *Event) bool {
	e.Early = true
	if e.Compact != nil && e.Kind == field.EventSchedSwitch {
		return e.At >= k.started
	}
	if e.Kind != 0 {
		k.early++
	}
	e.Kind, e.Data = 0, nil
	return e.TID >= 0 && k.writers != nil && e.At >= k.started
}

// compact keeps the rows of a CompactSched.
func (k *kernel) compact(message []byte, clock, cpu int32) {
	if !k.wanted[field.EventSchedSwitch] && !k.wanted[field.EventSchedWaking] {
		return
	}
	c := ColumnsOf(message)
	names := make([]string, len(c.Names))
	for i, name := range c.Names {
		names[i] = Name(name)
	}
	if k.wanted[field.EventSchedSwitch] {
		k.rows(field.EventSchedSwitch, c.Switches(), names, clock, cpu)
	}
	if k.wanted[field.EventSchedWaking] {
		k.rows(field.EventSchedWaking, c.Wakings(), names, clock, cpu)
	}
}

func (k *kernel) rows(kind protowire.Number, r Rows, names []string, clock, cpu int32) {
	for r.Next() && r.NS <= MaxTime {
		c := &Compact{TID: r.TID, Prio: r.Prio}
		if kind == field.EventSchedSwitch {
			c.State = int64(r.Last)
		} else {
			c.Flags = uint32(r.Last)
		}
		if r.Name < uint64(len(names)) {
			c.Comm = names[r.Name]
		}
		k.keep(Event{CPU: cpu, TID: -1, Kind: kind, Compact: c}, clock, int64(r.NS))
	}
}
