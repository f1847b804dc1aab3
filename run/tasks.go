package run

import (
	"errors"
	"fmt"
	"slices"
)

// Limits on the asynchronous tasks of a record.
const (
	MaxTaskGroups  = 500
	MaxTaskUnits   = 200
	MaxTasksWaited = 20 // groups that a group waited for
	MaxSlowTasks   = 10 // single tasks of a group
	MaxTasksAhead  = 50 // tasks that a single one waited for
	MaxTaskSteps   = 8  // of the path of one
	MaxSource      = 3  // what a source tells
)

// Tasks is how long the app's asynchronous tasks waited in queues and ran (DiagDroid, FSE 2016,
// section 4). Counts and times are over all iterations.
type Tasks struct {
	// Source is where they were recorded, such as "perfetto".
	Source string `json:"source"`
	// Tells lists what the source records where there is something to record (Tells*): what is not
	// in the list can't be concluded from the groups.
	Tells []string `json:"tells,omitempty"`
	// Units execute tasks: threads and pools.
	Units []TaskUnit `json:"units,omitempty"`
	// Groups are similar tasks: scheduled from similar places to one unit.
	Groups []TaskGroup `json:"groups,omitempty"`
	// LeftOut is how many more groups there were.
	LeftOut int `json:"left_out,omitempty"`
}

// What sources of tasks may record (Tasks.Tells).
const (
	TellsContexts     = "contexts"     // the stacks that scheduled tasks
	TellsCapacity     = "capacity"     // how many tasks a pool runs at the same time
	TellsCancellation = "cancellation" // that a task was removed before it was done
)

// TaskUnit executes tasks.
type TaskUnit struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Capacity is how many tasks it executes at the same time; 0 where unknown or unlimited.
	Capacity int `json:"capacity,omitempty"`
}

// Kinds of units (TaskUnit.Kind): the paper's five categories, and the main thread.
const (
	MainThread    = "main-thread"
	PlainThread   = "thread"
	HandlerThread = "handler-thread"
	IntentService = "intent-service"
	ThreadPool    = "thread-pool"
	AsyncTask     = "async-task"
)

// TaskGroup are similar tasks.
type TaskGroup struct {
	Name string `json:"name"`
	// Event is the UI event after which they were scheduled, as in Bucket.Name; "" is the whole
	// run.
	Event string `json:"event,omitempty"`
	// Unit is the index in Tasks.Units of the unit that executes them.
	Unit int `json:"unit"`
	// Context is the stack from which they were scheduled, the innermost frame first.
	Context []string `json:"context,omitempty"`
	// Scheduled, Started, Done and Cancelled count them. Tasks that never started are in none of
	// the times.
	Scheduled int `json:"scheduled"`
	Started   int `json:"started"`
	Done      int `json:"done"`
	Cancelled int `json:"cancelled,omitempty"`
	// Queued is from scheduled to started, Ran from started to done.
	Queued Spread `json:"queued"`
	Ran    Spread `json:"ran"`
	// QueueMean and QueueMax are how many tasks waited in the unit when one was scheduled.
	QueueMean float64 `json:"queue_mean,omitempty"`
	QueueMax  int     `json:"queue_max,omitempty"`
	// WaitedFor are the groups whose tasks ran while these waited.
	WaitedFor []TasksAhead `json:"waited_for,omitempty"`
	// Repetitions counts the tasks of each iteration, the first at 0; QueuedMaxMS and RanMaxMS are
	// the longest times in each. With more than MaxApart iterations, iteration n counts for the
	// entry n modulo MaxApart.
	Repetitions []int     `json:"repetitions,omitempty"`
	QueuedMaxMS []float64 `json:"queued_max_ms,omitempty"`
	RanMaxMS    []float64 `json:"ran_max_ms,omitempty"`
	// Obsolete counts tasks that ran on after the screen that they were scheduled from had gone;
	// Superseded those that waited while the same task was scheduled again.
	Obsolete   int `json:"obsolete,omitempty"`
	Superseded int `json:"superseded,omitempty"`
	// Late is the group's tasks that waited for at least a threshold; nil where none did.
	Late *LateTasks `json:"late,omitempty"`
	// Longest are single tasks of the group, the one that waited longest first.
	Longest []SlowTask `json:"longest,omitempty"`
}

