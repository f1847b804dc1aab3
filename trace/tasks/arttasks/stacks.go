package arttasks

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/tasks"
)

// frame is a call that a thread is in.
type frame struct {
	method int
	made   int32 // the method <init> of the object that it made last, -1 without
	role   role
}

// callStack is a thread.
type callStack struct {
	tid    uint32
	open   []frame
	in     [zygote + 1]int // calls of a role that are open
	seen   bool
	worker bool
	looper bool
	// newborn reports that its first event is the entry into a method run, start is the task of that.
	newborn bool
	start   int32
	gone    time.Duration // when a worker ended, tasks.Unknown before

	schedule int32 // the scheduling that it is in, -1 without, which began at a depth
	since    int
	task     int32 // the start that it is in, -1 without, which began at a depth; born is the one of a new thread
	begun    int
	born     int32
	first    time.Duration // its first event
	wait     int32         // the wait that it is in, -1 without
	waited   int32         // the last wait, -1 after a start
	polls    int           // in the present next
}

// event takes an event.
func (r *reader) event(e art.Event) {
	r.last = max(r.last, e.Time)
	s := r.threads[e.Thread]
	if s == nil {
		s = &callStack{tid: e.Thread, schedule: -1, task: -1, born: -1, wait: -1, waited: -1, start: -1, first: e.Time, gone: tasks.Unknown}
		r.threads[e.Thread] = s
	}
	if e.Action == art.Enter {
		r.enter(s, e)
	} else {
		r.exit(s, e)
	}
	s.seen = true
}

func (r *reader) roleOf(method int) role {
	if method < 0 {
		return none
	}
	return r.roles[method]
}

func (r *reader) method(place int) art.Method {
	if place < 0 {
		return art.Method{}
	}
	return r.t.Methods[place]
}

func (r *reader) enter(s *callStack, e art.Event) {
	if len(s.open) == maxDepth {
		r.deep++
		return
	}
	what, m := r.roleOf(e.Method), r.method(e.Method)
	parent := none
	if n := len(s.open); n > 0 {
		parent = s.open[n-1].role
		if what == construct {
			s.open[n-1].made = int32(e.Method)
		}
	} else if !s.seen && m.Name == "run" {
		s.newborn = true
		r.begin(s, e.Time, thread, &s.born)
		s.start = s.born
	}
	if m.Name == "dispatchMessage" && parent == loop {
		what = dispatch
	}
	s.open = append(s.open, frame{method: e.Method, made: -1, role: what})
	s.in[what]++
	r.scheduling(s, what, e.Time)
	r.running(s, what, parent, m, e.Time)
	for _, at := range []int32{s.task, s.born} {
		if at >= 0 {
			r.starts[at].name(m)
		}
	}
}

// scheduling handles the entry into a method that schedules.
func (r *reader) scheduling(s *callStack, what role, at time.Duration) {
	switch what {
	case send:
		if s.in[send] == 1 {
			r.schedule(s, message, at)
		}
	case pool:
		if s.in[pool] == 1 && s.schedule < 0 && s.in[serialNext] == 0 {
			r.schedule(s, execute, at)
		}
	case toExecutor:
		r.schedule(s, parallel, at)
	case toSerial:
		if s.schedule < 0 {
			r.schedule(s, serial, at)
		} else if open := &r.schedules[s.schedule]; open.kind == parallel {
			open.kind = serial
		}
	case serialNext: // within SerialExecutor.execute only if it had no task
		if s.schedule >= 0 && r.schedules[s.schedule].kind == serial {
			r.schedules[s.schedule].woke = true
		}
	case startService:
		r.schedule(s, service, at)
	case startThread:
		if s.schedule < 0 && s.in[serialNext] == 0 {
			r.schedule(s, thread, at)
		}
		if s.schedule >= 0 {
			r.schedules[s.schedule].spawned = true
		}
		if len(r.births) < maxMarks {
			r.births = append(r.births, birth{at, s.schedule})
		}
	case wake, unpark:
		if s.schedule >= 0 {
			if open := &r.schedules[s.schedule]; (open.kind == message) == (what == wake) {
				open.woke = true
				r.woken[min(open.kind, 1)] = true
			}
		}
	case zygote:
		r.sampled = true
	}
}

