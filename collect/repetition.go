package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
)

// readLogEvery bounds what the device's ring of log entries must hold.
const readLogEvery = 30 * time.Second

// attempt is one repetition while it is made.
type attempt struct {
	n        int
	measured bool          // it is none of the warm-up
	event    string        // the UI event under way when the views were read, in the warm-up
	began    time.Duration // by the device's clock
	lasted   time.Duration // of the workload
	log      *applog.Log
	frames   *frames.Sampler
	workload *workload.Running
	energy   *power.Metering    // nil where none is measured
	watched  *applog.Repetition // nil where no evidence is kept
	late     *applog.Late       // its latest frame, nil where its trace tells of none
}

// repetition does the workload once and measures it; one of the warm-up without what
// is recorded beside it.
func (c *collector) repetition(ctx context.Context, n int, measured bool) (record.Measurement, error) {
	fail := func(err error) (record.Measurement, error) {
		return record.Measurement{}, c.fail(loss.Infrastructure, journal.Measure, n, err)
	}
	c.current = nil
	if err := c.ready(ctx, measured); err != nil {
		return fail(err)
	}
	if err := c.target.Pulse(ctx); err != nil {
		return fail(err)
	}
	if c.benchmarks() {
		return c.benchmark(ctx, n, measured)
	}
	a := &attempt{n: n, measured: measured, began: c.target.Clock.Now()}
	c.current = a
	if measured && c.meter != nil {
		a.energy = c.meter.Measure(c.build)
	}
	if err := c.readyStart(ctx); err != nil {
		return fail(err)
	}
	defer a.close()
	if err := c.preTest(ctx, a); err != nil {
		return fail(err)
	}
	if measured {
		if err := c.startRecording(ctx, a); err != nil {
			return fail(err)
		}
	}
	if a.watched != nil {
		defer a.watched.Stop()
	}
	if err := c.start(ctx, a); err != nil {
		return fail(err)
	}
	defer a.workload.Stop(c.journal)
	ended, err := c.watch(ctx, a)
	a.log.Unheard()
	if err != nil {
		return fail(err)
	}
	if err := c.stopRecording(ctx, a); err != nil {
		return fail(err)
	}
	if err := c.target.Pulse(ctx); err != nil {
		return fail(err)
	}
	switch err := a.log.Read(ctx); {
	case errors.Is(err, loss.ErrLog) && ended != nil: // which tells more
		return record.Measurement{}, c.fail(causeOf(ended), journal.Measure, n, ended)
	case err != nil:
		return fail(err)
	}
	return c.judge(ctx, a, ended)
}

// preTest readies what looks at the app, before anything is started.
func (c *collector) preTest(ctx context.Context, a *attempt) (err error) {
	if a.measured && (a.energy != nil || c.evident || c.by.Recorded()) {
		if err := c.programs.EndLeft(ctx); err != nil {
			return err
		}
	}
	if a.energy != nil {
		if err := a.energy.PreTest(ctx); err != nil {
			return err
		}
	}
	if a.log, err = applog.OpenLog(ctx, c.target); err != nil {
		return err
	}
	if err := c.follow(ctx, a); err != nil {
		return err
	}
	if err := c.target.FindVitals(ctx); err != nil {
		return err
	}
	a.frames = &frames.Sampler{Target: c.target, App: c.job.App.Package, By: c.by, Least: c.counted}
	if a.energy != nil {
		a.frames.Rider = a.energy // reading memory takes energy
	} else {
		a.frames.Perishes = c.job.Scenario.Memory == config.MemoryPSS && c.job.Scenario.Workload.Instrumentation != nil
	}
	return a.frames.Begin(ctx, a.log.MarkedAt)
}

