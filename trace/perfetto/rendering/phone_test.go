package rendering_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
)

type message = tracetest.Message

// The threads of the made-up phone. A process has the id of its main thread.
const (
	ui, render, worker, gpuThread = 100, 101, 102, 103 // com.example.app
	peer, peerBinder              = 200, 201           // com.example.peer
	flinger                       = 300
	rival, rivalWorker            = 400, 401 // com.example.rival
	far, farBinder                = 500, 501 // com.example.far
)

var processes = map[int64][]int64{ui: {render, worker, gpuThread}, peer: {peerBinder}, flinger: {}, rival: {rivalWorker}, far: {farBinder}}

var names = map[int64]string{
	ui: "com.example.app", peer: "com.example.peer", flinger: "/system/bin/surfaceflinger", rival: "com.example.rival", far: "com.example.far",
	render: "RenderThread", worker: "DefaultDispatch", gpuThread: "GPU completion", peerBinder: "binder:200_1", rivalWorker: "crunch", farBinder: "binder:500_1",
}

const ahead = 50_000 // how far CLOCK_BOOTTIME, the trace's own clock, is ahead of CLOCK_MONOTONIC, in ms

// phone is a trace under construction. Times are ms of CLOCK_MONOTONIC.
type phone struct {
	packets []message // at the beginning
	events  []event
	turns   []turn
	cookie  int64
}

type event struct {
	at   float64
	cpu  int
	tid  int64
	kind protowire.Number
	data message
}

// turn is a period in which a thread ran.
type turn struct {
	cpu      int
	tid      int64
	from, to float64
	then     int64 // the kernel's state of the thread after it: 0 runnable, 1 S, 2 D
}

const asleep, blocked, waiting = 1, 2, 0

func newPhone() *phone {
	clock := func(id, ms int64) message {
		return message(nil).Num(field.ClockClockID, id).Num(field.ClockTimestamp, ms*1_000_000)
	}
	const boottime, monotonic = 6, 3
	p := &phone{}
	p.put(message(nil).In(field.PacketClockSnapshot, message(nil).
		In(field.ClockSnapshotClocks, clock(boottime, ahead)).In(field.ClockSnapshotClocks, clock(monotonic, 0))))
	tree := message(nil)
	for _, pid := range []int64{ui, peer, flinger, rival, far} {
		tree = tree.In(field.ProcessTreeProcesses, message(nil).Num(field.TreeProcessPID, pid).Num(field.TreeProcessPpid, 1).Text(field.TreeProcessCmdline, names[pid]))
		for _, tid := range processes[pid] {
			tree = tree.In(field.ProcessTreeThreads, message(nil).Num(field.TreeThreadTID, tid).Text(field.TreeThreadName, names[tid]).Num(field.TreeThreadTGID, pid))
		}
	}
	p.put(message(nil).Num(field.PacketTimestamp, ns(0)).In(field.PacketProcessTree, tree))
	return p
}

func ns(ms float64) int64 { return int64((ms + ahead) * 1e6) }

func (p *phone) put(packet message) { p.packets = append(p.packets, packet) }

func (p *phone) event(at float64, tid int64, kind protowire.Number, data message) {
	p.events = append(p.events, event{at: at, tid: tid, kind: kind, data: data})
}

// print writes a line to the kernel's trace.
func (p *phone) print(at float64, tid int64, line string) {
	p.event(at, tid, field.EventPrint, message(nil).Text(field.PrintBuf, line+"\n"))
}

// slice writes a slice of a thread. An outer slice must be written before its inner ones.
func (p *phone) slice(tid int64, name string, from, to float64) {
	p.print(from, tid, fmt.Sprintf("B|%d|%s", process(tid), name))
	p.print(to, tid, fmt.Sprintf("E|%d", process(tid)))
}

// around writes a slice around those written before.
func (p *phone) around(tid int64, name string, from, to float64) {
	inner := p.events
	p.events = nil
	p.print(from, tid, fmt.Sprintf("B|%d|%s", process(tid), name))
	p.events = append(p.events, inner...)
	p.print(to, tid, fmt.Sprintf("E|%d", process(tid)))
}

func process(tid int64) int64 { return tid / 100 * 100 }

func (p *phone) count(at float64, name string, n int) {
	p.print(at, flinger, fmt.Sprintf("C|%d|%s|%d", flinger, name, n))
}

// run runs a thread on a CPU.
func (p *phone) run(cpu int, tid int64, from, to float64, then int64) {
	p.turns = append(p.turns, turn{cpu, tid, from, to, then})
}

// wake lets a thread wake another.
func (p *phone) wake(at float64, tid, by int64) {
	p.event(at, by, field.EventSchedWaking, message(nil).Num(field.SchedWakingPID, tid).Num(field.SchedWakingPrio, 120))
}

