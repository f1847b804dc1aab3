package powerdata_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// tree is a ProcessTree: process 100 of UID 10001 with thread 101, and 200.
func tree() message {
	return message(nil).in(2, message(nil).
		in(1, message(nil).num(1, 100).text(3, "com.example").text(3, "--flag").num(5, 10001)).
		in(1, message(nil).num(1, 200).text(3, "surfaceflinger")).
		in(2, message(nil).num(1, 101).num(3, 100).text(2, "RenderThread")))
}

// wantThreads is the result of both encodings of the scheduler's events: CPU 0 runs 100 for 30 ms,
// the idle thread for 10 ms and 101 for 5 ms; CPU 1 runs 200 for 7 ms and 100 for 3 ms. The last
// thread runs until an unknown end.
var (
	wantThreads = []powerdata.Thread{
		{TID: 100, PID: 100, Name: "com.example", CPU: 33 * time.Millisecond},
		{TID: 200, PID: 200, Name: "surfaceflinger", CPU: 7 * time.Millisecond},
		{TID: 101, PID: 100, Name: "RenderThread", CPU: 5 * time.Millisecond},
	}
	wantProcesses = []powerdata.Process{
		{PID: 100, UID: 10001, Name: "com.example", CPU: 38 * time.Millisecond},
		{PID: 200, UID: -1, Name: "surfaceflinger", CPU: 7 * time.Millisecond},
	}
)

func TestCPUTime(t *testing.T) {
	t.Parallel()
	swap := func(ms, next int64) message {
		return event(ms*millisecond, 4, message(nil).text(5, "comm").num(6, next))
	}
	compact := func(cpu int64, times, pids []int64) message {
		return message(nil).in(1, message(nil).num(1, cpu).in(4, message(nil).
			text(5, "comm").packed(1, times...).packed(3, pids...).packed(6, make([]int64, len(times))...)))
	}
	ms := millisecond
	for name, packets := range map[string][]message{
		"event by event": {
			bundle(0, swap(1000, 100), swap(1030, 0), swap(1040, 101)),
			bundle(1, swap(1000, 200), swap(1007, 100)), tree(),
			bundle(0, swap(1045, 100)), bundle(1, swap(1010, 0)),
		},
		"compact": {
			tree(), compact(0, []int64{1000 * ms, 30 * ms, 10 * ms}, []int64{100, 0, 101}),
			compact(1, []int64{1000 * ms, 7 * ms, 3 * ms}, []int64{200, 100, 0}),
			compact(0, []int64{1045 * ms}, []int64{100}),
		},
	} {
		got := read(t, file(packets...))
		if diff := cmp.Diff(wantThreads, got.Threads); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(wantProcesses, got.Processes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got.FtraceEvents != 7 || got.FtraceUnread != 0 {
			t.Errorf("%s: %d events, %d not read", name, got.FtraceEvents, got.FtraceUnread)
		}
	}
}

func TestLostKernelEventsEndATurn(t *testing.T) {
	t.Parallel()
	swap := func(ms, next int64) message {
		return event(ms*millisecond, 4, message(nil).text(5, "worker").num(6, next))
	}
	lossy := message(nil).in(1, message(nil).num(1, 0).num(3, 1).in(2, swap(5000, 7)).in(2, swap(5004, 0)))
	got := read(t, file(bundle(0, swap(1000, 7)), lossy))
	// What ran between 1,000 and 5,000 ms is unknown.
	want := []powerdata.Thread{{TID: 7, Name: "worker", CPU: 4 * time.Millisecond}}
	if diff := cmp.Diff(want, got.Threads); diff != "" || got.CPULost != 1 || !warned(got, "CPU times are too low") {
		t.Errorf("%s; lost %d; %v", diff, got.CPULost, got.Warnings)
	}
}

func TestReadFrequenciesAndSuspensions(t *testing.T) {
	t.Parallel()
	frequency := func(ms, cpu, khz int64) message {
		return event(ms*millisecond, 11, message(nil).num(1, khz).num(2, cpu))
	}
	step := func(ms int64, action string, value, start int64) message {
		return event(ms*millisecond, 113, message(nil).text(1, action).num(2, value).num(3, start))
	}
	got := read(t, file(
		bundle(0, frequency(30, 4, 2_800_000), frequency(10, 4, 500_000), step(70, "timekeeping_freeze", 0, 0), step(75, "suspend_enter", 3, 0)),
		bundle(1, step(40, "suspend_enter", 3, 1), step(50, "timekeeping_freeze", 1, 1), event(55*millisecond, 20, nil)),
		bundle(5000),
	))
	wantFrequencies := []powerdata.Frequency{{CPU: 4, Changes: []powerdata.FrequencyChange{
		{Time: 10 * time.Millisecond, KHz: 500_000}, {Time: 30 * time.Millisecond, KHz: 2_800_000}}}}
	if diff := cmp.Diff(wantFrequencies, got.Frequencies); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]powerdata.Span{{Start: 50 * time.Millisecond, End: 70 * time.Millisecond}}, got.Suspends); diff != "" {
		t.Error(diff)
	}
	if got.FtraceEvents != 7 || got.FtraceUnread != 1 || !warned(got, "more CPUs than are kept") {
		t.Errorf("%d events, %d not read, %v", got.FtraceEvents, got.FtraceUnread, got.Warnings)
	}
}

