package threads

import (
	"math"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Kernels other than Linux write what they know of tasks as packets, with numbers of 64
// bits (protos/perfetto/trace/generic_kernel/generic_task.proto).

// maxWide is how many numbers of more than 31 bits are told apart.
const maxWide = 10_000

// Number is a thread's or process's number as the tracker has it: one of more than 31 bits
// has another in its place, which ID leads back.
func (t *Tracker) Number(id int64) int32 {
	if id >= 0 && id <= math.MaxInt32 {
		return int32(id)
	}
	number, known := t.wide[id]
	if !known {
		if !t.file.Room("numbers of threads of more than 31 bits", len(t.wide), maxWide) {
			return 0
		}
		number = int32(-2 - len(t.wide))
		t.wide[id] = number
		t.ids[number] = id
	}
	return number
}

// ID is a thread's or process's number as the trace has it.
func (t *Tracker) ID(number int32) int64 {
	if id, known := t.ids[number]; known {
		return id
	}
	return int64(number)
}

// Known is the thread that has a number now, if there is one.
func (t *Tracker) Known(tid int32) (int, bool) {
	thread, known := t.live.of(tid)
	return thread, known
}

// Start begins a thread that has a number from now on.
func (t *Tracker) Start(at time.Duration, tid int32) int { return t.start(&at, tid) }

// End ends the thread that has a number now.
func (t *Tracker) End(at time.Duration, tid int32) { t.end(at, tid) }

// genericRename reads a GenericKernelTaskRenameEvent.
func (t *Tracker) genericRename(message []byte) {
	var tid int32
	var name string
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.TaskRenameTID:
			tid = t.Number(int64(f.Value))
		case field.TaskRenameComm:
			name = f.Text()
		}
	}
	t.rename(tid, name)
}

// genericTree reads a GenericKernelProcessTree: processes, and then threads.
func (t *Tracker) genericTree(message []byte) {
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.GenericTreeProcesses {
			t.genericProcess(f.Bytes)
		}
	}
	for f := packets.FieldsOf(message); f.Next(); {
		if f.Number == field.GenericTreeThreads {
			t.genericThread(f.Bytes)
		}
	}
}

func (t *Tracker) genericProcess(message []byte) {
	var pid, parent int64
	var cmdline []byte
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.GenericProcessPID:
			pid = int64(f.Value)
		case field.GenericProcessPpid:
			parent = int64(f.Value)
		case field.GenericProcessCmdline:
			cmdline = f.Bytes
		}
	}
	if cmdline == nil {
		return
	}
	above, number := t.bare(t.Number(parent)), t.Number(pid)
	one := &t.Processes[t.bare(number)]
	if one.PID != number { // there is no room for it
		return
	}
	if one.Parent == None {
		one.Parent = above
	}
	said := strings.ToValidUTF8(string(cmdline[:min(len(cmdline), maxWord)]), "�")
	name, _, _ := strings.Cut(said, " ")
	t.command(one, name, said)
}

func (t *Tracker) genericThread(message []byte) {
	var tid, pid int64
	var name string
	main := false
	for f := packets.FieldsOf(message); f.Next(); {
		switch f.Number {
		case field.GenericThreadTID:
			tid = int64(f.Value)
		case field.GenericThreadPID:
			pid = int64(f.Value)
		case field.GenericThreadComm:
			name = f.Text()
		case field.GenericThreadIsMainThread:
			main = f.Value != 0
		}
	}
	number, of := t.Number(tid), t.Number(pid)
	thread := t.belongs(number, of, t.bare(of), main)
	t.Threads[thread].Main = main
	t.call(thread, name, byTree)
}
