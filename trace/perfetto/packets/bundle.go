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
// on is tied to CLOCK_BOOTTIME by the bundle itself, each second of it once; synced
// holds the last time.
func (f *File) FtraceClock(h Head, machine uint32, synced *int64) int32 {
	switch h.clock {
	case 0:
		return f.Clocks.Place(KeyOf(machine, 0, ClockBoottime))
	case ftraceMonoRaw:
		return f.Clocks.Place(KeyOf(machine, 0, ClockMonoRaw))
	}
	at, boottime := f.Clocks.Place(KeyOf(machine, 0, ClockFtrace)), f.Clocks.Place(KeyOf(machine, 0, ClockBoottime))
	ns, boot := Nanoseconds(h.ftrace, 1), Nanoseconds(h.boot, 1)
	if at >= 0 && boottime >= 0 && ns > 0 && boot > 0 && (*synced == 0 || ns > *synced+int64(time.Second)) {
		*synced = ns
		f.Clocks.Keep(Snapshot{{Clock: at, NS: ns}, {Clock: boottime, NS: boot}})
	}
	return at
}

// kernel reads bundles into the order of time.
type kernel struct {
	file     *File
	home     uint32
	source   uint32 // the sequence that is read
	sources  int
	synced   int64
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

// event reads an FtraceEvent, and keeps it where a reader asks for its kind.
func (k *kernel) event(message []byte, seq *Sequence, clock, cpu int32) {
	var ns uint64
	e := Event{CPU: cpu, TID: -1, Seq: seq}
	for f := FieldsOf(message); f.Next(); {
		switch {
		case f.Number == field.EventTimestamp:
			ns = f.Value
		case f.Number == field.EventPID:
			e.TID = int32(f.Value)
		case f.Bytes != nil:
			e.Kind, e.Data = f.Number, f.Bytes
		}
	}
	switch {
	case ns > MaxTime:
		return
	case e.Kind > 0 && e.Kind < maxKind && k.wanted[e.Kind]:
		e.Data = append([]byte(nil), e.Data...)
	case k.writers != nil && e.TID >= 0 && !k.writers[e.TID]:
		k.writers[e.TID] = true
		e.Kind, e.Data = 0, nil
	default:
		return
	}
	k.keep(e, clock, int64(ns))
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
	k.file.order.add(int(e.CPU)+1, item{at: int64(at), size: int32(len(e.Data)), event: e}, k.file.give)
}

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

// compact reads a CompactSched: switches and wakings as columns, times as differences.
func (k *kernel) compact(message []byte, clock, cpu int32) {
	var names []string
	var columns [field.CompactSchedWakingCommonFlags + 1][]byte
	for f := FieldsOf(message); f.Next(); {
		switch {
		case f.Number == field.CompactSchedInternTable && len(names) < MaxList:
			names = append(names, f.Text())
		case int(f.Number) < len(columns) && f.Bytes != nil:
			columns[f.Number] = f.Bytes
		}
	}
	if k.wanted[field.EventSchedSwitch] {
		k.rows(field.EventSchedSwitch, columns[field.CompactSchedSwitchTimestamp], columns[field.CompactSchedSwitchNextPID], columns[field.CompactSchedSwitchNextPrio],
			columns[field.CompactSchedSwitchNextCommIndex], columns[field.CompactSchedSwitchPrevState], names, clock, cpu)
	}
	if k.wanted[field.EventSchedWaking] {
		k.rows(field.EventSchedWaking, columns[field.CompactSchedWakingTimestamp], columns[field.CompactSchedWakingPID], columns[field.CompactSchedWakingPrio],
			columns[field.CompactSchedWakingCommIndex], columns[field.CompactSchedWakingCommonFlags], names, clock, cpu)
	}
}

// rows reads the columns of switches or of wakings; the last is the state of the thread
// before, or the flags of the waking.
func (k *kernel) rows(kind protowire.Number, times, tids, prios, comms, last []byte, names []string, clock, cpu int32) {
	var ns uint64
	for len(times) > 0 {
		delta, n := protowire.ConsumeVarint(times)
		tid, m := protowire.ConsumeVarint(tids)
		if n < 0 || m < 0 {
			return
		}
		times, tids = times[n:], tids[m:]
		if ns += min(delta, MaxTime); ns > MaxTime {
			return
		}
		c := &Compact{TID: int32(tid), Prio: int32(shift(&prios))}
		value := shift(&last)
		if kind == field.EventSchedSwitch {
			c.State = int64(value)
		} else {
			c.Flags = uint32(value)
		}
		if place := shift(&comms); place < uint64(len(names)) {
			c.Comm = names[place]
		}
		k.keep(Event{CPU: cpu, TID: -1, Kind: kind, Compact: c}, clock, int64(ns))
	}
}

// shift takes the first value of a column; 0 where it is too short.
func shift(column *[]byte) uint64 {
	v, n := protowire.ConsumeVarint(*column)
	if n < 0 {
		return 0
	}
	*column = (*column)[n:]
	return v
}
