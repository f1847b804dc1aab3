// Package dispatch plays the asynchronous tasks of a simulated app: the queues of its units, and
// which thread executes which task when.
//
// It owns the queues. An app's file states what tasks need and where they are scheduled; when
// they start and are done follows from what stands before them. The UI thread is a unit like the
// others: it handles an event once it is free, and schedules no earlier.
//
// It is pure, and times are relative to the beginning of a performance. Of what else the UI
// thread does, only long computations (Play.Holds) count; ordinary frames do not.
package dispatch

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// MaxTasks limits the tasks of one performance.
const MaxTasks = 20_000

// Loads are factors on the parts of all tasks, by the load beside the app: 1 or more, and 0 for
// none.
type Loads struct{ CPU, IO, Network float64 }

// factor returns the factor on a kind of wait.
func (l Loads) factor(w simapp.Wait) float64 {
	switch w {
	case simapp.WaitIO:
		return cmp.Or(l.IO, 1)
	case simapp.WaitNetwork:
		return cmp.Or(l.Network, 1)
	}
	return cmp.Or(l.CPU, 1) // the owner of the lock works, or another process
}

// Mark is an event and its time.
type Mark struct {
	At    time.Duration
	Event string
}

// Play is the input of Tasks.
type Play struct {
	App   *simapp.App
	Marks []Mark              // by time
	Holds []timeline.Interval // spans in which the UI thread is busy otherwise
	// Speed is a factor on CPU time, 1 on a good phone.
	Speed  float64
	Loads  Loads
	Random *rand.Rand
}

// showsFor is the CPU time of the message by which a task shows what it has done.
const showsFor = 2 * time.Millisecond

// Tasks returns the tasks after the marks, by the time at which they were scheduled. Process and
// PID are not set.
func Tasks(p Play) []timeline.Task {
	if len(p.App.Tasks) == 0 {
		return nil
	}
	d := &dispatcher{Play: p, units: map[string]*unit{}}
	slices.SortFunc(d.Holds, func(a, b timeline.Interval) int { return cmp.Compare(a.From, b.From) })
	for _, m := range p.Marks {
		d.at(m.At, func() { d.goes(m.Event) })
		d.follow(m.Event, m.At, "")
	}
	for len(d.steps) > 0 {
		s := heap.Pop(&d.steps).(step)
		d.now = s.at
		s.do()
	}
	var out []timeline.Task
	for _, e := range d.all {
		out = append(out, e.Task)
	}
	slices.SortStableFunc(out, func(a, b timeline.Task) int { return cmp.Compare(a.Scheduled, b.Scheduled) })
	return out
}

// dispatcher is a performance's queues in progress.
type dispatcher struct {
	Play
	now   time.Duration
	steps steps
	order int
	units map[string]*unit
	all   []*entry
	ids   int
}

// entry is a stretch of a task in a unit, or work of the UI thread that is none: then handles is
// set.
type entry struct {
	timeline.Task
	cpu, waits time.Duration
	handles    func()
}

// unit is the state of a simapp.Unit.
type unit struct {
	simapp.Unit
	waiting []*entry // that are due, in the order in which they start
	busy    []bool   // by worker
	last    int      // the worker that was idle for the longest, of AsyncTask's two
}

func (d *dispatcher) unit(name string) *unit {
	u := d.units[name]
	if u == nil {
		is, _ := d.App.Unit(name)
		u = &unit{Unit: is}
		d.units[name] = u
	}
	return u
}

// follow schedules the tasks after an event or a task. The sender is "" for the UI thread, which
// has to be free.
func (d *dispatcher) follow(after string, at time.Duration, sender string) {
	for i := range d.App.Tasks {
		t := &d.App.Tasks[i]
		if !slices.Contains(t.After, after) {
			continue
		}
		for n := range t.Count {
			when := at + t.At + time.Duration(n)*t.Every
			if sender != "" {
				d.at(when, func() { d.schedule(t, sender) })
				continue
			}
			d.at(when, func() {
				d.enqueue(d.unit(simapp.MainUnit.Name), &entry{handles: func() { d.schedule(t, simapp.MainUnit.Name) }})
			})
		}
	}
}

