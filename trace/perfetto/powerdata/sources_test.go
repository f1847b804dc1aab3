package powerdata_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/perfetto/powerdata"
)

// swap is a switch to a thread at a time in ms.
func swap(ms, next int64) message {
	return event(ms*millisecond, 4, message(nil).text(5, "comm").num(6, next))
}

// of puts a packet on a machine.
func (m message) of(machine int64) message { return m.num(98, machine) }

func named(pid, uid int64, name string) message {
	return message(nil).in(2, message(nil).in(1, message(nil).num(1, pid).text(3, name).num(5, uid)))
}

// A virtual machine on the device uses the same process ids; whichever of the two comes first in
// the file, those of the device are returned.
func TestReadIgnoresAVirtualMachinesKernel(t *testing.T) {
	t.Parallel()
	guest := []message{
		bundle(0, swap(1, 42), swap(2, 0)).on(3).of(7), named(42, 0, "guest.daemon").on(4).of(7),
		at(1*millisecond).in(1, message(nil).num(1, 0).in(2, event(3*millisecond, 3, message(nil).text(2, "C|1|battery_stats.plugged|1\n")))).on(3).of(7),
	}
	host := []message{bundle(0, swap(1, 42), swap(6, 0)).on(1), named(42, 10042, "com.example").on(2)}
	want := []powerdata.Process{{PID: 42, UID: 10042, Name: "com.example", CPU: 5 * time.Millisecond}}
	for name, packets := range map[string][]message{"host first": append(host[:2:2], guest...), "guest first": append(guest[:3:3], host...)} {
		got := read(t, file(packets...))
		if d := cmp.Diff(want, got.Processes); d != "" || len(got.Threads) != 1 || got.FtraceEvents != 2 {
			t.Errorf("%s: %s, %+v, %d events", name, d, got.Threads, got.FtraceEvents)
		}
		if len(got.States) != 0 {
			t.Errorf("%s: the guest's charger counts as the device's: %+v", name, got.States)
		}
		if !warned(got, "3 events of the kernels of other machines") {
			t.Errorf("%s: %v", name, got.Warnings)
		}
	}
}

func TestReadIgnoresAVirtualMachinesUIDs(t *testing.T) {
	t.Parallel()
	// UID 1000 on one cluster: a first time in ms, and its increase since.
	reading := func(s, ms int64) message {
		return at(s*second).in(119, message(nil).num(1, 1).packed(2, 1000).packed(3, ms))
	}
	got := read(t, file(
		reading(1, 100).num(13, 1).on(5), reading(2, 20).on(5),
		reading(1, 900).num(13, 1).on(6).of(7), reading(2, 500).on(6).of(7),
	))
	if len(got.UIDTimes) != 1 || got.UIDTimes[0].CPU() != 20*time.Millisecond {
		t.Errorf("%+v, want the device's 20 ms", got.UIDTimes)
	}
}

// Android Studio's recording runs beside ours: each reports every switch.
func TestReadCountsTwoSchedulerRecordsOnce(t *testing.T) {
	t.Parallel()
	whole := []message{bundle(0, swap(1, 42), swap(11, 0), swap(12, 42), swap(15, 0)).on(1), bundle(1, swap(1, 43), swap(3, 0)).on(1)}
	part := bundle(0, swap(12, 42), swap(15, 0)).on(2)
	want := []powerdata.Thread{{TID: 42, Name: "comm", CPU: 13 * time.Millisecond}, {TID: 43, Name: "comm", CPU: 2 * time.Millisecond}}
	for name, packets := range map[string][]message{"the longer first": append(whole[:2:2], part), "the longer last": append([]message{part}, whole...)} {
		got := read(t, file(packets...))
		if d := cmp.Diff(want, got.Threads); d != "" || !warned(got, "2 data sources recorded the scheduler's events") {
			t.Errorf("%s: %s, %v", name, d, got.Warnings)
		}
	}
	if got := read(t, file(whole...)); len(got.Warnings) != 0 {
		t.Errorf("one data source: %v", got.Warnings)
	}
}

// In a wrapped ring buffer, CPU 0 is complete from 10 ms on and CPU 1 from 20 ms on: for both,
// times from 20 ms on count.
func TestReadUnevenCPURecords(t *testing.T) {
	t.Parallel()
	from := func(cpu, since int64, events ...message) message {
		b := message(nil).num(1, cpu).num(9, since*millisecond).num(10, since*millisecond)
		for _, e := range events {
			b = b.in(2, e)
		}
		return message(nil).in(1, b).on(1)
	}
	got := read(t, file(
		from(0, 10, swap(11, 42), swap(16, 43), swap(26, 42)),
		from(1, 20, swap(21, 44), swap(24, 0)),
		from(0, 26, swap(30, 0)), // not the first of its CPU
	))
	// 42: 11 to 16 ms is before 20 ms, 26 to 30 ms counts; 43: 20 to 26 of 16 to 26 ms.
	want := []powerdata.Thread{
		{TID: 43, Name: "comm", CPU: 6 * time.Millisecond},
		{TID: 42, Name: "comm", CPU: 4 * time.Millisecond},
		{TID: 44, Name: "comm", CPU: 3 * time.Millisecond},
	}
	if d := cmp.Diff(want, got.Threads); d != "" || len(got.Warnings) != 0 {
		t.Errorf("%s, %v", d, got.Warnings)
	}
}

// A sequence's own clock is meaningless before the snapshot that states its unit and its start.
func TestReadLeavesOutTimesBeforeTheirClock(t *testing.T) {
	t.Parallel()
	reading := message(nil).num(58, 64).num(8, 1000).in(38, message(nil).num(1, 1000)).on(5)
	snapshot := message(nil).num(13, 1).in(6, message(nil).
		in(1, message(nil).num(1, 64).num(2, 5_000_000).num(3, 1).num(4, 1000)).
		in(1, message(nil).num(1, 6).num(2, 10*second)).
		in(1, message(nil).num(1, 3).num(2, 9*second))).on(5)
	got := read(t, file(reading, snapshot, reading))
	// 1,000 µs after the snapshot.
	if len(got.Battery) != 1 || got.Battery[0].Time != 9*time.Second+time.Millisecond {
		t.Errorf("%+v, want the one reading whose clock was known", got.Battery)
	}
	if len(got.Warnings) != 1 || !warned(got, "1 reading is on clock 64 of sequence 5 before the first snapshot of it") {
		t.Errorf("%v", got.Warnings)
	}
}

func TestReadIgnoresEmptyPackets(t *testing.T) {
	t.Parallel()
	got := read(t, []byte{0x0a, 0, 0x0a, 0})
	if len(got.Warnings) != 0 {
		t.Errorf("%v", got.Warnings)
	}
}

// Impossible times must not become negative.
func TestReadSaturatesLargeTimes(t *testing.T) {
	t.Parallel()
	var packets []message
	for cpu := range int64(8) {
		packets = append(packets, bundle(cpu, event(1, 4, message(nil).num(6, 42)), event(1<<61, 4, message(nil).num(6, 43)), event(1<<61, 4, message(nil).num(6, 0))))
	}
	in, err := powerdata.Inspect(bytes.NewReader(file(append(packets, named(42, 10042, "com.example"))...)))
	if err != nil || in.Metrics["cpu.time_ms"] <= 0 {
		t.Errorf("%v, %v", in.Metrics, err)
	}
	for _, p := range in.Details.(powerdata.Details).Processes {
		if p.CPUMS <= 0 {
			t.Errorf("%+v", p)
		}
	}
}
