package tracedtasks

import (
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	readers "github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/tasks"
)

// SectionsSource is the word for sections by the convention in records (docs/tasks.md#sections).
const SectionsSource = "sections"

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
	all   []section
	open  map[sectionKey]int32 // asynchronous sections that have not ended
	work  nest[int32]          // of threads
	names tasks.Names
	early int // work without a scheduling in the trace
	cut   int
}

type sectionKey struct {
	pid    int32
	cookie int64
}

// section is a task, with its threads by their ids.
type section struct {
	tasks.Task
	unit                tasks.Unit
	frame               string
	pid, sender, thread int32
	ended               bool
}

func newSections(*trace) source { return &sections{open: map[sectionKey]int32{}, work: nest[int32]{}} }

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
		if i := s.work.end(e.TID); i >= 0 {
			s.all[i].Done = e.At
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
	one.pid, one.sender, one.thread = p.PID, e.TID, -1
	one.Scheduled, one.Started, one.Done = e.At, tasks.Unknown, tasks.Unknown
	s.open[sectionKey{p.PID, p.Value}] = int32(len(s.all))
	s.all = append(s.all, one)
}

func (s *sections) begin(e *packets.Event, p atrace.Point) {
	place := int32(-1)
	if cookie, ok := cookieOf(p.Name); ok {
		if i, known := s.open[sectionKey{p.PID, cookie}]; known && s.all[i].Started == tasks.Unknown {
			place = i
			s.all[i].Started, s.all[i].thread = e.At, e.TID
		} else {
			s.early++
		}
	} else if i := s.work.innermost(e.TID); i >= 0 && s.all[i].Inside == "" && !tasks.Contention(p.Name) {
		s.all[i].Inside = s.names.Of(p.Name)
	}
	if !s.work.begin(e.TID, place) {
		s.cut++
	}
}

// parse reads the name of an asynchronous section.
func (s *sections) parse(name string) (one section, ok bool) {
	head, is := strings.CutPrefix(name, "task:")
	unit, work, has := strings.Cut(head, ">")
	if !is || !has || unit == "" {
		return one, false
	}
	number := func(mark string, most int) int {
		before, digits, found := cutLast(unit, mark)
		n, err := strconv.Atoi(digits)
		if !found || err != nil || n < 0 || n > most || before == "" {
			return 0
		}
		unit = before
		return n
	}
	const day = 24 * 60 * 60 * 1000 // ms
	one.Delay = time.Duration(number("+", day)) * time.Millisecond
	one.unit.Capacity = number("/", 1<<16)
	one.unit.Name = s.names.Of(strings.TrimSpace(unit))
	if before, frame, found := cutLast(work, "@"); found {
		work, one.frame = before, s.names.Of(frame)
	}
	one.Name = s.names.Of(work)
	return one, true
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
	units := tasks.NewUnits[owned](&out)
	names, apps := map[int32]string{}, map[int32]bool{}
	for _, thread := range t.tracker.Threads { // the last one with an id
		names[thread.TID] = thread.Name
	}
	for _, one := range s.all {
		if _, known := apps[one.pid]; !known {
			apps[one.pid] = t.ofPID(int(one.pid))
		}
		if !apps[one.pid] {
			continue
		}
		task := one.Task
		task.Sender, task.Thread = names[one.sender], names[one.thread]
		one.unit.Kind = one.kind(task.Thread)
		place, ok := units.Of(owned{int(one.pid), one.unit.Name}, one.unit)
		if !ok {
			continue
		}
		task.Unit, task.Cancelled = place, one.ended && one.Started == tasks.Unknown
		if one.frame != "" {
			task.Context, out.Tells.Contexts = []string{one.frame}, true
		}
		t.place(&task)
		out.Tasks = append(out.Tasks, task)
	}
	var w readers.Warnings
	w.Counted(0, s.early, "%d task is left out: the trace does not have its scheduling", "%d tasks are left out: the trace does not have their scheduling")
	s.names.Warn(&w)
	w.Counted(0, t.file.KernelLost(), "the kernel lost events %d time: tasks may be missing, or seem not to have started", "the kernel lost events %d times: tasks may be missing, or seem not to have started")
	out.Warnings = w.List()
	return out
}

// kind is that of a section's unit: a looper is a unit with the name of its thread.
func (s *section) kind(thread string) string {
	switch {
	case s.unit.Name == "main" || s.thread == s.pid:
		return run.MainThread
	case strings.HasPrefix(s.unit.Name, "AsyncTask"):
		return run.AsyncTask
	case named(s.unit.Name, thread):
		return run.HandlerThread
	}
	return run.ThreadPool
}

// named reports whether a thread has a name, of which the kernel keeps 15 bytes: the first ones, or
// the last ones of a name with a dot (TASK_COMM_LEN, and SetThreadName of libartbase's utils.cc).
func named(name, thread string) bool {
	return name == thread || len(thread) == 15 && (strings.HasPrefix(name, thread) || strings.HasSuffix(name, thread))
}