// schedule schedules a task now.
func (d *dispatcher) schedule(t *simapp.Task, sender string) {
	u := d.unit(t.Unit)
	if t.Replaces {
		d.remove(func(e *entry) bool { return e.What == t && !e.Shows })
	}
	d.ids++
	e := &entry{Task: timeline.Task{What: t, Unit: u.Unit, ID: d.ids, Sender: sender, Delay: t.Delay}}
	e.cpu = scale(t.Runs, d.Speed*cmp.Or(d.Loads.CPU, 1)*d.noise())
	for _, w := range simapp.Waits {
		if w == simapp.WaitBinder && t.Waits[w] == 0 {
			continue
		}
		by := d.Loads.factor(w) * d.noise()
		if w == simapp.WaitBinder { // another process works
			by *= d.Speed
		}
		long := scale(t.Waits[w], by)
		e.waits += long
		switch {
		case t.Suspends:
		case w == simapp.WaitIO:
			e.IO = long
		case w == simapp.WaitBinder:
			e.Binder = long
		case w == simapp.WaitLock:
			e.Lock = long
		}
	}
	if t.Suspends {
		e.cpu /= 2
	}
	d.add(e)
}

// noise draws the factor on a part of a task, like that of a frame.
func (d *dispatcher) noise() float64 {
	if d.App.Noise.Frame == 0 {
		return 1
	}
	return math.Exp(d.App.Noise.Frame * max(-4, min(4, d.Random.NormFloat64())))
}

// add puts a new entry into its unit's queue, once it is due.
func (d *dispatcher) add(e *entry) {
	if len(d.all) == MaxTasks {
		return
	}
	e.Scheduled = d.now
	d.all = append(d.all, e)
	d.at(d.now+e.Delay, func() {
		if e.Removed == 0 {
			d.enqueue(d.unit(e.Unit.Name), e)
		}
	})
}

func (d *dispatcher) enqueue(u *unit, e *entry) {
	u.waiting = append(u.waiting, e)
	d.begin(u)
}

// begin starts what the unit has an idle worker for.
func (d *dispatcher) begin(u *unit) {
	for len(u.waiting) > 0 {
		if u.Kind == simapp.MainThread {
			if until := d.held(); until > d.now {
				d.at(until, func() { d.begin(u) })
				return
			}
		}
		worker := u.idle()
		if worker < 0 {
			return
		}
		e := u.waiting[0]
		u.waiting = u.waiting[1:]
		if e.handles != nil {
			e.handles()
			continue
		}
		u.busy[worker] = true
		e.Started, e.Thread = d.now, u.thread(worker)
		e.Worked = e.Started + e.cpu
		long := e.cpu
		if !e.What.Suspends {
			long += e.waits
		}
		e.Done = e.Started + max(long, time.Microsecond)
		d.at(e.Done, func() {
			u.busy[worker] = false
			d.finish(e)
			d.begin(u)
		})
	}
}

// held returns until when the UI thread is busy otherwise.
func (d *dispatcher) held() time.Duration {
	until := d.now
	for _, h := range d.Holds {
		if h.From <= until && h.To > until {
			until = h.To
		}
	}
	return until
}

// idle returns an idle worker, less than 0 for none.
func (u *unit) idle() int {
	if u.Kind == simapp.AsyncTask {
		// Its executor passes the next task to the pool while the worker of the previous one
		// is not idle yet: two workers take turns.
		if len(u.busy) == 0 {
			u.busy = make([]bool, 2)
		}
		if u.busy[0] || u.busy[1] {
			return -1
		}
		u.last = 1 - u.last
		return 1 - u.last
	}
	for i, busy := range u.busy {
		if !busy {
			return i
		}
	}
	if u.Size > 0 && len(u.busy) == u.Size {
		return -1
	}
	u.busy = append(u.busy, false)
	return len(u.busy) - 1
}

