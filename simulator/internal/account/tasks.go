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
// returns the thread's id; 0 if there are too many threads. While it waits for storage, another
// process, the network or a lock it sleeps.
func (a *Account) RunTask(d *Process, t timeline.Task) (tid int32) {
	a.nameThread(d, t.Thread)
	thread := d.named[t.Thread]
	if thread == nil {
		return 0
	}
	d.tasks = slices.DeleteFunc(d.tasks, func(one sched.Item) bool { return one.From < a.scheduler.Now() })
	worked := max(t.Worked, t.Started+endFor)
	read, answered := waits(t, worked)
	last := sched.Item{Woken: t.Done - endFor - wakes, From: t.Done - endFor, To: t.Done}
	items := []sched.Item{{Woken: t.Started - wakes, From: t.Started, To: worked}}
	if read > worked {
		items[0].Calls = sched.OnDisk(worked, read)
	}
	if answered > read {
		items[0].Calls = append(items[0].Calls, a.Cast(d).Asks(t.What.Peer, timeline.Interval{From: read, To: answered}))
	}
	if answered > worked {
		items[0].To = answered + endFor
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
	if t.Done > answered+endFor {
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

// waits returns when a task's thread has read what it waits for from worked on, and when another
// process has answered it then. If it waits for nothing after that, it is early enough to end in time.
func waits(t timeline.Task, worked time.Duration) (read, answered time.Duration) {
	read, answered = worked, worked
	if t.IO > 2*endFor {
		read = worked + t.IO
	}
	if answered = read; t.Binder > 2*endFor {
		answered = read + t.Binder
	}
	early := max(0, answered+endFor-t.Done)
	switch {
	case answered > read:
		answered -= early
	case read > worked:
		read, answered = read-early, answered-early
	}
	return read, answered
}