// follow has the log read while the workload runs, but where energy is measured, which
// each line of the log that is sent takes some of: then as long as nothing else would do, of
// what is recorded as evidence too.
func (c *collector) follow(ctx context.Context, a *attempt) error {
	if c.detached() != nil && a.energy != nil || a.energy != nil && !c.evident && c.target.KeepsLog {
		return nil
	}
	err := a.log.Follow(ctx)
	if err == nil || loss.IsGone(err) || ctxEnded(err) {
		return err
	}
	if a.measured {
		c.journal.Warnf("repetition %d: what goes wrong is noticed in the end alone: %v", a.n, err)
	}
	return nil
}

// close ends the following of the log.
func (a *attempt) close() {
	if a.log != nil {
		a.log.Close()
	}
}

// start starts the workload: in the background of a device that is then left alone,
// or as ever.
func (c *collector) start(ctx context.Context, a *attempt) (err error) {
	plan := c.plan
	plan.Marked = a.frames.By.Recorded()
	if c.detached() == nil {
		if err := a.frames.WatchFrom(ctx); err != nil {
			return err
		}
	}
	if a.energy != nil {
		a.energy.Starting()
		if detached := c.detached(); detached != nil {
			a.workload, err = detached.Start(ctx)
			return err
		}
		plan.Marked = true
	}
	a.workload, err = plan.Start(ctx)
	return err
}

// judge makes a measurement of what was seen, or says why the repetition is lost.
func (c *collector) judge(ctx context.Context, a *attempt, ended error) (record.Measurement, error) {
	var stand []record.Standstill
	fail := func(cause loss.Cause, err error) (record.Measurement, error) {
		c.restarts = append(c.restarts, record.Restarts(stand)...)
		return record.Measurement{}, c.fail(cause, journal.Measure, a.n, err)
	}
	if w := a.workload; a.energy != nil && w.End != "" {
		a.energy.Marked(a.log.Times(w.Begin), a.log.Times(w.End))
	}
	seen := c.sift(a)
	if a.energy != nil && a.workload.Begin == "" {
		a.energy.Began(seen.Began)
	}
	untold := c.takeFrames(ctx, a, seen)
	if loss.IsGone(untold) || ctxEnded(untold) {
		return fail(loss.Infrastructure, untold)
	}
	s := a.seen(seen)
	from := len(c.run.ANRs)
	if a.measured {
		from, stand, c.current = c.noteStandstills(a.n, s), record.Standstills(s), nil
	}
	unseen, lost := c.lossOf(a, seen, ended, untold)
	if lost != nil {
		c.keepEvidence(ctx, a, s, lost)
		c.explainStandstills(ctx, a, from, true)
		return fail(causeOf(lost), lost)
	}
	out := record.Measurement{
		Repetition: a.n, Frames: a.frames.Frames, Events: seen.UI, Standstills: append(stand, c.restarts...),
		Startup: seen.Startup, FullStart: seen.FullStart, CPU: c.cpuSince(a.frames.CPU()), PSSKB: a.frames.MemoryKB(), Unseen: unseen, By: a.frames.By, Whole: a.frames.Whole(),
		Lasted: a.lasted,
	}
	out.RSSKB, out.PeakKB = a.frames.RSS()
	if done, ok := a.frames.Done(); ok && c.cpuBefore == 0 { // else the process did some of it before
		out.Done = &done
	}
	a.frames.TellUnread(a.n)
	var known bool
	if out.Watching, known = a.frames.Watching(); !known {
		out.Watching = -1
	}
	var err error
	if start := a.workload.Started; start != nil {
		c.compareStart(a.n, *start, seen)
		c.compareDrawn(a, *start)
		out.Startup = start.Total
	}
	if a.energy != nil {
		if out.Energy, err = a.energy.PostTest(ctx, seen.UI); err != nil {
			return fail(loss.Infrastructure, err)
		}
	}
	if out.Collected, out.Counted, err = c.readRecorded(ctx, a, seen); err != nil {
		return fail(loss.Infrastructure, err)
	}
	c.keepEvidence(ctx, a, s, nil)
	c.explainStandstills(ctx, a, from, false)
	if !a.measured {
		return out, nil
	}
	if err = c.recording.Drop(ctx); err == nil {
		err = c.target.TellSlowness(ctx, a.n)
	}
	if err != nil {
		return fail(loss.Infrastructure, err)
	}
	return out, nil
}

