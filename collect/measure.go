package collect

import (
	"context"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
)

// repeat makes the warm-up and all repetitions, on a device that is set up.
func (c *collector) repeat(ctx context.Context) error {
	if err := c.taking.timed(c.target.Clock, c.warmUp)(ctx); err != nil {
		return err
	}
	for n := 1; n <= c.job.Scenario.Repetitions; n++ {
		if err := c.measure(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// warmUp runs the workload unmeasured.
func (c *collector) warmUp(ctx context.Context) error {
	for n := 1; n <= c.job.Scenario.WarmUp; n++ {
		c.journal.Report(journal.WarmUp, n, c.job.Scenario.WarmUp, "")
		_, err := c.repeater.Make(ctx, n, false)
		if changed, failed := c.phone.Frames.Changed(ctx, err, c.records()); changed || failed != nil {
			err = failed
		}
		if err != nil {
			if fatal := c.lost(ctx, "warm-up", n, err); fatal != nil {
				return fatal
			}
		}
	}
	return c.settle(ctx)
}

// settle rests the device before energy is measured.
func (c *collector) settle(ctx context.Context) error {
	if c.phone.Meter == nil {
		return nil
	}
	return c.phone.Meter.Settle(ctx)
}

// measure makes a repetition. A lost one is repeated, as often as the scenario allows in one run;
// one more loss ends the run, which can't be completed.
func (c *collector) measure(ctx context.Context, n int) error {
	for {
		c.journal.Report(journal.Measure, n, c.job.Scenario.Repetitions, "")
		began := c.target.Clock.Now()
		m, err := c.turn(ctx, n)
		switch again, err := c.phone.Frames.Changed(ctx, err, c.records()); {
		case err != nil:
			return c.fail(loss.Infrastructure, journal.Measure, n, err)
		case again:
			continue
		}
		if err == nil {
			c.measured = append(c.measured, m)
			c.taking.repetition(c.target.Clock, began)
			return nil
		}
		c.losses = append(c.losses, err)
		if fatal := c.lost(ctx, "repetition", n, err); fatal != nil {
			return fatal
		}
		if c.retries == 0 {
			return loss.Gravest(c.losses)
		}
		c.retries--
	}
}

// turn makes one repetition, after installing its build if another's is installed, or after resting
// a lost device that has come back.
func (c *collector) turn(ctx context.Context, n int) (record.Measurement, error) {
	c.target.Journal = c.journal
	ready := func(context.Context) error { return nil }
	switch {
	case c.installed != c.prepared.Installer:
		ready = c.takeOver
	case c.phone.Meter != nil && !c.phone.Meter.Settled():
		ready = c.settle
	}
	if err := ready(ctx); err != nil {
		return record.Measurement{}, c.fail(loss.Infrastructure, journal.Measure, n, err)
	}
	return c.repeater.Make(ctx, n, true)
}

// takeOver installs this collector's build in place of another's, and warms it up.
func (c *collector) takeOver(ctx context.Context) error {
	c.journal.Report(journal.SetUp, 0, 0, "installing the other build")
	c.installed = nil
	if err := c.target.Try(ctx, "am", "force-stop", c.job.App.Package); err != nil {
		return err
	}
	if err := c.prepared.Installer.InstallApp(ctx); err != nil {
		return err
	}
	c.installed = c.prepared.Installer
	if len(c.run.Context) == 0 {
		if err := c.readContext(ctx); err != nil {
			return err
		}
	}
	if err := c.repeater.PrepareMethods(ctx); err != nil {
		return err
	}
	if err := c.plan.FindActivity(ctx); err != nil {
		return err
	}
	if err := c.prepared.Compile(ctx); err != nil {
		return err
	}
	if c.phone.Meter != nil {
		if err := c.phone.Meter.Ready(ctx, c.build); err != nil {
			return err
		}
	}
	return c.warmUp(ctx)
}

// lost records a lost repetition and brings a lost device back. It returns the error that ends the
// run: the user's interrupt, a device that does not come back, a workload that can't be started at
// all.
func (c *collector) lost(ctx context.Context, what string, n int, err error) error {
	if ctx.Err() != nil {
		return c.fail(loss.Infrastructure, journal.Measure, n, ctx.Err())
	}
	c.journal.Warnf("%s %d%s%v", what, n, loss.Text, err)
	if problem := loss.As(err); problem != nil && problem.Final {
		return err
	}
	if !loss.IsInfrastructure(err) || loss.Answers(err) {
		return nil
	}
	if again := c.target.Reconnect(ctx, c.configure); again != nil {
		return c.fail(loss.Infrastructure, journal.Measure, n, again)
	}
	c.repeater.SeekRestart(ctx, n)
	return nil
}
