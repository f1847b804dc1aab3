// Package sched schedules the work of a simulated phone's threads on its CPUs.
//
// It owns which thread runs where, at which frequency, and which thread woke which: it writes
// Runs into the timeline, once, and reports them to each thread's owner. When work becomes due
// is decided elsewhere (frames by the pipeline, computations by the apps). The times in a
// frame's stages are binding, so its threads always get a CPU at once, or after a pause that
// the app's file specifies. Background work gets the remaining CPU time, and is delayed if
// that is not enough.
//
// Nothing is scheduled in advance: Advance continues from the last time.
package sched

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Thread is the scheduler's state of a thread.
type Thread struct {
	timeline.Thread
	// Runs is called with each of its runs; it may be nil.
	Runs func(Run)

	queue   []Item // items that wait for the previous one
	busy    bool   // running, or waiting for a CPU or an answer
	gone    bool
	last    int // the CPU that it last ran on
	stopped time.Duration
	ran     time.Duration
	delayed time.Duration // total time from waking until running
	turns   int
}

// Ran returns the thread's CPU time, up to the last Advance.
func (t *Thread) Ran() time.Duration { return t.ran }

// Delayed returns how long the thread was runnable after wakeups without running, and Turns
// how often it got a CPU after that, up to the last Advance.
func (t *Thread) Delayed() (long time.Duration, turns int) { return t.delayed, t.turns }

// Item is work of a thread.
type Item struct {
	Thread *Thread
	// Woken is when another thread, or an interrupt if Waker is 0, woke it. It runs from From
	// until To; background work runs for that duration.
	Woken, From, To time.Duration
	Waker           int32
	Kind            power.Kind
	Method          int
	Share           float64 // of the work to which Method's shares refer; see power.Run
	Background      bool
	Section         string // its trace section, "" for none
	Category        string // of atrace, "" for the app's own sections
	// Only is the cluster whose CPUs it may use, "" for all. Held reports that the CPUs'
	// frequency is limited while it runs.
	Only power.Part
	Held bool
	// Wakes are the items that the end of this one starts; To-From is the duration of each.
	Wakes []Item
	Calls []Call // by time; for woken work relative to its beginning

	section *timeline.Slice
	pool    *Pool                 // one of whose threads handles it
	got     *timeline.Transaction // the transaction that it handles
	answers *Item                 // the rest of the waiting caller's work
	waits   bool                  // its thread is about to sleep until the answer
	leaves  byte                  // its thread's state then, 0 for asleep
	resumes bool                  // its thread is in the middle of it
}

// Run is one piece of an item's execution.
type Run struct {
	timeline.Run
	Part   power.Part // the cluster
	Step   int        // the frequency
	Kind   power.Kind
	Method int
	Share  float64
}

// Scheduler is the scheduler of one phone.
type Scheduler struct {
	timeline *timeline.Timeline
	clusters [2]cluster // Little, Big
	cpus     []cpu
	waiting  []Item // for a CPU
	due      []Item // woken by other items, by From
	sent     int32  // number of transactions
	now      time.Duration
	system   system
}

// cpu is one CPU and its current item.
type cpu struct {
	number  int
	cluster *cluster
	item    *Item // nil: idle
	end     time.Duration
	begun   time.Duration // when the item got the CPU
	since   time.Duration // start of the unreported piece
	ran     time.Duration
}

// tick is the maximum length of a piece of a run.
const tick = power.MaxRun

// New returns a scheduler of idle CPUs.
func New(t *timeline.Timeline, hw power.Hardware, now time.Duration) *Scheduler {
	s := &Scheduler{timeline: t, now: now, system: newSystem(t, now)}
	s.clusters = [2]cluster{{part: power.Little, Cluster: hw.Little, since: now}, {part: power.Big, Cluster: hw.Big, since: now}}
	for i := range s.clusters {
		c := &s.clusters[i]
		c.inStep = make([]time.Duration, len(c.Steps))
		for range c.Count {
			s.cpus = append(s.cpus, cpu{number: len(s.cpus), cluster: c})
		}
	}
	return s
}

// Thread starts a thread.
func (s *Scheduler) Thread(t timeline.Thread, runs func(Run)) *Thread {
	s.timeline.Threads = append(s.timeline.Threads, t)
	return &Thread{Thread: t, Runs: runs, last: -1}
}

// Now returns the time up to which everything is scheduled.
func (s *Scheduler) Now() time.Duration { return s.now }

// Busy returns how long a CPU was busy.
func (s *Scheduler) Busy(cpu int) time.Duration { return s.cpus[cpu].ran }