// queue reports that a thread was put into a CPU's queue, in the name of the thread running there,
// or into that of another CPU, in the name of the waker.
func (p *phone) queue(at float64, cpu, target int, tid, ran int64) {
	p.event(at, ran, field.EventSchedWakeup, message(nil).Num(field.SchedWakingPID, tid).Num(field.SchedWakingPrio, 120).Num(field.SchedWakingTargetCPU, int64(target)))
	p.events[len(p.events)-1].cpu = cpu
}

// call lets a thread call another one, which replies.
func (p *phone) call(id int64, from, to int64, sent, received, replied float64) {
	p.event(sent, from, field.EventBinderTransaction, message(nil).Num(field.BinderTransactionDebugID, id).Num(field.BinderTransactionToProc, process(to)))
	p.event(received, to, field.EventBinderTransactionReceived, message(nil).Num(field.BinderReceivedDebugID, id))
	p.event(replied, to, field.EventBinderTransaction, message(nil).Num(field.BinderTransactionDebugID, id+1).
		Num(field.BinderTransactionToProc, process(from)).Num(field.BinderTransactionToThread, from).Num(field.BinderTransactionReply, 1))
	p.event(replied, from, field.EventBinderTransactionReceived, message(nil).Num(field.BinderReceivedDebugID, id+1))
}

// blockedIn writes why a thread slept.
func (p *phone) blockedIn(at float64, tid int64, function int64, io bool) {
	m := message(nil).Num(field.SchedBlockedPID, tid).Num(field.SchedBlockedCaller, function)
	if io {
		m = m.Num(field.SchedBlockedIOWait, 1)
	}
	p.event(at, rival, field.EventSchedBlockedReason, m)
}

func (p *phone) clock(at float64, cpu, khz int64) {
	p.event(at, 0, field.EventCPUFrequency, message(nil).Num(field.CPUFrequencyState, khz).Num(field.CPUFrequencyCPUID, cpu))
}

const layer = "com.example.app/.Main#7"

// Bits of JankType.
const (
	noJank, appLate, stuffed, unknownJank, cpuLate = 1, 64, 128, 256, 16
)

// shown writes a frame of the app to the frame timeline: the expected and the actual one. present
// is 1 for in time, 2 for late.
func (p *phone) shown(token int64, vsync, due, from, to float64, jank, present int64) {
	timeline := func(at float64, m message) {
		p.put(message(nil).Num(field.PacketTimestamp, ns(at)).Num(field.PacketTrustedPacketSequenceID, 7).In(field.PacketFrameTimelineEvent, m))
	}
	end := func(at float64) {
		timeline(at, message(nil).In(field.FrameFrameEnd, message(nil).Num(field.FrameEndCookie, p.cookie)))
	}
	p.cookie++
	timeline(vsync, message(nil).In(field.FrameExpectedSurfaceFrameStart, message(nil).Num(field.ExpectedSurfaceCookie, p.cookie).
		Num(field.ExpectedSurfaceToken, token).Num(field.ExpectedSurfaceDisplayFrameToken, token+1).Num(field.ExpectedSurfacePID, ui)))
	end(due)
	p.cookie++
	timeline(from, message(nil).In(field.FrameActualSurfaceFrameStart, message(nil).Num(field.ActualSurfaceCookie, p.cookie).
		Num(field.ActualSurfaceToken, token).Num(field.ActualSurfaceDisplayFrameToken, token+1).Num(field.ActualSurfacePID, ui).
		Text(field.ActualSurfaceLayerName, "TX - "+layer).Num(field.ActualSurfaceIsBuffer, 1).
		Num(field.ActualSurfaceJankType, jank).Num(field.ActualSurfacePresentType, present)))
	end(to)
}

// display writes the frame of the display that shows the app's frame with a token.
func (p *phone) display(token int64, from, due, to float64) {
	timeline := func(at float64, m message) {
		p.put(message(nil).Num(field.PacketTimestamp, ns(at)).Num(field.PacketTrustedPacketSequenceID, 7).In(field.PacketFrameTimelineEvent, m))
	}
	for _, one := range []struct {
		kind, cookie, token, pid protowire.Number
		to                       float64
	}{
		{field.FrameExpectedDisplayFrameStart, field.ExpectedDisplayCookie, field.ExpectedDisplayToken, field.ExpectedDisplayPID, due},
		{field.FrameActualDisplayFrameStart, field.ActualDisplayCookie, field.ActualDisplayToken, field.ActualDisplayPID, to},
	} {
		p.cookie++
		timeline(from, message(nil).In(one.kind, message(nil).Num(one.cookie, p.cookie).Num(one.token, token+1).Num(one.pid, flinger)))
		timeline(one.to, message(nil).In(field.FrameFrameEnd, message(nil).Num(field.FrameEndCookie, p.cookie)))
	}
}

