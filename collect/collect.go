// Package collect measures: it drives a device through a scenario and makes a
// run of what it saw. Set-up, warm-up, then repetition by repetition: prepare,
// start the workload, read frames while it runs, read the log, sort the frames
// into a bucket for each UI event; at the end, leave the device as it was. Where
// energy is asked for, the device's power is recorded beside it, and each bucket
// gets its joules.
//
// It owns the order of things and what counts as a lost repetition. It does not
// know how a device is reached (package device), what a dump means (package
// trace), what power a reading stands for (package energy), or whether the
// numbers are good (package gate).
//
// It takes a stand: all waiting goes through the device's clock, so that a
// simulated lab takes seconds, but for how long a device may keep silent; and a repetition is measured whole or it is
// lost, said so, and made again. Nothing is filled in.
package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/run"
)

// Job is one run to be made: one scenario on one device.
type Job struct {
	// Device names the device in reports and progress. Jobs of one name are
	// never run at the same time.
	Device string
	// Open connects to the device, and again after it was lost.
	Open func(ctx context.Context) (device.Device, error)
	// Claim takes the device for this process, from before it is connected to until
	// it is left as it was found. Where somebody else has it, Claim says so and
	// waits. nil takes nothing.
	Claim func(ctx context.Context, waiting func(message string)) (release func(), err error)
	// Clock is the device's time; nil is this computer's.
	Clock device.Clock

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
	// KeepInstalled leaves on the device what was installed for the run.
	KeepInstalled bool
}

// Options are what a collection needs from its surroundings.
type Options struct {
	// Host runs a command of this computer, for Maestro; nil refuses it.
	Host HostRunner
	// Progress is told what happens; nil keeps quiet.
	Progress Progress
	// Now is the time of day, for Run.Started; nil is time.Now.
	Now func() time.Time
}

// HostRunner runs a command on this computer to its end and returns what it
// printed and its exit code. It stops the command when ctx ends.
type HostRunner func(ctx context.Context, name string, args ...string) (output []byte, exitCode int, err error)

// Result is what became of a job.
type Result struct {
	Device string
	// Run is what was measured: a valid record, whose last warning says why it is
	// not complete where it isn't.
	Run run.Run
	// Err is the gravest cause why the run is not complete, an *Error; nil
	// where it is.
	Err error
	// Traces are the samples of the app's methods, a trace for each iteration;
	// none where they were not sampled.
	Traces []methods.Trace
}

// Collect makes one run. However it ends, the device is left as it was found,
// as far as it can still be reached.
func Collect(ctx context.Context, job Job, options Options) Result {
	c := newCollector(job, options, &station{})
	err := c.collect(ctx)
	return c.result(err)
}

// result is what became of the job that ended with the error, nil for none.
func (c *collector) result(err error) Result {
	return Result{Device: c.job.Device, Run: c.finish(err), Err: err, Traces: c.traces()}
}

// station is the device as it stands ready, for one collector or for several
// that take turns on it.
type station struct {
	dev     *attended // nil: never connected
	facts   facts     // of the device
	restore []restoration
	away    bool   // the device did not come back
	hungUp  bool   // the connection is closed
	release func() // gives up the claim to the device; nil: there is none
	marks   int    // marks written to the device's log
	// holder is the collector whose build is installed; clean has each build
	// installed anew, without what another left behind.
	holder *collector
	clean  bool
	meter  *meter // nil where no energy is measured
	// recorders run on the device now.
	recorders []recorder
	// settled says that the device has rested since it was set up or came back.
	settled bool
}

// collector is the state of one job.
type collector struct {
	*station
	job      Job
	options  Options
	clock    device.Clock
	progress Progress

	run      run.Run
	measured []measurement
	retries  int // how many lost repetitions may still be made again
	losses   []error
	noted    map[string]bool // warnings of the whole run, each once
	sawUI    bool            // the test writes UI events
	// sawFrames says that the app has drawn something.
	sawFrames bool

	uid        int // of the app, 0: not known
	debuggable bool
	naming     methods.Naming
}

