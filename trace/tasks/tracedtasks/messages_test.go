package tracedtasks

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
	"github.com/apkgate/apkgate/trace/tasks"
)

// written is a trace as Perfetto's SDK writes it, and the kernel: times are ms.
type written struct {
	b     []byte
	begun map[int64]bool
}

const uuid = 0x1234_5678_9abc_def0 // of the track of process 10; that of 20 is twice as large

func (w *written) put(p tracetest.Message) { w.b = tracetest.Message(w.b).In(field.TracePacket, p) }

func process(tid int64) int64 { return tid / 10 * 10 }

// on begins a packet of a thread, after the thread's description: of process 10 the threads are 10
// to 19, "thread-11" and so on.
func (w *written) on(tid, ms int64) tracetest.Message {
	if w.begun == nil {
		w.begun = map[int64]bool{}
		boot := tracetest.Message(nil).Num(1, 6).Num(2, 5_000_000_000)
		w.put(tracetest.Message(nil).In(field.PacketClockSnapshot, tracetest.Message(nil).In(1, boot).In(1, tracetest.Message(nil).Num(1, 3).Num(2, 1_000_000_000)))) // monotonic is 4 s behind
	}
	head := func(flags int64) tracetest.Message {
		return tracetest.Message(nil).Num(field.PacketTimestamp, 5_000_000_000+ms*1_000_000).Num(field.PacketTrustedPacketSequenceID, tid).Num(field.PacketSequenceFlags, flags)
	}
	if !w.begun[tid] {
		w.begun[tid] = true
		pid := process(tid)
		name := func(id int64, name string) tracetest.Message { return tracetest.Message(nil).Num(1, id).Text(2, name) }
		w.put(head(3).In(field.PacketInternedData, tracetest.Message(nil).In(1, name(1, "mq")).In(2, name(1, "message_queue_send")).In(2, name(2, "message_queue_receive")).In(2, name(3, "other"))).
			In(field.PacketTracePacketDefaults, tracetest.Message(nil).Num(58, 6).In(11, tracetest.Message(nil).Num(11, uuid*(pid/10)^tid))))
		w.put(head(2).In(field.PacketTrackDescriptor, tracetest.Message(nil).Num(1, uuid*(pid/10)^tid).In(4, tracetest.Message(nil).Num(1, pid).Num(2, tid).Text(5, fmt.Sprintf("thread-%d", tid)))))
	}
	return head(2)
}

func flowID(tid int64, number uint32) uint64 {
	return uint64(int64(int32(number))) ^ uint64(uuid*(process(tid)/10))
}

func fixed(m tracetest.Message, number protowire.Number, v uint64) tracetest.Message {
	return protowire.AppendFixed64(protowire.AppendTag(m, number, protowire.Fixed64Type), v)
}

func (w *written) send(ms, tid int64, number uint32, to string, code, delayMS int64) {
	m := tracetest.Message(nil).Text(2, to).Num(3, code).Num(4, delayMS)
	w.put(w.on(tid, ms).In(field.PacketTrackEvent, fixed(tracetest.Message(nil).Num(9, 3).Num(3, 1).Num(10, 1), 47, flowID(tid, number)).In(2004, m)))
}

func (w *written) receive(ms, tid int64, number uint32, from string) {
	w.put(w.on(tid, ms).In(field.PacketTrackEvent, fixed(tracetest.Message(nil).Num(9, 1).Num(3, 1).Num(10, 2), 48, flowID(tid, number)).In(2004, tracetest.Message(nil).Text(1, from))))
}

func (w *written) begin(ms, tid int64) {
	w.put(w.on(tid, ms).In(field.PacketTrackEvent, tracetest.Message(nil).Num(9, 1).Num(10, 3)))
}

func (w *written) end(ms, tid int64) {
	w.put(w.on(tid, ms).In(field.PacketTrackEvent, tracetest.Message(nil).Num(9, 2)))
}

// says is a line that a thread writes to the kernel's record.
func (w *written) says(ms, tid int64, line string) {
	w.on(tid, ms)
	event := tracetest.Message(nil).Num(field.EventTimestamp, 5_000_000_000+ms*1_000_000).Num(field.EventPID, tid).In(field.EventPrint, tracetest.Message(nil).Text(field.PrintBuf, line+"\n"))
	w.put(tracetest.Message(nil).Num(field.PacketTrustedPacketSequenceID, 99).In(field.PacketFtraceEvents, tracetest.Message(nil).In(field.BundleEvent, event)))
}

