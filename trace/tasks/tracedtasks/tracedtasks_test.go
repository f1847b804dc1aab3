package tracedtasks_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
	"github.com/apkgate/apkgate/trace/systrace"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/tracedtasks"
)

// read returns the list of one source; nil where it has none.
func read(t *testing.T, in packets.Source, app, source string) *tasks.List {
	t.Helper()
	lists, _, err := tracedtasks.Read(in, tracedtasks.App{Package: app}, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range lists {
		if lists[i].Source == source {
			return &lists[i]
		}
	}
	return nil
}

// lines are the tasks of a list: unit, name, scheduled, started and done in ms, by whom and on which
// thread, the slice inside.
func lines(list *tasks.List) (out []string) {
	if list == nil {
		return nil
	}
	ms := func(d time.Duration) string {
		if d == tasks.Unknown {
			return "?"
		}
		return fmt.Sprint(d.Milliseconds())
	}
	for _, t := range list.Tasks {
		line := fmt.Sprintf("%s: %s %s+%d %s %s by %s on %s", list.Units[t.Unit].Name, t.Name, ms(t.Scheduled), t.Delay.Milliseconds(), ms(t.Started), ms(t.Done), t.Sender, t.Thread)
		if t.Inside != "" {
			line += " with " + t.Inside
		}
		if t.Cancelled {
			line += " cancelled"
		}
		out = append(out, line+strings.Join(t.Context, ","))
	}
	return out
}

// text is a trace in text, as atrace prints it.
func text(events ...string) packets.Source {
	return systrace.Source(strings.NewReader("# tracer: nop\n#\n" + strings.Join(events, "\n") + "\n"))
}

// mark is a line that a thread writes, at a time in ms.
func mark(thread string, tid, pid int, ms float64, line string) string {
	return fmt.Sprintf("%16s-%-5d (%5d) [001] .... %12.6f: tracing_mark_write: %s", thread, tid, pid, ms/1000, line)
}

// Two tasks in a queue of one, the second cancelled before it began; a third with a delay; one of
// another app.
func TestReadSections(t *testing.T) {
	t.Parallel()
	const main, disk = "com.example.app", "disk"
	in := text(
		mark(main, 100, 100, 10, "S|100|task:disk/1>com.example.Flush@com.example.Store.save(Store.java:42)|1"),
		mark(disk, 101, 100, 12, "B|100|task#1 com.example.Flush"),
		mark(disk, 101, 100, 13, "B|100|SQLiteDatabase.insert"),
		mark(main, 100, 100, 15, "S|100|task:disk/1>com.example.Trim|2"),
		mark(disk, 101, 100, 30, "E|100"),
		mark(main, 100, 100, 31, "F|100|task:disk/1>com.example.Trim|2"),
		mark(disk, 101, 100, 40, "E|100"),
		mark(disk, 101, 100, 40, "F|100|task:disk/1>com.example.Flush@com.example.Store.save(Store.java:42)|1"),
		mark(main, 100, 100, 50, "S|100|task:main/1+500>com.example.Blink|3"),
		mark(main, 100, 100, 555, "B|100|task#3 com.example.Blink"),
		mark(main, 100, 100, 560, "E|100"),
		mark(main, 100, 100, 560, "F|100|task:main/1+500>com.example.Blink|3"),
		mark(main, 100, 100, 570, "S|100|launching: com.example|9"),
		mark(main, 100, 100, 580, "B|100|task#77 com.example.Earlier"),
		mark(main, 100, 100, 581, "E|100"),
		mark("pool-1-thread-1", 102, 100, 590, "S|100|task:images/4>com.example.Thumb|1"),
		mark("pool-1-thread-1", 102, 100, 591, "B|100|task#1 com.example.Thumb"),
	)
	list := read(t, in, "", tracedtasks.SectionsSource)
	want := []string{
		"disk: com.example.Flush 10+0 12 40 by com.example.app on disk with SQLiteDatabase.insertcom.example.Store.save(Store.java:42)",
		"disk: com.example.Trim 15+0 ? ? by com.example.app on  cancelled",
		"main: com.example.Blink 50+500 555 560 by com.example.app on com.example.app",
		"images: com.example.Thumb 590+0 591 ? by pool-1-thread-1 on pool-1-thread-1",
	}
	if diff := cmp.Diff(want, lines(list)); diff != "" {
		t.Fatalf("tasks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]tasks.Unit{{Name: "disk", Kind: run.HandlerThread, Capacity: 1}, {Name: "main", Kind: run.MainThread, Capacity: 1}, {Name: "images", Kind: run.ThreadPool, Capacity: 4}}, list.Units); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
	if list.Tells != (tasks.Tells{Contexts: true, Capacity: true, Cancellation: true}) {
		t.Errorf("it tells %+v", list.Tells)
	}
	queued, _ := list.Tasks[2].Queued()
	if queued != 5*time.Millisecond {
		t.Errorf("queued %v, want the 505 ms less the delay of 500", queued)
	}
	if got := fmt.Sprint(list.Warnings); !strings.Contains(got, "1 task is left out: the trace does not have its scheduling") {
		t.Errorf("warnings are %s", got)
	}
}

// Names that only look like the convention's are no tasks.
// The kernel keeps 15 bytes of the name of a looper's thread.
func TestReadSectionsOfLongNames(t *testing.T) {
	t.Parallel()
	for unit, c := range map[string]struct{ thread, kind string }{
		"Operations-thread":      {"Operations-thre", run.HandlerThread},
		"com.example.background": {"mple.background", run.HandlerThread},
		"CameraBackground":       {"pool-1-thread-1", run.ThreadPool},
		"Operations":             {"Operation", run.ThreadPool},
	} {
		in := text(
			mark("main", 100, 100, 10, "S|100|task:"+unit+"/1>com.example.Flush|1"),
			mark(c.thread, 101, 100, 12, "B|100|task#1 com.example.Flush"), mark(c.thread, 101, 100, 40, "E|100"),
		)
		if list := read(t, in, "", tracedtasks.SectionsSource); list == nil || len(list.Units) != 1 || list.Units[0].Kind != c.kind {
			t.Errorf("%s on %s: %+v, want a %s", unit, c.thread, list, c.kind)
		}
	}
}

func TestReadSectionsOfOtherNames(t *testing.T) {
	t.Parallel()
	in := text(
		mark("a", 1, 1, 1, "S|1|task:no name|1"), mark("a", 1, 1, 2, "S|1|task:>x|2"), mark("a", 1, 1, 3, "S|1|tasks:a>x|3"),
		mark("a", 1, 1, 4, "B|1|task#x y"), mark("a", 1, 1, 5, "E|1"), mark("a", 1, 1, 6, "E|1"),
	)
	if list := read(t, in, "", tracedtasks.SectionsSource); list != nil {
		t.Errorf("tasks are %q", lines(list))
	}
	in = text(mark("a", 1, 1, 1, "S|1|task:disk/+4/99999999999>x|1"))
	if got := lines(read(t, in, "", tracedtasks.SectionsSource)); len(got) != 1 || !strings.HasPrefix(got[0], "disk/+4/99999999999: x 1+0") {
		t.Errorf("a unit with numbers that are no limits: %q", got)
	}
}

// packet is a packet as WireTraceEventSerializer writes it: a time without a clock, the sequence's
// number, and a description of a track or an event.
func packet(at int64, kind protowire.Number, content tracetest.Message) tracetest.Message {
	p := tracetest.Message(nil).Num(field.PacketTimestamp, at*1_000_000).Num(field.PacketTrustedPacketSequenceID, 1).In(kind, content)
	return tracetest.Message(nil).In(field.TracePacket, p)
}

func track(uuid, pid, tid int64, name string) tracetest.Message {
	thread := tracetest.Message(nil).Num(1, pid).Num(2, tid).Text(5, name)
	return packet(1, field.PacketTrackDescriptor, tracetest.Message(nil).Num(field.TrackUUID, uuid).In(field.TrackThread, thread).Num(field.TrackDisallowMergingWithSystemTracks, 1))
}

// section begins a section of a coroutine with a flow, 0 for a plain one; end ends it.
func section(at, uuid int64, name string, flow uint64) tracetest.Message {
	e := tracetest.Message(nil).Num(field.TrackEventType, 1).Num(field.TrackEventTrackUUID, uuid)
	if flow != 0 {
		e = protowire.AppendFixed64(protowire.AppendTag(e, field.TrackEventFlowIDs, protowire.Fixed64Type), flow)
	}
	return packet(at, field.PacketTrackEvent, e.Text(field.TrackEventCategories, "app").Text(field.TrackEventName, name))
}

func end(at, uuid int64) tracetest.Message {
	return packet(at, field.PacketTrackEvent, tracetest.Message(nil).Num(field.TrackEventType, 2).Num(field.TrackEventTrackUUID, uuid))
}

// A coroutine that is suspended in an outer section goes on in another thread. Batches of threads
// come one after the other.
func coroutineFile() []byte {
	process := tracetest.Message(nil).Num(1, 100).Text(6, "com.example.app")
	return bytes.Join([][]byte{
		packet(1, field.PacketTrackDescriptor, tracetest.Message(nil).Num(field.TrackUUID, 1).In(field.TrackProcess, process)),
		track(2, 100, 100, "main"), track(3, 100, 107, "DefaultDispatcher-worker-1"), track(4, 100, 108, "DefaultDispatcher-worker-2"),
		section(40, 4, "load", 77), section(41, 4, "parse", 77), section(42, 4, "json", 0), end(43, 4), end(44, 4), end(60, 4),
		section(10, 2, "click", 0), end(12, 2), section(70, 2, "show", 77), end(75, 2),
		section(13, 3, "load", 77), section(14, 3, "sql", 0), end(15, 3), end(20, 3), section(80, 3, "load", 78),
	}, nil)
}

func TestReadCoroutines(t *testing.T) {
	t.Parallel()
	list := read(t, packets.Packets(bytes.NewReader(coroutineFile())), "com.example.app", tracedtasks.CoroutinesSource)
	want := []string{
		"DefaultDispatcher-worker: load ?+0 13 20 by  on DefaultDispatcher-worker-1 with sql",
		"DefaultDispatcher-worker: load ?+0 40 60 by DefaultDispatcher-worker-1 on DefaultDispatcher-worker-2 with parse",
		"main: show ?+0 70 75 by DefaultDispatcher-worker-2 on main",
		"DefaultDispatcher-worker: load ?+0 80 ? by  on DefaultDispatcher-worker-1",
	}
	if diff := cmp.Diff(want, lines(list)); diff != "" {
		t.Fatalf("tasks (-want +got):\n%s", diff)
	}
	if _, known := list.Tasks[0].Queued(); known || list.Tells != (tasks.Tells{}) {
		t.Errorf("%+v tells what androidx.tracing does not write", list.Tells)
	}
	if got := read(t, packets.Packets(bytes.NewReader(coroutineFile())), "com.example.other", tracedtasks.CoroutinesSource); got != nil {
		t.Errorf("tasks of another app: %q", lines(got))
	}
}

// Flows in the system's trace are no coroutines: it has snapshots of clocks.
func TestReadCoroutinesOfSystemTrace(t *testing.T) {
	t.Parallel()
	clock := func(id, ns int64) tracetest.Message { return tracetest.Message(nil).Num(1, id).Num(2, ns) }
	snapshot := packet(1, field.PacketClockSnapshot, tracetest.Message(nil).In(1, clock(3, 1)).In(1, clock(6, 2)))
	file := append([]byte(snapshot), coroutineFile()...)
	if got := read(t, packets.Packets(bytes.NewReader(file)), "", tracedtasks.CoroutinesSource); got != nil {
		t.Errorf("tasks are %q", lines(got))
	}
}

// sw is a switch on a CPU: from one thread, which goes on in a state, to another.
func sw(ms float64, cpu int, from string, tid int, state, to string, next int) string {
	return fmt.Sprintf("%16s-%-5d (-----) [%03d] d..3 %12.6f: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120",
		from, tid, cpu, ms/1000, from, tid, state, to, next)
}

// wake is a wake-up of a thread by another, which runs on a CPU.
func wake(ms float64, cpu int, by string, tid int, of string, woken int) string {
	return fmt.Sprintf("%16s-%-5d (-----) [%03d] d..4 %12.6f: sched_waking: comm=%s pid=%d prio=120 target_cpu=000", by, tid, cpu, ms/1000, of, woken)
}

// A worker is woken by the main thread, sleeps for a file within its task, and takes another task
// without a wake; then it is woken by the other worker.
func TestReadPools(t *testing.T) {
	t.Parallel()
	const main, one, two = "com.example.app", "pool-1-thread-1", "pool-1-thread-2"
	in := text(
		mark(main, 100, 100, 1, "B|100|begin"), mark(main, 100, 100, 1.1, "E|100"),
		mark(one, 101, 100, 1.2, "B|100|begin"), mark(one, 101, 100, 1.3, "E|100"),
		mark(two, 102, 100, 1.4, "B|100|begin"), mark(two, 102, 100, 1.5, "E|100"),
		sw(2, 0, one, 101, "S", main, 100), sw(2.1, 1, two, 102, "S", "swapper/1", 0),
		wake(10, 0, main, 100, one, 101), sw(12, 1, "swapper/1", 0, "R", one, 101),
		sw(15, 1, one, 101, "D", "swapper/1", 0), wake(18, 2, "kworker/u8", 50, one, 101), sw(19, 1, "swapper/1", 0, "R", one, 101),
		sw(22, 1, one, 101, "S", "swapper/1", 0), wake(25, 2, "system_server", 60, one, 101), sw(26, 1, "swapper/1", 0, "R", one, 101), // a reply
		wake(28, 1, one, 101, two, 102), sw(29, 3, "swapper/3", 0, "R", two, 102), sw(33, 3, two, 102, "S", "swapper/3", 0),
		sw(40, 1, one, 101, "S", "swapper/1", 0),
	)
	list := read(t, in, main, tracedtasks.PoolsSource)
	want := []string{
		"pool-1-thread:  10+0 12 40 by com.example.app on pool-1-thread-1",
		"pool-1-thread:  28+0 29 33 by pool-1-thread-1 on pool-1-thread-2",
	}
	if diff := cmp.Diff(want, lines(list)); diff != "" {
		t.Fatalf("tasks (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(list.Warnings); !strings.Contains(got, "without sleeping count as one") || list.Tells != (tasks.Tells{}) || list.Units[0].Capacity != 0 {
		t.Errorf("%+v, %+v, warnings are %s", list.Units, list.Tells, got)
	}
	if lists, _, err := tracedtasks.Read(in, tracedtasks.App{PID: func(pid int) bool { return pid == 100 }}, true); err != nil || len(lists) != 1 || len(lists[0].Tasks) != 2 {
		t.Errorf("by the process: %+v, %v", lists, err)
	}
	if got := read(t, in, "", tracedtasks.PoolsSource); got != nil {
		t.Errorf("pools of all apps: %q", lines(got))
	}
}

func FuzzRead(f *testing.F) {
	f.Add(coroutineFile())
	f.Add(bytes.Join([][]byte{track(2, 100, 100, "main"), section(1, 2, "a", 1), end(3, 2)}, nil))
	f.Fuzz(func(t *testing.T, file []byte) {
		lists, _, err := tracedtasks.Read(packets.Packets(bytes.NewReader(file)), tracedtasks.App{Package: "com.example.app"}, true)
		if err != nil {
			return
		}
		check(t, lists)
	})
}

func FuzzReadText(f *testing.F) {
	f.Add(mark("a", 100, 100, 10, "S|100|task:disk/1+5>x@y|1") + "\n" + mark("b", 101, 100, 12, "B|100|task#1 x") + "\n" + mark("b", 101, 100, 13, "E|100") + "\n")
	f.Add(wake(10, 0, "a", 100, "b-1", 101) + "\n" + sw(12, 1, "swapper/1", 0, "R", "b-1", 101) + "\n")
	f.Fuzz(func(t *testing.T, lines string) {
		lists, _, err := tracedtasks.Read(systrace.Source(strings.NewReader(lines)), tracedtasks.App{Package: "a"}, true)
		if err != nil {
			return
		}
		check(t, lists)
	})
}

func check(t *testing.T, lists []tasks.List) {
	for _, list := range lists {
		for _, one := range list.Tasks {
			if one.Unit < 0 || one.Unit >= len(list.Units) || one.Scheduled == tasks.Unknown && one.Started == tasks.Unknown {
				t.Fatalf("%s: %+v of %d units", list.Source, one, len(list.Units))
			}
		}
	}
}
