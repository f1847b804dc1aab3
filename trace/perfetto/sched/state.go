package sched

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

const (
	running  = "Running"
	runnable = "R"
)

// leave begins the state of a thread that left a CPU. A thread that was not known to run has lost
// events: the end of its last state is unknown.
func (r *Reader) leave(e *packets.Event, thread int32, state uint16) {
	if last := r.latest(thread); last.state == None || last.name == isRunning {
		r.close(e, thread)
	}
	r.open(e, thread, State{Name: state, CPU: None, Waker: None, IRQ: None})
}

// run begins the state of a thread that came to a CPU.
func (r *Reader) run(e *packets.Event, thread int32) {
	r.close(e, thread)
	r.open(e, thread, State{Name: isRunning, CPU: int16(e.CPU), Waker: None, IRQ: None})
}

// wake begins the state of a thread that another woke. One that did not sleep keeps its state.
func (r *Reader) wake(e *packets.Event, thread, waker int32, irq int8, queued bool) {
	if last := r.latest(thread); last.state != None {
		if last.name == isRunning || last.name == isRunnable {
			return
		}
		r.close(e, thread)
	}
	r.open(e, thread, State{Name: isRunnable, CPU: None, Waker: waker, IRQ: irq, Queued: queued})
}

func (r *Reader) compactWaking(e *packets.Event) {
	r.Wakings++
	c := r.on(e.CPU)
	if !c.known {
		return // the waker is unknown
	}
	r.wake(e, int32(r.threads.Of(e.Compact.TID)), c.thread, irqOf(e.Compact.Flags), false)
}

func (r *Reader) fullWaking(e *packets.Event) {
	r.Wakings++
	thread, _ := r.woken(e)
	r.wake(e, thread, int32(r.threads.Of(e.TID)), None, false)
}

// wakeup reads that a thread was put into a CPU's queue after it was woken.
func (r *Reader) wakeup(e *packets.Event) {
	r.Wakeups++
	thread, target := r.woken(e)
	r.wake(e, thread, int32(r.threads.Of(e.TID)), None, target == e.CPU)
}

// woken returns the thread of a SchedWakingFtraceEvent or SchedWakeupFtraceEvent, and the CPU that
// it is for; None if unknown. Their fields have the same numbers.
func (r *Reader) woken(e *packets.Event) (thread, target int32) {
	m := messages.SchedWakingOf(e.Data)
	one := r.threads.Of(m.PID)
	r.threads.Call(one, packets.Name(m.Comm))
	if !m.HasTargetCPU {
		m.TargetCPU = None
	}
	return int32(one), m.TargetCPU
}

// newTask begins the first state of a thread, which its parent wakes. The tracker has
// read the event before.
func (r *Reader) newTask(e *packets.Event) {
	if task := messages.NewTaskOf(e.Data); task.PID != 0 {
		r.open(e, int32(r.threads.Of(task.PID)), State{Name: isRunnable, CPU: None, Waker: int32(r.threads.Of(e.TID))})
	}
}

// blocked records why a thread last slept.
func (r *Reader) blocked(e *packets.Event) {
	m := messages.SchedBlockedOf(e.Data)
	last := r.latest(int32(r.threads.Of(m.PID)))
	if last.blocked == None {
		return
	}
	io, function := int8(min(m.IOWait, 1)), int32(None)
	if name := messages.InternedStringOf(e.Seq.Interned(field.InternedKernelSymbols, m.Caller)).Str; name != nil {
		function = r.function(packets.Name(name))
	}
	r.States.Edit(last.blocked, func(s *State) {
		s.IOWait = io
		if function != None {
			s.Blocked = function
		}
	})
}

// function returns the index of a function's name, that of "" if there are too many.
func (r *Reader) function(name string) int32 {
	place, known := r.functions[name]
	if !known && r.file.Room("functions of the kernel", len(r.Functions), maxFunctions) {
		place = int32(len(r.Functions))
		r.functions[name] = place
		r.Functions = append(r.Functions, name)
	}
	return place
}

const maxFunctions = 100_000

// latest returns a thread's last states.
func (r *Reader) latest(thread int32) *latest {
	for len(r.last) <= int(thread) {
		r.last = append(r.last, latest{state: None, blocked: None})
	}
	return &r.last[thread]
}

func (r *Reader) close(e *packets.Event, thread int32) {
	last := r.latest(thread)
	if last.state == None {
		return
	}
	if r.keep.Times {
		r.spent(thread, last.name, e.At-last.since)
	}
	if last.state == unlisted {
		return
	}
	if s := r.States.Row(last.state); s != nil {
		s.For = e.At - s.At
		return
	}
	at := e.At
	r.States.Edit(last.state, func(s *State) { s.For = at - s.At })
}

// open begins a state. The idle thread has none.
func (r *Reader) open(e *packets.Event, thread int32, s State) {
	if thread == 0 || !r.keep.States && !r.keep.Times {
		return
	}
	at, last := int32(unlisted), r.latest(thread)
	if r.keep.States {
		if !r.file.Room("states of threads", r.States.Len(), r.States.Most(MaxRows)) {
			*last = latest{state: None, blocked: None}
			return
		}
		s.At, s.For, s.Thread, s.IOWait = e.At, -1, thread, None
		at = r.States.Add(s)
	}
	switch {
	case s.Name == isRunnable:
		last.state = at
	case s.Name == isRunning || at == unlisted:
		last.state, last.blocked = at, None
	default:
		last.state, last.blocked = at, at
	}
	last.name, last.since = s.Name, e.At
}

// irqOf derives from a wake-up's flags whether it came from an interrupt: TRACE_FLAG_HARDIRQ or
// TRACE_FLAG_SOFTIRQ (the kernel's trace_events.h).
func irqOf(flags uint32) int8 {
	if flags&(0x08|0x10) != 0 {
		return 1
	}
	return 0
}

func versionOf(release string) [2]int {
	var v [2]int
	if n, _ := fmt.Sscanf(release, "%d.%d", &v[0], &v[1]); n < 2 {
		return [2]int{}
	}
	return v
}

// stateName returns the letters of a thread's state in sched_switch, whose bits changed with the
// kernel's versions (src/trace_processor/types/task_state.cc). "" is for impossible bits.
func stateName(raw uint16, kernel [2]int) string {
	letters := []struct {
		bit    uint16
		letter byte
	}{{0x01, 'S'}, {0x02, 'D'}, {0x04, 'T'}, {0x08, 't'}, {0x10, 'X'}, {0x20, 'Z'}}
	older := []struct {
		bit    uint16
		letter byte
	}{{0x200, 'P'}, {0x40, 'x'}, {0x80, 'K'}, {0x100, 'W'}, {0x400, 'N'}}
	newer := []struct {
		bit    uint16
		letter byte
	}{{0x40, 'P'}, {0x80, 'I'}}
	preempted := uint16(0x800)
	switch before := func(major, minor int) bool { return kernel[0] < major || kernel[0] == major && kernel[1] < minor }; {
	case before(4, 8):
	case before(4, 14):
		preempted = 0x1000
	default:
		if raw&0xfe00 != 0 {
			return ""
		}
		preempted, older = 0x100, newer
	}
	if preempted != 0x100 && raw&0x7ff == 0x402 {
		return "I" // asleep without counting as load
	}
	var out strings.Builder
	for _, l := range append(letters, older...) {
		if raw&l.bit != 0 {
			out.WriteByte(l.letter)
		}
	}
	switch {
	case out.Len() > 0:
		return out.String()
	case raw&preempted != 0:
		return "R+"
	}
	return "R"
}
