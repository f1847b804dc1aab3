// Package threads tracks the threads and processes of a Perfetto trace over its time: an id can
// belong to one thread and later to another. A Tracker reads process trees and the kernel's events
// of tasks, and gives each thread its own number, which other readers of the same pass look up. A
// Roster has the same information only at the trace's end, without the chronological order that a
// Tracker needs; both share the code that reads the input.
//
// Threads are assigned to processes as in Perfetto's own trace processor
// (src/trace_processor/importers/common/process_tracker.cc), so that its tables can be compared
// with these.
package threads

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// None is the number of no thread or process.
const None = -1

// maxNamesakes limits the threads with one id at one time, according to the trace: it may lack
// their ends.
const maxNamesakes = 50

// Limits of what is kept.
const (
	most        = 200_000  // threads, and processes
	maxCommands = 32 << 20 // bytes of the command lines of all processes
)

// Thread is a thread by its number in Tracker.Threads.
type Thread struct {
	TID        int32
	Name       string
	Process    int // in Tracker.Processes, None if unknown
	Main       bool
	Start, End *time.Duration // nil if not in the trace

	named priority
}

// Process is a process by its number in Tracker.Processes.
type Process struct {
	PID        int32
	Name       string
	Cmdline    string
	UID        int // -1 if unknown
	Parent     int // None if unknown
	Start, End *time.Duration
}

// priority is the precedence of a source of a thread's name.
type priority int

const (
	byKernel priority = iota + 1
	byTree
	byItself
	byFormat
)

// Tracker tracks threads and processes. The first of both is the idle one, 0.
type Tracker struct {
	Threads   []Thread
	Processes []Process

	file *packets.File
	// tids are the threads with an id that have not ended, the latest last.
	tids map[int32][]int
	live meant // the one of them
	pids meant // processes
	// members are the threads of a process.
	members map[int][]int
	// together are, by thread, those of the same, still unknown process; children the processes
	// that such a thread began.
	together, children map[int][]int
	framed             map[int32]bool  // processes with frames
	wide               map[int64]int32 // replacements of ids of more than 31 bits
	ids                map[int32]int64 // and what they replace
	commands           int             // bytes of command lines
}

// New returns a tracker of a file.
func New(file *packets.File) *Tracker {
	t := &Tracker{
		file: file, tids: map[int32][]int{0: {0}}, members: map[int][]int{}, framed: map[int32]bool{},
		together: map[int][]int{}, children: map[int][]int{}, wide: map[int64]int32{}, ids: map[int32]int64{},
	}
	t.live.set(0, 0)
	t.pids.set(0, 0)
	t.Processes = []Process{{UID: -1, Parent: None}}
	t.Threads = []Thread{{Main: true, Name: "swapper", named: byFormat}}
	return t
}

// Of finds or adds the thread that has an id now.
func (t *Tracker) Of(tid int32) int {
	if thread, ok := t.live.of(tid); ok {
		return thread
	}
	return t.start(nil, tid)
}

// OfProcess finds or adds the process that has an id now, with its main thread.
func (t *Tracker) OfProcess(pid int32) int {
	if process, ok := t.pids.of(pid); ok {
		return process
	}
	process := t.bare(pid)
	if process > 0 {
		t.Belongs(pid, pid)
	}
	return process
}

// Running returns the process that has an id now; false if there is none.
func (t *Tracker) Running(pid int32) (process int, known bool) {
	process, known = t.pids.of(pid)
	return process, known
}

// Called returns the name of the thread that has an id now, "" if there is none.
func (t *Tracker) Called(tid int32) string {
	if thread, ok := t.live.of(tid); ok {
		return t.Threads[thread].Name
	}
	return ""
}

// bare finds or adds the process that has an id now, without a main thread; if there are too many,
// it is the idle one.
func (t *Tracker) bare(pid int32) int {
	if process, ok := t.pids.of(pid); ok {
		return process
	}
	if len(t.Processes) >= most {
		t.file.Room("processes", len(t.Processes), most)
		return 0
	}
	process := len(t.Processes)
	t.Processes = append(t.Processes, Process{PID: pid, UID: -1, Parent: None})
	t.pids.set(pid, process)
	return process
}

// Belongs finds or adds the thread with an id in the process with an id.
func (t *Tracker) Belongs(tid, pid int32) int {
	if thread, known := t.live.of(tid); known && t.at(thread, pid) {
		return thread
	}
	return t.belongs(tid, pid, t.OfProcess(pid), tid == pid)
}