// read returns a line a task, with times in ms from the trace's beginning.
func read(t *testing.T, w *written, of func(int) bool) (tasks.List, string) {
	t.Helper()
	l, err := ReadMessages(packets.Packets(bytes.NewReader(w.b)), of)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	at := func(d time.Duration) string {
		if d == tasks.Unknown {
			return "-"
		}
		return fmt.Sprint((d - time.Second).Milliseconds())
	}
	for _, one := range l.Tasks {
		out = append(out, fmt.Sprintf("%s | %s | %s on %s(%s) %s+%d %s %s", one.Name, one.Inside, one.Sender, l.Units[one.Unit].Name, one.Thread, at(one.Scheduled), one.Delay.Milliseconds(), at(one.Started), at(one.Done)))
	}
	return l, strings.Join(out, "\n")
}

func TestReadMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(w *written)
		want  string
	}{
		"a message, with the slice within it": {func(w *written) {
			w.send(1, 10, 1, "thread-11", 7, 0)
			w.receive(5, 11, 1, "main")
			w.says(6, 11, "B|10|short")
			w.says(7, 11, "E|10")
			w.says(7, 11, "B|10|Save.write 42")
			w.says(8, 11, "B|10|deeper and longer than the others")
			w.says(11, 11, "E|10")
			w.says(12, 11, "E|10")
			w.end(15, 11)
		}, "message 7 | Save.write 42 | main on thread-11(thread-11) 1+0 5 15"},
		"a slice of the SDK within it, and one of the kernel's across its end": {func(w *written) {
			w.send(1, 10, 1, "thread-11", 0, 0)
			w.receive(5, 11, 1, "main")
			w.begin(6, 11)
			w.end(8, 11)
			w.says(9, 11, "B|10|half")
			w.end(10, 11)
			w.says(12, 11, "E|10")
		}, " | other | main on thread-11(thread-11) 1+0 5 10"},
		"the flow's number wraps": {func(w *written) {
			w.send(1, 10, 1<<32-1, "thread-11", 1, 0)
			w.send(2, 10, 0, "thread-11", 2, 0)
			w.send(3, 10, 1<<31, "thread-11", 3, 0)
			for i, number := range []uint32{1<<32 - 1, 0, 1 << 31} {
				w.receive(5+2*int64(i), 11, number, "main")
				w.end(6+2*int64(i), 11)
			}
		}, "message 1 |  | main on thread-11(thread-11) 1+0 5 6\nmessage 2 |  | main on thread-11(thread-11) 2+0 7 8\nmessage 3 |  | main on thread-11(thread-11) 3+0 9 10"},
		"a number that comes again is of the latest send": {func(w *written) {
			w.send(1, 10, 5, "thread-11", 1, 0)
			w.send(20, 10, 5, "thread-11", 2, 0)
			w.receive(25, 11, 5, "main")
			w.end(26, 11)
		}, "message 1 |  | main on thread-11() 1+0 - -\nmessage 2 |  | main on thread-11(thread-11) 20+0 25 26"},
		"processes have the same numbers": {func(w *written) {
			w.send(1, 10, 5, "thread-11", 1, 0)
			w.send(2, 20, 5, "thread-21", 2, 0)
			w.receive(3, 21, 5, "main")
			w.end(4, 21)
			w.receive(7, 11, 5, "main")
			w.end(9, 11)
		}, "message 1 |  | main on thread-11(thread-11) 1+0 7 9\nmessage 2 |  | main on thread-21(thread-21) 2+0 3 4"},
		"sent before the trace, and not done in it": {func(w *written) {
			w.receive(5, 11, 9, "pool-1-thread-2")
			w.end(6, 11)
			w.send(7, 11, 10, "main", 3, 0)
			w.receive(8, 10, 10, "thread-11")
		}, "message |  | pool-1-thread-2 on thread-11(thread-11) - +0 5 6\nmessage 3 |  | thread-11 on main(main) 7+0 8 -"},
		"delays, one below 0": {func(w *written) {
			w.send(1, 10, 1, "thread-11", 1, 20)
			w.send(2, 10, 2, "thread-11", 2, -123456)
			w.receive(3, 11, 2, "main")
			w.end(4, 11)
			w.receive(21, 11, 1, "main")
			w.end(22, 11)
		}, "message 1 |  | main on thread-11(thread-11) 1+20 21 22\nmessage 2 |  | main on thread-11(thread-11) 2+0 3 4"},
		"Android's barriers are no tasks, but a removed message may be": {func(w *written) {
			w.send(1, 10, 1, "main", 0, 0)
			w.send(2, 10, 2, "main", 4, 0)
			w.send(3, 10, 3, "main", 0, 5)
			w.send(4, 11, 4, "main", 0, 0)
		}, "message 4 |  | main on main() 2+0 - -\nmessage 0 |  | main on main() 3+5 - -\nmessage 0 |  | thread-11 on main() 4+0 - -"},
		"a loop within a message": {func(w *written) {
			w.send(1, 10, 1, "main", 1, 0)
			w.receive(2, 10, 1, "main")
			w.send(3, 10, 2, "main", 2, 0)
			w.receive(4, 10, 2, "main")
			w.end(6, 10)
			w.end(9, 10)
		}, "message 1 |  | main on main(main) 1+0 2 9\nmessage 2 |  | main on main(main) 3+0 4 6"},
	} {
		var w written
		c.write(&w)
		l, got := read(t, &w, nil)
		got = strings.ReplaceAll(got, " -+0", " - +0")
		if got != c.want || len(l.Warnings) > 0 {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, l.Warnings, got, c.want)
		}
		for _, u := range l.Units {
			if want := map[bool]string{true: run.MainThread, false: run.HandlerThread}[u.Name == "main"]; u.Kind != want || u.Capacity != 1 {
				t.Errorf("%s: %+v, want %s", name, u, want)
			}
		}
	}
}

