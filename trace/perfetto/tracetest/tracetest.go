// Package tracetest generates Perfetto traces of any size, for tests and benchmarks: a phone with
// eight busy CPUs whose scheduler, slices, counters, frames and power rails are recorded. The same
// size gives the same bytes. It contains no data of real traces, and is for tests alone.
package tracetest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// Message builds a protocol buffer message field by field.
type Message []byte

// Num adds a number.
func (m Message) Num(number protowire.Number, v int64) Message {
	return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), uint64(v))
}

// Text adds a string.
func (m Message) Text(number protowire.Number, v string) Message {
	return protowire.AppendString(protowire.AppendTag(m, number, protowire.BytesType), v)
}

// In adds a message.
func (m Message) In(number protowire.Number, v Message) Message {
	return protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), v)
}

// Packed adds a packed list of numbers.
func (m Message) Packed(number protowire.Number, list []int64) Message {
	var b []byte
	for _, v := range list {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return m.In(number, b)
}

// File returns a trace of at least size bytes, written by write (Busy, or Scrolling's), in a folder
// that is removed with the test.
func File(t testing.TB, size int64, write func(w io.Writer, size int64) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "busy.pftrace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f, size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Busy writes a trace of at least size bytes.
func Busy(w io.Writer, size int64) error { return write(w, size, len(phone{}.runs), 0) }

// Scrolling returns a function that writes a trace like Busy, in which the process App draws rate
// frames in a second, a multiple of 4 and at most 120, on a CPU of its own.
func Scrolling(rate int) func(w io.Writer, size int64) error {
	return func(w io.Writer, size int64) error { return write(w, size, len(phone{}.runs)-1, rate) }
}

// write writes a trace of at least size bytes in which busy CPUs are busy.
func write(w io.Writer, size int64, busy, rate int) error {
	p := &phone{out: bufio.NewWriterSize(w, 1<<20), random: rand.New(rand.NewSource(1)), least: 10, rate: int64(rate)}
	if busy < len(p.runs) {
		p.least = AppPID + 10
	}
	p.begin()
	for at := int64(second); p.written < size && p.err == nil; at += second / 4 {
		for cpu := range p.runs[:busy] {
			p.record(at, cpu)
		}
		if busy < len(p.runs) {
			p.scroll(at, busy)
		}
		p.measure(at)
	}
	if p.err != nil {
		return p.err
	}
	return p.out.Flush()
}

const second = 1_000_000_000 // ns

// phone is the state of the written trace.
type phone struct {
	out     *bufio.Writer
	random  *rand.Rand
	written int64
	err     error
	runs    [8]int64 // the thread that runs on each CPU
	joules  [4]int64 // µWs of each rail
	frames  int64
	token   int64 // of the app's last frame
	rate    int64 // of the app's frames, in a second
	longer  int64 // additional measuring of the app in each frame, ns
	apart   bool  // whether its frames are due before the next one's vsync
	least   int64 // the id of the first thread that may run on any CPU
}

func (p *phone) put(packet Message) {
	if p.err == nil {
		var n int
		n, p.err = p.out.Write(Message(nil).In(field.TracePacket, packet))
		p.written += int64(n)
	}
}

// begin writes the beginning: clocks, rails, processes with threads.
func (p *phone) begin() {
	clock := func(id, ns int64) Message {
		return Message(nil).Num(field.ClockClockID, id).Num(field.ClockTimestamp, ns)
	}
	const boottime, monotonic = 6, 3
	p.put(Message(nil).In(field.PacketClockSnapshot, Message(nil).
		In(field.ClockSnapshotClocks, clock(boottime, second)).In(field.ClockSnapshotClocks, clock(monotonic, second))))
	rails := Message(nil)
	for i := range p.joules {
		rails = rails.In(field.PowerRailsRailDescriptor, Message(nil).Num(field.RailIndex, int64(i)).Text(field.RailRailName, fmt.Sprintf("S%dM_VDD", i)))
	}
	p.put(Message(nil).Num(field.PacketTimestamp, second).In(field.PacketPowerRails, rails))
	processes := Message(nil)
	for pid := int64(10); pid < lastThread; pid += 10 {
		processes = processes.In(field.ProcessTreeProcesses, Message(nil).Num(field.TreeProcessPID, pid).Num(field.TreeProcessPpid, 1).
			Text(field.TreeProcessCmdline, fmt.Sprint("com.example.p", pid)))
		for tid := pid + 1; tid < pid+10; tid++ {
			processes = processes.In(field.ProcessTreeThreads, Message(nil).Num(field.TreeThreadTID, tid).Text(field.TreeThreadName, fmt.Sprint("thread", tid)).
				Num(field.TreeThreadTGID, pid))
		}
	}
	p.put(Message(nil).Num(field.PacketTimestamp, second).In(field.PacketProcessTree, processes))
}

// lastThread is above the ids of all threads.
const lastThread = 3_000

// record writes the kernel's record of a CPU for a quarter of a second: 2,000 events, and as many
// switches and wake-ups in columns.
func (p *phone) record(at int64, cpu int) {
	bundle := Message(nil).Num(field.BundleCPU, int64(cpu))
	ns, last := at, int64(0)
	var times, tids, states, prios, comms []int64
	for range 400 {
		ns += 1 + p.random.Int63n(600_000)
		next := p.least + p.random.Int63n(lastThread-p.least)
		times, tids, states = append(times, ns-last), append(tids, next), append(states, 1)
		prios, comms = append(prios, 120), append(comms, next%8)
		last, p.runs[cpu] = ns, next
		event := func(after, kind int64, data Message) {
			bundle = bundle.In(field.BundleEvent, Message(nil).Num(field.EventTimestamp, ns+after).Num(field.EventPID, next).In(protowire.Number(kind), data))
		}
		event(2_000, int64(field.EventPrint), Message(nil).Text(field.PrintBuf, fmt.Sprintf("B|%d|Choreographer#doFrame\n", next/10*10)))
		event(3_000, int64(field.EventPrint), Message(nil).Text(field.PrintBuf, fmt.Sprintf("C|%d|queue|%d\n", next/10*10, next)))
		event(4_000, int64(field.EventPrint), Message(nil).Text(field.PrintBuf, fmt.Sprintf("E|%d\n", next/10*10)))
		event(5_000, int64(field.EventCPUIdle), Message(nil).Num(field.CPUIdleState, 1).Num(field.CPUIdleCPUID, int64(cpu)))
		event(6_000, int64(field.EventCPUFrequency), Message(nil).Num(field.CPUFrequencyState, 300_000+next).Num(field.CPUFrequencyCPUID, int64(cpu)))
	}
	woken := slices.Clone(times)
	woken[0]++ // no two events of a CPU have the same time
	compact := Message(nil).Packed(field.CompactSchedSwitchTimestamp, times).Packed(field.CompactSchedSwitchPrevState, states).
		Packed(field.CompactSchedSwitchNextPID, tids).Packed(field.CompactSchedSwitchNextPrio, prios).Packed(field.CompactSchedSwitchNextCommIndex, comms).
		Packed(field.CompactSchedWakingTimestamp, woken).Packed(field.CompactSchedWakingPID, tids).Packed(field.CompactSchedWakingTargetCPU, comms).
		Packed(field.CompactSchedWakingPrio, prios).Packed(field.CompactSchedWakingCommIndex, comms).Packed(field.CompactSchedWakingCommonFlags, states)
	for i := range 8 {
		compact = compact.Text(field.CompactSchedInternTable, fmt.Sprint("worker", i))
	}
	p.put(Message(nil).In(field.PacketFtraceEvents, bundle.In(field.BundleCompactSched, compact)))
}

// measure writes the rails' readings and a frame of the display.
func (p *phone) measure(at int64) {
	readings := Message(nil)
	for i := range p.joules {
		p.joules[i] += p.random.Int63n(100_000)
		readings = readings.In(field.PowerRailsEnergyData, Message(nil).Num(field.RailEnergyIndex, int64(i)).Num(field.RailEnergyTimestampMS, at/1_000_000).
			Num(field.RailEnergyEnergy, p.joules[i]))
	}
	p.put(Message(nil).Num(field.PacketTimestamp, at).In(field.PacketPowerRails, readings))
	p.frames++
	frame := Message(nil).Num(field.ActualDisplayCookie, p.frames).Num(field.ActualDisplayToken, p.frames).Num(field.ActualDisplayPID, 10).
		Num(field.ActualDisplayPresentType, 1).Num(field.ActualDisplayJankType, 1)
	p.put(Message(nil).Num(field.PacketTimestamp, at).In(field.PacketFrameTimelineEvent, Message(nil).In(field.FrameActualDisplayFrameStart, frame)))
	p.put(Message(nil).Num(field.PacketTimestamp, at+second/60).In(field.PacketFrameTimelineEvent, Message(nil).
		In(field.FrameFrameEnd, Message(nil).Num(field.FrameEndCookie, p.frames))))
}
