package arttasks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
)

// unit is a unit of the list, with what its schedulings and starts are joined by.
type unit struct {
	tasks.Unit
	place     int
	as        kind
	unseen    bool            // what wakes it is not in the trace
	unsure    bool            // it always had work
	older     bool            // than the trace: at its beginning there may have been tasks in its queue
	anchors   []time.Duration // when its queue was empty
	classes   map[string]bool // of the app, that it runs
	schedules []*scheduling   // that are matched with starts, by time
	starts    []*start
	begun     []*start // all that are tasks, by time
	threads   int      // now, while times are passed in their order
	waiting   []*wait  // of them now

	unexplained []*start // those of begun that no known scheduling began
}

// unitKey tells units apart: a looper is its thread, whatever its name.
type unitKey struct {
	tasks.Unit
	looper uint32
}

// serialExecutor runs what AsyncTask.execute schedules: one task after the other, of all the app
// (AsyncTask.java, since Android 3.0).
var serialExecutor = tasks.Unit{Name: "AsyncTask.SERIAL_EXECUTOR", Kind: run.AsyncTask, Capacity: 1}

// unit returns a unit of the list; nil where there are too many.
func (r *reader) unit(u tasks.Unit, as kind, looper uint32) *unit {
	place, ok := r.places.Of(unitKey{u, looper}, u)
	if !ok {
		return nil
	}
	if place == len(r.units) {
		r.units = append(r.units, &unit{Unit: u, place: place, as: as, classes: map[string]bool{}})
	}
	return r.units[place]
}

// findUnits gives each thread and each start its unit, and those schedulings of which their kind tells it.
func (r *reader) findUnits() {
	for _, tid := range slices.Sorted(maps.Keys(r.threads)) {
		s := r.threads[tid]
		if pool := tasks.Pool(r.t.Threads[tid]); s.worker && pool != "" {
			s.unit = r.unit(tasks.Workers(pool), execute, 0)
		} else if s.looper && !s.worker {
			name := r.name(s)
			s.unit = r.unit(tasks.Looper(name, int(tid) == r.t.PID || name == "main"), message, tid)
		}
		if s.unit != nil && !s.newborn {
			s.unit.older = true
		}
	}
	unnamed := 0
	for _, s := range r.starts {
		switch on := s.on; {
		case s.kind == startThread && (on.worker || on.looper):
			s.void = true
		case s.kind == startThread:
			s.unit = r.unit(tasks.Unit{Name: cmp.Or(tasks.Pool(r.t.Threads[on.tid]), "Thread"), Kind: run.PlainThread}, startThread, 0)
		case s.kind == serial:
			s.unit = r.unit(serialExecutor, serial, 0)
		default:
			if s.unit = on.unit; s.unit == nil {
				unnamed++
			}
		}
	}
	r.warnings.Counted(0, unnamed, "%d task ran in a pool whose threads have no names of their own, which can't be told from other pools: it is left out", "%d tasks ran in pools whose threads have no names of their own, which can't be told from other pools: they are left out")
	for _, s := range r.schedules {
		if s.kind != serial {
			continue
		}
		if s.unit = r.unit(serialExecutor, serial, 0); s.unit != nil {
			s.unit.older = true
			if s.woke {
				s.unit.anchors = append(s.unit.anchors, s.at)
			}
		}
	}
}

// newborns matches threads with the calls that started them, in their order: the first task of a
// worker is the one that it was started for.
func (r *reader) newborns() {
	first := map[*thread]*start{}
	for _, s := range r.starts {
		if first[s.on] == nil && s.kind != startThread {
			first[s.on] = s
		}
	}
	threads := slices.DeleteFunc(slices.Collect(maps.Values(r.threads)), func(s *thread) bool { return !s.newborn })
	slices.SortFunc(threads, func(a, b *thread) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.tid, b.tid)) })
	slices.SortStableFunc(r.births, func(a, b *birth) int { return cmp.Compare(a.at, b.at) })
	for _, s := range threads {
		n := slices.IndexFunc(r.births, func(b *birth) bool { return b.from == nil || b.from.kind == startThread || s.worker })
		if n < 0 || r.births[n].at > s.first {
			continue
		}
		from, task := r.births[n].from, first[s]
		copy(r.births[1:n+1], r.births[:n])
		r.births = r.births[1:]
		if from != nil && from.kind == startThread {
			task = s.own
		}
		if from != nil && task != nil && !task.void {
			r.pair(from, task)
		}
	}
	for _, s := range r.starts {
		if s.kind == startThread && s.from == nil {
			s.void = true
		}
	}
}

// pair joins a scheduling with its start.
func (r *reader) pair(from *scheduling, task *start) {
	from.task, from.unit, task.from = task, task.unit, from
	if before, known := r.had[from.place]; known && before != task.class {
		r.had[from.place] = ""
	} else {
		r.had[from.place] = task.class
	}
}

// What happens at the same time is passed in this order.
const (
	begins = iota // a thread
	schedules
	waits
	wakes // a scheduling that wakes a thread
	ends  // a wait
	gone  // a thread
)

// moment is something that happens.
type moment struct {
	at       time.Duration
	what     int
	unit     *unit
	wait     *wait
	schedule *scheduling
}

// moments are what happens to the units, by time.
func (r *reader) moments() (all []moment) {
	for _, tid := range slices.Sorted(maps.Keys(r.threads)) {
		s := r.threads[tid]
		if s.unit == nil {
			continue
		}
		first := s.first
		if !s.newborn {
			first = 0
		}
		all = append(all, moment{at: first, what: begins, unit: s.unit})
		if s.gone != tasks.Unknown {
			all = append(all, moment{at: s.gone, what: gone, unit: s.unit})
		}
	}
	for _, s := range r.schedules {
		what := schedules
		if s.woke {
			what = wakes
		}
		all = append(all, moment{at: s.at, what: what, schedule: s})
	}
	for _, w := range r.waits {
		if w.on.unit == nil {
			continue
		}
		all = append(all, moment{at: w.begin, what: waits, unit: w.on.unit, wait: w})
		if w.end != tasks.Unknown {
			all = append(all, moment{at: w.end, what: ends, unit: w.on.unit, wait: w})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what)) })
	return all
}

// sweep passes the times of the trace in their order: it finds the units' anchors, and the units
// of schedulings by which threads waited when, and by what else tells them.
func (r *reader) sweep() *finder {
	find := newFinder(r)
	for _, m := range r.moments() {
		switch u := m.unit; m.what {
		case begins:
			u.threads++
		case gone:
			u.threads--
		case waits:
			if len(u.waiting) < maxMatching {
				if u.waiting = append(u.waiting, m.wait); len(u.waiting) == u.threads {
					u.anchors = append(u.anchors, m.at)
				}
			}
		case ends:
			u.waiting = slices.DeleteFunc(u.waiting, func(w *wait) bool { return w == m.wait })
		default:
			find.byThreads(m.schedule)
		}
	}
	for _, u := range r.units {
		slices.Sort(u.anchors)
	}
	find.rest()
	return find
}
