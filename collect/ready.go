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
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
)

// ready brings the device and the app to the state in which every repetition begins:
// the app is stopped, the device cool, its screen on and unlocked as set-up has left it.
func (c *collector) ready(ctx context.Context, measured bool) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if measured && !c.hot() {
		if err := c.target.CoolDown(ctx); err != nil {
			return err
		}
	}
	return c.relight(ctx)
}

// hot reports whether the user wants no rest: energy is measured without settling.
func (c *collector) hot() bool {
	e := c.job.Energy
	return e.Measured() && e.Settle != nil && *e.Settle == 0
}

// relight turns the screen on again that went dark since set-up, and dismisses the lock
// screen that came with it.
func (c *collector) relight(ctx context.Context) error {
	shown, err := c.target.Shows(ctx)
	switch {
	case err != nil || shown == target.ShowsApps:
		return err
	case shown == target.ShowsDialog:
		return c.still.Dismiss(ctx)
	}
	if shown == target.ShowsNothing {
		c.journal.Warnf("the screen had gone off between two repetitions, and was turned on again: what turns it off?")
		if err := c.lightUp(ctx); err != nil {
			return err
		}
	}
	return c.unlock(ctx)
}

// lightUp turns the screen on and keeps it on.
func (c *collector) lightUp(ctx context.Context) error {
	if err := c.target.StayOn(ctx, c.job.App.Package); err != nil {
		return err
	}
	return c.target.KeepLit(ctx)
}

// prepare brings the app to the state in which every repetition begins.
func (c *collector) prepare(ctx context.Context) error {
	if err := c.countBefore(ctx); err != nil {
		return err
	}
	if err := c.stopApps(ctx); err != nil {
		return err
	}
	if !c.job.Scenario.ClearData {
		return nil
	}
	out, err := c.target.Exec(ctx, "pm", "clear", c.job.App.Package)
	if err := target.Answered("clear the app's data", out, err); err != nil {
		return err
	}
	if said := target.FirstLine(out.Stdout); said != "Success" {
		return fmt.Errorf("clear the app's data: the device says %q", said)
	}
	return c.grantAgain(ctx)
}

// stopApps stops the app and its test; what would start them again first.
func (c *collector) stopApps(ctx context.Context) error {
	running := []string{c.job.App.Package, workload.TestPackage(c.job.Scenario.Workload)}
	if workload.Orchestrated(c.job.Scenario.Workload) {
		running = append([]string{workload.OrchestratorPackage}, running...)
	}
	for _, pkg := range running {
		if pkg == "" {
			continue
		}
		if err := c.target.Try(ctx, "am", "force-stop", pkg); err != nil {
			return err
		}
	}
	return nil
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
