package tasks

import (
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Units numbers the units of a list by what its source tells them apart by.
type Units[K comparable] struct {
	list   *List
	places map[K]int
}

// NewUnits returns the units of a list, of which there are none yet.
func NewUnits[K comparable](list *List) Units[K] { return Units[K]{list, map[K]int{}} }

// Of returns the place of a unit in the list, which gets it if it is new, or its capacity if that was
// unknown. Beyond MaxUnits it returns false, and its task counts as left out.
func (u Units[K]) Of(key K, unit Unit) (place int, ok bool) {
	place, ok = u.places[key]
	switch {
	case ok:
		if known := &u.list.Units[place]; known.Capacity == 0 {
			known.Capacity = unit.Capacity
		}
	case len(u.list.Units) >= MaxUnits:
		u.list.LeftOut++
		return 0, false
	default:
		place = len(u.list.Units)
		u.places[key] = place
		u.list.Units = append(u.list.Units, unit)
	}
	return place, true
}

// Known returns the place of a unit that the list has.
func (u Units[K]) Known(key K) (place int, ok bool) {
	place, ok = u.places[key]
	return place, ok
}

// Looper returns the unit of a thread that handles messages, by its name.
func Looper(name string, main bool) Unit {
	unit := Unit{Name: name, Kind: run.HandlerThread, Capacity: 1}
	switch {
	case main:
		unit.Kind = run.MainThread
	case strings.HasPrefix(name, "IntentService["):
		unit.Kind = run.IntentService
	}
	return unit
}

// Workers returns the unit of a pool's workers, by the common part of their names (Pool).
func Workers(pool string) Unit {
	if pool == "AsyncTask" {
		return Unit{Name: pool, Kind: run.AsyncTask}
	}
	return Unit{Name: pool, Kind: run.ThreadPool}
}

// Pool returns the common part of the names of a pool's workers, by the name of one of them: it
// ends in a number ("pool-3-thread-2" of Executors, "AsyncTask #4"), or is that of OkHttp, whose
// threads are named after what they load. It returns "" for a name that says nothing of a pool: the
// one that Java gives to all threads without a name ("Thread-12"), and none.
func Pool(worker string) string {
	if worker == "OkHttp" || strings.HasPrefix(worker, "OkHttp ") {
		return "OkHttp"
	}
	name := strings.TrimRight(strings.TrimRight(worker, "0123456789"), " -_#:.")
	if name == "Thread" {
		return ""
	}
	return name
}
