// Package grouping summarizes the asynchronous tasks of a run's repetitions for its record: groups
// of similar tasks, how long those of each waited and ran, and which others ran in their unit
// meanwhile (DiagDroid, FSE 2016, sections 4.1 and 4.2).
//
// It owns the model of queues (definitions 2 to 5 of the paper), which contexts are similar, and
// what is kept of how many groups. Tasks are grouped by their unit, their name and the context that
// scheduled them, as far as the source records these; those without a context by their sender and
// the slice inside instead of it. It judges nothing: package diagnose/queueing decides from records
// alone which group explains a regression.
package grouping

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
)

// Late is the usual threshold from which a task was late (the paper's τ, section 4.2).
const Late = 500 * time.Millisecond

// maxTasks limits the tasks of all repetitions. More are left out, with a warning.
const maxTasks = tasks.MaxTasks

// Repetition is the tasks of one repetition, and what happened meanwhile.
type Repetition struct {
	// Number is the iteration, from 1.
	Number int
	List   tasks.List
	// Events are the UI events in chronological order, as for frames.
	Events []trace.Event
	// Screens are the app's, in the order in which they appeared. Without any, no task is obsolete.
	Screens []trace.Screen
	// Paths is what the runs of some tasks consist of (Slow), by their place in List.Tasks.
	Paths map[int][]run.TaskStep
}

// Collector collects the repetitions of a run.
type Collector struct {
	threshold time.Duration
	source    string
	tells     *tasks.Tells // what all repetitions tell
	contexts  *contexts
	units     numbered[run.TaskUnit]
	events    numbered[string]
	keys      numbered[key]
	parts     []*part
	kept      int // tasks
	leftOut   int
	warnings  []run.Warning
}

// key is what tasks have in common that are equal.
type key struct {
	unit int32
	// name is that of the task; without a context, it includes the sender and the slice inside.
	name string
	// stack is of the context, -1 where there is none.
	stack int32
}

// part is the tasks of one repetition.
type part struct {
	Repetition
	queues Queues
	items  []item // as in the list of queues
}

// item is a task, with what is kept of it beside its times.
type item struct {
	of         *part
	place      int32 // in the list of queues
	key, event int32 // the key is -1 for a task of no unit
	obsolete   bool
	superseded bool   // it waited while the same task was scheduled again
	group      *group // nil until the tasks are grouped, and of a task of no unit
}

func (i *item) task() *tasks.Task { return &i.of.queues.list.Tasks[i.place] }

// took returns how long a task waited and ran, 0 where unknown.
func took(t *tasks.Task) (queued, ran time.Duration) {
	queued, _ = t.Queued()
	ran, _ = t.Ran()
	return queued, ran
}

// longer is the longer of both.
func longer(t *tasks.Task) time.Duration {
	queued, ran := took(t)
	return max(queued, ran)
}

// NewCollector returns a collector for tasks of an app, whose package is "" where it is unknown.
// Those that waited for the threshold or more were late.
func NewCollector(app string, threshold time.Duration) *Collector {
	return &Collector{threshold: threshold, contexts: newContexts(app)}
}

// Add adds the tasks of one repetition, and returns their queues.
func (c *Collector) Add(r Repetition) Queues {
	list := r.List
	if c.tells == nil {
		c.source, c.tells = list.Source, &list.Tells
	}
	c.tells = &tasks.Tells{
		Contexts: c.tells.Contexts && list.Tells.Contexts, Capacity: c.tells.Capacity && list.Tells.Capacity, Cancellation: c.tells.Cancellation && list.Tells.Cancellation,
	}
	c.warnings = trace.Distinct(c.warnings, list.Warnings...)
	c.leftOut += list.LeftOut
	if most := maxTasks - c.kept; len(list.Tasks) > most {
		c.leftOut += len(list.Tasks) - most
		list.Tasks = list.Tasks[:most]
	}
	c.kept += len(list.Tasks)
	list.Tasks = slices.Clone(list.Tasks)
	p := &part{Repetition: r, queues: QueuesOf(list), items: make([]item, len(list.Tasks))}
	p.List = tasks.List{}
	units := make([]int32, len(list.Units))
	for i, u := range list.Units {
		units[i] = c.units.of(unitOf(u))
	}
	for i, t := range list.Tasks {
		p.items[i] = item{
			of: p, place: int32(i), key: c.key(t, units),
			event: c.events.of(trace.EventAt(r.Events, t.Begun())), obsolete: obsolete(t, r.Screens),
		}
		list.Tasks[i].Context = nil // the stack is kept
	}
	c.parts = append(c.parts, p)
	return p.queues
}

// unitOf returns the unit as in the record. Threads that are numbered are of one kind.
func unitOf(u tasks.Unit) run.TaskUnit {
	out := run.TaskUnit{Name: trace.Label(u.Name), Kind: u.Kind, Capacity: max(u.Capacity, 0)}
	if out.Kind == "" {
		out.Kind = run.PlainThread
	}
	if out.Kind == run.PlainThread {
		out.Name = trace.Folded(u.Name)
	}
	return out
}

// key returns the number of a task's key, -1 for a task of no unit.
func (c *Collector) key(t tasks.Task, units []int32) int32 {
	if t.Unit < 0 || t.Unit >= len(units) {
		return -1
	}
	k := key{unit: units[t.Unit], name: trace.Label(t.Name), stack: -1}
	if len(t.Context) == 0 {
		k.name = described(t)
	} else if k.stack = c.contexts.number(k.name, t.Context); k.stack >= maxContexts {
		k.name, k.stack = trace.Label(k.name+" "+c.contexts.stacks[k.stack].scheduler), -1
	}
	return c.keys.of(k)
}

// described names a task without a context: by what identifies it in its source, the slice inside,
// and its sender where that is another thread.
func described(t tasks.Task) string {
	parts := []string{trace.Label(t.Name)}
	if t.Inside != t.Name {
		parts = append(parts, trace.Uncounted(t.Inside))
	}
	name := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
	if sender := trace.Folded(t.Sender); sender != "" && sender != trace.Folded(t.Thread) {
		name = strings.TrimSpace(name + " from " + sender)
	}
	return name
}

// obsolete reports whether a task ran on after the screen that it was scheduled from had gone.
func obsolete(t tasks.Task, screens []trace.Screen) bool {
	if t.Scheduled == tasks.Unknown || t.Started == tasks.Unknown {
		return false
	}
	for _, s := range slices.Backward(screens) {
		if s.From <= t.Scheduled {
			return s.To > t.Scheduled && end(t) > s.To
		}
	}
	return false
}

// Warnings returns what the sources doubted, and what was left out.
func (c *Collector) Warnings() []run.Warning {
	if c.leftOut == 0 {
		return c.warnings
	}
	return append(slices.Clip(c.warnings), run.Warning{Text: prose.Count(c.leftOut, "asynchronous task was", "asynchronous tasks were") + " left out: there are too many"})
}

// numbered numbers different values in the order of their appearance.
type numbered[T comparable] struct {
	all []T
	at  map[T]int32
}

func (n *numbered[T]) of(v T) int32 {
	i, ok := n.at[v]
	if !ok {
		if n.at == nil {
			n.at = map[T]int32{}
		}
		i = int32(len(n.all))
		n.at[v] = i
		n.all = append(n.all, v)
	}
	return i
}
