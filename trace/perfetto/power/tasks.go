package power

import (
	"cmp"
	"slices"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// cloneThread is CLONE_THREAD of the kernel's sched.h: what is born shares its
// parent's process.
const cloneThread = 0x10000

// birth is the beginning of a thread, or of a process with its main thread.
type birth struct {
	ns          int64 // of the bundle's clock
	parent, tid int32
	process     bool
}

// newTask reads a TaskNewtaskFtraceEvent (task.proto), which the parent writes.
func (b *bundle) newTask(message []byte, ns int64, parent int32) {
	one := birth{ns: ns, parent: parent, process: true}
	var comm []byte
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.NewTaskPID:
			one.tid = int32(f.Value)
		case field.NewTaskComm:
			comm = f.Bytes
		case field.NewTaskCloneFlags:
			one.process = f.Value&cloneThread == 0
		}
	}
	if one.tid == 0 || !b.d.Room("threads", len(b.births), maxThreads) {
		return
	}
	b.births = append(b.births, one)
	if r := b.thread(b.d, one.tid); r != nil {
		r.call(ns, comm)
	}
}

// rename reads a TaskRenameFtraceEvent (task.proto).
func (b *bundle) rename(message []byte, ns int64) {
	var tid int32
	var comm []byte
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.RenamePID:
			tid = int32(f.Value)
		case field.RenameNewcomm:
			comm = f.Bytes
		}
	}
	if tid == 0 {
		return
	}
	if r := b.thread(b.d, tid); r != nil {
		r.call(ns, comm)
	}
}

// exit reads a SchedProcessExitFtraceEvent (sched.proto).
func (b *bundle) exit(message []byte) {
	var tid, process int32
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.SchedExitPID:
			tid = int32(f.Value)
		case field.SchedExitTGID:
			process = int32(f.Value)
		}
	}
	if process != 0 && b.d.Room("threads", len(b.owners), maxThreads) {
		b.owners[tid] = process
	}
}

// call gives a thread the name that it has from a time on. CPUs are recorded apart,
// so that an older name may come later.
func (r *ran) call(ns int64, comm []byte) {
	if len(comm) == 0 || ns < r.named {
		return
	}
	r.named = ns
	if r.comm != string(comm) {
		r.comm = packets.Name(comm)
	}
}

// born gives the threads that began or ended while the kernel was recorded to their
// processes, and adds the processes that began. What process trees say goes first:
// they are read from the device later.
func (m *machine) born(d *decoder, k *kernel) {
	slices.SortStableFunc(k.births, func(a, b birth) int { return cmp.Compare(a.ns, b.ns) })
	for _, one := range k.births {
		t := m.thread(d, one.tid)
		if t == nil || t.PID != 0 {
			continue
		}
		switch parent := m.threads[one.parent]; {
		case one.process:
			t.PID = int(one.tid)
		case parent != nil:
			t.PID = parent.PID
		}
		if one.process && m.processes[one.tid] == nil && d.Room("processes", len(m.processes), maxThreads) {
			m.processes[one.tid] = &Process{PID: int(one.tid), UID: -1, Name: k.ran[one.tid].called()}
		}
	}
	for tid, process := range k.owners {
		if t := m.thread(d, tid); t != nil && t.PID == 0 {
			t.PID = int(process)
		}
	}
}

// called is a thread's last name, "" where there were too many threads to keep it.
func (r *ran) called() string {
	if r == nil {
		return ""
	}
	return r.comm
}
