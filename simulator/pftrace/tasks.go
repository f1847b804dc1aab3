package pftrace

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// turn is a frame's span on the UI thread, including the code around it.
type turn struct {
	timeline.Interval
	frame *timeline.Frame
}

// around is the code of a looper before and after what a message does.
const loops = 5 * time.Microsecond

// turns returns the frames that the UI thread of a process works on, by time.
func (k *kernel) turns(t *timeline.Timeline, pid int32) (out []turn) {
	for _, l := range t.Layers {
		if l.PID != pid || l.Own || l.Closed > 0 && l.Closed < k.during.From {
			continue
		}
		for i := range l.Frames {
			f := &l.Frames[i]
			if f.Kind == timeline.Whole && f.Actual.To >= k.during.From && f.Actual.From <= k.during.To {
				out = append(out, turn{timeline.Interval{From: f.Actual.From - loops, To: k.uiDone(pid, f) + loops}, f})
			}
		}
	}
	slices.SortFunc(out, func(a, b turn) int { return cmp.Compare(a.From, b.From) })
	return out
}

// tasks returns the tasks of a process. The UI thread executes its tasks between frames: one that
// becomes due during a frame starts after it.
func (k *kernel) tasks(t *timeline.Timeline, pid int32) (out []timeline.Task) {
	for _, one := range t.Tasks {
		if one.PID == pid {
			out = append(out, one)
		}
	}
	var ui []*timeline.Task
	for i := range out {
		if out[i].Unit.Kind == simapp.MainThread && out[i].Thread != "" {
			ui = append(ui, &out[i])
		}
	}
	slices.SortStableFunc(ui, func(a, b *timeline.Task) int { return cmp.Compare(a.Started, b.Started) })
	turns, free := k.turns(t, pid), time.Duration(0)
	for _, one := range ui {
		long := one.Done - one.Started
		one.Started = max(one.Started, free)
		i, _ := slices.BinarySearchFunc(turns, one.Started, func(t turn, at time.Duration) int { return cmp.Compare(t.To, at) })
		for ; i < len(turns) && turns[i].From <= one.Started; i++ {
			one.Started = turns[i].To + loops
		}
		one.Done = one.Started + long
		if i < len(turns) {
			one.Done = max(min(one.Done, turns[i].From-loops), one.Started)
		}
		free = one.Done + loops
	}
	return out
}

// taskSections adds the sections that an app's tasks write.
func (k *kernel) taskSections(t *timeline.Timeline) {
	var pids []int32
	for _, one := range t.Tasks {
		if !slices.Contains(pids, one.PID) && k.asksFor(k.threads[one.PID].Process) {
			pids = append(pids, one.PID)
		}
	}
	for _, pid := range pids {
		for i, one := range k.tasks(t, pid) {
			if one.Unit.Wrapped && !one.Shows {
				k.wrapped(pid, i+1, one)
			}
			k.locks(pid, one)
			if one.What.Section == "" || one.Thread == "" || one.Shows || one.TID == 0 || one.Done < k.during.From || one.Started > k.during.To {
				continue
			}
			k.section(pid, one.TID, one.What.Section, timeline.Interval{From: one.Started + loops, To: one.Done - loops})
		}
	}
}

// locks adds ART's sections of a task's wait for a lock.
func (k *kernel) locks(pid int32, one timeline.Task) {
	const asks = 25 * time.Microsecond // after the thread has got there, and before its end
	if one.Lock <= 4*asks || one.TID == 0 || one.TID == pid || !slices.Contains(k.asked.Categories, "dalvik") || one.Done < k.during.From || one.Started > k.during.To {
		return
	}
	owner := k.named(pid, simapp.LockOwner)
	in := timeline.Interval{From: one.Done - one.Lock + asks, To: one.Done - asks}
	k.section(pid, one.TID, k.contention(pid, owner, simapp.LockOwner), in)
	k.section(pid, one.TID, fmt.Sprintf("Lock contention on a monitor lock (owner tid: %d)", owner), timeline.Interval{From: in.From + loops, To: in.To - loops})
}

// writing is how long it takes to write a section.
const writing = time.Microsecond

// wrapped adds the sections by which an app records a task: an asynchronous one from its scheduling
// to its end, and one around its work (docs/tasks.md).
func (k *kernel) wrapped(pid int32, cookie int, one timeline.Task) {
	name := cmp.Or(one.What.Class, one.What.Name)
	section := "task:" + one.Unit.Name
	if one.Unit.Size > 0 {
		section += fmt.Sprintf("/%d", one.Unit.Size)
	}
	if one.Delay > 0 {
		section += fmt.Sprintf("+%d", one.Delay.Milliseconds())
	}
	if section += ">" + name; len(one.What.Context) > 0 {
		section += "@" + one.What.Context[0]
	}
	put := func(r timeline.Run, phase string, at time.Duration) {
		k.print(r, at, beginsBefore, fmt.Sprintf("%s|%d|%s|%d\n", phase, pid, section, cookie))
	}
	write := func(tid int32, phase string, at time.Duration) {
		if r, when, ok := k.writes(tid, at); ok && at >= k.during.From && at <= k.during.To {
			put(r, phase, when)
		}
	}
	by := k.sender(pid, one.Sender)
	last, ran := k.last(by, one.Scheduled)
	_, when, ok := k.writes(by, one.Scheduled)
	switch late := !ok || one.Started > 0 && when >= one.Started; {
	case late && ran && one.Scheduled >= k.during.From && one.Scheduled <= k.during.To:
		put(last, "S", one.Scheduled) // its sender is not known to run then, but has scheduled it
	case late && one.TID != 0 && one.Started > 0:
		write(one.TID, "S", one.Started) // it runs on another CPU at once
	default:
		write(by, "S", one.Scheduled)
	}
	switch {
	case one.Removed > 0:
		write(by, "F", one.Removed)
	case one.TID != 0 && one.Done >= k.during.From && one.Started <= k.during.To:
		k.section(pid, one.TID, fmt.Sprintf("task#%d %s", cookie, name), timeline.Interval{From: one.Started + writing, To: one.Done - writing})
		write(one.TID, "F", one.Done)
	}
}

// sender is the thread that schedules a task: the main one, if none has its name.
func (k *kernel) sender(pid int32, name string) int32 {
	return cmp.Or(k.named(pid, name), pid)
}
