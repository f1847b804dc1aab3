package phone

import (
	"container/heap"
	"context"
	"time"

	"github.com/apkgate/apkgate/device"
)

// queue is what is due on a phone, by time and then in the order in which it was
// asked for.
type queue struct {
	now       time.Duration // CLOCK_MONOTONIC
	due       events
	order     int
	advancing bool
	finished  []*shell // ended while the clock advanced
}

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

// at asks for something to be done at a time, with the phone locked.
func (p *Phone) at(t time.Duration, do func()) {
	p.clock.order++
	heap.Push(&p.clock.due, event{at: max(t, p.clock.now), order: p.clock.order, do: do})
}

// advance moves the clock and does what is due, with the phone locked.
func (p *Phone) advance(d time.Duration) {
	if p.clock.advancing {
		return // what happens on the clock can't move it
	}
	p.clock.advancing = true
	until := p.clock.now + max(d, 0)
	for len(p.clock.due) > 0 && p.clock.due[0].at <= until {
		e := heap.Pop(&p.clock.due).(event)
		p.clock.now = e.at
		e.do()
	}
	p.clock.now = until
	p.clock.advancing = false
}

// spend lets time pass and then goes on: at once where a command was typed, on
// the clock where something else runs on it.
func (p *Phone) spend(d time.Duration, then func()) {
	if p.clock.advancing {
		p.at(p.clock.now+d, then)
		return
	}
	p.advance(d)
	then()
}

// boottime is CLOCK_BOOTTIME.
func (p *Phone) boottime() time.Duration { return p.clock.now + onceSlept }

func (p *Phone) wall(monotonic time.Duration) time.Time { return epoch.Add(monotonic + onceSlept) }

// Clock is the phone's own clock, CLOCK_MONOTONIC. To sleep on it is what moves
// the phone's time.
func (p *Phone) Clock() device.Clock { return clock{p} }

type clock struct{ phone *Phone }

func (c clock) Now() time.Duration {
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	return c.phone.clock.now
}

// Sleep moves the phone's time by d at once, and returns when what ended in it
// has been told to whoever started it: so the end is seen before the next command
// is sent, and how often a measurement looks does not depend on luck. With a rate,
// it waits for the clock instead.
func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if rate := c.phone.options.Rate; rate > 0 {
		return sleepReal(ctx, time.Duration(float64(d)/rate))
	}
	c.phone.mu.Lock()
	c.phone.advance(d)
	finished := c.phone.takeFinished()
	c.phone.mu.Unlock()
	return delivered(ctx, finished)
}

// takeFinished are the command lines that ended on the clock since the last time.
func (p *Phone) takeFinished() []*shell {
	finished := p.clock.finished
	p.clock.finished = nil
	return finished
}

// patience bounds how long Sleep waits for a reader that doesn't read.
const patience = 10 * time.Second

// onTheWire is for what the client does between closing its stream and having told
// whoever waits for the end, which can't be waited for from here. It passes once for
// each workload.
const onTheWire = 5 * time.Millisecond

// delivered waits until whoever started the command lines knows of their end.
func delivered(ctx context.Context, finished []*shell) error {
	if len(finished) == 0 {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, s := range finished {
		for _, step := range []<-chan struct{}{s.delivered, s.served} {
			if step == nil {
				continue
			}
			select {
			case <-step:
			case <-bound.Done():
				return ctx.Err()
			}
		}
	}
	return sleepReal(ctx, onTheWire)
}

func sleepReal(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run lets the clock run by itself.
func (p *Phone) run(rate float64) {
	const tick = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	p.stopRate = cancel
	go func() {
		last := time.Now()
		for sleepReal(ctx, tick) == nil {
			now := time.Now()
			p.mu.Lock()
			p.advance(time.Duration(float64(now.Sub(last)) * rate))
			p.clock.finished = nil
			p.mu.Unlock()
			last = now
		}
	}()
}