// thread returns the name of a worker: those of ThreadPoolExecutor's default factory, AsyncTask,
// IntentService, and the dispatchers of coroutines.
func (u *unit) thread(worker int) string {
	switch u.Kind {
	case simapp.ThreadPool:
		return fmt.Sprintf("%s-thread-%d", u.Name, worker+1)
	case simapp.AsyncTask:
		return fmt.Sprintf("AsyncTask #%d", worker+1)
	case simapp.PlainThreads:
		return fmt.Sprintf("%s-%d", u.Name, worker+1)
	case simapp.Coroutines:
		return fmt.Sprintf("%s-worker-%d", u.Name, worker+1)
	}
	return LooperThread(u.Unit)
}

// LooperThread returns the name of a looper's thread.
func LooperThread(u simapp.Unit) string {
	if u.Kind == simapp.IntentService {
		return "IntentService[" + u.Name + "]"
	}
	return u.Name
}

// finish continues after a stretch: with the one after its suspension, or with what follows the
// task.
func (d *dispatcher) finish(e *entry) {
	switch {
	case e.Shows:
		return
	case e.What.Suspends && e.Part == 0:
		rest := &entry{Task: timeline.Task{What: e.What, Unit: e.Unit, ID: e.ID, Part: 1, Sender: e.Thread}, cpu: e.cpu}
		d.at(d.now+e.waits, func() { d.add(rest) })
		return
	}
	if e.What.Shows > 0 {
		code := 0
		if e.Unit.Kind == simapp.AsyncTask {
			code = 1 // AsyncTask.MESSAGE_POST_RESULT
		}
		d.add(&entry{
			Task: timeline.Task{What: e.What, Unit: simapp.MainUnit, ID: e.ID, Shows: true, Code: code, Sender: e.Thread},
			cpu:  scale(showsFor, d.Speed*cmp.Or(d.Loads.CPU, 1)),
		})
	}
	d.follow(e.What.Name, d.now, e.Thread)
}

// goes removes the tasks whose screen goes with an event.
func (d *dispatcher) goes(event string) {
	d.remove(func(e *entry) bool { return e.What.Cancels && slices.Contains(e.What.Until, event) && !e.Shows })
	for _, e := range d.all {
		if e.Gone == 0 && e.Removed == 0 && (e.Done == 0 || e.Done > d.now) && slices.Contains(e.What.Until, event) {
			e.Gone = d.now
		}
	}
}

// remove removes entries that have not started.
func (d *dispatcher) remove(which func(*entry) bool) {
	for _, e := range d.all {
		if e.Started > 0 || e.Removed > 0 || !which(e) {
			continue
		}
		e.Removed = d.now
		u := d.unit(e.Unit.Name)
		u.waiting = slices.DeleteFunc(u.waiting, func(other *entry) bool { return other == e })
	}
}

func scale(d time.Duration, by float64) time.Duration {
	return time.Duration(min(float64(d)*by, float64(simapp.MaxDuration)))
}

// at does something at a time.
func (d *dispatcher) at(when time.Duration, do func()) {
	d.order++
	heap.Push(&d.steps, step{max(when, d.now), d.order, do})
}

// steps is a heap of steps by time.
type steps []step

type step struct {
	at    time.Duration
	order int
	do    func()
}

func (s steps) Len() int { return len(s) }
func (s steps) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(s[i].at, s[j].at), cmp.Compare(s[i].order, s[j].order)) < 0
}
func (s steps) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *steps) Push(x any)   { *s = append(*s, x.(step)) }
func (s *steps) Pop() any {
	last := (*s)[len(*s)-1]
	(*s)[len(*s)-1] = step{}
	*s = (*s)[:len(*s)-1]
	return last
}
