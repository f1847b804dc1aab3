package timeline

import (
	"strings"
	"time"
)

// Thread is one thread of a process; the process's first has its PID as TID.
type Thread struct {
	PID, TID int32
	Process  string // the process's name, a package
	Name     string // "RenderThread", as the kernel has it: at most 15 bytes
	Began    time.Duration
	Ended    time.Duration // 0 while it lives
}

// Comm is a thread's name as the kernel has it, at most 15 bytes: ART keeps the end of one
// with a dot and no @, and the beginning of another (SetThreadName in
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

// Run is a thread on a CPU without a pause.
type Run struct {
	TID      int32
	CPU      int8
	From, To time.Duration
	KHz      uint32 // the CPU's speed
	// Woken is when it was woken for this run, and Waker by which thread, 0: by an
	// interrupt. Woken is 0 where it slept not: it goes on, or was pre-empted before.
	Woken time.Duration
	Waker int32
	// State is what it is in afterwards, as sched_switch spells it: 'R' pre-empted,
	// 'S' asleep, 'D' asleep and not to be interrupted, 'X' gone; or GoesOn.
	State byte
}

// GoesOn is the state of a thread that stays on its CPU: the next run of it follows
// without a pause, at another speed or with other work.
const GoesOn = 0

// Sleep is a time in which a thread could not be interrupted: it waited for storage.
type Sleep struct {
	TID         int32
	From, Woken time.Duration
	Function    string // of the kernel, in which it slept
	Asks        *Request
}

// Request is what a thread asked storage for, at the time at which it began to sleep.
type Request struct {
	Kind    string // as the kernel's rwbs
	Sectors uint32
	Done    time.Duration
	Syncs   bool // it is the first of an fsync
}

// Speed is a cluster's change of speed.
type Speed struct {
	At         time.Duration
	CPU, Count int // the first of its CPUs, and how many there are
	KHz        uint32
}

// Slice is a section that an app traces by itself (android.os.Trace), or the system's
// code in it under a category of atrace.
type Slice struct {
	TID      int32
	Name     string
	Category string        // "" for the app's own
	From, To time.Duration // To is 0 while it goes on
}
