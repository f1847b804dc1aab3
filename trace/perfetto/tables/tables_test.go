package tables_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/tables"
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

func file(packets ...message) []byte {
	var out message
	for _, p := range packets {
		out = out.in(1, p)
	}
	return out
}

// bundle is an FtraceEventBundle of a CPU.
func bundle(cpu int64, events ...message) message {
	out := message(nil).num(1, cpu)
	for _, e := range events {
		out = out.in(2, e)
	}
	return message(nil).in(1, out)
}

// event is an FtraceEvent that a thread wrote.
func event(ns, tid int64, kind protowire.Number, data message) message {
	return message(nil).num(1, ns).num(2, tid).in(kind, data)
}

// swap is a sched_switch from a thread, which is left in a state, to another.
func swap(ns, from, state, to int64) message {
	return event(ns, from, 4, message(nil).text(1, fmt.Sprint("t", from)).num(2, from).num(4, state).text(5, fmt.Sprint("t", to)).num(6, to).num(7, 120))
}

// tree names process 100 with thread 101.
func tree() message {
	return message(nil).num(8, 1).in(2, message(nil).
		in(1, message(nil).num(1, 100).num(2, 1).text(3, "com.example").text(3, "--flag").num(5, 10001)).
		in(2, message(nil).num(1, 101).text(2, "RenderThread").num(3, 100)))
}

// lines returns a table's rows, with "|" between the cells.
func lines(t *testing.T, trace []byte, table string) ([]string, *tables.Table) {
	t.Helper()
	read, err := tables.Read(bytes.NewReader(trace), table)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for row := range read.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cell != nil {
				cells[i] = fmt.Sprint(cell)
			}
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out, read
}

func check(t *testing.T, trace []byte, table string, want ...string) *tables.Table {
	t.Helper()
	got, read := lines(t, trace, table)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", table, diff)
	}
	return read
}

// work is a trace of two CPUs: 101 sleeps for I/O and is woken by 200 on the other CPU, whose part
// of the file comes first.
func work() []byte {
	return file(
		bundle(1, swap(1000, 0, 0, 200), event(2500, 200, 20, message(nil).text(1, "t101").num(2, 101)), swap(4000, 200, 0x800, 0)),
		tree(),
		bundle(0, swap(1500, 0, 0, 101), swap(2000, 101, 2, 0), event(2100, 0, 18, message(nil).num(1, 101).num(3, 1)), swap(3000, 0, 0, 101)),
	)
}

func TestSchedulerTables(t *testing.T) {
	t.Parallel()
	check(t, work(), "sched",
		"1000|3000|1|200|R+|120|4", "1500|500|0|101|D|120|3", "2000|1000|0|0|R|120|0", "3000|-1|0|101||120|3", "4000|-1|1|0||120|0")
	check(t, work(), "thread-states",
		"1000|3000|200|Running|1|||||4", "1500|500|101|Running|0|||||3", "2000|500|101|D|||1|||3",
		"2500|500|101|R||200||||3", "3000|-1|101|Running|0|||||3", "4000|-1|200|R+||||||4")
}

func TestThreadAndProcessTables(t *testing.T) {
	t.Parallel()
	check(t, work(), "threads",
		"0|0|swapper|0|0|1||", "1|1||1|1|1||", "2|100||2|100|1||", "3|101|RenderThread|2|100|0||", "4|200|t200|||||")
	check(t, work(), "processes", "0|0||||||", "1|1||||||", "2|100|com.example|10001|||1|com.example --flag")
}

