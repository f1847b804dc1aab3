package collect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
)

// ready brings the device and the app to the state in which every repetition begins:
// the app is stopped, the device cool, its screen on and unlocked as set-up has left it.
func (c *collector) ready(ctx context.Context, measured bool) error {
	if err := c.reset(ctx); err != nil {
		return err
	}
	return c.prepared.Rest(ctx, measured)
}

// reset brings the app to the state in which every repetition begins, after what the system has
// counted of it was noted.
func (c *collector) reset(ctx context.Context) error {
	if err := c.countBefore(ctx); err != nil {
		return err
	}
	return c.prepared.Reset(ctx)
}

// readyStart brings the app, which was stopped, to the state that its start is to
// begin from.
func (c *collector) readyStart(ctx context.Context) error {
	s := c.job.Scenario.Workload.Startup
	switch {
	case s == nil:
		return nil
	case s.Mode == config.StartCold:
		return c.plan.ReadyCold(ctx)
	}
	log, err := applog.OpenLog(ctx, c.target)
	if err != nil {
		return err
	}
	if err := c.plan.StartBefore(ctx); err != nil {
		return err
	}
	if lost, err := c.before.Await(ctx, log); lost != nil || err != nil {
		return errors.Join(lost, err)
	}
	if err := c.plan.Leave(ctx); err != nil {
		return err
	}
	return c.readCPUBefore(ctx)
}

// readCPUBefore notes what CPU time the app's process has had before a warm or a hot
// start, which is none of the start's.
func (c *collector) readCPUBefore(ctx context.Context) error {
	out, err := c.target.Ask(ctx, "cat /proc/$("+target.PIDs(c.job.App.Package)+")/stat")
	if err != nil {
		return fmt.Errorf("read the app's CPU time: %w", err)
	}
	before, ok := frames.CPUOf(out.Stdout)
	if c.cpuBefore = before; !ok {
		c.cpuBefore = unknownCPU
	}
	return nil
}

// unknownCPU is more than any process has had.
const unknownCPU = time.Duration(math.MaxInt64)

// cpuSince is how much of a CPU time the repetition's own is; 0 where that is not known.
func (c *collector) cpuSince(total time.Duration) time.Duration { return max(total-c.cpuBefore, 0) }

// logged reports whether the log tells of the start that is measured: an activity
// that comes back is neither displayed nor fully drawn anew.
func (c *collector) logged() bool {
	return c.job.Scenario.Workload.Startup.Mode != config.StartHot
}
