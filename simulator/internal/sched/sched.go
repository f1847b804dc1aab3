// Package sched puts the work of a simulated phone's threads on its CPUs.
//
// It owns who runs where, at which speed, and who woke whom: it writes Runs into the
// timeline, once, and tells each thread's owner of them. When work is there to be done
// is decided elsewhere (frames by the pipeline, computations by the apps). It takes a
// stand: what a frame's stages say of its threads holds, so that those always get a CPU
// at once, or when a pause that the app's file asks for is over; work in the background
// takes what is left, and is done later where that is not enough.
//
// Nothing is scheduled before somebody asks: Advance carries on from the last time.
package sched

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Thread is a thread, as the scheduler knows it.
type Thread struct {
	timeline.Thread
	// Runs is told of each of its runs; it may be nil.
	Runs func(Run)

	queue   []Item // that wait for the one before
	busy    bool   // it runs, or waits for a CPU or for an answer
	gone    bool
	last    int // the CPU that it ran on
	stopped time.Duration
	ran     time.Duration
	delayed time.Duration // from when it was woken until it ran
	turns   int
}

// Ran is the CPU time of the thread, up to the last Advance.
func (t *Thread) Ran() time.Duration { return t.ran }

// Delayed is how long it was to run and did not, after it was woken, and Turns how often it
// came to a CPU after that, up to the last Advance.
func (t *Thread) Delayed() (long time.Duration, turns int) { return t.delayed, t.turns }

// Item is work of a thread.
type Item struct {
	Thread *Thread
	// Woken is when another thread, or with Waker 0 an interrupt, woke it. It runs from
	// From until To; in the background, for as long as that is.
	Woken, From, To time.Duration
	Waker           int32
	Kind            power.Kind
	Method          int
	Share           float64 // of the work that Method's shares are of; see power.Run
	Background      bool
	Section         string // under which it is traced, "" for none
	Category        string // of atrace, "" for the app's own sections
	// Only is the cluster whose CPUs it may use, "" for all. Held says that the CPUs' speed
	// is held down while it runs.
	Only power.Part
	Held bool
	// Wakes is work that the end of this one lets others begin: of each, To-From says how
	// long it takes.
	Wakes []Item
	Calls []Call // that it makes, by time; of woken work since that begins

	section *timeline.Slice
	pool    *Pool                 // one of whose threads takes it, once it is there
	got     *timeline.Transaction // with which it begins
	answers *Item                 // the rest of the caller's work, which waits for this
	waits   bool                  // its thread is about to sleep until it is answered
	leaves  byte                  // the state in which it is then, 0 for asleep
	resumes bool                  // its thread is in the middle of it
}

// Run is one piece of an item that ran.
type Run struct {
	timeline.Run
	Part   power.Part // the cluster
	Step   int        // of its speeds
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
	due      []Item // that others woke, by From
	sent     int32  // transactions so far
	now      time.Duration
	system   system
}

// cpu is one CPU and what runs on it.
type cpu struct {
	number  int
	cluster *cluster
	item    *Item // nil: idle
	end     time.Duration
	begun   time.Duration // when the item came to it
	since   time.Duration // of the piece that is not told yet
	ran     time.Duration
}

// tick is how long a piece of a run is at most.
const tick = power.MaxRun

// New is a scheduler of idle CPUs.
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

// Thread begins a thread.
func (s *Scheduler) Thread(t timeline.Thread, runs func(Run)) *Thread {
	s.timeline.Threads = append(s.timeline.Threads, t)
	return &Thread{Thread: t, Runs: runs, last: -1}
}

// Now is up to when it is known who ran.
func (s *Scheduler) Now() time.Duration { return s.now }

// Busy is how long a CPU was busy.
func (s *Scheduler) Busy(cpu int) time.Duration { return s.cpus[cpu].ran }

// Advance schedules what became due since the last time: all items with a From before
// now and not before the last now.
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

// Exit ends a thread now, which is what the last Advance said.
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

// leave ends the section that an item is traced under.
func (it *Item) leave(at time.Duration) {
	if it.section != nil {
		it.section.To = at
	}
}

// arrive takes an item whose time has come: behind what its thread has to do before.
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
	if it.Woken < t.stopped { // it had not slept yet
		it.Woken, it.Waker = t.stopped, 0
	}
	s.begin(it, it.From)
}

// runTo lets time pass.
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

// until is when something happens to what runs on a CPU.
func (c *cpu) until() time.Duration {
	until := min(c.end, c.since+tick)
	if at, ok := c.calls(); ok {
		until = min(until, at)
	}
	return until
}

// finish ends an item; its thread's next follows, or whatever waits for a CPU.
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

// leave frees a CPU for what waits for one.
func (s *Scheduler) leave(c *cpu, at time.Duration) {
	c.item = nil
	c.cluster.govern(s, at)
	s.resume(at)
}

// next is what a thread has to do after an item that is over; where there is nothing, it
// sleeps. What is over too by then, as the stages of its frame say, is not done.
func (t *Thread) next(at time.Duration) (Item, bool) {
	for len(t.queue) > 0 {
		it := t.queue[0]
		t.queue = t.queue[1:]
		it.Waker, it.Woken = 0, 0 // it has not slept
		if it.Background || it.To > at {
			return it, true
		}
	}
	t.busy, t.stopped = false, at
	return Item{}, false
}
