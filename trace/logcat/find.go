package logcat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
)

// finder collects events. Whether an event is known already is asked of the last
// one alike, not of all: any app can write any number of them into the log.
type finder struct {
	events []Event
	found  map[Kind]int // events of each kind, those beyond the limit among them
	// byPID and byName are places in events of the last event alike.
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
	duration time.Duration // of these
}

func nameKeyOf(ev Event) nameKey {
	if ev.starts() {
		return nameKey{ev.Kind, ev.Clock, ev.Name, ev.Duration}
	}
	return nameKey{ev.Kind, ev.Clock, ev.Process, 0}
}

// starts reports whether the event is about the start of an activity.
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

// Bounds of the time between two entries about one crash or ANR, and about one SNR: the
// watchdog writes the stacks of many processes between its two.
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

// known is the place of the event that this one tells of again, -1 where it is new.
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
		return -1 // another process of that name
	}
	return at
}

func (f *finder) remember(ev Event, at int) {
	f.byName[nameKeyOf(ev)] = at
	if ev.PID != 0 {
		f.byPID[pidKey{ev.Kind, ev.Clock, ev.PID}] = at
	}
}

// doubts tells of the events beyond the limit.
func (f *finder) doubts() []run.Warning {
	var out []run.Warning
	for _, kind := range slices.Sorted(maps.Keys(f.found)) {
		if n := f.found[kind]; n > maxOfKind {
			out = append(out, run.Warning{Text: fmt.Sprintf("the log holds %d events of the kind %q: those after the first %d are not used", n, kind, maxOfKind)})
		}
	}
	return out
}
