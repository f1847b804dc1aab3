package powerdata_test

import (
	"bytes"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// message builds a protocol buffer message field by field.
type message []byte

func (m message) num(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

func (m message) text(field protowire.Number, v string) message {
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m message) in(field protowire.Number, v message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m message) float(field protowire.Number, v float32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, field, protowire.Fixed32Type), math.Float32bits(v))
}

func (m message) packed(field protowire.Number, list ...int64) message {
	var b []byte
	for _, v := range list {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return m.in(field, b)
}

// at returns a packet with a timestamp, in ns of the trace's own clock.
func at(ns int64) message { return message(nil).num(8, ns) }

// on puts a packet on a sequence.
func (m message) on(sequence int64) message { return m.num(10, sequence) }

// file is a trace of packets.
func file(packets ...message) []byte {
	var out message
	for _, p := range packets {
		out = out.in(1, p)
	}
	return out
}

const (
	second      = int64(1e9)
	millisecond = int64(1e6)
)

// clocks is a ClockSnapshot of CLOCK_BOOTTIME and CLOCK_MONOTONIC.
func clocks(boottime, monotonic int64) message {
	return message(nil).in(6, message(nil).
		in(1, message(nil).num(1, 6).num(2, boottime)).
		in(1, message(nil).num(1, 3).num(2, monotonic)))
}

// battery is a reading of current (µA) and voltage (µV).
func battery(current, voltage int64) message {
	return message(nil).num(3, current).num(7, voltage)
}

// rail describes a power rail.
func rail(index int64, name string) message {
	return message(nil).in(1, message(nil).num(1, index).text(2, name))
}

// energy is a rail's reading, at the packet's time.
func energy(index, microWattSeconds int64) message {
	return message(nil).in(2, message(nil).num(1, index).num(3, microWattSeconds))
}

// bundle is an FtraceEventBundle of a CPU.
func bundle(cpu int64, events ...message) message {
	out := message(nil).num(1, cpu)
	for _, e := range events {
		out = out.in(2, e)
	}
	return message(nil).in(1, out)
}

// event is an FtraceEvent.
func event(ns int64, kind protowire.Number, data message) message {
	return message(nil).num(1, ns).num(2, 1).in(kind, data)
}

func read(t *testing.T, trace []byte) *powerdata.Trace {
	t.Helper()
	out, err := powerdata.Read(bytes.NewReader(trace))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
