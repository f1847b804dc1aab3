package sched

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// soon is how long a UI thread runs before it waits, and others before they call.
const soon = 200 * time.Microsecond

// Stands returns the work of a UI thread that is blocked from one time until another, for a
// reason, and of the threads that block it.
func (c *Cast) Stands(why simapp.Standstill, from, to time.Duration) []Item {
	own := Item{Thread: c.UI, Woken: from - unblocks, From: from, To: to, Kind: power.Other, Method: power.System}
	at := from + soon
	switch why.Why {
	case simapp.HeldLock:
		owner := Item{Thread: c.Owner(why.Thread), Woken: from - unblocks, From: from, To: to + parks, Kind: power.Other, Method: power.System}
		own.Calls = []Call{{At: at, Pause: &Pause{Until: to, State: asleep, Waker: owner.Thread}}}
		return []Item{own, owner}
	case simapp.Deadlock:
		other := own
		other.Thread = c.Owner(why.Thread)
		own.Calls = []Call{{At: at, Pause: &Pause{Until: to, State: asleep, Waker: other.Thread}}}
		other.Calls = []Call{{At: at, Pause: &Pause{Until: to - 2*unblocks, State: asleep}}}
		return []Item{own, other}
	case simapp.SlowPeer:
		own.Calls = []Call{c.through(why, at, to)}
	case simapp.SlowDisk:
		own.Calls = onDisk(at, to, simapp.DiskSync)
	case simapp.LowMemory: // it reads pages that the kernel had reclaimed
		own.Calls = onDisk(at, to, simapp.DiskRead)
	case simapp.BusyCPUs:
		own.Calls = []Call{{At: at, Pause: &Pause{Until: to, State: preempted}}}
		return append(hogs(c.Hogs(HogProcess), from, to, ""), own)
	}
	return []Item{own}
}

// through returns the first of a chain of calls, each made by the thread that handles the
// previous one. The last thread waits: for the disk, or for another thread of its process.
func (c *Cast) through(why simapp.Standstill, at, to time.Duration) Call {
	last, takes := []Call{{At: soon, Pause: &Pause{Until: to - 2*unblocks, State: asleep}}}, 2*soon
	if why.There == simapp.SlowDisk {
		begins := at + time.Duration(len(why.Calls))*soon
		takes = to - begins - 2*soon
		last = onDisk(begins, begins+takes-soon, simapp.DiskSync)
		for i := range last { // calls count from the beginning of woken work, without pauses
			last[i].At -= begins
		}
	}
	for i := len(why.Calls) - 1; i >= 0; i-- {
		call := c.to(why.Calls[i], soon, takes)
		call.Calls = last
		last, takes = []Call{call}, 2*soon
	}
	last[0].At = at
	return last[0]
}