// at reports whether a thread, the current owner of its id, is known to be in the process that has
// an id now.
func (t *Tracker) at(thread int, pid int32) bool {
	one := &t.Threads[thread]
	if one.Process == None || one.End != nil {
		return false
	}
	process, known := t.pids.of(pid)
	return known && process == one.Process && t.Processes[process].End == nil
}

func (t *Tracker) belongs(tid, pid int32, process int, main bool) int {
	thread := t.within(tid, pid)
	if thread == None {
		thread = t.start(nil, tid)
	} else {
		t.prefer(tid, thread)
	}
	if t.Threads[thread].Process == None {
		t.join(thread, process, main)
	}
	t.resolve(thread)
	return thread
}

// Again adds another thread with an id, in the process with an id.
func (t *Tracker) Again(tid, pid int32) int {
	t.start(nil, tid)
	return t.Belongs(tid, pid)
}

// ProcessAgain adds another process with an id.
func (t *Tracker) ProcessAgain(pid int32) int { return t.fork(nil, pid, "") }

// Call names a thread from the kernel's events.
func (t *Tracker) Call(thread int, name string) { t.call(thread, name, byKernel) }

// Describe names a thread as stated by its own process.
func (t *Tracker) Describe(thread int, name string) { t.call(thread, name, byItself) }

// DescribeProcess names a process as stated by itself, if no other source does.
func (t *Tracker) DescribeProcess(process int, name string) {
	if one := &t.Processes[process]; process > 0 && name != "" && one.Name == "" {
		one.Name = name
	}
}

func (t *Tracker) call(thread int, name string, by priority) {
	if one := &t.Threads[thread]; name != "" && by >= one.named {
		one.Name, one.named = name, by
	}
}

// start begins a thread; if there are too many, it is the idle one.
func (t *Tracker) start(at *time.Duration, tid int32) int {
	if !t.file.Room("threads", len(t.Threads), most) {
		return 0
	}
	thread := len(t.Threads)
	t.Threads = append(t.Threads, Thread{TID: tid, Process: None, Start: at})
	list := t.tids[tid]
	t.tids[tid] = append(list[max(0, len(list)-maxNamesakes):], thread)
	t.live.set(tid, thread)
	return thread
}

// within returns the live thread with an id that is, or may be, in a process.
func (t *Tracker) within(tid, pid int32) int {
	list := t.tids[tid]
	for i := len(list) - 1; i >= 0; i-- {
		if !t.Alive(list[i]) {
			continue
		}
		if process := t.Threads[list[i]].Process; process == None || t.Processes[process].PID == pid {
			return list[i]
		}
	}
	return None
}

// Alive reports whether neither a thread nor its process ended or was replaced.
func (t *Tracker) Alive(thread int) bool {
	one := t.Threads[thread]
	if one.End != nil {
		return false
	}
	if one.Process == None {
		return true
	}
	process := t.Processes[one.Process]
	now, known := t.pids.of(process.PID)
	return process.End == nil && (!known || now == one.Process)
}

// prefer makes a thread the owner of its id.
func (t *Tracker) prefer(tid int32, thread int) {
	t.live.set(tid, thread)
	list := t.tids[tid]
	if n := len(list); n > 0 && list[n-1] != thread {
		t.tids[tid] = append(without(list, thread), thread)
	}
}

// refresh resolves the owner of an id again.
func (t *Tracker) refresh(tid int32) {
	list := t.tids[tid]
	for i := len(list) - 1; i >= 0; i-- {
		if t.Alive(list[i]) {
			t.live.set(tid, list[i])
			return
		}
	}
	t.live.drop(tid)
}

func without(list []int, one int) []int {
	kept := list[:0]
	for _, other := range list {
		if other != one {
			kept = append(kept, other)
		}
	}
	return kept
}

// Wants returns process trees, the kernel's events of tasks, and packets that also name a thread or
// a process.
func (t *Tracker) Wants() packets.Wants {
	return packets.Wants{
		Packets: []protowire.Number{field.PacketProcessTree, field.PacketFrameTimelineEvent, field.PacketGenericKernelTaskRenameEvent, field.PacketGenericKernelProcessTree},
		Events:  append([]protowire.Number{field.EventTaskNewtask, field.EventTaskRename, field.EventSchedProcessFree}, atrace.Events...),
		Writers: true,
	}
}
