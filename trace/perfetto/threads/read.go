package threads

import (
	"bytes"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// cloneThread is CLONE_THREAD of the kernel's sched.h: what is born shares its
// parent's process.
const cloneThread = 0x10000

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

// newTask reads a TaskNewtaskFtraceEvent, which the parent writes.
func (t *Tracker) newTask(e *packets.Event) {
	var tid int32
	var name string
	thread := false
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case field.NewTaskPID:
			tid = int32(f.Value)
		case field.NewTaskComm:
			name = f.Text()
		case field.NewTaskCloneFlags:
			thread = f.Value&cloneThread != 0
		}
	}
	at := e.At
	switch {
	case tid == 0:
	case thread:
		parent := t.Of(e.TID)
		child := t.start(&at, tid)
		t.Call(child, name)
		t.tie(parent, child)
	default:
		process := t.fork(&at, tid, name)
		t.begun(process, t.Of(e.TID))
	}
}

// renamed reads a TaskRenameFtraceEvent.
func (t *Tracker) renamed(message []byte) {
	var tid int32
	var name string
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.RenamePID:
			tid = int32(f.Value)
		case field.RenameNewcomm:
			name = f.Text()
		}
	}
	t.rename(tid, name)
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

// maxWord bounds a word of a command line.
const maxWord = 8 << 10

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
	var pid, parent int32
	var words []string
	uid, comm := -1, false
	var start *int64
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.TreeProcessPID:
			pid = int32(f.Value)
		case field.TreeProcessPpid:
			parent = int32(f.Value)
		case field.TreeProcessCmdline:
			if len(words) < 1000 {
				words = append(words, strings.ToValidUTF8(string(f.Bytes[:min(len(f.Bytes), maxWord)]), "�"))
			}
		case field.TreeProcessUID:
			uid = int(int32(f.Value))
		case field.TreeProcessProcessStartFromBoot:
			start = f.Int64()
		case field.TreeProcessCmdlineIsComm:
			comm = f.Value != 0
		}
	}
	if len(words) == 0 {
		return
	}
	name, cmdline := words[0], strings.Join(words, " ")
	if parent == kthreadd {
		kernels[pid] = true
		if short := worker(name); short != name {
			name, cmdline = short, short
		}
	}
	if len(words) == 1 {
		name, _, _ = strings.Cut(name, " ")
	}
	above := t.OfProcess(parent)
	process := t.OfProcess(pid)
	one := &t.Processes[process]
	if one.Parent == None {
		one.Parent = above
	}
	one.Name, one.Cmdline = name, cmdline
	if uid >= 0 {
		one.UID = uid
	}
	if start != nil && one.Start == nil {
		t.began(one, *start)
	}
	if comm {
		t.call(t.Of(pid), cmdline, byTree)
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
	var tid, pid int32
	var name string
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.TreeThreadTID:
			tid = int32(f.Value)
		case field.TreeThreadName:
			name = f.Text()
		case field.TreeThreadTGID:
			pid = int32(f.Value)
		}
	}
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