// sift reads what the log says of the app.
func (c *collector) sift(a *attempt) applog.Sifted {
	alive := a.frames.Alive
	if workload.Orchestrated(c.job.Scenario.Workload) {
		alive = 0 // its process ends with each test
	}
	return a.log.Sift(applog.App{Package: c.job.App.Package, PIDs: a.frames.PIDs, Alive: alive, WritesUI: &c.writesUI})
}

// causeOf tells whose failure a lost repetition is that the device survived.
func causeOf(err error) loss.Cause {
	if errors.Is(err, loss.ErrGarbled) || errors.Is(err, loss.ErrTimeline) {
		return loss.Infrastructure
	}
	return loss.Workload
}

// endsWithin is how late the end of a workload is noticed where energy is
// measured. Its joules count up to there where its end is not in the log.
const endsWithin = 20 * time.Millisecond

// await lets an interval pass between two readings; where energy is measured, it
// ends with the workload.
func (c *collector) await(ctx context.Context, a *attempt, interval time.Duration) error {
	if a.energy == nil {
		c.target.Asked = !a.frames.By.Recorded() // by the dumps of its frames
		return c.target.Rest(ctx, interval)
	}
	for left := interval; left > 0 && !a.workload.Ended(); left -= endsWithin {
		if err := errors.Join(c.target.Lost(), c.target.Clock.Sleep(ctx, min(left, endsWithin))); err != nil {
			return err
		}
	}
	if a.workload.Ended() {
		a.energy.Ended()
	}
	return nil
}

// watch reads frames until the workload ends, by itself or because its time is
// over. ended tells how, nil where all went well; err is that the device could
// not be asked.
func (c *collector) watch(ctx context.Context, a *attempt) (ended, err error) {
	clock, timeout, w := c.target.Clock, c.job.Scenario.Timeout, a.workload
	began := clock.Now()
	defer func() { a.lasted = clock.Now() - began }()
	deadline, busy := began+timeout, c.begins()
	nextLog := clock.Now() + readLogEvery
	for ; !w.Ended(); busy.tell() {
		if timeout > 0 && clock.Now() >= deadline && !w.Settled() {
			w.Stop(c.journal)
			return fmt.Errorf("%w: %v", loss.ErrTimeout, timeout), c.prepared.StopApps(ctx)
		}
		if err := c.await(ctx, a, a.frames.Pause()); err != nil {
			return nil, err
		}
		if a.energy != nil && w.Ended() {
			break // what comes after it is not its energy
		}
		if err := a.frames.Read(ctx, !w.Ended()); err != nil {
			return nil, err
		}
		if err := errors.Join(c.look(ctx, a), c.lookAtViews(ctx, a)); err != nil {
			return nil, err
		}
		if !a.log.Followed() && clock.Now() >= nextLog {
			if err := a.log.Read(ctx); err != nil {
				return nil, err
			}
			nextLog = clock.Now() + readLogEvery
		}
	}
	ended = w.Judge(c.job.Scenario.Workload, c.job.App.Package)
	if loss.IsGone(ended) {
		return nil, ended
	}
	if w.Measures() {
		c.journal.Warnf("the test is of androidx.benchmark and measures by itself, which is not what is measured here: set workload.instrumentation.macrobenchmark: true to have its own results")
	}
	if w.Started != nil && ended == nil && c.logged() {
		if ended, err = c.full.Await(ctx, a.log); err != nil {
			return nil, err
		}
	}
	if w.Started != nil { // one that took no second has not been read: the next reading knows its process
		if err := a.frames.Read(ctx, false); err != nil {
			return nil, err
		}
	}
	return ended, a.frames.Read(ctx, false)
}
