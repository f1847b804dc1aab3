// Package logcat reads the output of `logcat` in the formats threadtime (with or without -v
// monotonic, epoch, year, usec, uid), time, brief, tag and long, and the events buffer, and finds
// the events that a measurement needs: UI events, input, crashes, ANRs, deaths of processes and
// start-up times.
//
// It owns the text of the log and the meaning of these entries; it does not know which of them
// belong to the app under test.
//
// An entry keeps the clock that it was stamped with. Nothing is converted here, since only the
// device knows the offset between two of its clocks.
package logcat

import (
	"time"

	"github.com/apkgate/apkgate/run"
)

// Clock is the clock of an entry's time.
type Clock string

// The clocks of a log.
const (
	NoClock   Clock = ""          // brief, tag: no time
	Monotonic Clock = "monotonic" // since boot, CLOCK_MONOTONIC (-v monotonic)
	Epoch     Clock = "epoch"     // since 1970 UTC (-v epoch)
	// Wall is the device's wall clock in its time zone: since the beginning of a year that the log
	// does not state, or since 1970 with -v year.
	Wall Clock = "wall"
)

// Entry is one line of the log.
type Entry struct {
	Line     int
	Clock    Clock
	Time     time.Duration // on Clock
	PID, TID int           // 0 where the format has none
	Priority byte          // one of V D I W E F S, 0 where the format has none
	Tag      string
	Message  string
	// App is set if an app's process wrote the entry, according to its UID (-v uid).
	App bool
}

// Log is the content of a log.
type Log struct {
	Entries  []Entry
	Warnings []run.Warning
}
