package timeline

import (
	"time"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Task is a stretch of an asynchronous task in its unit: all of it, or the part of a coroutine
// before or after its suspension. What is not reached yet, or never, is 0.
type Task struct {
	PID   int32
	TID   int32 // of Thread
	What  *simapp.Task
	Unit  simapp.Unit
	ID    int  // of the task in a performance: that of all its stretches
	Part  int  // 1 after a suspension
	Shows bool // the message by which the UI thread shows what the task has done
	Code  int  // of that message

	Sender, Thread string // which scheduled it and which executes it, by the names in Java

	Scheduled, Started, Done time.Duration
	Worked                   time.Duration // from Started until then it needs a CPU
	IO                       time.Duration // how long its thread waits for storage from Worked on
	Binder                   time.Duration // and then for the answer of another process
	Lock                     time.Duration // and for the lock of simapp.LockOwner until Done
	Delay                    time.Duration
	Removed                  time.Duration // before it started
	Gone                     time.Duration // when its screen went, before it was done
}