// LateTasks are the tasks of a group that waited for OverMS or more (DiagDroid's τ, section 4.2).
type LateTasks struct {
	OverMS float64 `json:"over_ms"`
	Tasks  int     `json:"tasks"`
	// QueueMean is how many tasks waited in the unit when one of these was scheduled, on average;
	// AheadRanMS is how long one that ran meanwhile took, on average, and WaitedFor are those.
	QueueMean  float64      `json:"queue_mean"`
	AheadRanMS float64      `json:"ahead_ran_ms"`
	WaitedFor  []TasksAhead `json:"waited_for,omitempty"`
}

// SlowTask is a single task.
type SlowTask struct {
	Repetition int `json:"repetition,omitempty"` // from 1; 0 where there are none
	// AtMS is when it was scheduled, on the device's CLOCK_MONOTONIC; 0 where only its start is
	// known.
	AtMS float64 `json:"at_ms,omitempty"`
	// DelayMS is for how long it was not to start: it waited from AtMS+DelayMS on.
	DelayMS  float64 `json:"delay_ms,omitempty"`
	QueuedMS float64 `json:"queued_ms"`
	RanMS    float64 `json:"ran_ms"`
	// Sender is the thread that scheduled it, Thread the one that ran it; "" where unknown.
	Sender string `json:"sender,omitempty"`
	Thread string `json:"thread,omitempty"`
	// Ahead are the tasks that ran in the unit while it waited, in the order of time.
	Ahead []TaskRun `json:"ahead,omitempty"`
	// EventMS is when the event began after which it was scheduled, 0 where there is none.
	EventMS float64 `json:"event_ms,omitempty"`
	// Path is what its run consists of; nil where unknown.
	Path []TaskStep `json:"path,omitempty"`
}

// TaskRun is a stretch of time in which a task ran.
type TaskRun struct {
	// Group is the index of the task's group in Tasks.Groups, -1 where that is left out.
	Group  int     `json:"group"`
	FromMS float64 `json:"from_ms"`
	ToMS   float64 `json:"to_ms"`
	Thread string  `json:"thread,omitempty"`
	// Path is as in SlowTask.
	Path []TaskStep `json:"path,omitempty"`
}

// TaskStep is a part of a task's run: what its thread did, or waited for. Times are on the device's
// CLOCK_MONOTONIC.
type TaskStep struct {
	// Kind, Does and What are as in PathStep. Thread is the one that the task's waited for, and
	// Process that thread's: "" for the task's own thread, and for the app.
	Kind    string  `json:"kind"`
	Does    string  `json:"does,omitempty"`
	What    string  `json:"what,omitempty"`
	Thread  string  `json:"thread,omitempty"`
	Process string  `json:"process,omitempty"`
	FromMS  float64 `json:"from_ms"`
	ToMS    float64 `json:"to_ms"`
}

// TasksAhead are the tasks of a group that others waited for.
type TasksAhead struct {
	// Group is its index in Tasks.Groups.
	Group int `json:"group"`
	// Tasks is their number, RanMS how long one ran, on average.
	Tasks int     `json:"tasks"`
	RanMS float64 `json:"ran_ms"`
}

func (t Tasks) validate() error {
	if err := errors.Join(word("source", t.Source), atMost("tells", len(t.Tells), MaxSource), atMost("units", len(t.Units), MaxTaskUnits),
		atMost("groups", len(t.Groups), MaxTaskGroups), counts("left_out", t.LeftOut)); err != nil {
		return first(err)
	}
	for _, what := range t.Tells {
		if err := word("tells", what); err != nil {
			return err
		}
	}
	for i, u := range t.Units {
		if err := errors.Join(texts("name", u.Name), word("kind", u.Kind), counts("capacity", u.Capacity)); err != nil {
			return fmt.Errorf("units[%d].%w", i, first(err))
		}
	}
	for i, g := range t.Groups {
		if err := g.validate(len(t.Units), len(t.Groups)); err != nil {
			return fmt.Errorf("groups[%d].%w", i, err)
		}
	}
	return nil
}