// TestReadMessagesOfAnApp leaves out other processes, and tells two main threads apart.
func TestReadMessagesOfAnApp(t *testing.T) {
	t.Parallel()
	var w written
	for _, pid := range []int64{10, 20} {
		w.send(pid, pid, 1, "main", 1, 0)
		w.receive(pid+1, pid, 1, "main")
		w.end(pid+2, pid)
	}
	if l, got := read(t, &w, func(pid int) bool { return pid == 20 }); len(l.Units) != 1 || got != "message 1 |  | main on main(main) 20+0 21 22" {
		t.Errorf("%v: %s", l.Units, got)
	}
	if l, got := read(t, &w, nil); len(l.Units) != 2 || l.Units[0].Name == l.Units[1].Name {
		t.Errorf("%v: %s", l.Units, got)
	}
}

// TestReadOtherTraces: nothing of the category is no task and no warning; a lost packet is a warning.
func TestReadOtherTraces(t *testing.T) {
	t.Parallel()
	var w written
	w.begin(1, 10)
	w.end(2, 10)
	if l, got := read(t, &w, nil); got != "" || len(l.Warnings) > 0 {
		t.Errorf("%v: %s", l.Warnings, got)
	}
	w.send(3, 10, 1, "main", 1, 0)
	w.put(w.on(10, 4).Num(field.PacketPreviousPacketDropped, 1).In(field.PacketTrackEvent, tracetest.Message(nil).Num(9, 2)))
	if l, _ := read(t, &w, nil); len(l.Tasks) != 1 || len(l.Warnings) == 0 || !strings.Contains(fmt.Sprint(l.Warnings), "packets were lost") {
		t.Errorf("%v, want a task and a warning of what was lost", l.Warnings)
	}
}

func FuzzReadMessages(f *testing.F) {
	var w written
	w.send(1, 10, 1, "thread-11", 7, 3)
	w.receive(5, 11, 1, "main")
	w.says(6, 11, "B|10|Save.write")
	w.says(7, 11, "E|10")
	w.begin(7, 11)
	w.end(8, 11)
	w.end(9, 11)
	f.Add(w.b)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ReadMessages(packets.Packets(bytes.NewReader(data)), nil)
		if err != nil {
			return
		}
		for _, one := range l.Tasks {
			if one.Unit < 0 || one.Unit >= len(l.Units) || one.Delay < 0 {
				t.Fatalf("%+v of %d units", one, len(l.Units))
			}
		}
	})
}

// Messages beyond the limit are counted.
func TestMessagesAreLimited(t *testing.T) {
	t.Parallel()
	m := &messages{all: make([]message, maxTasks-1)}
	if first, second := m.add(message{receiver: "main"}), m.add(message{}); first != maxTasks-1 || second != -1 || m.cut != 1 {
		t.Errorf("places %d and %d, %d left out", first, second, m.cut)
	}
}
