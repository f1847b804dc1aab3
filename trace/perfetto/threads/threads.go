// Package threads knows the threads and processes of a Perfetto trace over its time: a
// number can belong to one thread and later to another. It reads process trees and what
// the kernel says of tasks, and gives each its own number, which other readers of the
// same pass ask for: a Tracker. A Roster tells the same at the trace's end alone, without
// the order of time that a Tracker needs; what both read is read in one place.
//
// It takes a stand: who belongs to whom is decided as Perfetto's own trace processor does
// (src/trace_processor/importers/common/process_tracker.cc), so that its tables can be
// held against these.
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

// maxNamesakes is how many threads may have one number at one time, as far as the trace
// tells: it may not tell of an end.
const maxNamesakes = 50

// Limits on what is kept.
const (
	most        = 200_000  // threads, and processes
	maxCommands = 32 << 20 // bytes of the command lines of all processes
)

// Thread is a thread by its number in Tracker.Threads.
type Thread struct {
	TID        int32
	Name       string
	Process    int // in Tracker.Processes, None where not known
	Main       bool
	Start, End *time.Duration // nil where not in the trace

	named priority
}

// Process is a process by its number in Tracker.Processes.
type Process struct {
	PID        int32
	Name       string
	Cmdline    string
	UID        int // -1 where not told
	Parent     int // None where not told
	Start, End *time.Duration
}

// priority says which source of a thread's name goes first.
type priority int

const (
	byKernel priority = iota + 1
	byTree
	byItself
	byFormat
)

// Tracker reads threads and processes. The first of both is the idle one, 0.
type Tracker struct {
	Threads   []Thread
	Processes []Process

	file *packets.File
	// tids are the threads of a number that have not ended, the latest last.
	tids map[int32][]int
	live meant // the one of them
	pids meant // processes
	// members are the threads of a process.
	members map[int][]int
	// together are, by thread, those of the same process, which is not known yet; children
	// the processes that such a thread began.
	together, children map[int][]int
	framed             map[int32]bool  // processes with frames
	wide               map[int64]int32 // numbers that stand for those of more than 31 bits
	ids                map[int32]int64 // and what they stand for
	commands           int             // bytes of command lines
}

// New is a tracker of what is read from a file.
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

// Of finds or adds the thread that has a number now.
func (t *Tracker) Of(tid int32) int {
	if thread, ok := t.live.of(tid); ok {
		return thread
	}
	return t.start(nil, tid)
}

// OfProcess finds or adds the process that has a number now, with its main thread.
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

// Running is the process that has a number now; false where there is none.
func (t *Tracker) Running(pid int32) (process int, known bool) {
	process, known = t.pids.of(pid)
	return process, known
}

// Called is the name of the thread that has a number now, "" where there is none.
func (t *Tracker) Called(tid int32) string {
	if thread, ok := t.live.of(tid); ok {
		return t.Threads[thread].Name
	}
	return ""
}

// bare finds or adds the process that has a number now, without a main thread; where there
// are too many, it is the idle one.
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

// Belongs finds or adds the thread of a number in the process of a number.
func (t *Tracker) Belongs(tid, pid int32) int {
	if thread, known := t.live.of(tid); known && t.at(thread, pid) {
		return thread
	}
	return t.belongs(tid, pid, t.OfProcess(pid), tid == pid)
}

// at reports that a thread, which its number means now, is known to be in the process that a
// number means now.
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

// Again adds another thread of a number, in the process of a number.
func (t *Tracker) Again(tid, pid int32) int {
	t.start(nil, tid)
	return t.Belongs(tid, pid)
}

// ProcessAgain adds another process of a number.
func (t *Tracker) ProcessAgain(pid int32) int { return t.fork(nil, pid, "") }

// Call gives a thread a name from what the kernel says.
func (t *Tracker) Call(thread int, name string) { t.call(thread, name, byKernel) }

// Describe gives a thread the name that its own process tells.
func (t *Tracker) Describe(thread int, name string) { t.call(thread, name, byItself) }

// DescribeProcess gives a process the name that it tells itself, where nothing else does.
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

// start begins a thread; where there are too many, it is the idle one.
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

// within is the live thread of a number that is, or may be, in a process.
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

// Alive reports that neither a thread nor its process ended or was replaced.
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

// prefer makes a thread the one that its number means.
func (t *Tracker) prefer(tid int32, thread int) {
	t.live.set(tid, thread)
	list := t.tids[tid]
	if n := len(list); n > 0 && list[n-1] != thread {
		t.tids[tid] = append(without(list, thread), thread)
	}
}

// refresh finds anew the thread that a number means.
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

// Wants are process trees, the kernel's events of tasks, and what names a thread or a
// process by the way.
func (t *Tracker) Wants() packets.Wants {
	return packets.Wants{
		Packets: []protowire.Number{field.PacketProcessTree, field.PacketFrameTimelineEvent, field.PacketGenericKernelTaskRenameEvent, field.PacketGenericKernelProcessTree},
		Events:  append([]protowire.Number{field.EventTaskNewtask, field.EventTaskRename, field.EventSchedProcessFree}, atrace.Events...),
		Writers: true,
	}
}
