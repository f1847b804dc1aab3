package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/install"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/internal/apk"
)

// station is the device as it stands ready, for one collector or for several
// that take turns on it.
type station struct {
	target     *target.Target
	still      *conditions.Holder
	programs   *recorders.Programs
	perfetto   *recorders.Perfetto
	simpleperf *recorders.Simpleperf
	recording  recorders.Set       // perfetto and simpleperf
	meter      *power.Meter        // nil where no energy is measured
	release    func()              // gives up the claim to the device; nil: there is none
	sizes      map[string][]string // of the files of packages that were installed, in bytes
	// installed is what has put its build on the device, nil while that is unknown; clean has
	// each build installed anew, without what another left behind.
	installed *install.Installer
	clean     bool
	apps      []string // the packages that are measured in turns
	// evident says that what evidence needs is recorded.
	evident bool
	// by is what frames are taken from; settled says that a repetition had them from there,
	// so that all others have, and unrecorded that Perfetto tells of none.
	by                  frames.Source
	settled, unrecorded bool
	// instead is the usual source, where frames as they were shown are tried since that had
	// none; drewFirst says that it had the first frame of a window, and tried that Android drew
	// the app's frames after all.
	instead          frames.Source
	drewFirst, tried bool
}

func newStation(job Job, options Options) *station {
	t := target.New(job.name(), job.Clock, started(options), job.Open)
	t.Console = job.Console
	if job.Wall != nil {
		t.Wall = job.Wall
	}
	t.Died, t.Why = job.Died, job.Why
	programs := &recorders.Programs{Target: t}
	limit := recordLimit(job)
	s := &station{
		target: t, programs: programs, still: &conditions.Holder{Target: t, Want: job.Conditions, Energy: job.Energy.Measured()},
		perfetto: &recorders.Perfetto{Programs: programs, Limit: limit}, simpleperf: &recorders.Simpleperf{Programs: programs, Limit: limit},
	}
	s.sizes = map[string][]string{}
	s.recording.All = []recorders.Recorder{s.perfetto, s.simpleperf}
	return s
}

// recordLimit is after how long a recorder ends by itself.
func recordLimit(job Job) time.Duration {
	limit := job.Scenario.Timeout
	if limit <= 0 {
		limit = 24 * time.Hour
	}
	if job.Energy != nil {
		limit += job.Energy.Disconnect
	}
	return limit + 10*time.Minute
}

// setUp makes the device ready: what is measured on, installed, and told to
// measure.
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
	idle := step{"waiting for the device to be idle", c.still.Idle}
	if c.benchmarks() {
		c.tellUnmeasured()
		return c.do(ctx, []step{idle})
	}
	if c.records() {
		steps = append(steps, step{"ending what still records", c.programs.Prepare})
	}
	steps = append(steps, step{"readying the app's code", c.taking.timed(c.target.Clock, c.prepared.Compile)})
	if c.job.Energy.Measured() {
		steps = append(steps, step{"preparing to measure energy", c.prepareEnergy})
	}
	if c.watcher != nil {
		steps = append(steps, step{"preparing to keep evidence", c.prepareEvidence})
	}
	c.tellNotShown()
	if c.recordsFrames() {
		steps = append(steps, step{"preparing to record frames", c.prepareFrames})
	}
	return c.do(ctx, append(steps, idle))
}

// step is one of set-up.
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

// records reports whether anything is asked for that records on the device.
func (c *collector) records() bool {
	return c.job.Energy.Measured() || c.watcher != nil || c.recordsFrames()
}

// prepareEvidence has what is kept as evidence recorded.
func (c *collector) prepareEvidence(ctx context.Context) (err error) {
	c.evident, err = c.watcher.Prepare(ctx, c.apps)
	if c.evident && !c.traceable() {
		c.journal.Warnf("the app's own sections are in no trace, so that causes of slow frames name none of its functions, composables and items: add %s to <application> in its manifest", apk.TraceableLine)
	}
	return err
}

// traceable reports whether the app's own sections get into a trace, as far as its APK tells: on
// a build of Android for developers they do whatever the manifest says (libcutils,
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

// prepareEnergy finds out where joules can be had, and readies the device for them.
func (c *collector) prepareEnergy(ctx context.Context) error {
	if detached := c.detached(); detached != nil {
		if err := detached.Check(); err != nil {
			return err
		}
	}
	c.meter = power.New(c.target, *c.job.Energy, c.perfetto, c.simpleperf)
	if err := c.meter.Prepare(ctx); err != nil {
		return err
	}
	return c.meter.Ready(ctx, c.build)
}

// detached is how the workload runs without a connection, nil where it has one.
func (c *collector) detached() *workload.Detached {
	if c.job.Energy == nil || c.job.Energy.Disconnect <= 0 {
		return nil
	}
	return &workload.Detached{Plan: c.plan, Programs: c.programs, For: c.job.Energy.Disconnect, Frames: c.recordsFrames()}
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

// configure sets what a restart of the device undoes.
func (c *collector) configure(ctx context.Context) error {
	if err := c.prepared.Hold(ctx); err != nil {
		return err
	}
	if c.meter != nil { // again, after the device was lost
		if err := errors.Join(c.programs.EndAll(ctx), c.meter.Restore(ctx)); err != nil {
			return err
		}
	} else if c.evident || c.by.Recorded() {
		if err := c.programs.EndAll(ctx); err != nil {
			return err
		}
	}
	return c.prepared.Connect(ctx)
}

// install puts the APKs on the device.
func (c *collector) install(ctx context.Context) error {
	c.installed = c.prepared.Installer
	return c.installed.Install(ctx)
}

// readContext notes what kind of device this is, and of which version the app.
func (c *collector) readContext(ctx context.Context) (err error) {
	c.run.App.Version, err = c.prepared.ReadContext(ctx, c.run.App.Version)
	return err
}

// tearDown leaves the device as it was found, and gives it up.
func (c *collector) tearDown(ctx context.Context) {
	if c.release != nil {
		defer c.release()
	}
	c.target.Journal = c.journal
	c.target.TearDown(ctx, c.job.App.Package)
	c.recording.Close()
}