// TestReusedThreadID has two successive threads 102, of different processes.
func TestReusedThreadID(t *testing.T) {
	t.Parallel()
	clone := func(ns, parent, child, flags int64, name string) message {
		return event(ns, parent, 235, message(nil).num(1, child).text(2, name).num(3, flags))
	}
	trace := file(tree(), bundle(0,
		swap(10, 0, 0, 101), clone(20, 101, 102, 0x10000, "worker"), swap(30, 101, 1, 102), swap(40, 102, 0x20, 0),
		event(50, 0, 240, message(nil).text(1, "worker").num(2, 102)),
		swap(60, 0, 0, 101), clone(70, 101, 102, 0, "sh"), swap(80, 101, 1, 102), event(90, 102, 236, message(nil).num(1, 102).text(3, "cat"))))
	got, _ := lines(t, trace, "threads")
	want := []string{"4|102|t102|2|100|0|20|50", "5|102|cat|3|102|1|70|"}
	if diff := cmp.Diff(want, got[len(got)-2:]); diff != "" {
		t.Error(diff)
	}
	processes, _ := lines(t, trace, "processes")
	if diff := cmp.Diff("3|102|cat||70||100|", processes[len(processes)-1]); diff != "" {
		t.Error(diff)
	}
}

// frame is a FrameTimelineEvent.
func frame(ns int64, kind protowire.Number, data message) message {
	return message(nil).num(8, ns).in(76, message(nil).in(kind, data))
}

func TestFrameTable(t *testing.T) {
	t.Parallel()
	surface := func(cookie, token int64) message {
		return message(nil).num(1, cookie).num(2, token).num(3, 77).num(4, 100).text(5, "TX - com.example#1")
	}
	ends := func(ns, cookie int64) message { return frame(ns, 5, message(nil).num(1, cookie)) }
	trace := file(
		frame(10, 3, surface(1, 7)), frame(10, 3, surface(2, 7)), ends(26, 1), // expected once for a token
		frame(12, 4, surface(3, 7).num(6, 2).num(9, 64|128).num(10, 1).num(12, 3)),
		frame(20, 2, message(nil).num(1, 4).num(2, 77).num(3, 458).num(4, 1).num(5, 1).num(7, 1).num(8, 1)),
		ends(31, 3), ends(40, 4), ends(41, 99), frame(42, 4, message(nil).num(1, 5)),
		frame(50, 4, surface(6, 8).num(9, 1)),
	)
	read := check(t, trace, "frames",
		"android_expected_frame_timeline|10|16|100|7|TX - com.example#1|77|7|||||||",
		"android_actual_frame_timeline|12|19|100|7|TX - com.example#1|77|7|App Deadline Missed, Buffer Stuffing|0|Late Present|Valid Prediction|0|Self Jank|Full",
		"android_actual_frame_timeline|20|20|458|77||77||None|1|On-time Present|Valid Prediction|0|No Jank|None",
		"android_actual_frame_timeline|50|-1|100|8|TX - com.example#1|77|8|None|0|Unspecified Present|Unspecified Prediction|0|No Jank|None")
	said := fmt.Sprint(read.Warnings)
	for _, want := range []string{"1 event of the frame timeline lacks", "1 frame ends that did not begin"} {
		if !strings.Contains(said, want) {
			t.Errorf("no warning %q: %s", want, said)
		}
	}
}

