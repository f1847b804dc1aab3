// Package collect measures: it drives a device through a scenario and makes a
// run of what it saw. Set-up, warm-up, then repetition by repetition: prepare,
// start the workload, read frames while it runs, read the log, sort the frames
// into a bucket for each UI event; at the end, leave the device as it was. Where
// energy is asked for, the device's power is recorded beside it, and each bucket
// gets its joules.
//
// It owns the order of things and what follows from a lost repetition. How a device
// is talked to is target's, what makes the app do something workload's, what records
// beside it recorders', what was seen of frames frames', of energy power's, of the
// log watch's; loss has the ways in which it fails, and journal what is told. It does
// not know how a device is reached (package device), what a dump means (package
// trace), what power a reading stands for (package energy), or whether the
// numbers are good (package gate).
//
// It takes a stand: a repetition is measured whole or it is lost, said so, and made
// again. Nothing is filled in.
//
// It has more files than other packages: each part of making a run has one.
package collect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/conditions"
	"github.com/apkgate/apkgate/collect/install"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/preparation"
	"github.com/apkgate/apkgate/collect/properties"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/claim"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/gfxinfo"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// Job is one run to be made: one scenario on one device.
type Job struct {
	// Device names what the run is of in reports: a device, or the profile of several
	// that are alike.
	Device string
	// Station names the very device in progress and in what goes wrong; "" is Device.
	Station string
	// Cost is about how long the job takes, for the order in which jobs are begun.
	Cost time.Duration
	// Open connects to the device, and again after it was lost.
	Open func(ctx context.Context) (device.Device, error)
	// Owner is who measures, for others who would use the device: it is marked as in
	// use from when it is connected to until it is left as it was found, and what a run
	// that was killed left changed on it is put back. nil where nobody else can use it.
	Owner *claim.Owner
	// OwnFor is how long somebody else who uses the device is waited for.
	OwnFor time.Duration
	// Claim takes the device on this computer for the owner, before it is connected to.
	// Where somebody else has it, Claim says so and waits. It returns what claim.Owner's
	// Lock says. nil takes nothing.
	Claim func(ctx context.Context, me claim.Owner, waiting func(message string)) (lock string, release func(), err error)
	// Clock is the device's time; nil is this computer's.
	Clock device.Clock
	// Console is the port of this computer on which the device's console answers, where it
	// is an emulator that runs here; 0: none.
	Console int
	// Wall is the clock by which the device's answers are waited for; nil is this
	// computer's. A simulated device has one of its own.
	Wall device.Clock
	// Died is closed when the device is gone for good, and Why says how: what booted it
	// knows. It is then not waited for. nil where nobody can tell.
	Died <-chan struct{}
	Why  func() string

	App      config.App
	Scenario config.Scenario
	// Network is set up before the run: "wifi", "none", or any other name for
	// mobile data; "" leaves the device's as it is.
	Network string
	// Extra are context properties that no device can tell; they win.
	Extra   map[string]string
	Source  run.Source
	Session string
	// Energy says how joules are measured; nil measures none.
	Energy *config.Energy
	// Conditions say how the device is held still.
	Conditions config.Conditions
	// Evidence says what is kept of what was recorded; nothing where Options have no
	// Evidence.
	Evidence config.Evidence
	// Files are kept already, and belong to the run whatever is kept of what is recorded.
	Files []run.Evidence
	// KeepInstalled leaves on the device what was installed for the run.
	KeepInstalled bool
}

// Options are what a collection needs from its surroundings.
type Options struct {
	// Host runs a command of this computer, for Maestro; nil refuses it.
	Host workload.HostRunner
	// Evidence takes the files that are kept with the runs; nil keeps none. The jobs
	// of a lab share it.
	Evidence evidence.Keeper
	// Progress is told what happens; nil keeps quiet.
	Progress journal.Progress
	// Now is the time of day, for Run.Started; nil is time.Now.
	Now func() time.Time
}

// Result is what became of a job.
type Result struct {
	Device  string
	Station string // on which it was made; "" where it was not begun
	// Run is what was measured: a valid record, whose last warning says why it is
	// not complete where it isn't.
	Run run.Run
	// Err is the gravest cause why the run is not complete, a *loss.Error; nil
	// where it is.
	Err error
	// Traces are the samples of the app's methods, a trace for each iteration;
	// none where they were not sampled.
	Traces []methods.Trace
	// Took is how long its parts took, as far as they were made in one go.
	Took Took
}

// Collect makes one run. However it ends, the device is left as it was found,
// as far as it can still be reached.
func Collect(ctx context.Context, job Job, options Options) Result {
	c := newCollector(job, options, newStation(job, options))
	err := c.collect(ctx)
	return c.result(context.WithoutCancel(ctx), err)
}

// NotMade is the result of a job that was not begun, because of err.
func NotMade(job Job, options Options, err error) Result {
	c := newCollector(job, options, newStation(job, options))
	return c.result(context.Background(), c.fail(loss.Infrastructure, journal.SetUp, 0, err))
}

// name is what the device is called in progress and in what goes wrong.
func (j Job) name() string { return cmp.Or(j.Station, j.Device) }

// result is what became of the job that ended with the error, nil for none.
func (c *collector) result(ctx context.Context, err error) Result {
	if c.watcher != nil {
		c.target.Journal = c.journal
		c.watcher.Close(ctx)
	}
	return Result{Device: c.job.Device, Station: c.job.Station, Run: c.finish(err), Err: err, Traces: power.Traces(record.Spent(c.measured)), Took: c.taking.took()}
}