// bytes returns the encoded trace.
func (p *phone) bytes() []byte {
	var trace message
	for _, one := range p.packets {
		trace = trace.In(field.TracePacket, one)
	}
	all := append(slices.Clone(p.events), p.switches()...)
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	symbols := message(nil)
	for id, name := range map[int64]string{1: "filemap_fault", 2: "rwsem_down_read"} {
		symbols = symbols.In(field.InternedKernelSymbols, message(nil).Num(field.InternedStringIID, id).Text(field.InternedStringStr, name))
	}
	for cpu := range 8 {
		bundle := message(nil).Num(field.BundleCPU, int64(cpu))
		n := 0
		for _, e := range all {
			if e.cpu == cpu {
				bundle = bundle.In(field.BundleEvent, message(nil).Num(field.EventTimestamp, ns(e.at)).Num(field.EventPID, e.tid).In(e.kind, e.data))
				n++
			}
		}
		if n > 0 {
			trace = trace.In(field.TracePacket, message(nil).Num(field.PacketTrustedPacketSequenceID, 9).Num(field.PacketSequenceFlags, 1).In(field.PacketInternedData, symbols).In(field.PacketFtraceEvents, bundle))
		}
	}
	return trace
}

// switches returns the turns as the kernel's switches, with the idle thread in between.
func (p *phone) switches() []event {
	slices.SortStableFunc(p.turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.from, b.from)) })
	var out []event
	change := func(at float64, cpu int, from, state, to int64) {
		out = append(out, event{at: at, cpu: cpu, tid: from, kind: field.EventSchedSwitch, data: message(nil).
			Num(field.SchedSwitchPrevPID, from).Num(field.SchedSwitchPrevState, state).Num(field.SchedSwitchNextPID, to).Num(field.SchedSwitchNextPrio, 120)})
	}
	for i, t := range p.turns {
		first := i == 0 || p.turns[i-1].cpu != t.cpu
		if first || p.turns[i-1].to < t.from {
			change(t.from, t.cpu, 0, 0, t.tid)
		}
		if i+1 < len(p.turns) && p.turns[i+1].cpu == t.cpu && p.turns[i+1].from == t.to {
			change(t.to, t.cpu, t.tid, t.then, p.turns[i+1].tid)
		} else {
			change(t.to, t.cpu, t.tid, t.then, 0)
		}
	}
	return out
}

var app = rendering.App{Package: "com.example.app"}

// read reads the trace, and checks the invariants of each frame.
func (p *phone) read(t *testing.T) rendering.Trace {
	t.Helper()
	trace, err := rendering.Read(packets.Packets(bytes.NewReader(p.bytes())), app)
	if err != nil {
		t.Fatal(err)
	}
	for i := range trace.Frames {
		if err := sound(&trace.Frames[i]); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	return trace
}

// sound returns an error for an impossible frame: gaps in its path, more than 120 steps, stages
// before themselves.
func sound(f *rendering.Frame) error {
	at := time.Duration(0)
	for i, s := range f.Path {
		if s.From != at || s.To <= s.From || s.Kind == "" || s.Does == "" {
			return fmt.Errorf("step %d of %d goes from %v, where %v ended, to %v, as %q, %q", i, len(f.Path), s.From, at, s.To, s.Kind, s.Does)
		}
		if s.CPU != -1 && s.Does != "running" {
			return fmt.Errorf("step %d is %s on CPU %d", i, s.Does, s.CPU)
		}
		at = s.To
	}
	if len(f.Path) > 0 && at != f.Took {
		return fmt.Errorf("the path ends at %v of %v", at, f.Took)
	}
	if len(f.Path) > 120 || len(f.Stages) > 48 || f.Class == "" || f.Ready < -1 {
		return fmt.Errorf("%d steps, %d stages, class %q, %d buffers", len(f.Path), len(f.Stages), f.Class, f.Ready)
	}
	for _, s := range f.Stages {
		if s.To <= s.From || s.Name == "" {
			return fmt.Errorf("stage %+v", s)
		}
	}
	return nil
}

// took sums up a path in ms by a property of its steps.
func took(path []rendering.Step, of func(s rendering.Step) string) map[string]float64 {
	out := map[string]float64{}
	for _, s := range path {
		out[of(s)] += float64(s.To-s.From) / 1e6
	}
	return out
}

func kind(s rendering.Step) string { return s.Kind }

// expect compares sums in ms.
func expect(t *testing.T, what string, got, want map[string]float64) {
	t.Helper()
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for k := range got {
			if _, there := want[k]; !there && !yield(k) {
				return
			}
		}
		for k := range want {
			if !yield(k) {
				return
			}
		}
	}) {
		if d := got[key] - want[key]; d > 0.01 || d < -0.01 {
			t.Errorf("%s: %q took %.2f ms, want %.2f\n%v", what, key, got[key], want[key], got)
		}
	}
}
