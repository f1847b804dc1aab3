package account

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// endFor is the CPU time of a task after it has waited.
const endFor = 50 * time.Microsecond

// RunTask makes a thread of the process run an asynchronous task, which may be in the future, and
// returns the thread's id; 0 if there are too many threads. While it waits for storage, the network
// or a lock it sleeps.
func (a *Account) RunTask(d *Process, t timeline.Task) (tid int32) {
	a.nameThread(d, t.Thread)
	thread := d.named[t.Thread]
	if thread == nil {
		return 0
	}
	d.tasks = slices.DeleteFunc(d.tasks, func(one sched.Item) bool { return one.From < a.scheduler.Now() })
	item := func(from, to time.Duration) {
		d.tasks = append(d.tasks, sched.Item{
			Thread: thread, Woken: from - 10*time.Microsecond, From: from, To: to, Kind: power.Other, Method: power.Mixed, Background: true,
		})
	}
	item(t.Started, max(t.Worked, t.Started+endFor))
	if t.Done > t.Worked+endFor {
		item(t.Done-endFor, t.Done)
	}
	return thread.TID
}
