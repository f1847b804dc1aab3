package applog

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Kind is a kind of anomaly.
type Kind string

// The kinds.
const (
	SystemEnded   Kind = "SNR"    // Android itself did not respond, and was restarted
	NotResponding Kind = "ANR"    // the app did not respond
	Crashed       Kind = "crash"  // an exception or a signal ended it
	Frozen        Kind = "frozen" // a frame took longer than jank.FrozenLimit
	Slow          Kind = "slow"   // a UI event took much longer than in earlier repetitions
)

// Anomaly is something that went wrong while the workload ran.
type Anomaly struct {
	Kind Kind
	// From and To are on CLOCK_MONOTONIC; equal for an instant.
	From, To time.Duration
	// Event is the UI event in which it began, "" if unknown.
	Event  string
	Detail string // in words: "a frame took 1234 ms"
	// Reason is Android's own text on an ANR or SNR, and Waited how long Android had waited by
	// From.
	Reason string
	Waited time.Duration
	// Process and PID are what it is about, "" and 0 if unknown.
	Process string
	PID     int
}

// gravity orders the kinds, the gravest first.
var gravity = []Kind{SystemEnded, NotResponding, Crashed, Frozen, Slow}

// gravest returns the index of the gravest anomaly, the first of several.
func gravest(anomalies []Anomaly) (at int) {
	for i, a := range anomalies {
		if slices.Index(gravity, a.Kind) < slices.Index(gravity, anomalies[at].Kind) {
			at = i
		}
	}
	return at
}

// same reports whether both are of one incident, whatever detected it.
func (a Anomaly) same(b Anomaly) bool { return a.Kind == b.Kind && a.From == b.From }

// ofEvent returns the anomaly that an event of the log reports; false if it is none.
func ofEvent(e logcat.Event) (Anomaly, bool) {
	a := Anomaly{From: e.Time, To: e.Time, Process: e.Process, PID: e.PID}
	switch e.Kind {
	case logcat.ANR:
		a.Kind, a.Detail = NotResponding, "the app did not respond: "+e.Detail
		a.Reason, a.Waited = e.Detail, logcat.Waited(e.Detail)
	case logcat.Crash:
		a.Kind, a.Detail = Crashed, "the app crashed: "+e.Detail
	default:
		return Anomaly{}, false
	}
	return a, true
}

// restartWithin is how long Android's own process may take to start again after its watchdog ended
// it, including the files written in between.
const restartWithin = 2 * time.Minute

// systemEnded returns the restarts of Android itself, by events sorted by time: by its watchdog, or
// without a log entry.
func systemEnded(events []logcat.Event) (out []Anomaly) {
	for _, e := range events {
		a := Anomaly{Kind: SystemEnded, From: e.Time, To: e.Time, Process: e.Process, Reason: e.Detail, Detail: "Android itself did not respond: " + e.Detail}
		switch {
		case e.Kind == logcat.SNR:
		case e.Kind == logcat.SystemStarted && (len(out) == 0 || e.Time-out[len(out)-1].To > restartWithin):
			a.Reason, a.Detail = "", "Android's own process ended, and was started again"
		default:
			continue
		}
		out = append(out, a)
	}
	return out
}

// ofFrame returns the anomaly of a frozen frame; false if it is none.
func ofFrame(f jank.Frame) (Anomaly, bool) {
	if f.Took <= jank.FrozenLimit {
		return Anomaly{}, false
	}
	return Anomaly{Kind: Frozen, From: f.At, To: f.At + f.Took, Detail: fmt.Sprintf("a frame took %d ms", f.Took.Milliseconds())}, true
}

// ofLongFrame returns the anomaly of a frame in the log; false if it is none.
func ofLongFrame(e logcat.Event) (Anomaly, bool) {
	vsync, err := strconv.ParseInt(e.Name, 10, 62)
	if e.Kind != logcat.LongFrame || err != nil {
		return Anomaly{}, false
	}
	return ofFrame(jank.Frame{At: time.Duration(vsync), Took: e.Duration})
}

// A UI event is slow if it takes so many times as long as usual, and at least so much longer.
const (
	slowTimes = 3
	slowBy    = 500 * time.Millisecond
)

// ofDuration returns the anomaly of an event that lasted from from to to; false if that is not long
// compared with the usual duration, or the latter is unknown.
func ofDuration(name string, from, to, usual time.Duration) (Anomaly, bool) {
	if usual <= 0 || to-from < max(slowTimes*usual, usual+slowBy) {
		return Anomaly{}, false
	}
	return Anomaly{Kind: Slow, From: from, To: to, Event: name,
		Detail: fmt.Sprintf("it took %d ms, and %d ms as a rule", (to - from).Milliseconds(), usual.Milliseconds())}, true
}

// maxUnheard limits the queued anomalies.
const maxUnheard = 64

// Stream is a queue of detected anomalies. Adding one never blocks: if the queue is full, the
// anomaly is only counted.
type Stream struct {
	waiting chan Anomaly
	missed  atomic.Int64
}

// NewStream returns an empty stream.
func NewStream() *Stream { return &Stream{waiting: make(chan Anomaly, maxUnheard)} }

// Notice adds an anomaly; it may be called concurrently.
func (s *Stream) Notice(a Anomaly) {
	select {
	case s.waiting <- a:
	default:
		s.missed.Add(1)
	}
}

// Next returns the next anomaly; false if there is none now.
func (s *Stream) Next() (Anomaly, bool) {
	select {
	case a := <-s.waiting:
		return a, true
	default:
		return Anomaly{}, false
	}
}

// Missed returns how many anomalies were dropped because the stream was full.
func (s *Stream) Missed() int { return int(s.missed.Load()) }
