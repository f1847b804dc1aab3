// Package journal records the progress and the warnings of a run while it is collected.
//
// It owns the phases of a collection and the limits of what is recorded: one line of valid text a
// message, no duplicate warnings, at most maxWarnings of them. It does not know what is done in a
// phase, nor how progress is displayed.
package journal

// Phase is a part of a collection.
type Phase string

// The phases, in the order in which they come.
const (
	SetUp  Phase = "set-up"
	WarmUp Phase = "warm-up"
	// Settle is the rest before energy is measured; the message gives the remaining time.
	Settle   Phase = "settle"
	Measure  Phase = "measure"
	TearDown Phase = "tear-down"
	Done     Phase = "done"
	// Busy is not a phase: a repetition takes long, and the message gives the time so far.
	Busy Phase = "busy"
	// Waiting is not a phase: the device is blocked for the reason that the message gives: "has not
	// answered for 5s".
	Waiting Phase = "waiting"
	// Warned is not a phase: the event is a warning, which the run keeps.
	Warned Phase = "warning"
)

// Event is one step of progress.
type Event struct {
	Device      string
	Phase       Phase
	Repetition  int // from 1, in WarmUp and Measure
	Repetitions int
	Message     string
}

// Progress receives the events of a run. A lab of devices sends them one at a time.
type Progress interface{ Report(Event) }