// started is the time of day at which a run begins.
func started(options Options) time.Time {
	now := time.Now
	if options.Now != nil {
		now = options.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}

// collector is the state of one job.
type collector struct {
	*station
	job     Job
	journal *journal.Journal
	plan    workload.Plan
	build   *power.Build
	// prepared is what is done to the device beforehand, and what is known by that.
	prepared *preparation.Preparation
	context  *properties.Noted
	watcher  *applog.Watcher // nil where no evidence is kept

	run      run.Run
	measured []record.Measurement
	taking   taking
	paths    section.Collector // what their frames were spent on
	retries  int               // how many lost repetitions may still be made again
	losses   []error
	writesUI bool // the test writes UI events
	// sawFrames says that the app has drawn something.
	sawFrames bool
	current   *attempt // whose log was not looked through for what did not respond, nil for none
	views     record.Views
	noViews   bool                // that the device does not tell of them
	restarts  []record.Standstill // of Android itself, in attempts at the repetition that were lost
	counted   gfxinfo.Stated      // of the app's frames, before it was last stopped
	full      applog.FullDisplay  // of the start that is measured
	before    applog.FullDisplay  // of the start before a warm or a hot one
	cpuBefore time.Duration       // that the app's process has had before it is measured
}

func newCollector(job Job, options Options, s *station) *collector {
	c := &collector{
		station: s, job: job, journal: journal.New(job.name(), options.Progress), retries: job.Scenario.Retries,
		plan: workload.Plan{Target: s.target, Scenario: job.Scenario, App: job.App.Package, Host: options.Host},
	}
	c.run = run.Run{
		Format: run.Format, Started: started(options),
		App:    run.App{Package: job.App.Package, Version: job.App.Version, Build: job.App.Build},
		Source: job.Source, Scenario: job.Scenario.Name, Session: job.Session,
		Context: map[string]string{}, Evidence: job.Files,
	}
	c.context = &properties.Noted{Values: c.run.Context, Journal: c.journal}
	c.build = &power.Build{App: job.App, Note: c.context.Set}
	c.prepared = &preparation.Preparation{
		Target: s.target, Conditions: s.still, Context: c.context,
		Installer: &install.Installer{Target: s.target, App: job.App, Scenario: job.Scenario, Clean: s.clean, Keep: job.KeepInstalled, Sizes: s.sizes},
		Rate:      &conditions.Rate{Target: s.target, Hz: job.Scenario.RefreshHz},
		App:       job.App, Scenario: job.Scenario, Network: job.Network, Extra: job.Extra, Energy: job.Energy,
	}
	if options.Evidence != nil && job.Evidence.Keeps() {
		c.watcher = &applog.Watcher{
			Target: s.target, Perfetto: s.perfetto, App: job.App.Package,
			All: job.Evidence.Keep == config.KeepAll, Anomalies: job.Evidence.Keep != config.KeepWorst,
			Keeper: evidence.OfRun(options.Evidence, evidence.Default.Files, evidence.Default.Run),
		}
	}
	if !slices.Contains(s.apps, job.App.Package) {
		s.apps = append(s.apps, job.App.Package)
	}
	s.target.Apps = s.apps
	s.target.Journal = c.journal
	c.full = applog.FullDisplay{Target: s.target, App: job.App.Package}
	c.before = c.full
	return c
}

func (c *collector) collect(ctx context.Context) error {
	defer c.tearDown(ctx)
	if err := c.setUp(ctx); err != nil {
		return err
	}
	return c.repeat(ctx)
}

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
		_, err := c.repetition(ctx, n, false)
		if changed, failed := c.changesSource(ctx, err); changed || failed != nil {
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
	if c.meter == nil {
		return nil
	}
	return c.meter.Settle(ctx)
}

// measure makes a repetition. A lost one is made again, as often as the
// scenario allows in one run; one more ends the run, which can't become whole.
func (c *collector) measure(ctx context.Context, n int) error {
	for {
		c.journal.Report(journal.Measure, n, c.job.Scenario.Repetitions, "")
		began := c.target.Clock.Now()
		m, err := c.turn(ctx, n)
		switch again, err := c.changesSource(ctx, err); {
		case err != nil:
			return c.fail(loss.Infrastructure, journal.Measure, n, err)
		case again:
			continue
		}
		if err == nil {
			c.measured, c.restarts = append(c.measured, m), nil
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

// lost notes a lost repetition and brings the device back where it is gone. It
// returns the error that ends the run: the user's interrupt, a device that
// stays away, a workload that can't be started at all.
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
	c.seekRestart(ctx, n)
	return nil
}

func (c *collector) fail(cause loss.Cause, phase journal.Phase, repetition int, err error) error {
	return loss.Of(c.job.name(), cause, phase, repetition, err)
}

// Took is how long the parts of a run took by the device's clock, 0 where there was none:
// what a build's turn is put right with (installing, compiling, warming up), and one
// repetition on average.
type Took struct{ SetUp, Repetition time.Duration }

// taking adds up how long parts take.
type taking struct {
	setUp, repetitions time.Duration
	made               int
}

// timed does a part of set-up.
func (t *taking) timed(clock device.Clock, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		began := clock.Now()
		err := do(ctx)
		t.setUp += clock.Now() - began
		return err
	}
}

// repetition adds one that was made.
func (t *taking) repetition(clock device.Clock, began time.Duration) {
	t.repetitions += clock.Now() - began
	t.made++
}

func (t *taking) took() Took {
	out := Took{SetUp: t.setUp}
	if t.made > 0 {
		out.Repetition = t.repetitions / time.Duration(t.made)
	}
	return out
}
