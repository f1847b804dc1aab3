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
	// 'S' asleep; or GoesOn.
	State byte
}

// GoesOn is the state of a thread that stays on its CPU: the next run of it follows
// without a pause, at another speed or with other work.
const GoesOn = 0

// Slice is a section that a thread traces by itself, such as "Choreographer#doFrame 12".
// One with a cookie is asynchronous.
type Slice struct {
	TID      int32
	Name     string
	From, To time.Duration
	Cookie   int64
}
