package sched

import (
	"bytes"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Kernels other than Linux report the new state of one task at a time
// (protos/perfetto/trace/generic_kernel/generic_task.proto). Turns and states are derived as in
// Perfetto's trace processor (importers/generic_kernel/generic_kernel_parser.cc).

// The indices in taskStates of those with a special meaning.
const (
	taskUnknown   = 0
	taskCreated   = 1
	taskRunning   = 3
	taskDead      = 7
	taskDestroyed = 8
)

// taskStates are the names of TaskStateEnum.
var taskStates = []string{taskUnknown: "", taskCreated: "Created", 2: runnable, taskRunning: running, 4: "S", 5: "D", 6: "T", taskDead: "Z", taskDestroyed: "X"}

// generic is the state of the tasks of such a kernel.
type generic struct {
	running map[int32]turn // by CPU
	cut     map[int32]turn // by thread: ended by another's turn
	states  map[int32]uint16
}

// turn is one that has not ended, or that ended with another task's turn.
type turn struct {
	row    int32 // in Reader.Turns, None for one that is not listed
	thread int32
	end    time.Duration
}

func (r *Reader) taskState(p packets.Packet) {
	at, ok := r.file.Time(p.At)
	if !ok {
		return
	}
	message := bytes.Clone(p.Data)
	r.file.Defer(at, len(message), func() {
		m := messages.TaskStateOf(message)
		if m.CPU >= 0 && m.CPU < packets.MaxCPUs && m.State > taskUnknown && int(m.State) < len(taskStates) {
			r.task(&packets.Event{At: at, CPU: m.CPU}, m, r.threads.Number(m.TID))
		}
	})
}

// task puts a task into a state.
func (r *Reader) task(e *packets.Event, m messages.TaskState, tid int32) {
	thread, ok := r.taskThread(e.At, m, tid)
	if !ok {
		r.Disordered++
		return
	}
	state := r.named(taskStates[m.State])
	if m.State == taskRunning {
		if before, known := r.tasks.running[e.CPU]; known {
			r.endTurn(before, e.At, 0)
			before.end = e.At
			r.tasks.cut[before.thread] = before
			r.push(e, before.thread, 0)
		}
		r.tasks.running[e.CPU] = r.startTurn(e, thread, m.Prio)
	} else if before, known := r.tasks.running[e.CPU]; known && before.thread == thread {
		r.endTurn(before, e.At, state)
		delete(r.tasks.running, e.CPU)
	} else if before, known := r.tasks.cut[thread]; known && before.end == e.At {
		r.endTurn(before, e.At, state)
		delete(r.tasks.cut, thread)
		r.restate(thread, state)
		return
	}
	r.push(e, thread, state)
}

// taskThread returns the thread that enters a state; false if it can't after the state before it.
func (r *Reader) taskThread(at time.Duration, m messages.TaskState, tid int32) (int32, bool) {
	thread, known := r.threads.Known(tid)
	switch {
	case m.State == taskCreated && known:
		return 0, false
	case m.State == taskCreated:
		thread = r.threads.Start(at, tid)
	case m.State == taskDestroyed:
		if !known {
			thread = r.threads.Of(tid)
			r.threads.Call(thread, packets.Name(m.Comm))
		}
		r.threads.End(at, tid)
		return int32(thread), true
	case known:
		before := r.Names[r.tasks.states[int32(thread)]]
		if before == taskStates[taskDead] || before == running && m.State == taskRunning {
			return 0, false
		}
	default:
		thread = r.threads.Of(tid)
	}
	r.threads.Call(thread, packets.Name(m.Comm))
	return int32(thread), true
}

func (r *Reader) startTurn(e *packets.Event, thread, prio int32) turn {
	row := int32(None)
	if r.keep.Turns && r.file.Room("turns on CPUs", r.Turns.Len(), r.Turns.Most(MaxRows)) {
		row = r.Turns.Add(Turn{At: e.At, For: -1, CPU: int16(e.CPU), Thread: thread, Priority: prio})
	}
	return turn{row: row, thread: thread}
}

func (r *Reader) endTurn(t turn, at time.Duration, state uint16) {
	if t.row != None {
		r.ended(t.row, at, state)
	}
}

// push ends the state of a thread and begins another.
func (r *Reader) push(e *packets.Event, thread int32, state uint16) {
	s := State{Name: state, CPU: None, Waker: None, IRQ: None}
	if state == isRunning {
		s.CPU = int16(e.CPU)
	}
	r.close(e, thread)
	r.open(e, thread, s)
	if thread != 0 {
		r.tasks.states[thread] = state
	}
}

// restate changes a state that has begun.
func (r *Reader) restate(thread int32, state uint16) {
	if last := r.latest(thread); last.state != None {
		last.name = state
	}
	if last := r.latest(thread); last.state >= 0 {
		r.States.Edit(last.state, func(s *State) { s.Name = state })
	}
	r.tasks.states[thread] = state
}
