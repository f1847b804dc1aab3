package messages_test

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

func (m message) fixed64(field protowire.Number, v uint64) message {
	return protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), v)
}

// rail is a reading of 900 µWs of rail 3.
var rail = slices.Clip(message(nil).num(1, 3).num(3, 900))

// TestDecoderOfBrokenMessages decodes messages of odd orders, of types that are not declared, and
// with their ends cut off.
func TestDecoderOfBrokenMessages(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		message message
		want    messages.RailEnergy
	}{
		"as written":                     {rail, messages.RailEnergy{Index: 3, Energy: 900, HasEnergy: true}},
		"turned round":                   {message(nil).num(3, 900).num(1, 3), messages.RailEnergy{Index: 3, Energy: 900, HasEnergy: true}},
		"said again: the last counts":    {rail.num(3, 901), messages.RailEnergy{Index: 3, Energy: 901, HasEnergy: true}},
		"0, and not absent":              {message(nil).num(3, 0), messages.RailEnergy{HasEnergy: true}},
		"a text instead of a number":     {rail.in(3, message("x")), messages.RailEnergy{Index: 3, Energy: 900, HasEnergy: true}},
		"a fixed number instead":         {rail.fixed64(3, 7), messages.RailEnergy{Index: 3, Energy: 900, HasEnergy: true}},
		"a field that is not known":      {rail.in(99, message("x")).num(100, 4), messages.RailEnergy{Index: 3, Energy: 900, HasEnergy: true}},
		"cut in a value":                 {rail[:3], messages.RailEnergy{Index: 3}},
		"cut in a length":                {append(slices.Clone(rail), 0x12), messages.RailEnergy{Index: 3, Energy: 900, HasEnergy: true}},
		"a text longer than the message": {append(slices.Clone(rail), 0x12, 0xff, 0xff, 0x03), messages.RailEnergy{Index: 3, Energy: 900, HasEnergy: true}},
		"nothing":                        {nil, messages.RailEnergy{}},
	} {
		if got := messages.RailEnergyOf(c.message); got != c.want {
			t.Errorf("%s: %+v, want %+v", title, got, c.want)
		}
	}
}

// TestDecoderGivesTextsInPlace fails where a text is a copy.
func TestDecoderGivesTextsInPlace(t *testing.T) {
	t.Parallel()
	m := message(nil).in(1, message("prev")).in(5, message("")).num(2, math.MaxUint64)
	got := messages.SchedSwitchOf(m)
	if string(got.PrevComm) != "prev" || &got.PrevComm[0] != &m[2] {
		t.Errorf("the name %q is a copy, or another", got.PrevComm)
	}
	if got.NextComm == nil || len(got.NextComm) != 0 || got.PrevPID != -1 {
		t.Errorf("an empty name %v, a number below 0 %d", got.NextComm, got.PrevPID)
	}
}

// TestRepeatedFields iterates over packed and single numbers, and over messages.
func TestRepeatedFields(t *testing.T) {
	t.Parallel()
	packed := message(nil).num(0, 5)[1:] // a varint without a tag
	packed = append(packed, 0xac, 0x02)  // 300
	m := message(nil).num(2, 9).in(99, message("x")).in(2, packed).num(1, 4).in(2, append(slices.Clone(packed), 0x80)).num(2, 1)
	times := messages.UIDTimesOf(m)
	if got := times.UID.List(100); !slices.Equal(got, []uint64{9, 5, 300, 5, 300, 1}) {
		t.Errorf("packed and single numbers, one list cut short: %v", got)
	}
	if got := times.UID.List(2); !slices.Equal(got, []uint64{9, 5}) {
		t.Errorf("the first two: %v", got)
	}
	if got := times.TotalTimeMS.List(100); got != nil || !times.HasClusterCount || times.ClusterCount != 4 {
		t.Errorf("none: %v; beside them %d", got, times.ClusterCount)
	}
	flows := protowire.AppendFixed64(protowire.AppendFixed64(nil, 7), math.MaxUint64)
	event := messages.TrackEventOf(message(nil).fixed64(47, 1).in(47, append(flows, 1, 2, 3)).num(47, 12))
	if got := event.FlowIDs.List(100); !slices.Equal(got, []uint64{1, 7, math.MaxUint64}) {
		t.Errorf("fixed numbers: %v", got)
	}
	tree := messages.ProcessTreeOf(message(nil).in(1, message("a")).num(1, 4).in(2, message("t")).in(1, message("b"))[:12])
	var got []string
	for process := range tree.Processes.Each {
		got = append(got, string(process))
	}
	if !slices.Equal(got, []string{"a", "b"}) || tree.Processes.Len() != 2 || tree.Threads.Len() != 1 {
		t.Errorf("messages within: %q, %d", got, tree.Threads.Len())
	}
}

// switched is a SchedSwitchFtraceEvent as in the kernel's record.
var switched = message(nil).in(1, message("RenderThread")).num(2, 12345).num(3, 120).num(4, 1).
	in(5, message("com.example.app")).num(6, 6789).num(7, 120)

// flowing is a TrackEvent with names and flows.
var flowing = message(nil).num(3, 1).num(10, 77).num(9, 1).num(11, 1_234_567_890_123).fixed64(47, 1).fixed64(47, 2).in(22, message("gfx"))

// TestDecoderAllocations fails where a decoder, or what iterates over a field, allocates.
func TestDecoderAllocations(t *testing.T) {
	var sum uint64
	if n := testing.AllocsPerRun(100, func() {
		s := messages.SchedSwitchOf(switched)
		e := messages.TrackEventOf(flowing)
		for id := range e.FlowIDs.Each {
			sum += id
		}
		for name := range e.Categories.Each {
			sum += uint64(len(name))
		}
		sum += uint64(s.NextPID)
	}); n != 0 || sum == 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkDecode compares a decoder with a loop over the fields that is written by hand.
func BenchmarkDecode(b *testing.B) {
	var sum int64
	b.Run("decoder", func(b *testing.B) {
		b.SetBytes(int64(len(switched)))
		for b.Loop() {
			s := messages.SchedSwitchOf(switched)
			sum += int64(s.PrevPID) + int64(s.NextPID) + s.PrevState + int64(len(s.NextComm))
		}
	})
	b.Run("by hand", func(b *testing.B) {
		b.SetBytes(int64(len(switched)))
		for b.Loop() {
			var s messages.SchedSwitch
			for f := messages.FieldsOf(switched); f.Next(); {
				switch f.Number {
				case 1:
					s.PrevComm = f.Bytes
				case 2:
					s.PrevPID = int32(f.Value)
				case 4:
					s.PrevState = int64(f.Value)
				case 5:
					s.NextComm = f.Bytes
				case 6:
					s.NextPID = int32(f.Value)
				}
			}
			sum += int64(s.PrevPID) + int64(s.NextPID) + s.PrevState + int64(len(s.NextComm))
		}
	})
}
