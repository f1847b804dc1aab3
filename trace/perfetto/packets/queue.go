package packets

import (
	"cmp"
	"slices"
)

// window is how many bytes of events and packets wait for earlier ones. CPUs are recorded
// separately, and each has its part of the file some ten times a second.
const window = 16 << 20

// order sorts its input chronologically. At equal times, packets come first and then the CPUs.
type order struct {
	queues  []queue // of packets, and of each CPU of a text trace
	lanes   []lane  // of each CPU's bundles, several
	waiting int     // items and rows
	held    int     // bytes of them
	done    int64   // ns of the last one delivered
	late    int     // came after a later one was delivered

	event   Event // the event being delivered
	compact Compact
	free    []*block
	heads   []head
	heap    []top
}

// queue is the waiting items of one kind, usually in chronological order.
type queue struct {
	list  []item
	mixed bool // out of order
}

// item is a waiting item: an event of a text trace, or a deferred call of a packet.
type item struct {
	at    int64 // ns of the trace's own clock
	size  int32 // bytes that it holds
	event Event
	run   func()
}

const itemSize = 160 // bytes of an item, without its content

// add adds an item to a queue and delivers the earliest if there are too many.
func (o *order) add(number int, i item, give func(*Event)) {
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

// head is the earliest of a sequence: of items, or of runs of rows.
type head struct {
	items []item
	runs  []run
	taken int // items or runs already delivered
	lane  int // of the runs
}

// top is a head with the time of its first element.
type top struct {
	at   int64
	head int32
}

// give delivers the first n in chronological order. The receiver must not add any.
func (o *order) give(n int, give func(*Event)) {
	o.open()
	for ; n > 0 && len(o.heap) > 0; n-- {
		first := &o.heap[0]
		o.done = first.at
		o.waiting--
		if next, more := o.first(&o.heads[first.head], give); more {
			first.at = next
		} else {
			last := len(o.heap) - 1
			o.heap[0] = o.heap[last]
			o.heap = o.heap[:last]
		}
		sink(o.heap, 0)
	}
	o.close()
}

// open lists the heads of all queues and lanes.
func (o *order) open() {
	o.heads, o.heap = o.heads[:0], o.heap[:0]
	put := func(h head, at int64) {
		o.heap = append(o.heap, top{at, int32(len(o.heads))})
		o.heads = append(o.heads, h)
	}
	for i := range o.queues {
		q := &o.queues[i]
		if q.mixed {
			slices.SortStableFunc(q.list, func(a, b item) int { return cmp.Compare(a.at, b.at) })
			q.mixed = false
		}
		if len(q.list) > 0 {
			put(head{items: q.list}, q.list[0].at)
		} else {
			o.heads = append(o.heads, head{}) // so that heads and queues have the same indices
		}
	}
	for i := range o.lanes {
		l := &o.lanes[i]
		if !l.mixed && len(l.runs) > 0 {
			put(head{runs: l.runs, lane: i}, l.runs[0].rows[0].at)
			continue
		}
		for j := range l.runs {
			put(head{runs: l.runs[j : j+1], lane: i}, l.runs[j].rows[0].at)
		}
	}
	for i := len(o.heap)/2 - 1; i >= 0; i-- {
		sink(o.heap, i)
	}
}

// sink restores the heap order for an element.
func sink(h []top, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if a, b := &h[child], &h[least]; a.at < b.at || a.at == b.at && a.head < b.head {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// first delivers the first element of a head; it returns the time of the next, if there is one.
func (o *order) first(h *head, give func(*Event)) (int64, bool) {
	if h.runs != nil {
		return o.row(h, give)
	}
	one := &h.items[h.taken]
	h.taken++
	o.held -= int(one.size) + itemSize
	if one.run != nil {
		one.run()
	} else {
		made := o.event.reading
		o.event = one.event
		o.event.reading = made
		give(&o.event)
	}
	if h.taken == len(h.items) {
		return 0, false
	}
	return h.items[h.taken].at, true
}

// close drops what was delivered.
func (o *order) close() {
	for i := range o.queues {
		q, taken := &o.queues[i], o.heads[i].taken
		rest := copy(q.list, q.list[taken:])
		clear(q.list[rest:])
		q.list = q.list[:rest]
	}
	for i := range o.lanes {
		o.lanes[i].left = o.lanes[i].runs[:0]
	}
	for i := len(o.queues); i < len(o.heads); i++ {
		h := &o.heads[i]
		l := &o.lanes[h.lane]
		l.left = append(l.left, h.runs[h.taken:]...)
	}
	for i := range o.lanes {
		l := &o.lanes[i]
		clear(l.runs[len(l.left):])
		l.runs = l.left
		l.mixed = l.mixed && len(l.runs) > 1
	}
	clear(o.heads)
}
