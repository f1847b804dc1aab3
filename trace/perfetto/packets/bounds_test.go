package packets_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// held counts the bytes of defaults that sequences of track events have at one time.
type held map[*packets.Sequence]int

func (h held) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketTrackEvent}}
}

func (h held) Packet(p packets.Packet) { h[p.Seq] = len(p.Seq.Defaults) }

// TestSequenceDefaultsAreBounded has sequences whose defaults are 120 MB together: a small
// compressed file could have 2 GB of them.
func TestSequenceDefaultsAreBounded(t *testing.T) {
	t.Parallel()
	const each, many = 60_000, 2_000
	var trace message
	put := func(sequence uint64, size int) {
		trace = trace.in(1, message(nil).num(10, sequence).num(13, cleared).in(59, make(message, size)).in(11, nil))
	}
	for i := range uint64(many) {
		put(i+1, each)
	}
	put(1, 100) // makes room, and has it
	put(2, 1<<20)
	f, h := packets.New(), held{}
	if err := f.Read(bytes.NewReader(trace), h); err != nil {
		t.Fatal(err)
	}
	all, kept := 0, 0
	for _, n := range h {
		all += n
		kept += min(n, 1)
	}
	if len(h) != many || all > 64<<20 || kept < 1_000 || f.TooMany["defaults of packets"] != many-kept {
		t.Errorf("%d sequences, %d with defaults of %d bytes; %v", len(h), kept, all, f.TooMany)
	}
	if said := func() string { f.Doubts(); return fmt.Sprint(f.Warnings.List()) }(); !strings.Contains(said, "more defaults of packets than are kept") {
		t.Error(said)
	}
}

// TestConversionLimitsSteps has clocks each of which is only tied to its neighbour: a time
// on the last would take a step for each.
func TestConversionLimitsSteps(t *testing.T) {
	t.Parallel()
	clock := func(id, ns uint64) message { return message(nil).num(1, id).num(2, ns) }
	var trace message
	before := uint64(packets.ClockBoottime)
	for i := range uint64(30) {
		id := 200 + i
		trace = trace.in(1, message(nil).in(6, message(nil).in(1, clock(before, 1000)).in(1, clock(id, 2000))))
		before = id
	}
	f := packets.New()
	if err := f.Read(bytes.NewReader(trace)); err != nil {
		t.Fatal(err)
	}
	v := f.Clocks.Own(0)
	for id, want := range map[uint32]bool{200: true, 215: true, 216: false, 229: false} {
		at, ok := v.Time(packets.Stamp{Clock: f.Clocks.Place(packets.KeyOf(0, 0, id)), NS: 2005})
		if ok != want || ok && id == 200 && at != 1005 {
			t.Errorf("clock %d: %v, %v, want %v", id, at, ok, want)
		}
	}
}
