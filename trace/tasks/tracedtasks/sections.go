package tracedtasks

import (
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	readers "github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/tasks"
)

// SectionsSource is the word for sections by the convention in records (docs/tasks.md#sections).
const SectionsSource = "sections"

// Limits on open sections.
const (
	maxThreads = 10_000
	maxDepth   = 512
)

// sections reads the convention of docs/tasks.md#sections. An app writes for each task an
// asynchronous section from its scheduling to its end,
//
//	task:UNIT/CAPACITY+DELAY>NAME@FRAME
//
// and around its work, on the thread that does it, a section
//
//	task#COOKIE NAME
//
// with the cookie of the first. A task whose asynchronous section ends without work was cancelled.
// Capacity, delay in ms and frame may be left out.
type sections struct {
	file  *packets.File
	all   []section
	open  map[sectionKey]int32 // asynchronous sections that have not ended
	stack map[int32][]int32    // sections of threads: places in all, -1 of others
	names tasks.Names
	early int // work without a scheduling in the trace
	cut   int
}

type sectionKey struct {
	pid    int32
	cookie int64
}

type section struct {
	pid                      int32
	unit                     tasks.Unit
	name, frame, inside      string
	sender, thread           int32
	scheduled, started, done time.Duration
	delay                    time.Duration
	ended                    bool
}

func newSections(f *packets.File, _ *threads.Tracker) reader {
	return &sections{file: f, open: map[sectionKey]int32{}, stack: map[int32][]int32{}}
}

// Wants returns the lines that threads write to the kernel's trace.
func (s *sections) Wants() packets.Wants { return packets.Wants{Events: atrace.Events} }

// Packet ignores packets.
func (s *sections) Packet(packets.Packet) {}

// Event reads the beginning or the end of a section.
func (s *sections) Event(e *packets.Event) {
	p, ok := atrace.Of(e)
	if !ok {
		return
	}
	switch p.Phase {
	case 'S':
		s.schedule(e, p)
	case 'F':
		key := sectionKey{p.PID, p.Value}
		if i, ok := s.open[key]; ok && strings.HasPrefix(p.Name, "task:") {
			s.all[i].ended = true
			delete(s.open, key)
		}
	case 'B':
		s.begin(e, p)
	case 'E':
		stack := s.stack[e.TID]
		if len(stack) == 0 {
			return
		}
		if i := stack[len(stack)-1]; i >= 0 {
			s.all[i].done = e.At
		}
		if s.stack[e.TID] = stack[:len(stack)-1]; len(stack) == 1 {
			delete(s.stack, e.TID)
		}
	}
}

func (s *sections) schedule(e *packets.Event, p atrace.Point) {
	one, ok := s.parse(p.Name)
	if !ok {
		return
	}
	if len(s.all) == maxTasks {
		s.cut++
		return
	}
	one.pid, one.sender, one.thread = p.PID, e.TID, threads.None
	one.scheduled, one.started, one.done = e.At, tasks.Unknown, tasks.Unknown
	s.open[sectionKey{p.PID, p.Value}] = int32(len(s.all))
	s.all = append(s.all, one)
}

func (s *sections) begin(e *packets.Event, p atrace.Point) {
	stack := s.stack[e.TID]
	if len(stack) >= maxDepth || stack == nil && len(s.stack) >= maxThreads {
		s.cut++
		return
	}
	place := int32(-1)
	if cookie, ok := cookieOf(p.Name); ok {
		if i, known := s.open[sectionKey{p.PID, cookie}]; known && s.all[i].started == tasks.Unknown {
			place = i
			s.all[i].started, s.all[i].thread = e.At, e.TID
		} else {
			s.early++
		}
	} else if len(stack) > 0 {
		if i := stack[len(stack)-1]; i >= 0 && s.all[i].inside == "" && !tasks.Contention(p.Name) {
			s.all[i].inside = s.names.Of(p.Name)
		}
	}
	s.stack[e.TID] = append(stack, place)
}

