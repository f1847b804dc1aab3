// Package clock simulates the clock of a phone, CLOCK_MONOTONIC, with the events that are
// scheduled on it.
//
// Time advances only on request, and events run while it advances, by time and then in the
// order in which they were scheduled. It has no lock: the phone's lock is held around all of
// its methods.
package clock

import (
	"container/heap"
	"context"
	"time"

	"github.com/apkgate/apkgate/device"
)

// Queue is a clock with its scheduled events.
type Queue struct {
	now       time.Duration
	due       events
	order     int
	advancing bool
}

// New returns a clock that starts at a time.
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

// Now returns the time.
func (q *Queue) Now() time.Duration { return q.now }

// Advancing reports whether the clock is advancing, so that the caller is a scheduled event.
func (q *Queue) Advancing() bool { return q.advancing }

// At schedules an event at a time, or now if that is past.
func (q *Queue) At(t time.Duration, do func()) {
	q.order++
	heap.Push(&q.due, event{at: max(t, q.now), order: q.order, do: do})
}

// Advance advances the clock and runs the events that are due.
func (q *Queue) Advance(d time.Duration) {
	if q.advancing {
		return // an event can't advance the clock
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

// Spend lets time pass and then calls then: at once for a typed command, on the clock for a
// scheduled event.
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
