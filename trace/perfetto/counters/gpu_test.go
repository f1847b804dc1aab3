package counters_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/trace/perfetto/counters"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

// TestGPUCounterDescriptionIsReadOnce has 1,000 samples that refer to one description of 1,000
// counters. Reading it for each would take a million names.
func TestGPUCounterDescriptionIsReadOnce(t *testing.T) {
	const many = 1_000
	message := tracetest.Message(nil)
	var described, trace tracetest.Message
	for i := range int64(many) {
		described = described.In(field.GPUCountersSpecs, message.Num(field.GPUCounterSpecCounterID, i).Text(field.GPUCounterSpecName, fmt.Sprint("counter", i)).
			Num(field.GPUCounterSpecValueDirection, 2))
	}
	const cleared, needs = 1, 2
	interned := message.In(field.InternedGPUCounterDescriptors, message.Num(field.InternedStringIID, 7).In(field.InternedGPUCountersCounterDescriptor, described))
	trace = trace.In(field.TracePacket, message.Num(field.PacketTrustedPacketSequenceID, 1).Num(field.PacketSequenceFlags, cleared).In(field.PacketInternedData, interned))
	for i := range int64(many) {
		sample := message.Num(field.GPUCounterEventCounterDescriptorIID, 7).
			In(field.GPUCounterEventCounters, message.Num(field.GPUCounterCounterID, i).Num(field.GPUCounterIntValue, i))
		trace = trace.In(field.TracePacket, message.Num(field.PacketTimestamp, 100+i).Num(field.PacketTrustedPacketSequenceID, 1).
			Num(field.PacketSequenceFlags, needs).In(field.PacketGPUCounterEvent, sample))
	}
	var r *counters.Reader
	allocations := testing.AllocsPerRun(1, func() {
		f := packets.New()
		tracker := threads.New(f)
		r = counters.New(f, tracker)
		if err := f.ReadInOrder(bytes.NewReader(trace), tracker, r); err != nil {
			t.Fatal(err)
		}
	})
	if r.Values.Len() != many || len(r.Tracks) != many || r.Values.Rows[many-1].Value != many-1 || r.Tracks[many-1].Name != "counter999" {
		t.Errorf("%d values of %d counters", r.Values.Len(), len(r.Tracks))
	}
	if allocations > 100*many {
		t.Errorf("%.0f allocations", allocations)
	}
}
