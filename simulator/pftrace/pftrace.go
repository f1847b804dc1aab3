// Package pftrace writes traces in Perfetto's format: clock snapshots, counters of the battery
// and of power rails, frames, the kernel's events and the processes' output among them.
//
// It owns the encoding. It does not know where the numbers come from (package phone does), and
// reads nothing. It writes only what a phone's perfetto writes, so that readers are never
// adapted to a simulation.
//
// Format: protos/perfetto/trace of Perfetto: trace_packet.proto, clock_snapshot.proto,
// power/battery_counters.proto, power/power_rails.proto, ftrace/ftrace_event_bundle.proto,
// ps/process_tree.proto.
package pftrace

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of TracePacket.
const (
	packetClocks     = 6
	packetTime       = 8
	packetSequence   = 10
	packetFlags      = 13
	packetBattery    = 38
	packetRails      = 40
	packetFirst      = 87
	sequenceTraced   = 1
	sequenceProbes   = 2
	stateCleared     = 1
	needsState       = 2
	clockRealtime    = 1
	clockMonotonic   = 3
	clockMonoRaw     = 5
	clockBoottime    = 6
	maxTraceBytes    = 16 << 20
	traceFieldPacket = 1
)

// Clocks are the phone's clocks at one instant.
type Clocks struct{ Monotonic, Boottime, Realtime time.Duration }

// Battery is the battery's counters; a nil one is absent.
type Battery struct {
	ChargeUAH, CurrentUA, CurrentAvgUA, VoltageUV *int64
	CapacityPercent                               *float64
}

// Rail is one power rail.
type Rail struct {
	Name, Subsystem string
	Hz              int // of the monitor's own samples
}

// Energy is a rail's counter.
type Energy struct {
	Boottime         time.Duration // of the monitor's last update
	MicroWattSeconds int64
}

// Writer writes a trace.
type Writer struct {
	b       []byte
	one     []byte // the last packet, whose memory is used again
	session uint64
	begun   map[int]bool
}

// New returns an empty trace. session numbers its rails.
func New(session uint64) *Writer { return &Writer{session: session, begun: map[int]bool{}} }

// Bytes returns the trace so far.
func (w *Writer) Bytes() []byte { return w.b }

// packet adds one packet.
func (w *Writer) packet(sequence int, at time.Duration, flags uint64, field protowire.Number, body []byte) {
	w.packetOn(sequence, at, 0, flags, field, body)
}

// packetOn adds one packet with a time on a clock; 0: the default clock. More are additional
// fields. A trace that is too large is truncated, as by a full buffer.
func (w *Writer) packetOn(sequence int, at time.Duration, clock, flags uint64, field protowire.Number, body []byte, more ...[]byte) {
	p := w.one[:0]
	if at > 0 {
		p = number(p, packetTime, uint64(at))
	}
	if clock > 0 {
		p = number(p, packetClock, clock)
	}
	p = number(p, packetSequence, uint64(sequence))
	if flags > 0 {
		p = number(p, packetFlags, flags)
	}
	if !w.begun[sequence] {
		w.begun[sequence] = true
		p = number(p, packetFirst, 1)
	}
	if field > 0 {
		p = message(p, field, body)
	}
	for _, one := range more {
		p = append(p, one...)
	}
	w.one = p
	if len(w.b)+len(p) < maxTraceBytes {
		w.b = message(w.b, traceFieldPacket, p)
	}
}

// Snapshot writes the times of all clocks at one instant.
func (w *Writer) Snapshot(c Clocks) {
	var b []byte
	for _, clock := range []struct {
		id uint64
		at time.Duration
	}{
		{clockBoottime, c.Boottime}, {clockRealtime, c.Realtime},
		{clockMonotonic, c.Monotonic}, {clockMonoRaw, c.Monotonic},
	} {
		b = message(b, 1, number(number(nil, 1, clock.id), 2, uint64(clock.at)))
	}
	w.packet(sequenceTraced, 0, 0, packetClocks, b)
}

// ClearState writes the first packet of the probes' data.
func (w *Writer) ClearState() { w.packet(sequenceProbes, 0, stateCleared, 0, nil) }

// Battery writes the battery's counters.
func (w *Writer) Battery(boottime time.Duration, c Battery) {
	var b []byte
	for _, f := range []struct {
		field protowire.Number
		value *int64
	}{{1, c.ChargeUAH}, {3, c.CurrentUA}, {4, c.CurrentAvgUA}, {7, c.VoltageUV}} {
		if f.value != nil {
			b = number(b, f.field, uint64(*f.value))
		}
	}
	if c.CapacityPercent != nil {
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(float32(*c.CapacityPercent)))
	}
	w.packet(sequenceProbes, boottime, 0, packetBattery, b)
}

// Rails writes the rails' counters, and describes the rails if describe is not empty.
func (w *Writer) Rails(boottime time.Duration, describe []Rail, counters []Energy) {
	var b []byte
	for i, r := range describe {
		d := number(nil, 1, uint64(i))
		d = message(d, 2, []byte(r.Name))
		d = message(d, 3, []byte(r.Subsystem))
		b = message(b, 1, number(d, 4, uint64(r.Hz)))
	}
	for i, e := range counters {
		d := number(nil, 1, uint64(i))
		d = number(d, 2, uint64(e.Boottime.Milliseconds()))
		b = message(b, 2, number(d, 3, uint64(e.MicroWattSeconds)))
	}
	w.packet(sequenceProbes, boottime, needsState, packetRails, number(b, 3, w.session))
}

func number(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func message(b []byte, field protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), body)
}
