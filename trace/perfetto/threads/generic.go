package threads

import (
	"math"
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Kernels other than Linux write tasks as packets, with ids of 64 bits
// (protos/perfetto/trace/generic_kernel/generic_task.proto).

// maxWide limits the distinct ids of more than 31 bits.
const maxWide = 10_000

// Number returns the tracker's id of a thread or process: one of more than 31 bits is replaced by
// another, which ID maps back.
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

// ID returns a thread's or process's id in the trace.
func (t *Tracker) ID(number int32) int64 {
	if id, known := t.ids[number]; known {
		return id
	}
	return int64(number)
}

// Known returns the thread that has an id now, if there is one.
func (t *Tracker) Known(tid int32) (int, bool) {
	thread, known := t.live.of(tid)
	return thread, known
}

// Start begins a thread with an id.
func (t *Tracker) Start(at time.Duration, tid int32) int { return t.start(&at, tid) }

// End ends the thread that has an id now.
func (t *Tracker) End(at time.Duration, tid int32) { t.end(at, tid) }

// genericRename reads a GenericKernelTaskRenameEvent.
func (t *Tracker) genericRename(message []byte) {
	m := messages.TaskRenameOf(message)
	t.rename(t.Number(m.TID), packets.Name(m.Comm))
}

// genericTree reads a GenericKernelProcessTree: processes, and then threads.
func (t *Tracker) genericTree(message []byte) {
	tree := messages.GenericTreeOf(message)
	for process := range tree.Processes.Each {
		t.genericProcess(messages.GenericProcessOf(process))
	}
	for thread := range tree.Threads.Each {
		t.genericThread(messages.GenericThreadOf(thread))
	}
}

func (t *Tracker) genericProcess(m messages.GenericProcess) {
	if m.Cmdline == nil {
		return
	}
	above, number := t.bare(t.Number(m.Ppid)), t.Number(m.PID)
	one := &t.Processes[t.bare(number)]
	if one.PID != number { // there is no room for it
		return
	}
	if one.Parent == None {
		one.Parent = above
	}
	said := strings.ToValidUTF8(string(m.Cmdline[:min(len(m.Cmdline), maxWord)]), "�")
	name, _, _ := strings.Cut(said, " ")
	t.command(one, name, said)
}

func (t *Tracker) genericThread(m messages.GenericThread) {
	number, of := t.Number(m.TID), t.Number(m.PID)
	thread := t.belongs(number, of, t.bare(of), m.IsMainThread)
	t.Threads[thread].Main = m.IsMainThread
	t.call(thread, packets.Name(m.Comm), byTree)
}
