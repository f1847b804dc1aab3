package phone

import (
	"context"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator/internal/clock"
)

// SetWallClock sets the phone's wall clock forward, as a time server does.
func (p *Phone) SetWallClock(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.Boot = p.log.Boot.Add(by)
}

// date is date [+FORMAT], of which a simulated phone has the numbers alone (toybox, before
// Android 6 toolbox). Its time zone is UTC.
func date(c *call) int {
	now := c.log.Boot.Add(c.clock.Now())
	layout, ok := strings.CutPrefix(c.Arg(0), "+")
	if !ok {
		c.Printf("%s\n", now.UTC().Format(time.UnixDate))
		return 0
	}
	var parts []string
	for _, one := range [][2]string{{"%Y", "2006"}, {"%m", "01"}, {"%d", "02"}, {"%H", "15"}, {"%M", "04"}, {"%S", "05"}} {
		parts = append(parts, one[0], now.UTC().Format(one[1]))
	}
	c.Printf("%s\n", strings.NewReplacer(parts...).Replace(layout))
	return 0
}

// Clock is the phone's own clock, CLOCK_MONOTONIC. To sleep on it is what moves
// the phone's time.
func (p *Phone) Clock() device.Clock { return ownClock{p} }

type ownClock struct{ phone *Phone }

func (c ownClock) Now() time.Duration {
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	return c.phone.clock.Now()
}

// Sleep moves the phone's time by d at once, and returns when what ended in it
// has been told to whoever started it: so the end is seen before the next command
// is sent, and how often a measurement looks does not depend on luck. With a rate,
// it waits for the clock instead.
func (c ownClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if rate := c.phone.options.Rate; rate > 0 {
		return clock.SleepReal(ctx, time.Duration(float64(d)/rate))
	}
	c.phone.mu.Lock()
	c.phone.clock.Advance(d)
	finished := c.phone.host.TakeFinished()
	if c.phone.stalled() { // nobody can be told
		finished = nil
	}
	c.phone.mu.Unlock()
	return finished.Delivered(ctx)
}

// run lets the clock run by itself.
func (p *Phone) run(rate float64) {
	const tick = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	p.stopRate = cancel
	go func() {
		last := time.Now()
		for clock.SleepReal(ctx, tick) == nil {
			now := time.Now()
			p.mu.Lock()
			p.clock.Advance(time.Duration(float64(now.Sub(last)) * rate))
			p.host.TakeFinished()
			p.mu.Unlock()
			last = now
		}
	}()
}