// running handles the entry into a method of a looper or a worker.
func (r *reader) running(s *callStack, what, parent role, m art.Method, at time.Duration) {
	switch what {
	case loop:
		s.looper = true
	case next:
		s.looper, s.polls = true, 0
	case poll:
		// The first poll of a next does not wait: its timeout is 0.
		if s.polls++; s.polls > 1 && s.in[next] > 0 {
			r.waiting(s, at)
		}
	case await:
		if s.in[getTask] > 0 && s.wait < 0 {
			r.waiting(s, at)
		}
	case dispatch:
		s.looper = true
		if s.task < 0 {
			r.begin(s, at, message, &s.task)
		}
	case runWorker, getTask:
		s.worker = true
		r.end(s, at)
	case beforeExecute:
		s.worker = true
		r.end(s, at)
		r.begin(s, at, execute, &s.task)
		s.begun = 0
	case afterExecute:
		r.end(s, at)
	case serviceArgs:
		r.services++
	}
	if parent != runWorker || m.Name != "run" {
		return
	}
	if s.task < 0 {
		r.begin(s, at, execute, &s.task)
	}
	if s.task >= 0 {
		one := &r.starts[s.task]
		one.timer = m.Class == "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask"
		if m.Class == "android.os.AsyncTask$SerialExecutor$1" {
			one.kind = serial
		}
		s.begun = len(s.open)
	}
}

// waiting begins a wait.
func (r *reader) waiting(s *callStack, at time.Duration) {
	if len(r.waits) == maxMarks {
		r.leftOut++
		return
	}
	s.wait = int32(len(r.waits))
	r.waits = append(r.waits, wait{begin: at, end: tasks.Unknown, thread: s.tid})
}

func (r *reader) exit(s *callStack, e art.Event) {
	to := len(s.open) - 1
	for e.Method >= 0 && to >= 0 && s.open[to].method != e.Method {
		to--
	}
	if to < 0 {
		r.early(s, e)
		return
	}
	for len(s.open) > to {
		r.leave(s, e.Time)
	}
}

// early handles the exit from a method that was entered before the trace began.
func (r *reader) early(s *callStack, e art.Event) {
	switch r.roleOf(e.Method) {
	case poll, await:
		if len(s.open) == 0 && len(r.waits) < maxMarks {
			s.waited = int32(len(r.waits))
			r.waits = append(r.waits, wait{end: e.Time, thread: s.tid})
		}
	case runWorker, getTask:
		s.worker = true
	}
}

// leave ends the innermost call of a thread.
func (r *reader) leave(s *callStack, at time.Duration) {
	depth := len(s.open)
	what := s.open[depth-1].role
	s.open = s.open[:depth-1]
	s.in[what]--
	if s.wait >= 0 && (what == poll || what == await) {
		r.waits[s.wait].end = at
		s.wait, s.waited = -1, s.wait
	}
	if s.schedule >= 0 && s.since == depth {
		s.schedule = -1
	}
	if s.task >= 0 && s.begun == depth {
		r.end(s, at)
	}
	if s.born >= 0 && depth == 1 {
		r.starts[s.born].end = at
		s.born = -1
	}
	if what == runWorker {
		s.gone = at
	}
}

// begin begins a task.
func (r *reader) begin(s *callStack, at time.Duration, as kind, task *int32) {
	if len(r.starts) == maxMarks {
		r.leftOut++
		return
	}
	*task = int32(len(r.starts))
	if as != thread {
		s.begun = len(s.open)
	}
	r.starts = append(r.starts, start{begin: at, end: tasks.Unknown, thread: s.tid, kind: as, unit: -1, waited: s.waited, from: -1})
	s.waited = -1
}

// end ends a worker's or a looper's task.
func (r *reader) end(s *callStack, at time.Duration) {
	if s.task >= 0 {
		r.starts[s.task].end = at
		s.task = -1
	}
}

// name names a task by the first class of the app in it, else by the first that only its work has.
func (s *start) name(m art.Method) {
	switch {
	case s.named || m.Class == "":
	case ofApp(m.Class):
		s.class, s.named = m.Class, true
	case s.class == "" && m.Class != "android.os.Handler" && m.Class != "android.os.Looper" && !strings.HasPrefix(m.Class, "java."):
		s.class = m.Class
	}
	if s.kind == execute && strings.HasPrefix(m.Class, "android.os.AsyncTask$") && !s.named {
		s.kind = parallel
	}
}
