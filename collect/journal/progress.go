// Package journal is what a collection tells of a run beside its numbers: what it
// is doing, as it goes, and the warnings that the run keeps.
//
// It owns the phases of a collection and the bounds of what is told: one line of
// valid text, each warning once, so many in all. It does not know what is done in a
// phase, nor how a reader is shown it.
package journal

// Phase is a part of a collection.
type Phase string

// The phases, in the order in which they come.
const (
	SetUp  Phase = "set-up"
	WarmUp Phase = "warm-up"
	// Settle is the rest before energy is measured; the message says how much of
	// it is left.
	Settle   Phase = "settle"
	Measure  Phase = "measure"
	TearDown Phase = "tear-down"
	Done     Phase = "done"
	// Busy is no phase: a repetition takes long, and the message says how long so far.
	Busy Phase = "busy"
	// Waiting is no phase: something keeps the device from going on, which the
	// message says: "has not answered for 5s".
	Waiting Phase = "waiting"
	// Warned is no phase: the event is a warning, which the run keeps.
	Warned Phase = "warning"
)

// Event is a piece of progress.
type Event struct {
	Device      string
	Phase       Phase
	Repetition  int // from 1, in WarmUp and Measure
	Repetitions int
	Message     string
}

// Progress is told what happens. A lab tells it one event at a time.
type Progress interface{ Report(Event) }
