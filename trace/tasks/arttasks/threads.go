package arttasks

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/tasks"
)

// frame is a call that a thread is in.
type frame struct {
	method int32
	made   int32 // the method <init> of the object that it made last, -1 without
	role   role
}

// thread is a thread, and what it is doing.
type thread struct {
	tid     uint32
	open    []frame
	in      [roles]int32 // calls of a role that are open
	first   time.Duration
	seen    bool // it has had an event
	worker  bool
	looper  bool
	newborn bool // its first event is the entry into a method run
	gone    time.Duration
	unit    *unit // of a looper or a worker; nil where unknown

	schedule *scheduling // that it is in, nil without
	since    int         // the depth of the call that is it
	task     *start      // that it is in as a looper or a worker, nil without
	begun    int         // the depth of the call that is it, -1 where none is
	own      *start      // of a newborn thread
	wait     *wait       // that it is in, nil without
	waited   *wait       // that ended last, nil after a start
	polls    int         // in the present next
}

// event takes an event.
func (r *reader) event(e art.Event) {
	s := r.threads[e.Thread]
	if s == nil {
		s = &thread{tid: e.Thread, first: e.Time, gone: tasks.Unknown}
		r.threads[e.Thread] = s
	}
	r.now = s
	early := r.calls.Early
	if r.calls.Add(e); r.calls.Early > early {
		r.early(e)
	}
	s.seen = true
}

func (r *reader) roleOf(method int) role {
	if method < 0 {
		return none
	}
	return r.roles[method]
}

// enter takes the beginning of a call.
func (r *reader) enter(c art.Call) {
	s, what, parent, m := r.now, r.roleOf(c.Method), none, r.t.Method(c.Method)
	switch {
	case c.Depth > 0:
		above := &s.open[c.Depth-1]
		parent = above.role
		if what == construct {
			above.made = int32(c.Method)
		}
	case !s.seen && m.Name == "run":
		s.newborn = true
		s.own = r.begin(s, c.Begin, startThread)
	}
	if m.Name == "dispatchMessage" && parent == loop {
		what = dispatch
	}
	s.open = append(s.open, frame{method: int32(c.Method), made: -1, role: what})
	s.in[what]++
	r.scheduling(s, what, c)
	r.running(s, what, c)
	if parent == runWorker && m.Name == "run" {
		r.work(s, m, c)
	}
	for _, open := range []*start{s.task, s.own} {
		if open != nil && open.end == tasks.Unknown {
			open.name(m)
		}
	}
}

// scheduling handles the entry into a method that schedules.
func (r *reader) scheduling(s *thread, what role, c art.Call) {
	open := s.schedule
	switch what {
	case send:
		if s.in[send] == 1 {
			r.schedule(s, message, c)
		}
	case pool:
		if s.in[pool] == 1 && open == nil && s.in[serialNext] == 0 {
			r.schedule(s, execute, c)
		}
	case toExecutor:
		r.schedule(s, parallel, c)
	case toSerial:
		if open == nil {
			r.schedule(s, serial, c)
		} else if open.kind == parallel {
			open.kind = serial
		}
	case serialNext: // within SerialExecutor.execute only if it had no task
		if open != nil && open.kind == serial {
			open.woke = true
		}
	case startsService:
		if s.in[startsService] == 1 {
			r.schedule(s, service, c)
		}
	case startsThread:
		if open == nil && s.in[serialNext] == 0 {
			r.schedule(s, startThread, c)
		}
		add(r, &r.births, birth{c.Begin, s.schedule})
	case wake, unpark:
		if open != nil && (open.kind == message) == (what == wake) {
			open.woke = true
			r.woken[open.kind.class()] = true
		}
	case zygote:
		r.sampled = true
	}
}

// running handles the entry into a method of a looper or a worker.
func (r *reader) running(s *thread, what role, c art.Call) {
	switch what {
	case loop:
		s.looper = true
	case next:
		s.looper, s.polls = true, 0
	case poll:
		// The first poll of a next does not wait: its timeout is 0.
		if s.polls++; s.polls > 1 && s.in[next] > 0 {
			s.wait = add(r, &r.waits, wait{begin: c.Begin, end: tasks.Unknown, on: s})
		}
	case await:
		if s.in[getTask] > 0 && s.wait == nil {
			s.wait = add(r, &r.waits, wait{begin: c.Begin, end: tasks.Unknown, on: s})
		}
	case dispatch, resume:
		as := message
		if s.looper = s.looper || what == dispatch; what == resume {
			as = execute
		}
		if s.task == nil {
			s.task, s.begun = r.begin(s, c.Begin, as), c.Depth
		}
	case runWorker, getTask, afterExecute:
		s.worker = s.worker || what != afterExecute
		s.end(c.Begin)
	case beforeExecute:
		s.worker = true
		s.end(c.Begin)
		s.task, s.begun = r.begin(s, c.Begin, execute), -1
	case serviceArgs:
		r.services++
	}
}

// work handles the entry into what a worker runs.
func (r *reader) work(s *thread, m art.Method, c art.Call) {
	if s.task == nil {
		s.task = r.begin(s, c.Begin, execute)
	}
	if s.task == nil {
		return
	}
	s.begun = c.Depth
	s.task.timer = m.Class == "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask"
	if m.Class == "android.os.AsyncTask$SerialExecutor$1" {
		s.task.kind = serial
	}
}

// early handles the exit from a method that was entered before the trace began.
func (r *reader) early(e art.Event) {
	s := r.now
	switch r.roleOf(e.Method) {
	case poll, await:
		if len(s.open) == 0 {
			s.waited = add(r, &r.waits, wait{end: e.Time, on: s})
		}
	case runWorker, getTask:
		s.worker = true
	}
}

// leave takes the end of a call.
func (r *reader) leave(c art.Call) {
	s, at := r.now, c.Begin+c.Took
	what := s.open[c.Depth].role
	s.open = s.open[:c.Depth]
	s.in[what]--
	if s.wait != nil && (what == poll || what == await) {
		s.wait.end = at
		s.wait, s.waited = nil, s.wait
	}
	if s.schedule != nil && s.since == c.Depth {
		s.schedule = nil
	}
	if s.begun == c.Depth {
		s.end(at)
	}
	if s.own != nil && s.own.end == tasks.Unknown && c.Depth == 0 {
		s.own.end = at
	}
	if what == runWorker {
		s.gone = at
	}
}

// begin begins a task.
func (r *reader) begin(s *thread, at time.Duration, as kind) *start {
	one := add(r, &r.starts, start{begin: at, end: tasks.Unknown, on: s, kind: as, waited: s.waited})
	s.waited = nil
	return one
}

// end ends a worker's or a looper's task.
func (s *thread) end(at time.Duration) {
	if s.task != nil {
		s.task.end = at
		s.task = nil
	}
}

// name names a task by the first class of the app in it, else by the first that only its work has.
func (s *start) name(m art.Method) {
	switch {
	case s.named || m.Class == "":
	case m.OfApp():
		s.class, s.named = m.Class, true
	case s.class == "" && m.Class != "android.os.Handler" && m.Class != "android.os.Looper" && !strings.HasPrefix(m.Class, "java."):
		s.class = m.Class
	}
	if s.kind == execute && strings.HasPrefix(m.Class, "android.os.AsyncTask$") && !s.named {
		s.kind = parallel
	}
}
