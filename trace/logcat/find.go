package logcat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
)

// finder collects events. An event is compared only with the last one of the same kind and process
// to see whether it is a repetition, not with all: any app can write any number of them to the log.
type finder struct {
	events []Event
	found  map[Kind]int // events of each kind, including those beyond the limit
	// byPID and byName map a key to the index of its last event.
	byPID  map[pidKey]int
	byName map[nameKey]int
}

type pidKey struct {
	kind  Kind
	clock Clock
	pid   int
}

type nameKey struct {
	kind     Kind
	clock    Clock
	name     string        // of the process; of the activity of Displayed and FullyDrawn
	duration time.Duration // for Displayed and FullyDrawn, else 0
}

func nameKeyOf(ev Event) nameKey {
	if ev.starts() {
		return nameKey{ev.Kind, ev.Clock, ev.Name, ev.Duration}
	}
	return nameKey{ev.Kind, ev.Clock, ev.Process, 0}
}

// starts reports whether the event is the start of an activity.
func (ev Event) starts() bool { return ev.Kind == Displayed || ev.Kind == FullyDrawn }

func (f *finder) add(ev Event) {
	toldTwice := ev.Kind == Crash || ev.Kind == ANR || ev.Kind == SNR || ev.starts()
	if toldTwice {
		if at := f.known(ev); at >= 0 {
			k := &f.events[at]
			k.PID = max(k.PID, ev.PID)
			k.Process, k.Detail = cmp.Or(k.Process, ev.Process), cmp.Or(k.Detail, ev.Detail)
			f.remember(*k, at)
			return
		}
	}
	if f.found[ev.Kind]++; f.found[ev.Kind] > maxOfKind {
		return
	}
	f.events = append(f.events, ev)
	if toldTwice {
		f.remember(ev, len(f.events)-1)
	}
}

// Maximum times between two entries about one crash or ANR, and about one SNR: the watchdog logs
// the stacks of many processes between its two.
const (
	sameWithin    = 10 * time.Second
	sameSNRWithin = 2 * time.Minute
)

func within(k Kind) time.Duration {
	if k == SNR {
		return sameSNRWithin
	}
	return sameWithin
}

// known returns the index of the event that ev repeats, -1 if it is new.
func (f *finder) known(ev Event) int {
	near := func(at int) bool { return (ev.Time - f.events[at].Time).Abs() <= within(ev.Kind) }
	if at, ok := f.byPID[pidKey{ev.Kind, ev.Clock, ev.PID}]; ok && ev.PID != 0 && near(at) {
		return at
	}
	at, ok := f.byName[nameKeyOf(ev)]
	if !ok || !near(at) {
		return -1
	}
	if !ev.starts() && ev.PID != 0 && f.events[at].PID != 0 {
		return -1 // another process with that name
	}
	return at
}

func (f *finder) remember(ev Event, at int) {
	f.byName[nameKeyOf(ev)] = at
	if ev.PID != 0 {
		f.byPID[pidKey{ev.Kind, ev.Clock, ev.PID}] = at
	}
}

// doubts returns warnings about events beyond the limit.
func (f *finder) doubts() []run.Warning {
	var out []run.Warning
	for _, kind := range slices.Sorted(maps.Keys(f.found)) {
		if n := f.found[kind]; n > maxOfKind {
			out = append(out, run.Warning{Text: fmt.Sprintf("the log holds %d events of the kind %q: those after the first %d are not used", n, kind, maxOfKind)})
		}
	}
	return out
}
