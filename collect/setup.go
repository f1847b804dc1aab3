package collect

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/internal/apk"
)

// setUp prepares the device: what is measured is installed, and the sources of the measurements are
// ready.
func (c *collector) setUp(ctx context.Context) error {
	c.target.Journal = c.journal
	if err := c.claim(ctx); err != nil {
		return c.fail(loss.Infrastructure, journal.SetUp, 0, err)
	}
	c.journal.Report(journal.SetUp, 0, 0, "connecting")
	if err := c.target.Open(ctx); err != nil {
		return c.fail(loss.Infrastructure, journal.SetUp, 0, fmt.Errorf("connect to %s: %w", c.job.name(), err))
	}
	steps := []step{
		{"waiting for the device to have started", c.target.WaitBooted},
		{"taking the device", func(ctx context.Context) error { return c.target.Own(ctx, c.job.OwnFor) }},
		{"reading what the device is", c.target.ReadFacts},
		{"installing", c.taking.timed(c.target.Clock, c.install)},
		{"setting up", c.configure},
		{"checking that the device is fit", c.prepared.Check},
		{"reading the context", c.readContext},
		{"checking the log", func(ctx context.Context) error { return applog.ProbeLog(ctx, c.target) }},
		{"preparing the workload", c.plan.Prepare},
	}
	if err := c.do(ctx, steps); err != nil {
		return err
	}
	steps = nil
	idle := step{"waiting for the device to be idle", c.conditions.Idle}
	if c.benchmarks() {
		if c.job.Energy.Measured() {
			c.journal.Warnf("energy is not measured with a Macrobenchmark: its PowerMetric does it")
		}
		return c.do(ctx, []step{idle})
	}
	if c.records() {
		steps = append(steps, step{"ending what still records", c.phone.Programs.Prepare})
	}
	steps = append(steps, step{"readying the app's code", c.taking.timed(c.target.Clock, c.prepared.Compile)})
	if c.job.Energy.Measured() {
		steps = append(steps, step{"preparing to measure energy", c.prepareEnergy})
	}
	if c.watcher != nil {
		steps = append(steps, step{"preparing to keep evidence", c.prepareEvidence})
	}
	c.phone.Frames.WarnNotShown()
	if c.phone.Frames.Records() {
		steps = append(steps, step{"preparing to record frames", c.phone.Frames.Prepare})
	}
	return c.do(ctx, append(steps, idle))
}

// step is a step of set-up.
type step struct {
	what string
	do   func(context.Context) error
}

func (c *collector) do(ctx context.Context, steps []step) error {
	for _, step := range steps {
		c.journal.Report(journal.SetUp, 0, 0, step.what)
		if err := step.do(ctx); err != nil {
			return c.fail(loss.Infrastructure, journal.SetUp, 0, err)
		}
	}
	return nil
}

// prepareEvidence prepares recording the evidence that may be kept.
func (c *collector) prepareEvidence(ctx context.Context) (err error) {
	c.phone.Evident, err = c.watcher.Prepare(ctx, c.apps)
	if c.phone.Evident && !c.traceable() {
		c.journal.Warnf("the app's own sections are in no trace, so that causes of slow frames name none of its functions, composables and items: add %s to <application> in its manifest", apk.TraceableLine)
	}
	if err != nil {
		return err
	}
	return c.repeater.PrepareMethods(ctx)
}

// traceable reports whether the app's own sections appear in a trace, as far as its APK shows: on a
// developer build of Android they do whatever the manifest says (libcutils,
// atrace_is_app_tracing_enabled).
func (c *collector) traceable() bool {
	if c.target.Facts.Properties["ro.debuggable"] == "1" {
		return true
	}
	known := false
	for _, path := range c.job.App.APKs() {
		if m, err := apk.ReadManifest(path); err == nil {
			if m.Traceable() {
				return true
			}
			known = true
		}
	}
	return !known
}

// prepareEnergy finds a source of joules, and prepares the device for it.
func (c *collector) prepareEnergy(ctx context.Context) error {
	if detached := c.work.Detached(c.phone); detached != nil {
		if err := detached.Check(); err != nil {
			return err
		}
	}
	c.phone.Meter = energymeter.New(c.target, *c.job.Energy, c.phone.Perfetto, c.simpleperf)
	if err := c.phone.Meter.Prepare(ctx); err != nil {
		return err
	}
	return c.phone.Meter.Ready(ctx, c.build)
}

// claim takes the device for this process.
func (c *collector) claim(ctx context.Context) (err error) {
	owner := c.job.Owner
	if owner == nil {
		return nil
	}
	me := *owner
	me.Doing = c.job.App.Package + "/" + c.job.Scenario.Name
	if c.job.Claim != nil {
		me.Lock, c.release, err = c.job.Claim(ctx, me, func(message string) { c.journal.Report(journal.Waiting, 0, 0, message) })
	}
	c.target.Owner = &me
	return err
}

// configure makes the changes that a restart of the device undoes.
func (c *collector) configure(ctx context.Context) error {
	if err := c.prepared.Hold(ctx); err != nil {
		return err
	}
	if c.phone.Meter != nil { // again, after the device was lost
		if err := errors.Join(c.phone.Programs.EndAll(ctx), c.phone.Meter.Restore(ctx)); err != nil {
			return err
		}
	} else if c.phone.Evident || c.phone.Frames.By.Recorded() {
		if err := c.phone.Programs.EndAll(ctx); err != nil {
			return err
		}
	}
	return c.prepared.Connect(ctx)
}

// install installs the APKs on the device.
func (c *collector) install(ctx context.Context) error {
	c.installed = c.prepared.Installer
	return c.installed.Install(ctx)
}

// readContext records what kind of device this is, and the app's version.
func (c *collector) readContext(ctx context.Context) (err error) {
	c.run.App.Version, err = c.prepared.ReadContext(ctx, c.run.App.Version)
	return err
}

// tearDown leaves the device as it was found, and releases it.
func (c *collector) tearDown(ctx context.Context) {
	if c.release != nil {
		defer c.release()
	}
	c.target.Journal = c.journal
	c.target.TearDown(ctx, c.job.App.Package)
	c.phone.Recording.Close()
}
