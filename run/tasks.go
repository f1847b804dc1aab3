package run

import (
	"errors"
	"fmt"
)

// Limits on the asynchronous tasks of a record.
const (
	MaxTaskGroups  = 500
	MaxTaskUnits   = 200
	MaxTasksWaited = 20 // groups that a group waited for
)

// Tasks is how long the app's asynchronous tasks waited in queues and ran (DiagDroid, FSE 2016,
// section 4). Counts and times are over all iterations.
type Tasks struct {
	// Source is where they were recorded, such as "perfetto".
	Source string `json:"source"`
	// Units execute tasks: threads and pools.
	Units []TaskUnit `json:"units,omitempty"`
	// Groups are similar tasks: scheduled from similar places to one unit.
	Groups []TaskGroup `json:"groups,omitempty"`
	// LeftOut is how many more groups there were.
	LeftOut int `json:"left_out,omitempty"`
}

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
	if err := errors.Join(word("source", t.Source), atMost("units", len(t.Units), MaxTaskUnits),
		atMost("groups", len(t.Groups), MaxTaskGroups), counts("left_out", t.LeftOut)); err != nil {
		return first(err)
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
		atMost("waited_for", len(g.WaitedFor), MaxTasksWaited)); err != nil {
		return first(err)
	}
	for i, a := range g.WaitedFor {
		if a.Group < 0 || a.Group >= groups {
			return fmt.Errorf("waited_for[%d].group is %d, want the place of one of %d groups", i, a.Group, groups)
		}
		if err := errors.Join(counts("tasks", a.Tasks), times("ran_ms", a.RanMS)); err != nil {
			return fmt.Errorf("waited_for[%d].%w", i, first(err))
		}
	}
	return nil
}
