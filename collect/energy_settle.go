package collect

import (
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/device"
)

// How long a device rests where the configuration does not say: before its first
// repetition, and again after it was lost, since it may have restarted; and after
// another build was installed, when it is warm from measuring already.
const (
	firstSettle = 2 * time.Minute
	laterSettle = 30 * time.Second
	settleStep  = 5 * time.Second
	// longestCooling is how much longer it rests while Android slows it for heat.
	longestCooling = 10 * time.Minute
)

// settle rests the device between the warm-up and the first repetition, so that
// what installing and warming up set in motion is over (EDATA, section 3.7.2).
func (c *collector) settle(ctx context.Context) error {
	if c.meter == nil {
		return nil
	}
	rest := c.settleTime()
	for left := rest; left > 0; left -= settleStep {
		c.report(Settle, 0, 0, fmt.Sprintf("%v left", left.Round(time.Second)))
		if err := c.clock.Sleep(ctx, min(left, settleStep)); err != nil {
			return c.fail(Infrastructure, Settle, 0, err)
		}
	}
	if rest > 0 {
		if err := c.coolDown(ctx); err != nil {
			return c.fail(Infrastructure, Settle, 0, err)
		}
	}
	c.settled = true
	return nil
}

// coolDown waits, for so long, until heat no longer slows the device down.
func (c *collector) coolDown(ctx context.Context) error {
	for left := longestCooling; left > 0; left -= settleStep {
		heat, _, err := device.Slowed(ctx, c.dev)
		if err != nil || heat == "" {
			return err
		}
		c.report(Settle, 0, 0, fmt.Sprintf("cooling down (%s)", clip(heat)))
		if err := c.clock.Sleep(ctx, settleStep); err != nil {
			return err
		}
	}
	c.warnf("the device did not cool down within %v", longestCooling)
	return nil
}

// tellSlowness says where the device was slowed down in a repetition, as far as
// that can be seen at its end.
func (c *collector) tellSlowness(ctx context.Context, n int) error {
	if c.meter == nil {
		return nil
	}
	heat, saver, err := device.Slowed(ctx, c.dev)
	if err != nil {
		return err
	}
	if heat != "" {
		c.warnf("repetition %d: Android was slowing the device down for heat (%s): its joules are those of a hot device", n, clip(heat))
	}
	if saver {
		c.warnf("the battery saver was on: Android was slowing the device down")
	}
	return nil
}

// settleTime is how long the device is to rest now.
func (c *collector) settleTime() time.Duration {
	switch {
	case c.meter.settings.Settle != nil:
		return *c.meter.settings.Settle
	case !c.meter.choice.Source.Measured():
		return 0
	case c.settled:
		return laterSettle
	}
	return firstSettle
}
