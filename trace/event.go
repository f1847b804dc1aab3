package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Event is a UI event of a repetition: what happens from At on belongs to it, until the next one.
type Event struct {
	Name string
	At   time.Duration // CLOCK_MONOTONIC
}

// Screen is the time during which an activity or a fragment was in front, or behind a dialog: from
// its resumption until it was stopped.
type Screen struct {
	From time.Duration // CLOCK_MONOTONIC
	To   time.Duration // -1 if it was not stopped
}

// EventAt returns the name of the event that a time belongs to, of events in chronological order:
// run.Start before the first, "" where there are none.
func EventAt(events []Event, at time.Duration) string {
	if len(events) == 0 {
		return ""
	}
	after, _ := slices.BinarySearchFunc(events, at+1, func(e Event, at time.Duration) int { return cmp.Compare(e.At, at) })
	if after == 0 {
		return run.Start
	}
	return events[after-1].Name
}