func TestReadPrefersMinimalSuspendEvents(t *testing.T) {
	t.Parallel()
	freeze := func(ms, start int64) message {
		return event(ms*millisecond, 113, message(nil).text(1, "timekeeping_freeze").num(3, start))
	}
	minimal := func(ms, start int64) message {
		return event(ms*millisecond, 481, message(nil).num(1, start))
	}
	got := read(t, file(bundle(0, freeze(12, 1), freeze(18, 0), minimal(10, 1), minimal(20, 0), minimal(40, 0), minimal(50, 1))))
	if diff := cmp.Diff([]powerdata.Span{{Start: 10 * time.Millisecond, End: 20 * time.Millisecond}}, got.Suspends); diff != "" {
		t.Error(diff)
	}
	// A sleep that overlaps the next one has lost its true end.
	lossy := read(t, file(bundle(0, freeze(10, 1), freeze(30, 0)), bundle(1,
		event(20*millisecond, 113, message(nil).text(1, "syscore_resume").num(3, 1)),
		event(25*millisecond, 113, message(nil).text(1, "syscore_resume").num(3, 0)))))
	if diff := cmp.Diff([]powerdata.Span{{Start: 20 * time.Millisecond, End: 25 * time.Millisecond}}, lossy.Suspends); diff != "" {
		t.Error(diff)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	property := func(name, value string) message {
		return message(nil).in(86, message(nil).in(1, message(nil).text(1, "debug.tracing."+name).text(2, value)))
	}
	printed := func(ms int64, line string) message {
		return bundle(0, event(ms*millisecond, 3, message(nil).text(2, line)))
	}
	got := read(t, file(
		append(property("battery_stats.plugged", "1"), at(millisecond)...),
		printed(20, "C|1234|battery_stats.plugged|0\n"),
		printed(10, "C|1234|battery_stats.screen|1"),
		printed(30, "C|1234|battery_stats.screen|much"),
		printed(40, "C|1234|HeapSize|17"), printed(50, "B|1234|battery_stats.x|1"), printed(60, "C|1"),
		append(property("screen_state", "2"), at(2*millisecond)...),
		append(property("mcc", "310"), at(2*millisecond)...),
	))
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	want := []powerdata.State{
		{Name: "battery_stats.plugged", Changes: []powerdata.StateChange{{Time: ms(1), Value: 1}, {Time: ms(20), Value: 0}}},
		{Name: "battery_stats.screen", Changes: []powerdata.StateChange{{Time: ms(10), Value: 1}}},
		{Name: "screen_state", Changes: []powerdata.StateChange{{Time: ms(2), Value: 2}}},
	}
	if diff := cmp.Diff(want, got.States); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		name, value    string
		powered, known bool
	}{
		{"battery_stats.plugged", "1", true, true},
		{"battery_stats.plugged", "0", false, true},
		{"battery_stats.charging", "1", true, true},
		{"plug_type", "2", true, true},
		{"plug_type", "0", false, true},
		{"battery_status", "2", true, true},  // charging
		{"battery_status", "3", false, true}, // discharging
		{"battery_status", "4", true, true},  // plugged in, but not charging
		{"battery_status", "5", true, true},  // full
		{"battery_status", "1", false, false},
		{"screen_state", "1", false, false},
	} {
		powered, known := read(t, file(append(property(c.name, c.value), at(1)...))).Powered()
		if powered != c.powered || known != c.known {
			t.Errorf("%s = %s: powered %v, known %v", c.name, c.value, powered, known)
		}
	}
}

