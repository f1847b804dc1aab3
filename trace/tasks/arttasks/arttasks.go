// Package arttasks reads asynchronous tasks from an ART method trace: from the calls of those of
// Android's methods that DiagDroid hooks (FSE 2016, section 5.2). It needs no agent, and each task
// has the stack that scheduled it.
//
// It owns which method schedules, starts and ends a task, and which scheduling belongs to which
// start. A trace has no objects: neither the queue that a message or a Runnable was put into nor
// its delay is in it. A looper is identified by its thread, a pool by the common part of its
// workers' names, and a pool of unnamed threads (Thread-12) not at all. A queue is FIFO, which
// joins schedulings with starts where both are complete; where they are not, a start has no
// scheduling, and warnings count those (match.go). Removal is not in a trace, nor is a pool's capacity:
// of AsyncTask's serial executor alone it is known, from its source.
//
// Sources: MessageQueue.java, Handler.java, AsyncTask.java, ThreadPoolExecutor.java, Thread.java,
// ContextImpl.java and ActivityThread.java of AOSP.
package arttasks

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/art"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Source is the word for this source in records.
const Source = "art"

// Limits on what is kept of a trace.
const (
	maxMarks    = 1 << 18 // schedulings, starts and waits, each
	maxDepth    = 1 << 12 // frames of a thread
	maxFrames   = 1 << 20 // frames of all contexts
	maxText     = 300     // bytes of a frame
	maxMatching = 64      // units of a kind that a scheduling may belong to, threads of a unit that wait
)

// Read reads the tasks of a method trace, in two passes. A mapping gives methods that R8 renamed
// the names of the source; it may be nil. Times are on CLOCK_MONOTONIC if the trace states when it
// began on that clock, as those since Android 14 do; otherwise they are since its beginning, with a
// warning. An error is one of reading.
func Read(src io.ReadSeeker, mapping *r8map.Map) (tasks.List, error) {
	out := tasks.List{Source: Source, Tells: tasks.Tells{Contexts: true, Capacity: true}}
	t, err := art.Read(src, nil)
	if err != nil {
		return out, err
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return out, fmt.Errorf("read a method trace again: %w", err)
	}
	out.Warnings = t.Warnings
	if t.Clock != art.Wall && t.Clock != art.Dual {
		if t.Format != art.Unknown {
			out.Warnings = append(out.Warnings, run.Warning{Text: fmt.Sprintf("the trace's clock is %s: when a task waited is known from wall time alone", t.Clock)})
		}
		return out, nil
	}
	t.Retrace(mapping)
	r := newReader(t)
	if !slices.ContainsFunc(r.roles, func(does role) bool { return does != none && does != construct }) {
		return out, nil
	}
	if _, err := art.Read(src, r.event); err != nil {
		return out, err
	}
	if r.sampled {
		out.Warnings = append(out.Warnings, run.Warning{Text: "the trace is sampled: most calls that schedule or start a task lie between two samples, so that it tells no tasks (am profile start without --sampling records each call)"})
		return out, nil
	}
	r.finish(&out)
	return out, nil
}

// kind is a way to schedule a task.
type kind uint8

const (
	message  kind = iota // Handler
	execute              // ThreadPoolExecutor
	parallel             // AsyncTask.executeOnExecutor with an executor of its own
	serial               // AsyncTask.execute
	thread               // Thread.start
	service              // Context.startService
)

// scheduling is a call that schedules a task.
type scheduling struct {
	at      time.Duration
	thread  uint32
	kind    kind
	context int32 // place in reader.contexts, -1 without
	made    int32 // the method <init> of the object that the caller made last, -1 without
	args    int32 // the ActivityThread.handleServiceArgs that it happened in, -1 without
	wait    int32 // the wait that it ended, place in reader.waits, -1 without
	unit    int32 // -1 where unknown
	later   bool  // with a delay or a time, which are unknown
	woke    bool  // a thread that waited was woken
	spawned bool  // a thread was started for it
	matched bool
}

// start is the execution of a task.
type start struct {
	begin, end time.Duration // end is tasks.Unknown where it is not in the trace
	thread     uint32
	kind       kind
	class      string
	named      bool // class is the app's
	timer      bool // of a ScheduledThreadPoolExecutor: it has a delay
	void       bool // it is no task after all
	unit       int32
	waited     int32 // the wait that ended before it, place in reader.waits, -1 without
	from       int32 // its scheduling, -1 where unknown
}

// wait is a time in which a looper or a worker had nothing to do: its queue was empty, or all that
// is in it was not due.
type wait struct {
	begin, end time.Duration
	thread     uint32
	used       bool // a scheduling ended it
}

