package sched

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// Pool are the threads of a process that take what others call by binder.
type Pool struct {
	Threads []*Thread
}

// Call is a transaction that a thread sends in the course of an item. Where it is not
// one-way the thread sleeps until it is answered, and does the rest then.
type Call struct {
	At     time.Duration // or once the thread runs, where that is later
	To     *Pool
	Takes  time.Duration // how long a thread of the other process works on it
	OneWay bool
	Code   uint32
	// Urgent is what a frame waits for: it takes as long as it says. Section and Category
	// are what the other process traces it under, and Calls whom that calls in turn, since
	// it begins.
	Urgent            bool
	Section, Category string
	Calls             []Call
	// Pause is that nobody is called, and the thread stops; nil: somebody is.
	Pause *Pause
}

// node is the kernel's number of what is called in a process.
func (p *Pool) node() int32 { return p.Threads[0].PID*16 + 1 }

// thread is one that sleeps since before a time, or else the first.
func (p *Pool) thread(since time.Duration) *Thread {
	for _, t := range p.Threads {
		if !t.busy && t.stopped <= since {
			return t
		}
	}
	return p.Threads[0]
}

// calls is when what runs on a CPU makes its next call: it sleeps no sooner than a moment
// later.
func (c *cpu) calls() (at time.Duration, ok bool) {
	if len(c.item.Calls) == 0 || c.item.Calls[0].At > c.end {
		return 0, false
	}
	return max(c.since, min(max(c.begun+parks, c.item.Calls[0].At), c.end-parks)), true
}

// call sends the next transaction of what runs on a CPU.
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
		// The thread stays busy: it does nothing else until it is answered.
		c.item.Calls, c.item.waits, c.end = nil, true, at+parks
	}
	s.wake(job, client, at)
}

// transaction is a new one, which a thread sends.
func (s *Scheduler) transaction(at time.Duration, from *Thread) *timeline.Transaction {
	s.sent++
	return &timeline.Transaction{ID: s.sent, Sent: at, From: from.TID}
}

// receive writes that the thread of an item has got the transaction with which it begins.
func (s *Scheduler) receive(it *Item, at time.Duration) {
	it.got.Received, it.got.To = at, it.Thread.TID
	s.timeline.Transactions = append(s.timeline.Transactions, *it.got)
	it.got = nil
}

// wake lets an item begin that a thread wakes another for.
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

// expect adds an item to those that are due.
func (s *Scheduler) expect(it Item) {
	i, _ := slices.BinarySearchFunc(s.due, it.From+1, func(one Item, at time.Duration) int { return cmp.Compare(one.From, at) })
	s.due = slices.Insert(s.due, i, it)
}

// wakeOthers lets begin what the end of an item does, and answers who waits for it.
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

// deliver begins the first item that is due.
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
