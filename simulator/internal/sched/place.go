package sched

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// States of a thread after a run, as in sched_switch; timeline.GoesOn if it stays on its CPU.
const (
	goesOn    = timeline.GoesOn
	asleep    = 'S'
	preempted = 'R'
)

// begin gives an item a CPU, or queues it.
func (s *Scheduler) begin(it Item, at time.Duration) {
	it.Thread.busy = true
	number := s.choose(&it)
	if number < 0 {
		s.wait(it)
		return
	}
	if c := &s.cpus[number]; c.item != nil { // preempted
		left := *c.item
		s.tell(c, at, preempted)
		left.From, left.To, left.Waker, left.Woken = at, at+c.end-at, 0, 0
		c.item = nil
		s.put(number, it, at)
		s.wait(left)
		return
	}
	s.put(number, it, at)
}

// wait queues an item for a CPU, after others of its kind.
func (s *Scheduler) wait(it Item) {
	i := len(s.waiting)
	for i > 0 && !it.Background && s.waiting[i-1].Background {
		i--
	}
	s.waiting = append(s.waiting, Item{})
	copy(s.waiting[i+1:], s.waiting[i:])
	s.waiting[i] = it
}

// resume gives free CPUs to queued items.
func (s *Scheduler) resume(at time.Duration) {
	for i := 0; i < len(s.waiting); {
		it := s.waiting[i]
		number := s.free(&it)
		switch {
		case number < 0 && it.Only == "":
			return
		case number < 0: // other items may find a CPU
			i++
			continue
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
		if !it.Background && it.To <= at { // too late for it
			more := false
			if it, more = it.Thread.next(at); !more {
				continue
			}
		}
		s.put(number, it, at)
	}
}

// put starts an item on an idle CPU.
func (s *Scheduler) put(number int, it Item, at time.Duration) {
	c := &s.cpus[number]
	end := it.To
	if it.Background {
		end = at + it.To - it.From
	}
	if it.Section != "" && it.section == nil {
		it.section = &timeline.Slice{TID: it.Thread.TID, Name: it.Section, Category: it.Category, From: at}
		s.timeline.Slices = append(s.timeline.Slices, it.section)
	}
	if it.got != nil {
		s.receive(&it, at)
	}
	c.item, c.end, c.begun, c.since, it.Thread.last = &it, end, at, at, number
	c.cluster.govern(s, at)
}

// choose returns a CPU for an item: a free one, or for urgent work one that runs background
// work; less than 0 for none.
func (s *Scheduler) choose(it *Item) int {
	if number := s.free(it); number >= 0 || it.Background {
		return number
	}
	for i, c := range s.cpus {
		if it.may(c.cluster) && c.item.Background && !c.item.waits {
			return i
		}
	}
	return -1
}

// may reports whether an item may run on a cluster.
func (it *Item) may(c *cluster) bool { return it.Only == "" || it.Only == c.part }

// free returns a free CPU: the one on which the thread ran before, or another of the cluster
// for such work, or one of the other cluster.
func (s *Scheduler) free(it *Item) int {
	home := power.Big
	if it.Kind == power.Service || it.Only == power.Little {
		home = power.Little
	}
	last := it.Thread.last
	if last >= 0 && s.cpus[last].item == nil && s.cpus[last].cluster.part == home {
		return last
	}
	other := -1
	for i, c := range s.cpus {
		switch {
		case c.item != nil || !it.may(c.cluster):
		case c.cluster.part == home:
			return i
		case other < 0:
			other = i
		}
	}
	return other
}

// tell records what ran on a CPU up to a time.
func (s *Scheduler) tell(c *cpu, at time.Duration, state byte) {
	it := c.item
	if it == nil || at <= c.since {
		return
	}
	step := c.cluster.step
	r := timeline.Run{
		TID: it.Thread.TID, CPU: int8(c.number), From: c.since, To: at, KHz: uint32(c.cluster.Steps[step].KHz),
		Woken: it.Woken, Waker: it.Waker, State: state,
	}
	s.timeline.Runs = append(s.timeline.Runs, r)
	c.ran += at - c.since
	it.Thread.ran += at - c.since
	if it.Woken > 0 {
		it.Thread.delayed += c.since - it.Woken
		it.Thread.turns++
	}
	if it.Thread.Runs != nil {
		it.Thread.Runs(Run{Run: r, Part: c.cluster.part, Step: step, Kind: it.Kind, Method: it.Method, Share: it.Share})
	}
	c.since, it.Woken, it.Waker = at, 0, 0
}
