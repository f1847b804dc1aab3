// Package tasks describes the asynchronous tasks of an app as a source has recorded them: when each
// was scheduled, started and done, and in which unit it waited for its turn (DiagDroid, FSE 2016,
// section 4.1).
//
// It owns what a task and its unit are, whatever the source. Each source is a package below it,
// which reads one kind of recording. What a source does not record is absent: no stack, capacity or
// cancellation is guessed.
package tasks

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
)

// Limits on the tasks of one recording. Those beyond them are counted in List.LeftOut.
const (
	MaxTasks = 1 << 20
	MaxUnits = 10_000
	// MaxNames is the bytes of all different texts (Names).
	MaxNames = 32 << 20
)

// Unknown is a point in time that the source has not recorded.
const Unknown time.Duration = -1

// List is the tasks of one recording.
type List struct {
	// Source is the word for the source in records (run.Tasks.Source).
	Source string
	// Tells is what the source records of each task where there is something to record.
	Tells Tells
	Units []Unit
	// Tasks are in the order in which they were scheduled; those whose scheduling is not recorded,
	// in the order in which they started.
	Tasks []Task
	// LeftOut counts tasks beyond MaxTasks.
	LeftOut  int
	Warnings []run.Warning
}

// Tells is what a source is able to record. What it is not able to record is absent from its tasks,
// and must not be concluded from them.
type Tells struct {
	Contexts     bool // the stacks that scheduled tasks
	Capacity     bool // how many tasks a pool runs at the same time
	Cancellation bool // that a task was removed before it was done
}

// Words returns what is told in the words of records.
func (t Tells) Words() (words []string) {
	for _, one := range []struct {
		told bool
		word string
	}{{t.Contexts, run.TellsContexts}, {t.Capacity, run.TellsCapacity}, {t.Cancellation, run.TellsCancellation}} {
		if one.told {
			words = append(words, one.word)
		}
	}
	return words
}

// Unit executes tasks one after the other, or Capacity of them at the same time (the paper's
// execution unit, definition 4).
type Unit struct {
	// Name identifies it: a thread's name, or the common part of the names of a pool's workers.
	Name string
	Kind string // run.MainThread and so on
	// Capacity is the number of tasks that it runs at the same time; 0 where unknown or unlimited.
	Capacity int
	// NoRemovals reports that the source does not record which tasks of this unit were removed,
	// whatever List.Tells says of others.
	NoRemovals bool
}

// Task is a stretch of code that runs in one thread without a break (definition 1). Times are on
// the device's CLOCK_MONOTONIC, and Unknown where they are not recorded.
type Task struct {
	Unit int // place in List.Units
	// Name is what identifies the work in its source: a class, or a handler and its message's
	// code. "" where the source has nothing.
	Name string
	// Context is the stack that scheduled it, the innermost frame first; nil where the source has
	// none.
	Context []string
	// Sender is the name of the thread that scheduled it, Thread of the one that ran it.
	Sender, Thread string
	// Inside is the name of the outermost slice within it, "" where there is none.
	Inside string
	// Delay is for how long it was not to start; Scheduled+Delay is when it was due.
	Scheduled, Started, Done time.Duration
	Delay                    time.Duration
	// Cancelled reports that it was removed, or asked to stop, before it was done.
	Cancelled bool
}

// Queued returns how long the task waited although it was due (definition 2): from Scheduled+Delay
// until Started, and never less than 0. It returns false where one of them is unknown.
func (t Task) Queued() (time.Duration, bool) {
	if t.Scheduled == Unknown || t.Started == Unknown {
		return 0, false
	}
	return max(0, t.Started-t.Scheduled-t.Delay), true
}

// Ran returns how long the task took from Started to Done, false where one of them is unknown.
func (t Task) Ran() (time.Duration, bool) {
	if t.Started == Unknown || t.Done == Unknown {
		return 0, false
	}
	return max(0, t.Done-t.Started), true
}

// Begun returns when the task was scheduled, or started where that alone is known.
func (t Task) Begun() time.Duration {
	if t.Scheduled == Unknown {
		return t.Started
	}
	return t.Scheduled
}

// Sort puts the tasks in their order.
func (l *List) Sort() {
	slices.SortStableFunc(l.Tasks, func(a, b Task) int { return cmp.Compare(a.Begun(), b.Begun()) })
}

// Contention reports whether a slice is ART's of a wait for a lock (runtime/monitor.cc and
// base/mutex.cc): it comes and goes with what other threads do, and so does not name a task.
func Contention(slice string) bool {
	return strings.HasPrefix(slice, "monitor contention with owner ") || strings.HasPrefix(slice, "Lock contention on ")
}

// Names keeps each text once, as far as there is room for it.
type Names struct {
	known map[string]string
	bytes int
	// Dropped counts the texts without room.
	Dropped int
}

// Warn warns of the texts without room.
func (n *Names) Warn(w *trace.Warnings) {
	w.Counted(0, n.Dropped, "%d name is left out: there are too many", "%d names are left out: there are too many")
}

// Of returns a text as it is kept: valid, of at most 300 bytes, "" if there is no room for it.
func (n *Names) Of(s string) string {
	if kept, ok := n.known[s]; ok {
		return kept
	}
	const entry = 64 // bytes of a map's entry
	kept := trace.Name(s)
	if n.bytes += 2*len(kept) + entry; n.bytes > MaxNames {
		n.bytes -= 2*len(kept) + entry
		n.Dropped++
		return ""
	}
	if n.known == nil {
		n.known = map[string]string{}
	}
	n.known[kept] = kept
	return kept
}
