package threads

import (
	"bytes"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// kthreadd is the process that begins the kernel's own.
const kthreadd = 2

// Packet reads a process tree, or a new name, once earlier events were read.
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
	f := messages.FrameOf(message)
	for _, said := range [][]byte{f.ExpectedDisplayFrameStart, f.ActualDisplayFrameStart} {
		if said != nil {
			t.frameOf(at, messages.ActualDisplayOf(said).PID)
		}
	}
	for _, said := range [][]byte{f.ExpectedSurfaceFrameStart, f.ActualSurfaceFrameStart} {
		if said != nil {
			t.frameOf(at, messages.ActualSurfaceOf(said).PID)
		}
	}
}

func (t *Tracker) frameOf(at time.Duration, pid int32) {
	if !t.framed[pid] && len(t.framed) < most {
		t.framed[pid] = true
		t.file.Defer(at, 0, func() { t.OfProcess(pid) })
	}
}

// print finds the process of a line that a thread or a driver wrote to the kernel's trace.
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

// Event reads the kernel's events of a task.
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
		t.end(e.At, messages.SchedFreeOf(e.Data).PID)
	default:
		t.print(e)
	}
}

// writer reads a text trace's description of the thread of each event.
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
	task := messages.NewTaskOf(e.Data)
	at := e.At
	switch {
	case task.PID == 0:
	case sameProcess(task):
		parent := t.Of(e.TID)
		child := t.start(&at, task.PID)
		t.Call(child, packets.Name(task.Comm))
		t.tie(parent, child)
	default:
		process := t.fork(&at, task.PID, packets.Name(task.Comm))
		t.begun(process, t.Of(e.TID))
	}
}

func (t *Tracker) renamed(message []byte) {
	task := messages.RenameOf(message)
	t.rename(task.PID, packets.Name(task.Newcomm))
}

func (t *Tracker) rename(tid int32, name string) {
	thread := t.Of(tid)
	t.Call(thread, name)
	if process := t.Threads[thread].Process; process > 0 && t.Processes[process].PID == tid && name != "" {
		t.Processes[process].Name = name
	}
}

// tree reads a ProcessTree (process_tree.proto).
func (t *Tracker) tree(message []byte) {
	tree, kernels := messages.ProcessTreeOf(message), map[int32]bool{}
	for process := range tree.Processes.Each {
		t.process(messages.TreeProcessOf(process), kernels)
	}
	for thread := range tree.Threads.Each {
		t.thread(messages.TreeThreadOf(thread), kernels)
	}
}

func (t *Tracker) process(p messages.TreeProcess, kernels map[int32]bool) {
	words := words(&p)
	if len(words) == 0 {
		return
	}
	name, cmdline := words[0], strings.Join(words, " ")
	if p.Ppid == kthreadd {
		kernels[p.PID] = true
		if short := worker(name); short != name {
			name, cmdline = short, short
		}
	}
	if len(words) == 1 {
		name, _, _ = strings.Cut(name, " ")
	}
	above := t.OfProcess(p.Ppid)
	process := t.OfProcess(p.PID)
	one := &t.Processes[process]
	if one.PID != p.PID { // there is no room for it
		return
	}
	if one.Parent == None {
		one.Parent = above
	}
	t.command(one, name, cmdline)
	if p.HasUID && p.UID >= 0 {
		one.UID = int(p.UID)
	}
	if p.HasProcessStartFromBoot && one.Start == nil {
		t.began(one, int64(p.ProcessStartFromBoot))
	}
	if p.CmdlineIsComm {
		t.call(t.Of(p.PID), cmdline, byTree)
	}
}

// command sets a process's command line and its name from it, if there is room.
func (t *Tracker) command(one *Process, name, cmdline string) {
	held := t.commands - len(one.Cmdline) + len(cmdline)
	if t.file.Room("command lines of processes", held, maxCommands) {
		t.commands, one.Name, one.Cmdline = held, name, cmdline
	}
}

// began records when a process began, in ns of CLOCK_BOOTTIME.
func (t *Tracker) began(one *Process, ns int64) {
	clock := t.file.Clocks.Place(packets.KeyOf(t.file.Home, 0, packets.ClockBoottime))
	if at, ok := t.file.Time(packets.Stamp{Clock: clock, NS: ns}); ok && ns >= 0 {
		began := time.Duration(at)
		one.Start = &began
	}
}

func (t *Tracker) thread(m messages.TreeThread, kernels map[int32]bool) {
	tid, pid, name := m.TID, m.TGID, packets.Name(m.Name)
	t.Belongs(tid, pid)
	if tid == pid && kernels[tid] {
		name = worker(name)
	}
	t.call(t.Of(tid), name, byTree)
}

// worker returns the name of a kernel's worker without the queue that it last worked on:
// kworker/45:2 for kworker/45:2-mm_percpu_wq.
func worker(name string) string {
	if !strings.HasPrefix(name, "kworker/") {
		return name
	}
	if at := strings.IndexAny(name, "-+"); at > 0 {
		return name[:at]
	}
	return name
}
