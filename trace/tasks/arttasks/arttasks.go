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
	maxMarks    = 1 << 17 // schedulings, starts and waits, each
	maxFrames   = 1 << 19 // of all contexts
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
	out.Warnings = t.Warnings
	if t.Clock != art.Wall && t.Clock != art.Dual {
		if t.Format != art.Unknown {
			out.Warnings = append(out.Warnings, run.Warning{Text: fmt.Sprintf("the trace's clock is %s: when a task waited is known from wall time alone", t.Clock)})
		}
		return out, nil
	}
	t.Retrace(mapping)
	r := newReader(t, &out)
	if !slices.ContainsFunc(r.roles, func(does role) bool { return does != none && does != construct }) {
		return out, nil
	}
	if err := t.Again(src, r.event); err != nil {
		return out, err
	}
	if r.sampled {
		out.Warnings = append(out.Warnings, run.Warning{Text: "the trace is sampled: most calls that schedule or start a task lie between two samples, so that it shows no tasks (am profile start without --sampling records each call)"})
		return out, nil
	}
	r.finish()
	return out, nil
}

// kind is a way to schedule a task.
type kind uint8

const (
	message     kind = iota // Handler
	execute                 // ThreadPoolExecutor
	parallel                // AsyncTask.executeOnExecutor with an executor of its own
	serial                  // AsyncTask.execute
	startThread             // Thread.start
	service                 // Context.startService
)

// scheduling is a call that schedules a task.
type scheduling struct {
	at      time.Duration
	by      *thread
	kind    kind
	context int32   // place in reader.contexts, -1 without
	place   int32   // as context, without what called the app
	made    int32   // the method <init> of the object that the caller made last, -1 without
	args    int32   // the ActivityThread.handleServiceArgs that it happened in, -1 without
	wait    *wait   // that it ended, nil without
	unit    *unit   // nil where unknown
	could   []*unit // that it may be for
	lost    bool    // it has no start, although its unit has others
	task    *start  // nil where unknown
	class   string  // of what did not start, "" where unknown
	later   bool    // with a delay or a time, which are unknown
	woke    bool    // a thread that waited was woken
}

// start is the execution of a task.
type start struct {
	begin, end time.Duration // end is tasks.Unknown where it is not in the trace
	on         *thread
	kind       kind
	class      string
	named      bool // class is the app's
	timer      bool // of a ScheduledThreadPoolExecutor: it has a delay
	void       bool // it is no task after all
	unit       *unit
	waited     *wait       // that ended before it, nil without
	from       *scheduling // nil where unknown
}

// wait is a time in which a looper or a worker had nothing to do: its queue was empty, or all that
// is in it was not due.
type wait struct {
	begin, end time.Duration // end is tasks.Unknown where it is not in the trace
	on         *thread
	by         *scheduling // that ended it, nil where unknown
}

// birth is a Thread.start, and the scheduling that it belongs to.
type birth struct {
	at   time.Duration
	from *scheduling
}

// reader collects what a trace has of tasks.
type reader struct {
	t         *art.Trace
	out       *tasks.List
	roles     []role
	calls     art.Calls
	threads   map[uint32]*thread
	now       *thread // of the present event
	schedules []*scheduling
	starts    []*start
	waits     []*wait
	births    []*birth
	services  int // calls of ActivityThread.handleServiceArgs
	sampled   bool
	contexts  contexts
	names     tasks.Names
	places    tasks.Units[unitKey]
	units     []*unit
	expects   map[origin]string // classes that places have run
	had       map[int32]string  // the class of what places have had run, "" for several
	woken     [2]bool           // a looper, a worker is ever woken in the trace
	warnings  trace.Warnings
}

func newReader(t *art.Trace, out *tasks.List) *reader {
	r := &reader{
		t: t, out: out, roles: make([]role, len(t.Methods)), threads: map[uint32]*thread{}, contexts: contexts{known: map[string]int32{}},
		places: tasks.NewUnits[unitKey](out), expects: map[origin]string{}, had: map[int32]string{},
	}
	r.calls.Opens, r.calls.Each = r.enter, r.leave
	for i, m := range t.Methods {
		r.roles[i] = roleOf(m)
	}
	return r
}

// add appends one of the things that are kept of a trace; where there are too many it counts as left
// out, and is not found later.
func add[T any](r *reader, list *[]*T, one T) *T {
	if len(*list) == maxMarks {
		r.out.LeftOut++
		return nil
	}
	*list = append(*list, &one)
	return &one
}

// finish joins schedulings with starts and lists the tasks.
func (r *reader) finish() {
	for _, s := range r.threads {
		for _, open := range []*start{s.task, s.own} {
			if open != nil && open.end == tasks.Unknown {
				open.void = open.class == "" // the trace ends before it did anything
			}
		}
	}
	r.findUnits()
	r.newborns()
	r.match(r.sweep())
	r.intents()
	r.list()
	r.out.Sort()
	r.warnings.Counted(0, r.contexts.dropped, "%d scheduling has no stack: there are too many different ones", "%d schedulings have no stack: there are too many different ones")
	r.names.Warn(&r.warnings)
	r.out.Warnings = slices.Concat(r.out.Warnings, r.calls.Warnings(), r.warnings.List())
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

// list lists the tasks: those that started, and those that did not.
func (r *reader) list() {
	offset := r.offset()
	for _, s := range r.starts {
		if s.void || s.unit == nil {
			continue
		}
		t := tasks.Task{Unit: s.unit.place, Name: r.names.Of(s.class), Thread: r.name(s.on), Scheduled: tasks.Unknown, Started: s.begin + offset, Done: tasks.Unknown}
		if s.end != tasks.Unknown {
			t.Done = s.end + offset
		}
		if s.from != nil {
			r.scheduled(&t, s.from, offset)
		}
		r.out.Tasks = append(r.out.Tasks, t)
	}
	for _, s := range r.schedules {
		if s.unit != nil && s.task == nil && s.kind != service {
			t := tasks.Task{Unit: s.unit.place, Name: r.names.Of(s.class), Started: tasks.Unknown, Done: tasks.Unknown}
			r.scheduled(&t, s, offset)
			r.out.Tasks = append(r.out.Tasks, t)
		}
	}
}

func (r *reader) scheduled(t *tasks.Task, s *scheduling, offset time.Duration) {
	t.Scheduled, t.Sender, t.Context = s.at+offset, r.name(s.by), r.frames(s.context)
	if t.Name == "" && s.made >= 0 {
		t.Name = r.names.Of(r.t.Methods[s.made].Class)
	}
}

// name is a thread's name, or its id where it has none.
func (r *reader) name(s *thread) string {
	return r.names.Of(r.t.Thread(s.tid))
}