// parse reads the name of an asynchronous section.
func (r *sections) parse(name string) (s section, ok bool) {
	head, is := strings.CutPrefix(name, "task:")
	unit, work, has := strings.Cut(head, ">")
	if !is || !has || unit == "" {
		return s, false
	}
	number := func(mark string, most int) (n int) {
		before, digits, found := cutLast(unit, mark)
		if n, err := strconv.Atoi(digits); found && err == nil && n >= 0 && n <= most && before != "" {
			unit = before
			return n
		}
		return 0
	}
	const day = 24 * 60 * 60 * 1000 // ms
	s.delay = time.Duration(number("+", day)) * time.Millisecond
	s.unit.Capacity = number("/", 1<<16)
	s.unit.Name = r.names.Of(strings.TrimSpace(unit))
	if before, frame, found := cutLast(work, "@"); found {
		work, s.frame = before, r.names.Of(frame)
	}
	s.name = r.names.Of(work)
	return s, true
}

// cutLast cuts at the last mark.
func cutLast(s, mark string) (before, after string, found bool) {
	if i := strings.LastIndex(s, mark); i >= 0 {
		return s[:i], s[i+len(mark):], true
	}
	return s, "", false
}

// cookieOf reads the name of a section of work.
func cookieOf(name string) (int64, bool) {
	rest, is := strings.CutPrefix(name, "task#")
	digits, _, _ := strings.Cut(rest, " ")
	cookie, err := strconv.ParseInt(digits, 10, 32)
	return cookie, is && err == nil
}

// list lists the tasks.
func (s *sections) list(t *trace) tasks.List {
	out := tasks.List{Source: SectionsSource, LeftOut: s.cut, Tells: tasks.Tells{Capacity: true, Cancellation: true}}
	own := newUnits(&out)
	names := map[int32]string{}
	for _, thread := range t.tracker.Threads { // the last one with an id
		names[thread.TID] = thread.Name
	}
	apps := map[int32]bool{}
	for i := range s.all {
		one := &s.all[i]
		if _, known := apps[one.pid]; !known {
			apps[one.pid] = t.ofPID(one.pid)
		}
		if !apps[one.pid] {
			continue
		}
		thread := names[one.thread]
		one.unit.Kind = sectionKind(one, thread)
		place, ok := own.of(int(one.pid), one.unit)
		if !ok {
			continue
		}
		task := tasks.Task{
			Unit: place, Name: one.name, Sender: names[one.sender], Thread: thread, Inside: one.inside, Delay: one.delay,
			Scheduled: t.time(one.scheduled), Started: t.time(one.started), Done: t.time(one.done),
			Cancelled: one.ended && one.started == tasks.Unknown,
		}
		if one.frame != "" {
			task.Context, out.Tells.Contexts = []string{one.frame}, true
		}
		out.Tasks = append(out.Tasks, task)
	}
	var w readers.Warnings
	w.Counted(0, s.early, "%d task is left out: the trace does not have its scheduling", "%d tasks are left out: the trace does not have their scheduling")
	w.Counted(0, s.names.Dropped, "%d name is left out: there are too many", "%d names are left out: there are too many")
	if lost := s.file.KernelLost(); lost > 0 {
		w.Counted(0, lost, "the kernel lost events %d time: tasks may be missing, or seem not to have started", "the kernel lost events %d times: tasks may be missing, or seem not to have started")
	}
	out.Warnings = w.List()
	return out
}

// sectionKind is the kind of a unit: a looper is a unit with the name of its thread.
func sectionKind(s *section, thread string) string {
	switch {
	case s.unit.Name == "main" || s.thread == s.pid:
		return run.MainThread
	case strings.HasPrefix(s.unit.Name, "AsyncTask"):
		return run.AsyncTask
	case s.unit.Name == thread:
		return run.HandlerThread
	}
	return run.ThreadPool
}
