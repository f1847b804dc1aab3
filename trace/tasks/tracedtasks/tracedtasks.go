// Package tracedtasks reads asynchronous tasks from Perfetto traces and from traces in text: from
// sections that an app names by a convention (sections.go), from the coroutines of
// androidx.tracing's own file (coroutines.go), and from the scheduling of pools (pools.go).
//
// It owns what these three record of a task. None of them records a stack of several frames, and
// each says in its warnings what it can't tell. Messages of Android 16's queue are read by a
// package of their own.
package tracedtasks

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/tasks"
)

// maxTasks limits the tasks of a source.
const maxTasks = 1 << 18

// reader is one of the sources, together with others of a pass.
type reader interface {
	packets.Reader
	// list is the tasks of a trace that was read; it has none where there are none.
	list(t *trace) tasks.List
}

// sources are the sources by the time that they tell tasks from the surest to the least.
var sources = []func(*packets.File, *threads.Tracker) reader{newSections, newCoroutines, newPools}

// byScheduling is how many of them, the last, read the scheduler's events.
const byScheduling = 1

// App selects the processes whose tasks are read: those for which PID is true, or else those of a
// package; without either, all.
type App struct {
	Package string
	PID     func(pid int) bool
}

func (a App) every() bool { return a.Package == "" && a.PID == nil }

// trace is a trace that was read.
type trace struct {
	file     *packets.File
	tracker  *threads.Tracker
	app      App
	convert  func(time.Duration) (time.Duration, bool) // to CLOCK_MONOTONIC; nil where there is none
	unplaced int                                       // times that can't be converted
	named    map[int32]bool                            // threads with the app's name
}

// Read reads the lists of all sources that have tasks of an app. Pools are read on request, and of a
// given app alone. It also returns which processes are the app's,
// by their ids. An error is one of reading.
func Read(in packets.Source, app App, withPools bool) ([]tasks.List, func(pid int) bool, error) {
	f := packets.New()
	tracker := threads.New(f)
	all := []packets.Reader{tracker}
	var readers []reader
	from := sources
	if !withPools || app.every() {
		from = sources[:len(sources)-byScheduling]
	}
	for _, open := range from {
		one := open(f, tracker)
		readers, all = append(readers, one), append(all, one)
	}
	if err := in(f, all...); err != nil {
		return nil, nil, err
	}
	t := &trace{file: f, tracker: tracker, app: app}
	t.convert, _ = f.Monotonic()
	f.Doubts()
	var out []tasks.List
	for _, one := range readers {
		t.unplaced = 0
		list := one.list(t)
		if len(list.Tasks) == 0 {
			continue
		}
		if t.unplaced > 0 {
			list.Warnings = append(list.Warnings, run.Warning{Text: "nothing in the trace leads to CLOCK_MONOTONIC: times of tasks are on the trace's own clock"})
		}
		list.Warnings = append(list.Warnings, f.Warnings.List()...)
		slices.SortStableFunc(list.Tasks, func(a, b tasks.Task) int { return cmp.Compare(at(a), at(b)) })
		out = append(out, list)
	}
	return out, func(pid int) bool { return t.ofPID(int32(pid)) }, nil
}

// at is when a task was scheduled, or else when it started.
func at(t tasks.Task) time.Duration {
	if t.Scheduled != tasks.Unknown {
		return t.Scheduled
	}
	return t.Started
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
func (t *trace) ofPID(pid int32) bool {
	if t.app.PID != nil {
		return t.app.PID(int(pid))
	}
	for process := len(t.tracker.Processes) - 1; process >= 0 && !t.app.every(); process-- {
		if t.tracker.Processes[process].PID == pid {
			return t.ofApp(process)
		}
	}
	return t.app.every()
}

// units numbers the units of a list.
type units struct {
	list   *tasks.List
	places map[unitKey]int
}

type unitKey struct {
	process int
	name    string
}

func newUnits(list *tasks.List) *units { return &units{list, map[unitKey]int{}} }

// of is the place of a unit, false where there are too many.
func (u *units) of(process int, unit tasks.Unit) (int, bool) {
	key := unitKey{process, unit.Name}
	place, ok := u.places[key]
	if !ok {
		if len(u.list.Units) == tasks.MaxUnits {
			u.list.LeftOut++
			return 0, false
		}
		place = len(u.list.Units)
		u.places[key] = place
		u.list.Units = append(u.list.Units, unit)
	}
	if known := &u.list.Units[place]; known.Capacity == 0 {
		known.Capacity = unit.Capacity
	}
	return place, true
}

// onThread is the unit that a thread's name shows.
func onThread(name string, main bool) tasks.Unit {
	switch {
	case main:
		return tasks.Unit{Name: cmp.Or(name, "main"), Kind: run.MainThread, Capacity: 1}
	case strings.HasPrefix(name, "AsyncTask #"):
		return tasks.Unit{Name: "AsyncTask", Kind: run.AsyncTask}
	}
	if pool := tasks.Pool(name); pool != "" && pool != name {
		return tasks.Unit{Name: pool, Kind: run.ThreadPool}
	}
	return tasks.Unit{Name: name, Kind: run.PlainThread}
}

// sortedKeys are a map's keys in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
