package watch

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/apkgate/apkgate/trace/frame"
	"github.com/apkgate/apkgate/trace/logcat"
)

// Kind is a kind of anomaly.
type Kind string

// The kinds.
const (
	NotResponding Kind = "ANR"    // the app did not respond
	Crashed       Kind = "crash"  // an exception or a signal ended it
	Frozen        Kind = "frozen" // a frame took longer than frame.FrozenLimit
	Slow          Kind = "slow"   // a UI event took much longer than in earlier repetitions
)

// Anomaly is something that went wrong while the workload ran.
type Anomaly struct {
	Kind Kind
	// From and To are when, on CLOCK_MONOTONIC; the same where it is an instant.
	From, To time.Duration
	// Event is the UI event that it fell in, "" where that is not known.
	Event  string
	Detail string // in words: "a frame took 1234 ms"
	// PID is the process that it is about, 0 where that is not told.
	PID int
}

// gravity orders the kinds, the gravest first.
var gravity = []Kind{NotResponding, Crashed, Frozen, Slow}

// gravest is the index of the gravest anomaly, the first of several.
func gravest(anomalies []Anomaly) (at int) {
	for i, a := range anomalies {
		if slices.Index(gravity, a.Kind) < slices.Index(gravity, anomalies[at].Kind) {
			at = i
		}
	}
	return at
}

// same reports whether both tell of one thing, whoever noticed it.
func (a Anomaly) same(b Anomaly) bool { return a.Kind == b.Kind && a.From == b.From }

// ofEvent is the anomaly that an event of the log is; false where it is none.
func ofEvent(e logcat.Event) (Anomaly, bool) {
	a := Anomaly{From: e.Time, To: e.Time, PID: e.PID}
	switch e.Kind {
	case logcat.ANR:
		a.Kind, a.Detail = NotResponding, "the app did not respond: "+e.Detail
	case logcat.Crash:
		a.Kind, a.Detail = Crashed, "the app crashed: "+e.Detail
	default:
		return Anomaly{}, false
	}
	return a, true
}

// ofFrame is the anomaly that a frame is; false where it is none.
func ofFrame(f frame.Frame) (Anomaly, bool) {
	if f.Took <= frame.FrozenLimit {
		return Anomaly{}, false
	}
	return Anomaly{Kind: Frozen, From: f.At, To: f.At + f.Took, Detail: fmt.Sprintf("a frame took %d ms", f.Took.Milliseconds())}, true
}

// ofLongFrame is the anomaly of a frame that the log tells of; false where it is none.
func ofLongFrame(e logcat.Event) (Anomaly, bool) {
	vsync, err := strconv.ParseInt(e.Name, 10, 62)
	if e.Kind != logcat.LongFrame || err != nil {
		return Anomaly{}, false
	}
	return ofFrame(frame.Frame{At: time.Duration(vsync), Took: e.Duration})
}

// A UI event takes much longer than it used to where it takes so many times as long,
// and so much longer at least.
const (
	slowTimes = 3
	slowBy    = 500 * time.Millisecond
)

// ofDuration is the anomaly that an event is which began at from and went on until to;
// false where that is not long beside what is usual, or nobody knows what is.
func ofDuration(name string, from, to, usual time.Duration) (Anomaly, bool) {
	if usual <= 0 || to-from < max(slowTimes*usual, usual+slowBy) {
		return Anomaly{}, false
	}
	return Anomaly{Kind: Slow, From: from, To: to, Event: name,
		Detail: fmt.Sprintf("it took %d ms, and %d ms as a rule", (to - from).Milliseconds(), usual.Milliseconds())}, true
}

// maxUnheard bounds the anomalies that wait to be heard.
const maxUnheard = 64

// Stream is the anomalies as they are noticed. Who notices one never waits: where
// nobody hears, what is too much is counted.
type Stream struct {
	waiting chan Anomaly
	missed  atomic.Int64
}

// NewStream is a stream on which nothing was noticed.
func NewStream() *Stream { return &Stream{waiting: make(chan Anomaly, maxUnheard)} }

// Notice adds an anomaly; it may be called by anyone.
func (s *Stream) Notice(a Anomaly) {
	select {
	case s.waiting <- a:
	default:
		s.missed.Add(1)
	}
}

// Next is the next anomaly; false where there is none now.
func (s *Stream) Next() (Anomaly, bool) {
	select {
	case a := <-s.waiting:
		return a, true
	default:
		return Anomaly{}, false
	}
}

// Missed is how many were noticed and are not on the stream, since it was full.
func (s *Stream) Missed() int { return int(s.missed.Load()) }
