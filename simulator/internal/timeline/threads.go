package timeline

import (
	"strings"
	"time"
)

// Thread is one thread of a process; the process's first has its PID as TID.
type Thread struct {
	PID, TID int32
	Process  string // the process's name, a package
	Name     string // the kernel's, at most 15 bytes: "RenderThread"
	Began    time.Duration
	Ended    time.Duration // 0 while it lives
}

// Comm returns the kernel's name of a thread, at most 15 bytes: ART keeps the end of a name
// with a dot and no @, and the beginning of any other (SetThreadName in
// art/libartbase/base/utils.cc).
func Comm(name string) string {
	const most = 15
	switch {
	case len(name) <= most:
		return name
	case strings.Contains(name, ".") && !strings.Contains(name, "@"):
		return name[len(name)-most:]
	}
	return name[:most]
}

// Run is a thread's uninterrupted run on a CPU.
type Run struct {
	TID      int32
	CPU      int8
	From, To time.Duration
	KHz      uint32 // the CPU's frequency
	// Woken is when it was woken for this run, and Waker by which thread, 0: by an interrupt.
	// Woken is 0 if it did not sleep: it continues, or was preempted before.
	Woken time.Duration
	Waker int32
	// State is its state afterwards, as in sched_switch: 'R' preempted, 'S' sleeping, 'D' in
	// uninterruptible sleep, 'X' dead; or GoesOn.
	State byte
}

// GoesOn is the state of a thread that stays on its CPU: its next run follows immediately, at
// another frequency or with other work.
const GoesOn = 0

// Sleep is a span of uninterruptible sleep: the thread waited for storage.
type Sleep struct {
	TID         int32
	From, Woken time.Duration
	Function    string // the kernel function in which it slept
	Asks        *Request
}

// Request is a thread's request to storage, at the time at which it began to sleep.
type Request struct {
	Kind    string // as the kernel's rwbs
	Sectors uint32
	Done    time.Duration
	Syncs   bool // the first of an fsync
}

// Speed is a change of a cluster's frequency.
type Speed struct {
	At         time.Duration
	CPU, Count int // its first CPU, and their number
	KHz        uint32
}

// Slice is a trace section of an app (android.os.Trace), or of the system's code in it with a
// category of atrace.
type Slice struct {
	TID      int32
	Name     string
	Category string        // "" for the app's own
	From, To time.Duration // To is 0 while it is open
}