func TestConsumersAndPowerStates(t *testing.T) {
	t.Parallel()
	consumer := message(nil).in(77, message(nil).in(1, message(nil).
		in(1, message(nil).num(1, 3).num(2, 1).text(3, "CPU_CLUSTER").text(4, "CPUCL1"))))
	reading := func(s, uws, ofUID int64) message {
		return at(s*second).in(77, message(nil).num(2, 3).num(3, uws).in(4, message(nil).num(1, 10234).num(2, ofUID)))
	}
	states := message(nil).in(91, message(nil).
		in(1, message(nil).num(1, 4).num(2, 1).text(3, "Bluetooth").text(4, "Sleep")))
	residency := at(second).in(91, message(nil).
		in(2, message(nil).num(1, 4).num(2, 1).num(3, 1500).num(4, 9)).
		in(2, message(nil).num(1, 4).num(2, 2).num(3, 1))) // never described
	got := read(t, file(consumer, reading(1, 1_000_000, 0), reading(3, 5_000_000, 2_500_000), states, residency))

	if len(got.Consumers) != 1 || got.Consumers[0].Name != "CPUCL1" || got.Consumers[0].Type != "CPU_CLUSTER" || got.Consumers[0].Ordinal != 1 {
		t.Fatalf("consumers %+v", got.Consumers)
	}
	if j, over := got.Consumers[0].Energy(); j != 4 || over != 2*time.Second {
		t.Errorf("%v J in %v, want 4 J in 2 s", j, over)
	}
	if uids := got.Consumers[0].UIDs; len(uids) != 1 || uids[0].UID != 10234 {
		t.Errorf("UIDs %+v", uids)
	} else if j, _ := uids[0].Energy(); j != 2.5 {
		t.Errorf("the UID's share is %v J, want 2.5", j)
	}
	want := []powerdata.StateTime{{Entity: "Bluetooth", State: "Sleep", Samples: []powerdata.ResidencySample{
		{Time: time.Second, Total: 1500 * time.Millisecond, Entries: 9}}}}
	if diff := cmp.Diff(want, got.Residency); diff != "" || !warned(got, "1 time in a power state") {
		t.Errorf("%s %v", diff, got.Warnings)
	}
}

func TestUIDTimes(t *testing.T) {
	t.Parallel()
	times := func(s, clusters int64, uids, ms []int64) message {
		m := message(nil).packed(2, uids...).packed(3, ms...)
		if clusters > 0 {
			m = m.num(1, clusters)
		}
		return at(s*second).on(5).in(119, m)
	}
	got := read(t, file(
		times(1, 2, []int64{1000, 10001}, []int64{500, 70, 9000, 800}),
		times(2, 0, []int64{10001}, []int64{250, 0}),
		times(3, 0, []int64{10001, 1000}, []int64{150, 30, 5}),     // the last UID lacks a time
		times(4, 0, nil, []int64{7}),                               // without a UID
		times(5, 2, []int64{10001}, []int64{9500, 900}).num(41, 1), // absolute again
	))
	cpu := map[[2]int]time.Duration{}
	for _, u := range got.UIDTimes {
		cpu[[2]int{u.UID, u.Cluster}] = u.CPU()
	}
	want := map[[2]int]time.Duration{
		{1000, 0}: 5 * time.Millisecond, {1000, 1}: 0,
		{10001, 0}: 500 * time.Millisecond, {10001, 1}: 100 * time.Millisecond,
	}
	if diff := cmp.Diff(want, cpu); diff != "" {
		t.Error(diff)
	}
}