// FuzzRead tests that every table reads without panic or error, with rows as wide as the columns,
// whether its rows are in memory or in files.
func FuzzRead(f *testing.F) {
	f.Add(work())
	f.Add(file(frame(1, 4, message(nil).num(1, 5)), tree()))
	f.Add(everyKind())
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, name := range tables.Names() {
			for _, keep := range []int{1_000_000, 2} {
				read, err := tables.ReadHolding(bytes.NewReader(in), name, keep)
				if err != nil {
					t.Fatal(err)
				}
				for row := range read.Rows {
					if len(row) != len(read.Columns) {
						t.Fatalf("%s: %d cells", name, len(row))
					}
				}
				if err := errors.Join(read.Err(), read.Close()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// said is a line that a thread writes to the kernel's trace.
func said(ns, tid int64, line string) message {
	return event(ns, tid, 3, message(nil).text(2, line))
}

func TestSliceTable(t *testing.T) {
	t.Parallel()
	sends := func(ns, tid, id, reply, flags int64) message {
		return event(ns, tid, 50, message(nil).num(1, id).num(5, reply).num(7, flags))
	}
	receives := func(ns, tid, id int64) message { return event(ns, tid, 51, message(nil).num(1, id)) }
	trace := file(tree(),
		bundle(0, said(10, 101, "B|100|doFrame\n"), said(20, 101, "B|100|draw"), sends(25, 101, 7, 0, 0), receives(60, 101, 8),
			said(65, 101, "E|100"), said(70, 101, "E|100"), said(71, 101, "E|100"), said(80, 101, "S|100|launch|5"), said(82, 101, "S|100|launch|6"),
			said(90, 101, "F|100|launch|5"), said(91, 101, "N|100|Compaction|all"), said(95, 101, "I|100|vsync"), said(96, 101, "C|100|heap|7")),
		bundle(1, receives(30, 200, 7), said(40, 200, "B|200|work"), said(45, 200, "E|200"), sends(50, 200, 8, 1, 0)),
	)
	check(t, trace, "slices",
		"0|10|60|doFrame||0||0|thread_execution||101|100",
		"1|20|45|draw||1|0|0|thread_execution||101|100",
		"2|25|35|binder transaction|binder|2|1|0|thread_execution||101|100",
		"3|30|20|binder reply|binder|0||1|thread_execution||200|200",
		"4|40|5|work||1|3|1|thread_execution||200|200",
		"5|80|10|launch||0||2|atrace_async_slice|launch||100",
		"6|82|-1|launch||0||3|atrace_async_slice|launch||100",
		"7|91|0|all||0||4|atrace_async_slice_for_track|Compaction||100",
		"8|95|0|vsync||0||0|thread_execution||101|100")
	check(t, trace, "flows", "2|3")
}

func TestFlowOfAFrameLeadsToTheDisplays(t *testing.T) {
	t.Parallel()
	app := message(nil).num(1, 1).num(2, 7).num(3, 77).num(4, 100)
	display := func(cookie int64) message { return message(nil).num(1, cookie).num(2, 77).num(3, 458) }
	// The display's frame precedes the app's in the file, though it begins later.
	trace := file(frame(50, 2, display(2)), frame(20, 4, app), frame(90, 2, display(3)), tree(), bundle(0, said(30, 101, "I|100|between")))
	check(t, trace, "flows", "2|1")
	got, _ := lines(t, trace, "slices")
	for i, want := range []string{"2|20|-1|7|", "0|30|0|between|", "1|50|-1|77|", "3|90|-1|77|"} {
		if len(got) != 4 || !strings.HasPrefix(got[i], want) {
			t.Errorf("%q, row %d is meant to begin with %q", got, i, want)
		}
	}
}

func TestCounterTable(t *testing.T) {
	t.Parallel()
	rss := func(ns, tid, member, size, current, space int64) message {
		return event(ns, tid, 313, message(nil).num(1, member).num(2, size).num(3, current).num(4, space))
	}
	stats := message(nil).num(8, 200).in(9, message(nil).in(1, message(nil).num(1, 100).num(3, 5).num(10, -800)))
	check(t, file(stats, tree(),
		bundle(1, event(30, 0, 11, message(nil).num(1, 1_800_000).num(2, 4)), event(60, 0, 13, message(nil).num(1, 0xffffffff).num(2, 1))),
		bundle(0, said(10, 101, "C|100|Heap size (KB)|-17"), event(40, 0, 16, message(nil).text(1, "mif").num(2, 421)),
			rss(50, 101, 1, 4096, 1, 9), rss(55, 200, 1, 8192, 0, 9), rss(56, 200, 1, 1, 0, 10), rss(57, 300, 0, 7, 1, 11),
			event(70, 0, 332, message(nil).num(2, 500)), event(80, 0, 326, message(nil).num(2, 0xffffff9c).num(3, 101))),
	), "counters",
		"10|-17|0|Heap size (KB)|atrace_counter||100||",
		"30|1.8e+06|1|cpufreq|cpu_frequency||||4",
		"40|421|2|mif Frequency|clock_frequency||||",
		"50|4096|3|mem.rss.anon|process_memory||100||",
		"55|8192|3|mem.rss.anon|process_memory||100||", // of the memory that 101 was seen to use
		"57|7|4|mem.rss.file|process_memory_thread_fallback|||300|",
		"60|4.294967295e+09|5|cpuidle|cpu_idle||||1",
		"70|500|6|gpufreq|gpu_frequency|kHz|||",
		"80|-100|7|oom_score_adj|oom_score_adj||100||",
		"200|5120|8|mem.rss|process_memory||100||", "200|-800|9|oom_score_adj|oom_score_adj||100||")
}

// TestTableStartsWhenEveryCPUIsRecorded has a ring buffer in which CPU 1's record begins at
// 500, and a trace whose stated beginning is 500.
func TestTableStartsWhenEveryCPUIsRecorded(t *testing.T) {
	t.Parallel()
	begins := func(p message, at int64) message { // last_read_event_timestamp of its bundle
		var inner message
		inner, _ = protowire.ConsumeBytes(p[1:])
		return message(nil).in(1, inner.num(9, at))
	}
	first := bundle(0, swap(100, 0, 0, 101), swap(200, 101, 1, 0), swap(600, 0, 0, 101), swap(700, 101, 1, 0))
	second := bundle(1, swap(650, 0, 0, 200), swap(680, 200, 1, 0))
	started := message(nil).num(8, 500).in(69, message(nil).num(2, 1))
	for name, trace := range map[string][]byte{
		"ring buffer": file(begins(first, 50), begins(second, 500)),
		"started":     file(started, first, second),
	} {
		got, read := lines(t, trace, "sched")
		want := []string{"600|100|0|101|S|120|1", "650|30|1|200|S|120|2", "680|-1|1|0||120|0", "700|-1|0|0||120|0"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if said := fmt.Sprint(read.Warnings); !strings.Contains(said, "2 events of the kernel are of before") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestThrottledMemory has rss_stat_throttled, which reports the same as rss_stat under other
// numbers.
func TestThrottledMemory(t *testing.T) {
	t.Parallel()
	throttled := func(ns, tid, member, size, current, space int64) message {
		return event(ns, tid, 359, message(nil).num(1, current).num(2, member).num(3, space).num(4, size))
	}
	check(t, file(tree(), bundle(0, throttled(50, 101, 1, 4096, 1, 9), throttled(60, 200, 2, 8192, 0, 9))), "counters",
		"50|4096|0|mem.rss.anon|process_memory||100||", "60|8192|1|mem.swap|process_memory||100||")
}

// TestMentionedThreads has threads that are only mentioned by the log, the memory of
// processes, the GPU's memory and its work.
func TestMentionedThreads(t *testing.T) {
	t.Parallel()
	clocks := message(nil).in(6, message(nil).in(1, message(nil).num(1, 6).num(2, 500)).in(1, message(nil).num(1, 1).num(2, 500)))
	context := message(nil).num(10, 1).num(13, 1).in(12, message(nil).in(23, message(nil).num(1, 9).num(2, 40)))
	trace := file(clocks, context,
		message(nil).num(8, 600).in(39, message(nil).in(1, message(nil).num(2, 10).num(3, 11).num(5, 510))),
		message(nil).num(8, 520).in(9, message(nil).in(1, message(nil).num(1, 20).num(3, 5))),
		message(nil).num(8, 530).in(71, message(nil).num(2, 30).num(3, 5)),
		message(nil).num(8, 540).num(10, 1).in(53, message(nil).num(1, 1).num(5, 9)),
		bundle(0, event(550, 0, 340, message(nil).num(2, 50).num(3, 5)))) // it may have ended
	check(t, trace, "threads", "0|0|swapper|0|0|1||",
		"1|10||1|10|1||", "2|11||1|10|0||", "3|20||2|20|1||", "4|30||3|30|1||", "5|40||4|40|1||")
	check(t, trace, "processes", "0|0||||||", "1|10||||||", "2|20||||||", "3|30||||||", "4|40||||||")
}
