// Package sched reads which thread ran on which CPU, and the state of each thread, from the
// scheduler's events of a Perfetto trace.
//
// States are derived from the events as in Perfetto's own trace processor
// (src/trace_processor/importers/common/thread_state_tracker.cc and
// importers/ftrace/ftrace_sched_event_tracker.cc), so that its tables can be compared with these.
// The first switch of a CPU's record that is written as columns does not state which thread ran
// before: its turn is not listed.
package sched

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// MaxRows limits the turns, and the states, if their lists do not spill.
const MaxRows = 1_000_000

// Turn is a thread's turn on a CPU.
type Turn struct {
	At       time.Duration
	For      time.Duration // negative if it did not end in the trace
	CPU      int16
	End      uint16 // the state of the thread after it, in Reader.Names
	Thread   int32  // in the tracker's Threads
	Priority int32
}

// State is a period of a thread in one state.
type State struct {
	At     time.Duration
	For    time.Duration // negative if the end is unknown
	Thread int32
	Waker  int32 // the thread that woke it, else None
	// Blocked is the kernel function that it slept in, in Reader.Functions.
	Blocked int32
	Name    uint16 // in Reader.Names
	CPU     int16  // where it ran, None if it did not run
	IRQ     int8   // 1 if it was woken from an interrupt, 0 if not, None if unknown
	// IOWait is 1 if it slept for I/O, 0 if not, None if unknown.
	IOWait int8
	// Queued is set if the CPU that was to run it reported the wake-up. Waker is then the thread
	// running there: the waker, or one interrupted by another CPU (ttwu_queue of the kernel's
	// kernel/sched/core.c).
	Queued bool
}

// None stands for an unknown value.
const None = -1

// Reader reads turns and states.
type Reader struct {
	Turns  spill.List[Turn]
	States spill.List[State]
	// Names are the states' names: Running, R, R+, S, D, …; the first is "", for an unknown state.
	Names []string
	// Functions are names of the kernel's functions; the first is "".
	Functions []string
	// Wakings and Wakeups count the events that report the waker of a thread: at the wake-up, and
	// once the thread was put into a CPU's queue.
	Wakings, Wakeups int
	// Disordered counts states that can't follow the one before them.
	Disordered int
	// Times are how long each of the tracker's Threads was in which kind of state, as far as the
	// state's end is known; those of the last threads are absent if they had none.
	Times []Times

	keep      Keep
	letters   map[uint16]uint16 // indices of names by the state's bits
	tasks     generic
	names     map[string]uint16
	functions map[string]int32
	file      *packets.File
	threads   *threads.Tracker
	kernel    [2]int // the kernel's version, 0.0 if unknown
	cpus      []cpu
	last      []latest // by thread
}

// cpu is the state of a CPU.
type cpu struct {
	known  bool // the running thread is known
	thread int32
	turn   int32 // the current one, None if it is not listed
}

// latest is a thread's last states, in Reader.States; None if it has none.
type latest struct {
	state, blocked int32
	name           uint16 // of state
	since          time.Duration
}

// unlisted stands for a state that has begun and is not in Reader.States.
const unlisted = -2

// Keep selects what a reader keeps. In any case, threads are named by the scheduler's events.
type Keep struct {
	Turns, States bool
	// Times sums states up while they are read, so that none needs to be kept.
	Times bool
	// Wakeups lets sched_wakeup begin the state of a thread that no sched_waking began: Android 10
	// and 11 deny access to the latter (private/genfs_contexts of system/sepolicy). Perfetto's
	// trace processor does not.
	Wakeups bool
}

// New returns a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker, keep Keep) *Reader {
	r := &Reader{file: file, threads: tracker, keep: keep, names: map[string]uint16{}, letters: map[uint16]uint16{}, functions: map[string]int32{}}
	for place, name := range []string{"", running, runnable} {
		r.Names = append(r.Names, name)
		r.names[name] = uint16(place)
	}
	r.Functions = []string{""}
	r.tasks = generic{running: map[int32]turn{}, cut: map[int32]turn{}, states: map[int32]uint16{}}
	r.functions[""] = 0
	return r
}

// The indices of names in Reader.Names.
const (
	isRunning  = 1
	isRunnable = 2
)

// named returns the index of a state's name.
func (r *Reader) named(name string) uint16 {
	place, known := r.names[name]
	if !known {
		place = uint16(len(r.Names))
		r.names[name] = place
		r.Names = append(r.Names, name)
	}
	return place
}

