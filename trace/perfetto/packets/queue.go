package packets

import (
	"cmp"
	"container/heap"
	"slices"
)

// window is how many bytes of events and packets wait for those that were before them.
// CPUs are recorded apart, and each has its part of the file some ten times a second.
const window = 32 << 20

// order brings what comes to it into the order of time. At the same time, packets go
// first and then the CPUs.
type order struct {
	queues  []queue // of packets, and of each CPU
	waiting int     // items
	held    int     // bytes of them
	done    int64   // ns of the last that was given away
	late    int     // came after a later one was given away
}

// queue is what waits of one kind, mostly as it came in the order of time.
type queue struct {
	list  []item
	mixed bool // out of order
}

// item is what waits: an event, or something of a packet.
type item struct {
	at    int64 // ns of the trace's own clock
	size  int32 // bytes that it holds
	event Event
	run   func()
}

const itemSize = 120 // bytes of an item, without what it holds

// add takes an item of a queue and gives away the earliest where there are too many.
func (o *order) add(number int, i item, give func(*item)) {
	switch {
	case i.at >= o.done:
	case i.run != nil:
		i.run()
		return
	default:
		o.late++
		return
	}
	for len(o.queues) <= number {
		o.queues = append(o.queues, queue{})
	}
	q := &o.queues[number]
	q.mixed = q.mixed || len(q.list) > 0 && q.list[len(q.list)-1].at > i.at
	q.list = append(q.list, i)
	o.waiting++
	if o.held += int(i.size) + itemSize; o.held > window {
		o.give(o.waiting/2+1, give)
	}
}

// give gives away the first n in the order of time. What is
// given away must add nothing.
func (o *order) give(n int, give func(*item)) {
	var next heads
	for i := range o.queues {
		q := &o.queues[i]
		if q.mixed {
			slices.SortStableFunc(q.list, func(a, b item) int { return cmp.Compare(a.at, b.at) })
			q.mixed = false
		}
		if len(q.list) > 0 {
			next = append(next, head{list: q.list, number: i})
		}
	}
	heap.Init(&next)
	given := make([]int, len(o.queues))
	for ; n > 0 && len(next) > 0; n-- {
		one := &next[0].list[0]
		o.done = one.at
		o.held -= int(one.size) + itemSize
		o.waiting--
		give(one)
		given[next[0].number]++
		if next[0].list = next[0].list[1:]; len(next[0].list) > 0 {
			heap.Fix(&next, 0)
		} else {
			heap.Pop(&next)
		}
	}
	for i, n := range given {
		q := &o.queues[i]
		rest := copy(q.list, q.list[n:])
		clear(q.list[rest:])
		q.list = q.list[:rest]
	}
}

// heads are what remains of the queues, with the earliest on top.
type heads []head

type head struct {
	list   []item
	number int // of the queue
}

func (h heads) Len() int { return len(h) }

func (h heads) Less(i, j int) bool {
	a, b := h[i].list[0].at, h[j].list[0].at
	return a < b || a == b && h[i].number < h[j].number
}

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)   { *h = append(*h, x.(head)) }
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
