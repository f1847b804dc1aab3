package threads

import (
	"bytes"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// kthreadd is the process that begins the kernel's own.
const kthreadd = 2

// Packet reads a process tree, or a new name, when its time has come.
func (t *Tracker) Packet(p packets.Packet) {
	if p.Machine != t.file.Home {
		return
	}
	var at time.Duration // the first packets may have none
	if p.At != packets.NoStamp {
		var ok bool
		if at, ok = t.file.Time(p.At); !ok {
			return
		}
	}
	if p.Kind == field.PacketFrameTimelineEvent {
		t.frame(at, p.Data)
		return
	}
	read := t.tree
	switch p.Kind {
	case field.PacketGenericKernelTaskRenameEvent:
		read = t.genericRename
	case field.PacketGenericKernelProcessTree:
		read = t.genericTree
	}
	message := bytes.Clone(p.Data)
	t.file.Defer(at, len(message), func() { read(message) })
}

// frame finds the process of a FrameTimelineEvent
// (frameworks_native_trace_packet.proto).
func (t *Tracker) frame(at time.Duration, message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		for g := packets.FieldsOf(f.Bytes); g.Next(); {
			display := (f.Number == field.FrameExpectedDisplayFrameStart || f.Number == field.FrameActualDisplayFrameStart) && g.Number == field.ActualDisplayPID
			surface := (f.Number == field.FrameExpectedSurfaceFrameStart || f.Number == field.FrameActualSurfaceFrameStart) && g.Number == field.ActualSurfacePID
			if pid := int32(g.Value); (display || surface) && !t.framed[pid] && len(t.framed) < most {
				t.framed[pid] = true
				t.file.Defer(at, 0, func() { t.OfProcess(pid) })
			}
		}
	}
}

// print finds whose a line is that a thread or a driver wrote into the kernel's trace.
func (t *Tracker) print(e *packets.Event) {
	p, ok := atrace.Of(e)
	switch {
	case !ok:
	case strings.IndexByte("BEI", p.Phase) < 0:
		t.OfProcess(p.PID)
	case p.PID != 0:
		t.Belongs(e.TID, p.PID)
	}
}

// Event reads what the kernel says of a task.
func (t *Tracker) Event(e *packets.Event) {
	if e.Kind != field.EventSchedProcessFree && e.TID >= 0 {
		t.Of(e.TID)
	}
	switch e.Kind {
	case 0:
		t.writer(e)
	case field.EventTaskNewtask:
		t.newTask(e)
	case field.EventTaskRename:
		t.renamed(e.Data)
	case field.EventSchedProcessFree:
		t.free(e)
	default:
		t.print(e)
	}
}

// writer reads what a trace in text says of a thread beside each of its events.
func (t *Tracker) writer(e *packets.Event) {
	if e.Writer == nil || e.TID < 0 {
		return
	}
	t.Call(t.Of(e.TID), e.Writer.Name)
	if e.Writer.PID >= 0 {
		t.Belongs(e.TID, e.Writer.PID)
	}
}

func (t *Tracker) newTask(e *packets.Event) {
	task := NewTaskOf(e.Data)
	at := e.At
	switch {
	case task.TID == 0:
	case task.Thread:
		parent := t.Of(e.TID)
		child := t.start(&at, task.TID)
		t.Call(child, packets.Name(task.Name))
		t.tie(parent, child)
	default:
		process := t.fork(&at, task.TID, packets.Name(task.Name))
		t.begun(process, t.Of(e.TID))
	}
}

func (t *Tracker) renamed(message []byte) {
	tid, name := RenameOf(message)
	t.rename(tid, packets.Name(name))
}

func (t *Tracker) rename(tid int32, name string) {
	thread := t.Of(tid)
	t.Call(thread, name)
	if process := t.Threads[thread].Process; process > 0 && t.Processes[process].PID == tid && name != "" {
		t.Processes[process].Name = name
	}
}

// free reads a SchedProcessFreeFtraceEvent.
func (t *Tracker) free(e *packets.Event) {
	var tid int32
	for f := packets.FieldsOf(e.Data); f.Next(); {
		if f.Number == field.SchedFreePID {
			tid = int32(f.Value)
		}
	}
	t.end(e.At, tid)
}

// tree reads a ProcessTree (process_tree.proto).
func (t *Tracker) tree(message []byte) {
	kernels := map[int32]bool{}
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.ProcessTreeProcesses {
			t.process(f.Bytes, kernels)
		}
	}
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.ProcessTreeThreads {
			t.thread(f.Bytes, kernels)
		}
	}
}

func (t *Tracker) process(message []byte, kernels map[int32]bool) {
	p := TreeProcessOf(message)
	words := p.Words()
	if len(words) == 0 {
		return
	}
	name, cmdline := words[0], strings.Join(words, " ")
	if p.Parent == kthreadd {
		kernels[p.PID] = true
		if short := worker(name); short != name {
			name, cmdline = short, short
		}
	}
	if len(words) == 1 {
		name, _, _ = strings.Cut(name, " ")
	}
	above := t.OfProcess(p.Parent)
	process := t.OfProcess(p.PID)
	one := &t.Processes[process]
	if one.PID != p.PID { // there is no room for it
		return
	}
	if one.Parent == None {
		one.Parent = above
	}
	t.command(one, name, cmdline)
	if p.UID >= 0 {
		one.UID = p.UID
	}
	if p.Start != nil && one.Start == nil {
		t.began(one, *p.Start)
	}
	if p.Comm {
		t.call(t.Of(p.PID), cmdline, byTree)
	}
}

// command gives a process its command line and the name in it, where there is room.
func (t *Tracker) command(one *Process, name, cmdline string) {
	held := t.commands - len(one.Cmdline) + len(cmdline)
	if t.file.Room("command lines of processes", held, maxCommands) {
		t.commands, one.Name, one.Cmdline = held, name, cmdline
	}
}

// began notes when a process began, in ns of CLOCK_BOOTTIME.
func (t *Tracker) began(one *Process, ns int64) {
	clock := t.file.Clocks.Place(packets.KeyOf(t.file.Home, 0, packets.ClockBoottime))
	if at, ok := t.file.Time(packets.Stamp{Clock: clock, NS: ns}); ok && ns >= 0 {
		began := time.Duration(at)
		one.Start = &began
	}
}

func (t *Tracker) thread(message []byte, kernels map[int32]bool) {
	one := TreeThreadOf(message)
	tid, pid, name := one.TID, one.PID, packets.Name(one.Name)
	t.Belongs(tid, pid)
	if tid == pid && kernels[tid] {
		name = worker(name)
	}
	t.call(t.Of(tid), name, byTree)
}

// worker is the name of a kernel's worker without the queue that it worked on last:
// kworker/45:2-mm_percpu_wq is kworker/45:2.
func worker(name string) string {
	if !strings.HasPrefix(name, "kworker/") {
		return name
	}
	if at := strings.IndexAny(name, "-+"); at > 0 {
		return name[:at]
	}
	return name
}
