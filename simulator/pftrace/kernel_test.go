package pftrace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/trace/perfetto/tables"
)

const ms = time.Millisecond

// drawn returns a phone on which an app drew one frame: its UI thread 200 was woken by the
// vsync thread 300, woke the render thread 202 and slept; then a computation of its own ran
// until it was preempted, and a thread of another app ended.
func drawn() *timeline.Timeline {
	return &timeline.Timeline{
		Threads: []timeline.Thread{
			{PID: 200, TID: 200, Process: "com.example.app", Name: "com.example.app"}, {PID: 200, TID: 202, Process: "com.example.app", Name: "RenderThread"},
			{PID: 300, TID: 300, Process: "/system/bin/surfaceflinger", Name: "app"},
			{PID: 512, TID: 512, Process: "/system/bin/surfaceflinger", Name: "surfaceflinger"},
			{PID: 400, TID: 400, Process: "com.example.gone", Name: "xample.gone", Began: 9 * ms, Ended: 22 * ms},
			{PID: 500, TID: 500, Process: "com.example.past", Name: "xample.past", Ended: 2 * ms},
		},
		Runs: []timeline.Run{
			{TID: 300, CPU: 0, From: 10 * ms, To: 11 * ms, KHz: 300_000, Woken: 9900 * time.Microsecond, State: 'S'},
			{TID: 200, CPU: 4, From: 11 * ms, To: 13 * ms, KHz: 1000_000, Woken: 10500 * time.Microsecond, Waker: 300, State: timeline.GoesOn},
			{TID: 200, CPU: 4, From: 13 * ms, To: 15 * ms, KHz: 2000_000, State: 'S'},
			{TID: 200, CPU: 0, From: 17100 * time.Microsecond, To: 17300 * time.Microsecond, KHz: 300_000, Woken: 17 * ms, Waker: 202, State: 'S'},
			{TID: 202, CPU: 5, From: 16 * ms, To: 20 * ms, KHz: 2000_000, Woken: 14500 * time.Microsecond, Waker: 200, State: 'S'},
			{TID: 400, CPU: 4, From: 15 * ms, To: 22 * ms, KHz: 2000_000, Woken: 12 * ms, State: 'X'},
			{TID: 200, CPU: 5, From: 20 * ms, To: 28 * ms, KHz: 2000_000, Woken: 19 * ms, Waker: 202, State: 'R'},
			{TID: 512, CPU: 0, From: 30 * ms, To: 32 * ms, KHz: 300_000, Woken: 29 * ms, State: 'S'},
		},
		Displays: []timeline.DisplayFrame{ // one before its thread's runs are known, and one that is composed
			{Token: 5, Actual: timeline.Interval{From: 3 * ms, To: 8 * ms}}, {Token: 6, Actual: timeline.Interval{From: 30 * ms, To: 40 * ms}},
		},
		Speeds: []timeline.Speed{{At: 11 * ms, CPU: 4, Count: 2, KHz: 1000_000}, {At: 13 * ms, CPU: 4, Count: 2, KHz: 2000_000}},
		Slices: []*timeline.Slice{
			{TID: 200, Name: "a.B.c", From: 20 * ms, To: 28 * ms}, {TID: 400, Name: "not.asked", From: 16 * ms, To: 17 * ms},
			{TID: 400, Name: "GC", Category: "dalvik", From: 18 * ms, To: 19 * ms}, {TID: 400, Name: "input", Category: "input", From: 18 * ms, To: 19 * ms},
		},
		Layers: []*timeline.Layer{{PID: 200, Frames: []timeline.Frame{{
			Token: 77, Actual: timeline.Interval{From: 11 * ms, To: 20 * ms}, Vsync: 10 * ms, Input: 11 * ms, Animation: 11500 * time.Microsecond,
			Traversals: 12 * ms, Draw: 13 * ms, SyncQueued: 14500 * time.Microsecond, Sync: 16 * ms, Issue: 17 * ms, Swap: 19 * ms, Queued: 19500 * time.Microsecond,
			Dequeue: 500 * time.Microsecond,
		}}}},
	}
}

// told returns columns of one table of a trace, sorted: times in µs since the beginning,
// without the phone's sleep.
func told(t *testing.T, w *Writer, table string, columns ...string) (rows []string) {
	t.Helper()
	got, err := tables.Read(bytes.NewReader(w.Bytes()), table)
	if err != nil {
		t.Fatal(err)
	}
	for row := range got.Rows {
		var cells []string
		for _, name := range columns {
			cell := row[slices.Index(got.Columns, name)]
			if n, ok := cell.(int64); ok && n > 0 && (name == "ts" || name == "dur") {
				cell = n % int64(time.Second) / 1000
			}
			cells = append(cells, fmt.Sprint(cell))
		}
		rows = append(rows, strings.Join(cells, " "))
	}
	slices.Sort(rows)
	return rows
}

// asleepFor is how long the phone slept.
const asleepFor = 100 * time.Second

// traceOf returns a trace of drawn for a time.
func traceOf(asked Ftrace, api int, during timeline.Interval) *Writer {
	w := New(1)
	w.Snapshot(Clocks{Monotonic: time.Second, Boottime: time.Second + asleepFor})
	w.Processes(drawn(), during, asleepFor)
	w.Ftrace(drawn(), asked, api, during, asleepFor)
	return w
}

var all = Ftrace{Events: events("sched_switch", "sched_waking", "cpu_frequency"), Categories: []string{"view", "gfx", "dalvik"}, Apps: []string{"com.example.app"}}

