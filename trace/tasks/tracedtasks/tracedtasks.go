// Package tracedtasks reads asynchronous tasks from Perfetto traces and from traces in text: the
// messages of Android 16's loopers (messages.go), sections that an app names by a convention
// (sections.go), the coroutines of androidx.tracing's own file (coroutines.go), and the scheduling
// of pools (pools.go).
//
// It owns what these record of a task. None of them records a stack of several frames, and each says
// in its warnings what it can't tell.
package tracedtasks

import (
	"cmp"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Limits on what a source keeps.
const (
	maxTasks   = 1 << 18 // some 15 minutes of a busy app
	maxThreads = 10_000
	maxDepth   = 512 // slices within each other
)

// source is one source, read together with others in a pass.
type source interface {
	packets.Reader
	// list returns the tasks of a trace that was read.
	list(t *trace) tasks.List
}

// App selects the processes whose tasks are read: those for which PID is true, or else those of a
// package; without either, all.
type App struct {
	Package string
	PID     func(pid int) bool
}

func (a App) every() bool { return a.Package == "" && a.PID == nil }

// trace is what the sources of a pass share.
type trace struct {
	file     *packets.File
	tracker  *threads.Tracker
	app      App
	convert  func(time.Duration) (time.Duration, bool) // to CLOCK_MONOTONIC; nil where there is none
	unplaced int                                       // times that can't be converted
	named    map[int32]bool                            // threads with the app's name
}

func newTrace(app App) *trace {
	f := packets.New()
	return &trace{file: f, tracker: threads.New(f), app: app}
}

// read reads a trace for some sources.
func (t *trace) read(in packets.Source, sources ...source) error {
	all := []packets.Reader{t.tracker}
	for _, one := range sources {
		all = append(all, one)
	}
	if err := in(t.file, all...); err != nil {
		return err
	}
	t.convert, _ = t.file.Monotonic()
	return nil
}

// tasksOf returns the list of a source, in order and with all warnings.
func (t *trace) tasksOf(one source) tasks.List {
	t.unplaced = 0
	list := one.list(t)
	if t.unplaced > 0 {
		list.Warnings = append(list.Warnings, run.Warning{Text: "nothing in the trace leads to CLOCK_MONOTONIC: times of tasks are on the trace's own clock"})
	}
	list.Warnings = append(list.Warnings, t.file.Warnings.List()...)
	list.Sort()
	return list
}

// Read reads the lists of all sources that have tasks of an app, but for its messages, from the
// surest to the least. Pools are read on request, and of a given app alone. It also returns which
// processes are the app's, by their ids. An error is one of reading.
func Read(in packets.Source, app App, withPools bool) ([]tasks.List, func(pid int) bool, error) {
	t := newTrace(app)
	sources := []source{newSections(t), newCoroutines(t)}
	if withPools && !app.every() {
		sources = append(sources, newPools(t))
	}
	if err := t.read(in, sources...); err != nil {
		return nil, nil, err
	}
	t.file.Doubts()
	var out []tasks.List
	for _, one := range sources {
		if list := t.tasksOf(one); len(list.Tasks) > 0 {
			out = append(out, list)
		}
	}
	return out, t.ofPID, nil
}

// ReadMessages reads the messages of the processes for which of is true, or of all if of is nil. A
// trace without such events has no tasks. An error is one of reading.
func ReadMessages(in packets.Source, of func(pid int) bool) (tasks.List, error) {
	t := newTrace(App{PID: of})
	m := newMessages(t)
	if err := t.read(in, m); err != nil {
		return tasks.List{}, err
	}
	return t.tasksOf(m), nil
}

// time converts a time of the trace's own clock.
func (t *trace) time(own time.Duration) time.Duration {
	if own == tasks.Unknown {
		return own
	}
	if t.convert != nil {
		if at, ok := t.convert(own); ok {
			return at
		}
	}
	t.unplaced++
	return own
}

// place converts the times of a task.
func (t *trace) place(task *tasks.Task) {
	task.Scheduled, task.Started, task.Done = t.time(task.Scheduled), t.time(task.Started), t.time(task.Done)
}

// ofApp reports whether a process is the app's, by its number in the tracker. A trace in text has no
// processes' names: the main thread's is the end of it.
func (t *trace) ofApp(process int) bool {
	if t.app.every() {
		return true
	}
	if process < 0 || process >= len(t.tracker.Processes) {
		return false
	}
	p := t.tracker.Processes[process]
	if t.app.PID != nil {
		return t.app.PID(int(p.PID))
	}
	name := cmp.Or(p.Name, strings.SplitN(p.Cmdline, " ", 2)[0])
	if name == "" {
		return t.mains()[p.PID]
	}
	return name == t.app.Package || strings.HasPrefix(name, t.app.Package+":")
}

// mains are the threads with the name that the kernel keeps of the app's.
func (t *trace) mains() map[int32]bool {
	const kept = 15 // characters of a name
	if t.named == nil {
		t.named = map[int32]bool{}
		for _, thread := range t.tracker.Threads {
			if thread.Name == t.app.Package[max(0, len(t.app.Package)-kept):] {
				t.named[thread.TID] = true
			}
		}
	}
	return t.named
}

// ofPID is ofApp of the process that had an id last.
func (t *trace) ofPID(pid int) bool {
	if t.app.PID != nil {
		return t.app.PID(pid)
	}
	for process := len(t.tracker.Processes) - 1; process >= 0 && !t.app.every(); process-- {
		if int(t.tracker.Processes[process].PID) == pid {
			return t.ofApp(process)
		}
	}
	return t.app.every()
}

// owned is a unit by its process and its name.
type owned struct {
	process int
	name    string
}

// onThread is the unit that a thread's name shows.
func onThread(name string, main bool) tasks.Unit {
	if main {
		return tasks.Looper(cmp.Or(name, "main"), true)
	}
	if pool := tasks.Pool(name); pool != "" && pool != name {
		return tasks.Workers(pool)
	}
	return tasks.Unit{Name: name, Kind: run.PlainThread}
}

// nest is the slices that threads or tracks are in: of each the place of the task that it is, or -1.
type nest[K comparable] map[K][]int32

// begin begins a slice; false where there are too many.
func (n nest[K]) begin(on K, place int32) bool {
	stack, known := n[on]
	if len(stack) >= maxDepth || !known && len(n) >= maxThreads {
		return false
	}
	n[on] = append(stack, place)
	return true
}

// end ends the innermost slice, and returns its task.
func (n nest[K]) end(on K) int32 {
	place, last := n.innermost(on), len(n[on])-1
	if last > 0 {
		n[on] = n[on][:last]
	} else {
		delete(n, on)
	}
	return place
}

// innermost returns the task that the innermost slice is.
func (n nest[K]) innermost(on K) int32 {
	if stack := n[on]; len(stack) > 0 {
		return stack[len(stack)-1]
	}
	return -1
}
