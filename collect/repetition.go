package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/watch"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/trace/logcat"
)

// measurement is one repetition as it was seen.
type measurement struct {
	repetition int
	frames     []frames.Placed
	events     []logcat.Event // UI events, by time
	anrs       int
	startup    time.Duration // 0: not seen
	cpu        time.Duration // 0: not seen
	pssKB      int64         // 0: not seen
	period     time.Duration // of the display, 0: 60 Hz
	energy     *power.Spent  // nil: not measured
	unseen     bool          // nobody looked at the frames
}

// readLogEvery bounds what the device's ring of log entries must hold.
const readLogEvery = 30 * time.Second

// metering measures the energy of a repetition; nil where none is measured.
func (c *collector) metering() *power.Metering {
	if c.meter == nil {
		return nil
	}
	return c.meter.Measure(c.build)
}

// repetition does the workload once and measures it, with its energy unless m is
// nil.
func (c *collector) repetition(ctx context.Context, n int, m *power.Metering) (measurement, error) {
	fail := func(cause loss.Cause, err error) (measurement, error) {
		return measurement{}, c.fail(cause, journal.Measure, n, err)
	}
	if err := c.prepare(ctx); err != nil {
		return fail(loss.Infrastructure, err)
	}
	if m != nil {
		if err := c.preTest(ctx, m); err != nil {
			return fail(loss.Infrastructure, err)
		}
	}
	log, err := watch.OpenLog(ctx, c.target)
	if err != nil {
		return fail(loss.Infrastructure, err)
	}
	s := &frames.Sampler{Target: c.target, App: c.job.App.Package}
	if m != nil {
		s.Rider = m
	}
	if err := s.Begin(ctx, log.MarkedAt); err != nil {
		return fail(loss.Infrastructure, err)
	}
	w, err := c.start(ctx, m)
	if err != nil {
		return fail(loss.Infrastructure, err)
	}
	defer w.Stop(c.journal)
	ended, err := c.watch(ctx, w, s, m, log)
	if err != nil {
		return fail(loss.Infrastructure, err)
	}
	if m != nil {
		if err := c.shutDown(ctx, m); err != nil {
			return fail(loss.Infrastructure, err)
		}
	}
	if err := log.Read(ctx); err != nil {
		return fail(loss.Infrastructure, err)
	}
	if m != nil && w.End != "" {
		m.Marked(log.Times(w.Begin), log.Times(w.End))
	}
	seen := log.Sift(watch.App{Package: c.job.App.Package, PIDs: s.PIDs, Alive: s.Alive, WritesUI: &c.writesUI})
	if err := seen.Loss(ended); err != nil {
		return fail(causeOf(err), err)
	}
	unseen := m != nil && c.detached() != nil
	if unseen {
		s.Frames = nil
	} else if err := s.Loss(n); err != nil {
		if unseen = c.drawsNothing(err); !unseen {
			return fail(causeOf(err), err)
		}
	}
	c.sawFrames = c.sawFrames || !unseen
	pss, err := s.Memory(ctx)
	if err != nil {
		return fail(loss.Infrastructure, err)
	}
	out := measurement{
		repetition: n, frames: s.Frames, events: seen.UI, anrs: seen.ANRs,
		startup: seen.Startup, cpu: s.CPU(), pssKB: pss, period: c.target.Facts.Period, unseen: unseen,
	}
	if m != nil {
		if out.energy, err = m.PostTest(ctx, seen.UI); err != nil {
			return fail(loss.Infrastructure, err)
		}
	}
	if c.meter != nil {
		if err := c.meter.TellSlowness(ctx, n); err != nil {
			return fail(loss.Infrastructure, err)
		}
	}
	return out, nil
}

// preTest does what may take long before energy is measured.
func (c *collector) preTest(ctx context.Context, m *power.Metering) error {
	if err := c.programs.EndLeft(ctx); err != nil {
		return err
	}
	return m.PreTest(ctx)
}