// birth is a Thread.start, and the scheduling that it belongs to.
type birth struct {
	at   time.Duration
	from int32
}

// reader collects what a trace has of tasks.
type reader struct {
	t         *art.Trace
	roles     []role
	threads   map[uint32]*callStack
	last      time.Duration
	schedules []scheduling
	starts    []start
	waits     []wait
	births    []birth
	services  int // calls of ActivityThread.handleServiceArgs
	contexts  []context
	known     map[string]int32 // contexts by their methods
	frames    int
	lines     map[int]string // methods as frames
	sampled   bool
	classes   []map[string]bool // that each unit runs
	expects   map[origin]string // what places have run
	woken     [2]bool           // a looper, a worker is ever woken in the trace

	leftOut, deep, contextless int
	warnings                   trace.Warnings
}

func newReader(t *art.Trace) *reader {
	r := &reader{t: t, roles: make([]role, len(t.Methods)), threads: map[uint32]*callStack{}, known: map[string]int32{}, lines: map[int]string{}}
	for i, m := range t.Methods {
		r.roles[i] = roleOf(m)
	}
	return r
}

// finish joins schedulings with starts and lists the tasks.
func (r *reader) finish(out *tasks.List) {
	for _, s := range r.threads {
		for _, at := range []int32{s.task, s.born} {
			if at >= 0 {
				r.starts[at].end = tasks.Unknown
				r.starts[at].void = r.starts[at].class == "" // the trace ends before it did anything
			}
		}
	}
	units := r.units(out)
	r.match(units, out)
	offset := r.offset()
	list := r.list(offset)
	out.LeftOut = r.leftOut
	if len(list) > tasks.MaxTasks {
		out.LeftOut += len(list) - tasks.MaxTasks
		list = list[:tasks.MaxTasks]
	}
	out.Tasks = list
	r.warnings.Counted(0, r.deep, "%d call is left out: its thread is in more than 4,096 methods", "%d calls are left out: their threads are in more than 4,096 methods")
	r.warnings.Counted(0, r.contextless, "%d scheduling has no stack: there are too many different ones", "%d schedulings have no stack: there are too many different ones")
	out.Warnings = append(out.Warnings, r.warnings.List()...)
}

// offset is what is added to a trace's times.
func (r *reader) offset() time.Duration {
	const uptime = 20 * 365 * 24 * time.Hour // no phone is on for so long, and the wall clock is beyond it
	if r.t.Begin > 0 && r.t.Begin < uptime {
		return r.t.Begin
	}
	r.warnings.Addf(0, "the trace does not state when it began on CLOCK_MONOTONIC: times of tasks are since its beginning")
	return 0
}

// list is the tasks by time.
func (r *reader) list(offset time.Duration) (out []tasks.Task) {
	for i := range r.starts {
		s := &r.starts[i]
		if s.void || s.unit < 0 {
			continue
		}
		t := tasks.Task{Unit: int(s.unit), Name: trace.Name(s.class), Thread: r.name(s.thread), Scheduled: tasks.Unknown, Started: s.begin + offset, Done: tasks.Unknown}
		if s.end != tasks.Unknown {
			t.Done = s.end + offset
		}
		if s.from >= 0 {
			r.scheduled(&t, &r.schedules[s.from], offset)
		}
		out = append(out, t)
	}
	for i := range r.schedules {
		if s := &r.schedules[i]; s.unit >= 0 && !s.matched && s.kind != service {
			t := tasks.Task{Unit: int(s.unit), Started: tasks.Unknown, Done: tasks.Unknown}
			r.scheduled(&t, s, offset)
			out = append(out, t)
		}
	}
	at := func(t tasks.Task) time.Duration {
		if t.Scheduled != tasks.Unknown {
			return t.Scheduled
		}
		return t.Started
	}
	slices.SortStableFunc(out, func(a, b tasks.Task) int { return cmp.Compare(at(a), at(b)) })
	return out
}

func (r *reader) scheduled(t *tasks.Task, s *scheduling, offset time.Duration) {
	t.Scheduled, t.Sender = s.at+offset, r.name(s.thread)
	if s.context >= 0 {
		t.Context = r.contexts[s.context].frames
	}
	if t.Name == "" && s.made >= 0 {
		t.Name = trace.Name(r.t.Methods[s.made].Class)
	}
}

// name is a thread's name, or its id where it has none.
func (r *reader) name(tid uint32) string {
	return cmp.Or(trace.Name(r.t.Threads[tid]), fmt.Sprintf("thread %d", tid))
}

// sorted sorts a list by time.
func sorted[T any](list []T, at func(T) time.Duration) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(at(a), at(b)) })
	return list
}
