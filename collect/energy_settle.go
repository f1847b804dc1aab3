package collect

import (
	"context"
	"fmt"
	"time"
)

// How long a device rests where the configuration does not say: before its first
// repetition, and again after it was lost, since it may have restarted; and after
// another build was installed, when it is warm from measuring already.
const (
	firstSettle = 2 * time.Minute
	laterSettle = 30 * time.Second
	settleStep  = 5 * time.Second
)

// settle rests the device between the warm-up and the first repetition, so that
// what installing and warming up set in motion is over (EDATA, section 3.7.2).
func (c *collector) settle(ctx context.Context) error {
	if c.meter == nil {
		return nil
	}
	for left := c.settleTime(); left > 0; left -= settleStep {
		c.report(Settle, 0, 0, fmt.Sprintf("%v left", left.Round(time.Second)))
		if err := c.clock.Sleep(ctx, min(left, settleStep)); err != nil {
			return c.fail(Infrastructure, Settle, 0, err)
		}
	}
	c.settled = true
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
