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
	Waker    int32  // the thread that woke it for this run, 0: it was pre-empted before
	// State is what it is in afterwards, as sched_switch spells it: 'R' pre-empted,
	// 'S' asleep, 'D' waiting for a disk.
	State byte
}

// Slice is a section that a thread traces by itself, such as "Choreographer#doFrame 12".
// One with a cookie is asynchronous.
type Slice struct {
	TID      int32
	Name     string
	From, To time.Duration
	Cookie   int64
}
