package grouping

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/tasks"
)

// Metrics of tasks. Each is the greatest over the tasks of a stretch of time.
const (
	QueuedMS = "tasks.queued_ms" // how long a task waited although it was due
	RanMS    = "tasks.ran_ms"    // how long a task ran
	Waiting  = "tasks.waiting"   // tasks that waited in one unit
)

// Queues are the units of a recording with the order in which each ran its tasks.
type Queues struct {
	list  tasks.List
	units []queue
	// lengths are the tasks that waited in a task's unit when it was due, itself included if it had
	// to wait (definition 5 of the paper); -1 where unknown.
	lengths []int32
}

// queue is the tasks of one unit.
type queue struct {
	runs []int32 // the tasks that started, in the order of their start
	// latest is for each of runs when the last of those up to it was done.
	latest []time.Duration
}

// forever is when a task is done that ran to the end of the recording.
const forever time.Duration = 1<<63 - 1

// QueuesOf returns the queues of a recording.
func QueuesOf(list tasks.List) Queues {
	q := Queues{list: list, units: make([]queue, len(list.Units)), lengths: make([]int32, len(list.Tasks))}
	known := make([][]int32, len(list.Units)) // tasks whose scheduling is known
	for i, t := range list.Tasks {
		q.lengths[i] = -1
		if t.Unit < 0 || t.Unit >= len(q.units) {
			continue
		}
		if t.Started != tasks.Unknown {
			q.units[t.Unit].runs = append(q.units[t.Unit].runs, int32(i))
		}
		if t.Scheduled != tasks.Unknown {
			known[t.Unit] = append(known[t.Unit], int32(i))
		}
	}
	for u := range q.units {
		q.units[u].order(list.Tasks)
		q.measure(u, known[u])
	}
	return q
}

func (q *queue) order(all []tasks.Task) {
	slices.SortStableFunc(q.runs, func(a, b int32) int { return cmp.Compare(all[a].Started, all[b].Started) })
	q.latest = make([]time.Duration, len(q.runs))
	var last time.Duration
	for i, t := range q.runs {
		last = max(last, end(all[t]))
		q.latest[i] = last
	}
}

// due is when a task was to start, and end when it was done.
func due(t tasks.Task) time.Duration {
	return t.Scheduled + min(max(t.Delay, 0), forever-1-max(t.Scheduled, 0))
}

func end(t tasks.Task) time.Duration {
	if t.Done == tasks.Unknown {
		return forever
	}
	return max(t.Done, t.Started)
}

// measure sets the lengths of a unit's queue, of tasks whose scheduling is known. A task waits if
// it started only after another one of its unit was done that had not been when it was due:
// otherwise the time until it starts is its way to the thread, which every task has.
func (q *Queues) measure(unit int, known []int32) {
	all := q.list.Tasks
	ends := make([]time.Duration, 0, len(q.units[unit].runs))
	for _, t := range q.units[unit].runs {
		if all[t].Done != tasks.Unknown {
			ends = append(ends, end(all[t]))
		}
	}
	slices.Sort(ends)
	slices.SortStableFunc(known, func(a, b int32) int { return cmp.Compare(due(all[a]), due(all[b])) })
	var left []time.Duration // when the tasks that have waited until now started, or will
	gone, waiting := 0, 0
	for _, i := range known {
		if q.waits(all[i], ends) {
			left = append(left, start(all[i]))
		}
	}
	slices.Sort(left)
	for _, i := range known {
		if q.waits(all[i], ends) {
			waiting++
		}
		for gone < len(left) && left[gone] <= due(all[i]) {
			gone++
		}
		q.lengths[i] = int32(waiting - gone)
	}
}

// start is when a task left the queue.
func start(t tasks.Task) time.Duration {
	if t.Started == tasks.Unknown {
		return forever
	}
	return t.Started
}

// waits reports whether a task has waited for others of its unit, which ended at these times. One
// that never started has if the source would tell that it was removed.
func (q *Queues) waits(t tasks.Task, ends []time.Duration) bool {
	if t.Started == tasks.Unknown {
		return q.list.Tells.Cancellation && !q.list.Units[t.Unit].NoRemovals && !t.Cancelled
	}
	n := upTo(ends, t.Started) - upTo(ends, due(t))
	if t.Done != tasks.Unknown && end(t) == t.Started { // it is one of them
		n--
	}
	return n > 0
}

// upTo returns how many of sorted times are not after one.
func upTo(sorted []time.Duration, at time.Duration) int {
	n, _ := slices.BinarySearch(sorted, at+1)
	return n
}

// ahead calls found for the tasks of a unit that ran within a stretch of time, in the order of
// their start, from the place in its runs on that it returns the next one of.
func (q *Queues) ahead(unit, next int, from, to time.Duration, found func(task int32)) int {
	u, all := q.units[unit], q.list.Tasks
	first, _ := slices.BinarySearch(u.latest, from+1)
	for next = max(next, first); next < len(u.runs) && all[u.runs[next]].Started < to; next++ {
		if t := u.runs[next]; end(all[t]) > from {
			found(t)
		}
	}
	return next
}

// Metrics returns the metrics of the tasks that were scheduled from a time on until before another;
// of those whose scheduling is unknown, that started then.
func (q Queues) Metrics(from, until time.Duration) map[string]float64 {
	out := map[string]float64{QueuedMS: 0, RanMS: 0, Waiting: 0}
	for i, t := range q.list.Tasks {
		if at := t.Begun(); at < from || at >= until {
			continue
		}
		if d, ok := t.Queued(); ok {
			out[QueuedMS] = max(out[QueuedMS], ms(d))
		}
		if d, ok := t.Ran(); ok {
			out[RanMS] = max(out[RanMS], ms(d))
		}
		out[Waiting] = max(out[Waiting], float64(q.lengths[i]))
	}
	return out
}
