package arttasks

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
)

// unit is a unit of the list. What it is matched by is kept here.
//
// Between two anchors, times at which its queue was empty, the schedulings are of the tasks that
// started: where there are as many of both, they are matched in their order. Where there are not, a
// message with a delay came due, or one was removed; then those are matched whose class shows
// that they belong together, and the others are not.
type unit struct {
	as        kind
	intents   bool // of an IntentService
	unseen    bool // what wakes it is not in the trace
	anchors   []time.Duration
	older     bool    // than the trace: at its beginning there may have been tasks in its queue
	starts    []int32 // by time
	schedules []int32 // by time
	threads   int     // now, while times are passed in their order
	waiting   []int32 // waits of them now
}

// units lists the units and gives each start its own.
func (r *reader) units(out *tasks.List) []*unit {
	var units []*unit
	places := map[tasks.Unit]int32{}
	add := func(u tasks.Unit, as kind, own bool) int32 {
		if place, ok := places[u]; ok && !own {
			return place
		}
		if len(units) == tasks.MaxUnits {
			return -1
		}
		place := int32(len(units))
		units, out.Units, places[u] = append(units, &unit{as: as}), append(out.Units, u), place
		return place
	}
	of := map[uint32]int32{}
	join := func(tid uint32, u tasks.Unit, as kind, own bool) {
		place := add(u, as, own)
		if of[tid] = place; place >= 0 && !r.threads[tid].newborn {
			units[place].older = true
		}
	}
	for _, tid := range slices.Sorted(maps.Keys(r.threads)) {
		switch s := r.threads[tid]; {
		case s.worker:
			of[tid] = -1
			if pool := tasks.Pool(r.t.Threads[tid]); pool != "" {
				join(tid, tasks.Unit{Name: pool, Kind: poolKind(pool)}, execute, false)
			}
		case s.looper:
			join(tid, tasks.Unit{Name: r.name(tid), Kind: r.looperKind(tid), Capacity: 1}, message, true)
			if place := of[tid]; place >= 0 {
				units[place].intents = r.looperKind(tid) == run.IntentService
			}
		}
	}
	unnamed := 0
	for i := range r.starts {
		s := &r.starts[i]
		switch on := r.threads[s.thread]; {
		case s.kind == thread && (on.worker || on.looper):
			s.void = true
		case s.kind == thread:
			s.unit = add(tasks.Unit{Name: cmp.Or(tasks.Pool(r.t.Threads[s.thread]), "Thread"), Kind: run.PlainThread}, thread, false)
		case s.kind == serial:
			s.unit = add(serialExecutor, serial, false)
		default:
			if s.unit = of[s.thread]; s.unit < 0 {
				unnamed++
			}
		}
	}
	r.warnings.Counted(0, unnamed, "%d task ran in a pool whose threads have no names of their own, which can't be told from other pools: it is left out", "%d tasks ran in pools whose threads have no names of their own, which can't be told from other pools: they are left out")
	for i := range r.schedules {
		s := &r.schedules[i]
		if s.kind != serial {
			continue
		}
		if s.unit = add(serialExecutor, serial, false); s.unit >= 0 {
			u := units[s.unit]
			u.older = true
			if s.woke {
				u.anchors = append(u.anchors, s.at)
			}
		}
	}
	for _, u := range units {
		slices.Sort(u.anchors)
	}
	r.sweep(units, of)
	return units
}

// serialExecutor runs what AsyncTask.execute schedules: one task after the other, of all the app
// (AsyncTask.java, since Android 3.0).
var serialExecutor = tasks.Unit{Name: "AsyncTask.SERIAL_EXECUTOR", Kind: run.AsyncTask, Capacity: 1}

func poolKind(pool string) string {
	if pool == "AsyncTask" {
		return run.AsyncTask
	}
	return run.ThreadPool
}

func (r *reader) looperKind(tid uint32) string {
	switch name := r.t.Threads[tid]; {
	case int(tid) == r.t.PID || name == "main":
		return run.MainThread
	case strings.HasPrefix(name, "IntentService["):
		return run.IntentService
	}
	return run.HandlerThread
}