func newCollector(job Job, options Options, s *station) *collector {
	c := &collector{
		station: s, job: job, options: options, clock: job.Clock, progress: options.Progress,
		retries: job.Scenario.Retries, noted: map[string]bool{},
	}
	if c.clock == nil {
		c.clock = HostClock()
	}
	if c.progress == nil {
		c.progress = silent{}
	}
	now := time.Now
	if options.Now != nil {
		now = options.Now
	}
	c.run = run.Run{
		Format: run.Format, Started: now().UTC().Truncate(time.Millisecond),
		App:    run.App{Package: job.App.Package, Version: job.App.Version, Build: job.App.Build},
		Source: job.Source, Scenario: job.Scenario.Name, Session: job.Session,
		Context: map[string]string{}, Warnings: []run.Warning{},
	}
	return c
}

func (c *collector) collect(ctx context.Context) error {
	defer c.tearDown(ctx)
	if err := c.setUp(ctx); err != nil {
		return err
	}
	if err := c.warmUp(ctx); err != nil {
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
		c.report(WarmUp, n, c.job.Scenario.WarmUp, "")
		if _, err := c.repetition(ctx, n, nil); err != nil {
			if fatal := c.lost(ctx, "warm-up", n, err); fatal != nil {
				return fatal
			}
		}
	}
	return c.settle(ctx)
}

// measure makes a repetition. A lost one is made again, as often as the
// scenario allows in one run; one more ends the run, which can't become whole.
func (c *collector) measure(ctx context.Context, n int) error {
	for {
		c.report(Measure, n, c.job.Scenario.Repetitions, "")
		m, err := c.turn(ctx, n)
		if err == nil {
			c.measured = append(c.measured, m)
			return nil
		}
		c.losses = append(c.losses, err)
		if fatal := c.lost(ctx, "repetition", n, err); fatal != nil {
			return fatal
		}
		if c.retries == 0 {
			return gravest(c.losses)
		}
		c.retries--
	}
}

// lost notes a lost repetition and brings the device back where it is gone. It
// returns the error that ends the run: the user's interrupt, a device that
// stays away, a workload that can't be started at all.
func (c *collector) lost(ctx context.Context, what string, n int, err error) error {
	if ctx.Err() != nil {
		return c.fail(Infrastructure, Measure, n, ctx.Err())
	}
	c.warnf("%s %d%s%v", what, n, lostText, err)
	if problem := asError(err); problem != nil && problem.final {
		return err
	}
	if !IsInfrastructure(err) || errors.Is(err, ErrGarbled) || errors.Is(err, ErrFrameGap) || errors.Is(err, ErrEnergy) {
		return nil // the device answers
	}
	if again := c.reconnect(ctx); again != nil {
		return c.fail(Infrastructure, Measure, n, again)
	}
	return nil
}

// finish makes the record of what was measured.
func (c *collector) finish(err error) run.Run {
	c.compareEvents()
	spent := c.energyRecord()
	r := c.run
	r.Energy = spent
	switch {
	case len(c.measured) == 0:
		r.Status = run.Failed
	case err != nil:
		r.Status = run.Partial
	default:
		r.Status = run.Complete
	}
	if err != nil { // the last warning is what run.Why tells
		r.Warnings = append(r.Warnings, run.Warning{Text: why(err)})
	}
	r.Iterations = iterations(c.measured)
	c.report(Done, 0, 0, string(r.Status))
	return r
}

// warnf adds a warning to the run, each text once.
func (c *collector) warnf(format string, args ...any) {
	text := clip(fmt.Sprintf(format, args...))
	if c.noted[text] || len(c.noted) >= maxWarnings {
		return
	}
	c.noted[text] = true
	c.run.Warnings = append(c.run.Warnings, run.Warning{Text: text})
	c.progress.Report(Event{Device: c.job.Device, Phase: Warned, Message: text})
}

// tellDoubts tells the first of what a reader could not make sense of, and how
// many more there are.
func (c *collector) tellDoubts(what string, doubts []run.Warning) {
	switch n := len(doubts); {
	case n == 1:
		c.warnf("%s: %s", what, doubts[0])
	case n > 1:
		c.warnf("%s: %s; %d more doubts", what, doubts[0], n-1)
	}
}

// maxWarnings bounds the warnings of a run.
const maxWarnings = 100

// clip bounds a text from a device for a record.
func clip(s string) string {
	const limit = 600
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	return printable(s)
}