// events returns the set of events for a trace.
func events(names ...string) map[string]bool {
	var f Ftrace
	f.ask(names...)
	return f.Events
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSwitchesAreTheRuns(t *testing.T) {
	whole := timeline.Interval{From: 5 * ms, To: 50 * ms}
	same(t, "turns", told(t, traceOf(all, 30, whole), "sched", "ts", "dur", "cpu", "tid", "end_state"), []string{
		"10000 1000 0 300 S", "11000 6100 0 0 R", "17100 200 0 200 S", "17300 12700 0 0 R", "30000 2000 0 512 S", "32000 -1 0 0 <nil>",
		"11000 4000 4 200 S", "15000 7000 4 400 X", "22000 -1 4 0 <nil>",
		"16000 4000 5 202 S", "20000 8000 5 200 R", "28000 -1 5 0 <nil>",
	})
	columns := all
	columns.Compact = true
	same(t, "turns in columns, without each CPU's first", told(t, traceOf(columns, 34, whole), "sched", "ts", "dur", "cpu", "tid", "end_state"), []string{
		"11000 6100 0 0 R", "17100 200 0 200 S", "17300 12700 0 0 R", "30000 2000 0 512 S", "32000 -1 0 0 <nil>", "15000 7000 4 400 X", "22000 -1 4 0 <nil>", "20000 8000 5 200 R", "28000 -1 5 0 <nil>",
	})
	same(t, "turns of a part", told(t, traceOf(all, 30, timeline.Interval{From: 14 * ms, To: 21 * ms}), "sched", "ts", "dur", "cpu", "tid", "end_state"), []string{
		"15000 -1 4 400 <nil>", "17100 200 0 200 S", "17300 -1 0 0 <nil>", "16000 4000 5 202 S", "20000 -1 5 200 <nil>",
	})
	if rows := told(t, traceOf(Ftrace{}, 30, whole), "sched", "ts"); len(rows) > 0 {
		t.Errorf("turns that nobody asked for: %v", rows)
	}
}

func TestWakingsNameTheWaker(t *testing.T) {
	for _, compact := range []bool{false, true} {
		asked := all
		asked.Compact = compact
		var got []string
		for _, row := range told(t, traceOf(asked, 34, timeline.Interval{From: 5 * ms, To: 50 * ms}), "thread-states", "tid", "ts", "state", "waker_tid", "irq_context") {
			if strings.Contains(row, " R ") && !strings.Contains(row, " R <nil>") {
				got = append(got, row)
			}
		}
		want := []string{"512 29000 R 0 <nil>", "300 9900 R 0 <nil>", "400 12000 R 200 <nil>", "200 19000 R 202 <nil>", "202 14500 R 200 <nil>", "200 17000 R 202 <nil>", "200 10500 R 300 <nil>"}
		if compact { // interrupts are recorded; the running thread is unknown before the first switch
			want = []string{"512 29000 R 0 1", "400 12000 R 200 1", "200 19000 R 202 0", "202 14500 R 200 0", "200 17000 R 202 0", "200 10500 R 300 0"}
		}
		same(t, fmt.Sprintf("wakings, in columns: %t", compact), got, want)
	}
}

func TestSectionsOfFramesAndOfTheApp(t *testing.T) {
	whole := timeline.Interval{From: 5 * ms, To: 50 * ms}
	got := told(t, traceOf(all, 34, whole), "slices", "ts", "dur", "name", "depth")
	same(t, "sections", got, []string{
		"11000 6300 Choreographer#doFrame 77 0", "11000 500 input 1", "11500 500 animation 1", "12000 5300 traversal 1", "13000 4300 draw 2",
		// The UI thread records until it waits for the render thread, less 5 µs at both ends.
		"13005 1490 Record View#draw() 3",
		"16000 3500 DrawFrames 77 0", "16000 1000 syncFrameState 1", "17000 500 dequeueBuffer 1", "19000 500 queueBuffer 1",
		"20000 8000 a.B.c 0", "18000 1000 GC 0", "30000 2000 composite 6 0",
	})
	old := told(t, traceOf(Ftrace{Events: events("sched_switch"), Categories: []string{"view"}}, 30, whole), "slices", "name")
	same(t, "sections of Android 11, of views alone", old, []string{"Choreographer#doFrame", "input", "animation", "traversal", "draw", "Record View#draw()"})
}

func TestSpeedsAndProcesses(t *testing.T) {
	w := traceOf(all, 34, timeline.Interval{From: 5 * ms, To: 50 * ms})
	same(t, "speeds", told(t, w, "counters", "ts", "value", "track_name", "cpu"), []string{
		"11000 1e+06 cpufreq 4", "11000 1e+06 cpufreq 5", "13000 2e+06 cpufreq 4", "13000 2e+06 cpufreq 5",
	})
	same(t, "threads", told(t, w, "threads", "tid", "name", "pid"), []string{
		"0 swapper 0", "200 com.example.app 200", "202 RenderThread 200", "300 app 300", "400 xample.gone 400", "512 surfaceflinger 512", "1 <nil> 1", // init, the parent of all
	})
	same(t, "processes", told(t, w, "processes", "pid", "name"), []string{
		"0 <nil>", "1 <nil>", "200 com.example.app", "300 /system/bin/surfaceflinger", "400 com.example.gone", "512 /system/bin/surfaceflinger",
	})
}
