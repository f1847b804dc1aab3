package phone

import (
	"context"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator/internal/clock"
)

// SetWallClock advances the phone's wall clock, like a time server.
func (p *Phone) SetWallClock(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log.Boot = p.log.Boot.Add(by)
}

// date is date [+FORMAT], with numeric formats only (toybox, before Android 6 toolbox). The
// time zone is UTC.
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

// Clock returns the phone's own clock, CLOCK_MONOTONIC. Sleeping on it advances the phone's
// time.
func (p *Phone) Clock() device.Clock { return ownClock{p} }

type ownClock struct{ phone *Phone }

func (c ownClock) Now() time.Duration {
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	return c.phone.clock.Now()
}

// Sleep advances the phone's time by d at once, and returns when the clients of all commands
// that ended have received their results. So an end is seen before the next command is sent,
// and the number of polls in a measurement is deterministic. With a rate, it waits for the
// clock instead.
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
	if c.phone.stalled() { // no result can be delivered
		finished = nil
	}
	c.phone.mu.Unlock()
	return finished.Delivered(ctx)
}

// run makes the clock advance by itself.
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