func (g TaskGroup) validate(units, groups int) error {
	if g.Unit < 0 || g.Unit >= units {
		return fmt.Errorf("unit is %d, want the place of one of %d units", g.Unit, units)
	}
	if err := errors.Join(texts("name", g.Name), texts("event", g.Event), atMost("context", len(g.Context), MaxStack), texts("context", g.Context...),
		counts("scheduled, started, done, cancelled or queue_max", g.Scheduled, g.Started, g.Done, g.Cancelled, g.QueueMax),
		times("queue_mean", g.QueueMean), within("queued", g.Queued.validate()), within("ran", g.Ran.validate()),
		atMost("repetitions", len(g.Repetitions), MaxApart), counts("repetitions", g.Repetitions...),
		atMost("queued_max_ms", len(g.QueuedMaxMS), len(g.Repetitions)), times("queued_max_ms", g.QueuedMaxMS...),
		atMost("ran_max_ms", len(g.RanMaxMS), len(g.Repetitions)), times("ran_max_ms", g.RanMaxMS...),
		counts("obsolete or superseded", g.Obsolete, g.Superseded), atMost("longest", len(g.Longest), MaxSlowTasks)); err != nil {
		return first(err)
	}
	if err := waitedFor(g.WaitedFor, groups); err != nil {
		return err
	}
	if l := g.Late; l != nil {
		if err := errors.Join(counts("tasks", l.Tasks), times("over_ms, queue_mean or ahead_ran_ms", l.OverMS, l.QueueMean, l.AheadRanMS), waitedFor(l.WaitedFor, groups)); err != nil {
			return fmt.Errorf("late.%w", first(err))
		}
	}
	for i, t := range g.Longest {
		if err := t.validate(groups); err != nil {
			return fmt.Errorf("longest[%d].%w", i, err)
		}
	}
	return nil
}

func waitedFor(all []TasksAhead, groups int) error {
	if err := atMost("waited_for", len(all), MaxTasksWaited); err != nil {
		return err
	}
	for i, a := range all {
		if a.Group < 0 || a.Group >= groups {
			return fmt.Errorf("waited_for[%d].group is %d, want the place of one of %d groups", i, a.Group, groups)
		}
		if err := errors.Join(counts("tasks", a.Tasks), times("ran_ms", a.RanMS)); err != nil {
			return fmt.Errorf("waited_for[%d].%w", i, first(err))
		}
	}
	return nil
}

func (t SlowTask) validate(groups int) error {
	if err := errors.Join(counts("repetition", t.Repetition), times("at_ms, delay_ms, queued_ms, ran_ms or event_ms", t.AtMS, t.DelayMS, t.QueuedMS, t.RanMS, t.EventMS),
		texts("sender or thread", t.Sender, t.Thread), atMost("ahead", len(t.Ahead), MaxTasksAhead), taskPath(t.Path)); err != nil {
		return first(err)
	}
	for i, a := range t.Ahead {
		if a.Group < -1 || a.Group >= groups {
			return fmt.Errorf("ahead[%d].group is %d, want the place of one of %d groups, or -1", i, a.Group, groups)
		}
		if err := errors.Join(times("from_ms or to_ms", a.FromMS, a.ToMS), texts("thread", a.Thread), taskPath(a.Path)); err != nil {
			return fmt.Errorf("ahead[%d].%w", i, first(err))
		}
	}
	return nil
}

func taskPath(steps []TaskStep) error {
	if err := atMost("path", len(steps), MaxTaskSteps); err != nil {
		return err
	}
	for i, s := range steps {
		if err := errors.Join(word("kind", s.Kind), maybeWord("does", s.Does), texts("thread, process or what", s.Thread, s.Process, s.What), times("from_ms or to_ms", s.FromMS, s.ToMS)); err != nil {
			return fmt.Errorf("path[%d].%w", i, first(err))
		}
		if s.ToMS < s.FromMS {
			return fmt.Errorf("path[%d] is from %g to %g ms, want them in order", i, s.FromMS, s.ToMS)
		}
	}
	return nil
}

// Running returns the groups of the single tasks that ran in a thread of a repetition during a time
// (ms of CLOCK_MONOTONIC): what a frame waits for whose critical path goes through that thread then.
// Only the longest tasks of each group, and those that they waited for, are known by their time.
func (t *Tasks) Running(repetition int, thread string, fromMS, toMS float64) []int {
	var out []int
	add := func(group int) {
		if group >= 0 && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	for i, g := range t.Groups {
		for _, task := range g.Longest {
			if task.Repetition != repetition || task.AtMS == 0 {
				continue
			}
			begin := task.AtMS + task.DelayMS + task.QueuedMS
			if SameThread(task.Thread, thread) && begin < toMS && begin+task.RanMS > fromMS {
				add(i)
			}
			for _, a := range task.Ahead {
				if SameThread(a.Thread, thread) && a.FromMS < toMS && a.ToMS > fromMS {
					add(a.Group)
				}
			}
		}
	}
	return out
}

// kernelName is how many bytes of a thread's name the kernel keeps.
const kernelName = 15

// SameThread compares two threads' names, of which one may be the kernel's.
func SameThread(a, b string) bool {
	cut := func(s string) string { return s[:min(len(s), kernelName)] }
	return a != "" && cut(a) == cut(b)
}