// Advance schedules the items that became due since the last call: all with a From before now
// and not before the previous now.
func (s *Scheduler) Advance(now time.Duration, items []Item) {
	if now <= s.now {
		return
	}
	items = append(items, s.system.work(s.now, now)...)
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.From, b.From) })
	for i := range items {
		s.runTo(items[i].From)
		s.arrive(items[i])
	}
	s.runTo(now)
	for i := range s.cpus {
		s.tell(&s.cpus[i], now, goesOn)
	}
	for i := range s.clusters {
		s.clusters[i].count(now)
	}
	s.now = now
}

// Exit ends a thread now, at the time of the last Advance.
func (s *Scheduler) Exit(t *Thread) {
	s.waiting = slices.DeleteFunc(s.waiting, func(it Item) bool {
		if it.Thread == t {
			it.leave(s.now)
		}
		return it.Thread == t
	})
	t.queue, t.busy, t.gone, t.stopped = nil, false, true, s.now
	for i := range s.timeline.Threads {
		if one := &s.timeline.Threads[i]; one.TID == t.TID && one.Ended == 0 {
			one.Ended = s.now
		}
	}
	for i := range s.cpus {
		if c := &s.cpus[i]; c.item != nil && c.item.Thread == t {
			c.item.leave(s.now)
			c.item = nil
			c.cluster.govern(s, s.now)
			s.gone(t)
		}
	}
	s.resume(s.now)
}

// gone marks the last run of a thread that ended on its CPU.
func (s *Scheduler) gone(t *Thread) {
	runs := s.timeline.Runs
	for i := len(runs) - 1; i >= 0 && runs[i].To == s.now; i-- {
		if runs[i].TID == t.TID {
			runs[i].State = 'X'
			return
		}
	}
}

// leave ends an item's trace section.
func (it *Item) leave(at time.Duration) {
	if it.section != nil {
		it.section.To = at
	}
}

// arrive starts a due item, after the earlier items of its thread.
func (s *Scheduler) arrive(it Item) {
	if it.To <= it.From {
		return
	}
	t := it.Thread
	if t.gone {
		return
	}
	if t.busy {
		t.queue = append(t.queue, it)
		return
	}
	if it.Woken < t.stopped { // it was not asleep yet
		it.Woken, it.Waker = t.stopped, 0
	}
	s.begin(it, it.From)
}

// runTo runs the CPUs up to a time.
func (s *Scheduler) runTo(at time.Duration) {
	for {
		next := -1
		for i, c := range s.cpus {
			if c.item != nil && (next < 0 || c.until() < s.cpus[next].until()) {
				next = i
			}
		}
		if len(s.due) > 0 && s.due[0].From <= at && (next < 0 || s.due[0].From <= s.cpus[next].until()) {
			s.deliver()
			continue
		}
		if next < 0 || s.cpus[next].until() > at {
			return
		}
		c := &s.cpus[next]
		switch call, ok := c.calls(); {
		case ok && call == c.until():
			s.call(c, call)
		case c.until() < c.end:
			s.tell(c, c.until(), goesOn)
		default:
			s.finish(next)
		}
	}
}

// until returns when the state of a CPU changes next.
func (c *cpu) until() time.Duration {
	until := min(c.end, c.since+tick)
	if at, ok := c.calls(); ok {
		until = min(until, at)
	}
	return until
}

// finish ends an item; the thread's next item follows, or a queued one.
func (s *Scheduler) finish(number int) {
	c := &s.cpus[number]
	at, t := c.end, c.item.Thread
	if c.item.waits {
		s.tell(c, at, cmp.Or(c.item.leaves, asleep))
		s.leave(c, at)
		return
	}
	next, more := t.next(at)
	state := byte(asleep)
	if more {
		state = goesOn
	}
	s.tell(c, at, state)
	c.item.leave(at)
	s.wakeOthers(c.item, at)
	if more {
		s.put(number, next, at)
		return
	}
	s.leave(c, at)
}

// leave frees a CPU for queued items.
func (s *Scheduler) leave(c *cpu, at time.Duration) {
	c.item = nil
	c.cluster.govern(s, at)
	s.resume(at)
}

// next returns a thread's next item after a finished one, or false to let it sleep. Items
// whose stages are already over are skipped.
func (t *Thread) next(at time.Duration) (Item, bool) {
	for len(t.queue) > 0 {
		it := t.queue[0]
		t.queue = t.queue[1:]
		it.Waker, it.Woken = 0, 0 // it did not sleep
		if it.Background || it.To > at {
			return it, true
		}
	}
	t.busy, t.stopped = false, at
	return Item{}, false
}