// lettered returns the index of the name of a state in sched_switch.
func (r *Reader) lettered(state uint16) uint16 {
	place, known := r.letters[state]
	if !known {
		place = r.named(stateName(state, r.kernel))
		r.letters[state] = place
	}
	return place
}

// Wants returns the scheduler's events.
func (r *Reader) Wants() packets.Wants {
	events := []protowire.Number{field.EventSchedSwitch, field.EventSchedBlockedReason, field.EventSchedWaking, field.EventTaskNewtask}
	if r.keep.Wakeups {
		events = append(events, field.EventSchedWakeup)
	}
	return packets.Wants{
		Packets:  []protowire.Number{field.PacketSystemInfo, field.PacketGenericKernelTaskStateEvent},
		Interned: []protowire.Number{field.InternedKernelSymbols},
		Events:   events,
	}
}

// Event reads an event of the scheduler.
func (r *Reader) Event(e *packets.Event) {
	switch {
	case e.Kind == field.EventSchedSwitch && e.Compact != nil:
		r.compactSwitch(e)
	case e.Kind == field.EventSchedSwitch:
		r.fullSwitch(e)
	case e.Kind == field.EventSchedWaking && e.Compact != nil:
		r.compactWaking(e)
	case e.Kind == field.EventSchedWaking:
		r.fullWaking(e)
	case e.Kind == field.EventSchedWakeup:
		r.wakeup(e)
	case e.Kind == field.EventSchedBlockedReason:
		r.blocked(e)
	case e.Kind == field.EventTaskNewtask:
		r.newTask(e)
	}
}

// on returns a CPU, and adds it if it is new.
func (r *Reader) on(number int32) *cpu {
	for len(r.cpus) <= int(number) {
		r.cpus = append(r.cpus, cpu{turn: None})
	}
	return &r.cpus[number]
}

func (r *Reader) compactSwitch(e *packets.Event) {
	next := int32(r.threads.Of(e.Compact.TID))
	r.threads.Call(int(next), e.Compact.Comm)
	c := r.on(e.CPU)
	if !c.known || e.Early {
		c.known, c.thread = true, next
		return
	}
	r.swap(e, c, c.thread, next, e.Compact.State, e.Compact.Prio)
}

func (r *Reader) fullSwitch(e *packets.Event) {
	s := messages.SchedSwitchOf(e.Data)
	to := int32(r.threads.Of(s.NextPID))
	r.threads.Call(int(to), packets.Name(s.NextComm))
	from := int32(r.threads.Of(s.PrevPID))
	r.threads.Call(int(from), packets.Name(s.PrevComm))
	c := r.on(e.CPU)
	if c.known && r.threads.Threads[c.thread].TID != s.PrevPID {
		c.turn = None // what was in between is lost
	}
	c.known = true
	r.swap(e, c, from, to, s.PrevState, s.NextPrio)
}

// swap ends the turn of one thread and begins another's.
func (r *Reader) swap(e *packets.Event, c *cpu, from, to int32, state int64, prio int32) {
	left := r.lettered(uint16(state))
	if c.turn != None {
		r.ended(c.turn, e.At, left)
	}
	c.thread, c.turn = to, None
	if r.keep.Turns && r.file.Room("turns on CPUs", r.Turns.Len(), r.Turns.Most(MaxRows)) {
		c.turn = r.Turns.Add(Turn{At: e.At, For: -1, CPU: int16(e.CPU), Thread: to, Priority: prio})
	}
	r.leave(e, from, left)
	r.run(e, to)
}

// ended ends a turn.
func (r *Reader) ended(turn int32, at time.Duration, state uint16) {
	if t := r.Turns.Row(turn); t != nil {
		t.For, t.End = at-t.At, state
		return
	}
	r.Turns.Edit(turn, func(t *Turn) { t.For, t.End = at-t.At, state })
}

// Packet reads the kernel's version from SystemInfo (system_info.proto), or the state of a task.
func (r *Reader) Packet(p packets.Packet) {
	if p.Machine != r.file.Home {
		return
	}
	if p.Kind == field.PacketGenericKernelTaskStateEvent {
		r.taskState(p)
		return
	}
	if release := messages.UtsnameOf(messages.SystemInfoOf(p.Data).Utsname).Release; release != nil {
		r.kernel = versionOf(packets.Name(release))
		clear(r.letters)
	}
}
