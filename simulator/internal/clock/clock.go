// Package clock is the time of one simulated phone: CLOCK_MONOTONIC, and what is
// due on it.
//
// It takes a stand: time moves only when it is told to, and what is due happens
// while it moves, in the order of its time and then in the order in which it was
// asked for. It has no lock: a phone's lock is held around all that it does.
package clock

import (
	"container/heap"
	"context"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Queue is a clock and what is due on it.
type Queue struct {
	now       time.Duration
	due       events
	order     int
	advancing bool
}

// New is a clock that stands at a time.
func New(now time.Duration) *Queue { return &Queue{now: now} }

type event struct {
	at    time.Duration
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// Now is the time.
func (q *Queue) Now() time.Duration { return q.now }

// Advancing reports whether the clock moves: what runs now was due.
func (q *Queue) Advancing() bool { return q.advancing }

// At asks for something to be done at a time; now, where that is past.
func (q *Queue) At(t time.Duration, do func()) {
	q.order++
	heap.Push(&q.due, event{at: max(t, q.now), order: q.order, do: do})
}

// Advance moves the clock and does what is due.
func (q *Queue) Advance(d time.Duration) {
	if q.advancing {
		return // what happens on the clock can't move it
	}
	q.advancing = true
	until := q.now + max(d, 0)
	for len(q.due) > 0 && q.due[0].at <= until {
		e := heap.Pop(&q.due).(event)
		q.now = e.at
		e.do()
	}
	q.now = until
	q.advancing = false
}

// Spend lets time pass and then goes on: at once where a command was typed, on
// the clock where something else runs on it.
func (q *Queue) Spend(d time.Duration, then func()) {
	if q.advancing {
		q.At(q.now+d, then)
		return
	}
	q.Advance(d)
	then()
}

// SleepReal sleeps by this computer's clock.
func SleepReal(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Host is this computer's clock.
func Host() device.Clock { return host{time.Now()} }

type host struct{ start time.Time }

func (h host) Now() time.Duration { return time.Since(h.start) }

func (h host) Sleep(ctx context.Context, d time.Duration) error { return SleepReal(ctx, d) }
