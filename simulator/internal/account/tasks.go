package account

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// endFor is the CPU time of a task after it has waited.
const endFor = 50 * time.Microsecond

// wakes is how long before its work a thread is woken.
const wakes = 10 * time.Microsecond

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
	worked := max(t.Worked, t.Started+endFor)
	last := sched.Item{Woken: t.Done - endFor - wakes, From: t.Done - endFor, To: t.Done}
	items := []sched.Item{{Woken: t.Started - wakes, From: t.Started, To: worked}}
	if t.IO > endFor {
		items[0].To = worked + t.IO + endFor
		items[0].Calls = sched.OnDisk(worked, worked+t.IO)
	}
	if asks := t.Done - t.Lock; t.Lock > 2*endFor && asks >= t.Started {
		// It asks for the lock, and its owner wakes it.
		items = append(items, sched.Item{Woken: asks - wakes, From: asks, To: asks + endFor})
		a.nameThread(d, simapp.LockOwner)
		if owner := d.named[simapp.LockOwner]; owner != nil {
			last.Waker = owner.TID
			items = append(items, sched.Item{Thread: owner, Woken: asks - wakes, From: asks, To: last.From - wakes/2})
		}
	}
	if t.Done > t.Worked+endFor {
		items = append(items, last)
	}
	for _, it := range items {
		if it.Thread == nil {
			it.Thread = thread
		}
		it.Kind, it.Method, it.Background = power.Other, power.Mixed, true
		d.tasks = append(d.tasks, it)
	}
	return thread.TID
}