// start starts what records, and then the workload: in the background of a device
// that is then left alone, or as ever.
func (c *collector) start(ctx context.Context, m *power.Metering) (*workload.Running, error) {
	plan := c.plan
	if m == nil {
		return plan.Start(ctx)
	}
	if c.perfetto.Asked() {
		if err := c.perfetto.Start(ctx); err != nil {
			return nil, m.Invalid(err)
		}
	}
	if err := m.StartUp(ctx); err != nil {
		return nil, err
	}
	m.Starting()
	if detached := c.detached(); detached != nil {
		return detached.Start(ctx)
	}
	plan.Marked = true
	return plan.Start(ctx)
}

// shutDown ends what records.
func (c *collector) shutDown(ctx context.Context, m *power.Metering) error {
	if err := m.ShutDown(ctx); err != nil {
		return err
	}
	if !c.perfetto.Asked() {
		return nil
	}
	if err := c.perfetto.Stop(ctx); err != nil {
		return m.Invalid(err)
	}
	return nil
}

// drawsNothing reports whether a repetition without frames counts all the same:
// where energy is measured, and the app has never drawn anything that gfxinfo
// counts. What works with the screen off, or draws by itself, has its joules too.
func (c *collector) drawsNothing(lost error) bool {
	if c.meter == nil || c.sawFrames || !errors.Is(lost, loss.ErrNoFrames) {
		return false
	}
	c.journal.Warnf("%s draws nothing that gfxinfo counts: its energy is measured, and no frames (see whether the workload opens the app at all, if it should)", c.job.App.Package)
	return true
}

// causeOf tells whose failure a lost repetition is that the device survived.
func causeOf(err error) loss.Cause {
	if errors.Is(err, loss.ErrGarbled) || errors.Is(err, loss.ErrFrameGap) {
		return loss.Infrastructure
	}
	return loss.Workload
}

// prepare brings the app to the state in which every repetition begins.
func (c *collector) prepare(ctx context.Context) error {
	for _, pkg := range []string{c.job.App.Package, workload.TestPackage(c.job.Scenario.Workload)} {
		if pkg == "" {
			continue
		}
		if err := c.target.Try(ctx, "am", "force-stop", pkg); err != nil {
			return err
		}
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
	return nil
}

// endsWithin is how late the end of a workload is noticed where energy is
// measured. Its joules count up to there where its end is not in the log.
const endsWithin = 20 * time.Millisecond

// await lets an interval pass between two readings; where energy is measured, it
// ends with the workload.
func (c *collector) await(ctx context.Context, w *workload.Running, m *power.Metering, interval time.Duration) error {
	if m == nil {
		return c.target.Clock.Sleep(ctx, interval)
	}
	for left := interval; left > 0 && !w.Ended(); left -= endsWithin {
		if err := c.target.Clock.Sleep(ctx, min(left, endsWithin)); err != nil {
			return err
		}
	}
	if w.Ended() {
		m.Ended()
	}
	return nil
}

// watch reads frames until the workload ends, by itself or because its time is
// over. ended tells how, nil where all went well; err is that the device could
// not be asked.
func (c *collector) watch(ctx context.Context, w *workload.Running, s *frames.Sampler, m *power.Metering, log *watch.Log) (ended, err error) {
	clock, timeout := c.target.Clock, c.job.Scenario.Timeout
	deadline := clock.Now() + timeout
	nextLog := clock.Now() + readLogEvery
	for !w.Ended() {
		if timeout > 0 && clock.Now() >= deadline && !w.Settled() {
			w.Stop(c.journal)
			return fmt.Errorf("%w: %v", loss.ErrTimeout, timeout), c.target.Try(ctx, "am", "force-stop", c.job.App.Package)
		}
		if err := c.await(ctx, w, m, frames.Interval(c.target.Facts)); err != nil {
			return nil, err
		}
		if m != nil && w.Ended() {
			break // what comes after it is not its energy
		}
		if err := s.Read(ctx, !w.Ended()); err != nil {
			return nil, err
		}
		if clock.Now() >= nextLog {
			if err := log.Read(ctx); err != nil {
				return nil, err
			}
			nextLog = clock.Now() + readLogEvery
		}
	}
	ended = w.Judge(c.job.Scenario.Workload)
	if loss.IsGone(ended) {
		return nil, ended
	}
	return ended, s.Read(ctx, false)
}
