package timeline

import "time"

// Thread is one thread of a process; the process's first has its PID as TID.
type Thread struct {
	PID, TID int32
	Process  string // the process's name, a package
	Name     string // "RenderThread", as the kernel has it: at most 15 bytes
	Began    time.Duration
	Ended    time.Duration // 0 while it lives
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
	// 'S' asleep, 'X' gone; or GoesOn.
	State byte
}

// GoesOn is the state of a thread that stays on its CPU: the next run of it follows
// without a pause, at another speed or with other work.
const GoesOn = 0

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
