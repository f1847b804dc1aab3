package screens

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

type message = tracetest.Message

// line is a line that a thread writes at a time, in ms of CLOCK_BOOTTIME.
type line struct {
	ms   int64
	text string
}

// traced is a trace of the lines. CLOCK_MONOTONIC is a second behind CLOCK_BOOTTIME.
func traced(lines ...line) []byte {
	clock := func(id, ns int64) message {
		return message(nil).Num(field.ClockClockID, id).Num(field.ClockTimestamp, ns)
	}
	snapshot := message(nil).In(field.ClockSnapshotClocks, clock(6, 2e9)).In(field.ClockSnapshotClocks, clock(3, 1e9))
	bundle := message(nil).Num(field.BundleCPU, 0)
	for _, l := range lines {
		bundle = bundle.In(field.BundleEvent, message(nil).Num(field.EventTimestamp, l.ms*1e6).Num(field.EventPID, 40).In(field.EventPrint, message(nil).Text(field.PrintBuf, l.text+"\n")))
	}
	sequence := message(nil).Num(field.PacketTrustedPacketSequenceID, 1)
	return append(message(nil).In(field.TracePacket, message(nil).In(field.PacketClockSnapshot, snapshot)), message(nil).In(field.TracePacket, sequence.In(field.PacketFtraceEvents, bundle))...)
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []line
		want  []trace.Screen
	}{
		"one activity after another": {
			[]line{{2000, "B|40|performResume:com.example.List"}, {2001, "E|40"}, {3000, "B|40|performPause:com.example.List"}, {3010, "B|40|performResume:com.example.Item"}, {3500, "B|40|performStop:com.example.List"}},
			[]trace.Screen{{From: time.Second, To: 2500 * time.Millisecond}, {From: 2010 * time.Millisecond, To: -1}},
		},
		"a dialog in front": {
			[]line{{2000, "B|40|performResume:a"}, {2100, "B|40|performPause:a"}, {2200, "B|40|performResume:dialog"}, {2300, "B|40|performPause:dialog"}, {2400, "B|40|performResume:a"}, {2500, "B|40|performStop:dialog"}},
			[]trace.Screen{{From: time.Second, To: -1}, {From: 1200 * time.Millisecond, To: 1500 * time.Millisecond}, {From: 1400 * time.Millisecond, To: -1}},
		},
		"two instances of a class": {
			[]line{{2000, "B|40|performResume:a"}, {2100, "B|40|performPause:a"}, {2200, "B|40|performResume:a"}, {2300, "B|40|performStop:a"}},
			[]trace.Screen{{From: time.Second, To: 1300 * time.Millisecond}, {From: 1200 * time.Millisecond, To: -1}},
		},
		"another line than a slice's": {
			[]line{{2000, "B|40|performResume:a"}, {2100, "I|40|performPause:a"}, {2200, "B|40|performStop:a"}}, []trace.Screen{{From: time.Second, To: -1}},
		},
		"two processes": {
			[]line{{2000, "B|40|performResume:a"}, {2100, "B|40|performPause:a"}, {2200, "B|41|performStop:a"}, {2300, "B|40|performStop:b"}}, []trace.Screen{{From: time.Second, To: -1}},
		},
		"resumed before the trace began": {
			[]line{{2000, "B|40|performResume:dialog"}, {2100, "B|40|performPause:dialog"}, {2150, "B|40|performPause:a"}, {2200, "B|40|performStop:a"}},
			[]trace.Screen{{From: -time.Second, To: 1200 * time.Millisecond}, {From: time.Second, To: -1}},
		},
		"another process": {[]line{{2000, "B|50|performResume:a"}, {2200, "B|40|performTraversal"}}, nil},
		"stopped alone":   {[]line{{2000, "B|40|performStop:a"}}, nil},
	} {
		got, err := Read(packets.Packets(bytes.NewReader(traced(c.lines...))), func(pid int) bool { return pid <= 41 })
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
