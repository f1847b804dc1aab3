package sched

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Pool is the threads of a process that handle binder calls.
type Pool struct {
	Threads []*Thread
}

// Call is a transaction that a thread sends during an item. Unless it is one-way the thread
// sleeps until it is answered, and then does the rest.
type Call struct {
	At     time.Duration // or when the thread starts running, if that is later
	To     *Pool
	Takes  time.Duration // how long the other process's thread works on it
	OneWay bool
	Code   uint32
	// Urgent is for calls that a frame waits for: they take exactly Takes. Section and
	// Category are the other process's trace section, and Calls its own calls, relative to its
	// beginning.
	Urgent            bool
	Section, Category string
	Calls             []Call
	// Pause stops the thread without a call; nil for a call.
	Pause *Pause
}

// node returns the kernel's number of a process's binder node.
func (p *Pool) node() int32 { return p.Threads[0].PID*16 + 1 }

// thread returns a thread that has been sleeping since before a time, or else the first.
func (p *Pool) thread(since time.Duration) *Thread {
	for _, t := range p.Threads {
		if !t.busy && t.stopped <= since {
			return t
		}
	}
	return p.Threads[0]
}

// calls returns when the running item makes its next call: not earlier than a moment after it
// began.
func (c *cpu) calls() (at time.Duration, ok bool) {
	if len(c.item.Calls) == 0 || c.item.Calls[0].At > c.end {
		return 0, false
	}
	return max(c.since, min(max(c.begun+parks, c.item.Calls[0].At), c.end-parks)), true
}

// call sends the next transaction of the item on a CPU.
func (s *Scheduler) call(c *cpu, at time.Duration) {
	call, client := c.item.Calls[0], c.item.Thread
	c.item.Calls = c.item.Calls[1:]
	if call.Pause != nil {
		s.pause(c, call.Pause, at)
		return
	}
	job := Item{
		To: call.Takes, Kind: power.Service, Method: power.System, Background: !call.Urgent, pool: call.To, got: s.transaction(at, client),
		Section: call.Section, Category: call.Category, Calls: call.Calls,
	}
	job.got.Process, job.got.Node, job.got.Code, job.got.OneWay = call.To.Threads[0].PID, call.To.node(), call.Code, call.OneWay
	if !call.OneWay {
		rest := *c.item
		job.answers = &rest
		// The thread stays busy: it does nothing else until the answer.
		c.item.Calls, c.item.waits, c.end = nil, true, at+parks
	}
	s.wake(job, client, at)
}

// transaction returns a new transaction from a thread.
func (s *Scheduler) transaction(at time.Duration, from *Thread) *timeline.Transaction {
	s.sent++
	return &timeline.Transaction{ID: s.sent, Sent: at, From: from.TID}
}

// receive records that an item's thread has received its transaction.
func (s *Scheduler) receive(it *Item, at time.Duration) {
	it.got.Received, it.got.To = at, it.Thread.TID
	s.timeline.Transactions = append(s.timeline.Transactions, *it.got)
	it.got = nil
}

// wake schedules an item whose thread is woken by another.
func (s *Scheduler) wake(it Item, by *Thread, at time.Duration) {
	long := it.To - it.From
	it.Woken, it.Waker, it.From = at, by.TID, at+unblocks
	it.To = it.From + long
	it.Calls = slices.Clone(it.Calls)
	for i := range it.Calls {
		it.Calls[i].At += it.From
	}
	s.expect(it)
}

// expect adds an item to the due ones.
func (s *Scheduler) expect(it Item) {
	i, _ := slices.BinarySearchFunc(s.due, it.From+1, func(one Item, at time.Duration) int { return cmp.Compare(one.From, at) })
	s.due = slices.Insert(s.due, i, it)
}

// wakeOthers starts the items that the end of an item wakes, and answers its caller.
func (s *Scheduler) wakeOthers(it *Item, end time.Duration) {
	at := end - parks
	for _, other := range it.Wakes {
		s.wake(other, it.Thread, at)
	}
	rest := it.answers
	if rest == nil || rest.Thread.gone {
		return
	}
	client := rest.Thread
	rest.got = s.transaction(at, it.Thread)
	rest.got.Process, rest.got.Reply = client.PID, true
	rest.Woken, rest.Waker, rest.From = at, it.Thread.TID, at+unblocks
	rest.To = max(rest.To, rest.From+parks)
	s.expect(*rest)
}

// deliver starts the first due item.
func (s *Scheduler) deliver() {
	it := s.due[0]
	s.due = slices.Delete(s.due, 0, 1)
	switch {
	case it.got != nil && it.got.Reply || it.resumes:
		if !it.Thread.gone {
			s.begin(it, it.From)
		}
		return
	case it.pool != nil:
		it.Thread = it.pool.thread(it.Woken)
	}
	s.arrive(it)
}
