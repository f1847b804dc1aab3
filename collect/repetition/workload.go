package repetition

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/internal/prose"
)

// running is the workload, from its start to its end.
type running struct {
	nothing
	phone *Phone
	work  Work
}

// before starts the workload: in the background if the device is then disconnected, or attached to
// the connection.
func (r *running) before(ctx context.Context, a *attempt) (err error) {
	plan := *r.work.Plan
	plan.Marked = a.frames.By.Recorded()
	if !r.work.detaches() {
		if err := a.frames.WatchFrom(ctx); err != nil {
			return err
		}
	}
	if a.energy != nil {
		a.energy.Starting()
		if detached := r.work.Detached(r.phone); detached != nil {
			a.workload, err = detached.Start(ctx)
			return err
		}
		plan.Marked = true
	}
	a.workload, err = plan.Start(ctx)
	return err
}

// endsWithin is how late the end of a workload is detected where energy is measured. Its energy
// counts up to there if its end is not in the log.
const endsWithin = 20 * time.Millisecond

// await waits for an interval between two readings; where energy is measured, it returns as soon as
// the workload ends.
func (r *running) await(ctx context.Context, a *attempt, interval time.Duration) error {
	if a.energy == nil {
		r.phone.Target.Asked = !a.frames.By.Recorded() // by the dumps of its frames
		return r.phone.Target.Rest(ctx, interval)
	}
	for left := interval; left > 0 && !a.workload.Ended(); left -= endsWithin {
		if err := errors.Join(r.phone.Target.Lost(), r.phone.Target.Clock.Sleep(ctx, min(left, endsWithin))); err != nil {
			return err
		}
	}
	if a.workload.Ended() {
		a.energy.Ended()
	}
	return nil
}

// next waits for the next reading; over reports that the timeout has passed and the workload was
// ended.
func (r *running) next(ctx context.Context, a *attempt, began time.Duration) (over bool, err error) {
	timeout, w := r.work.Scenario.Timeout, a.workload
	if timeout > 0 && r.phone.Target.Clock.Now() >= began+timeout && !w.Settled() {
		w.Stop(r.phone.Target.Journal)
		a.ended = fmt.Errorf("%w: %s", loss.ErrTimeout, prose.Duration(timeout))
		return true, r.work.Prepared.StopApps(ctx)
	}
	return false, r.await(ctx, a, a.frames.Pause())
}

// end checks how the workload ended, and reads the last frames.
func (r *running) end(ctx context.Context, a *attempt, s *start) (err error) {
	w := a.workload
	a.ended = w.Judge(r.work.Scenario.Workload, r.work.App.Package)
	if loss.IsGone(a.ended) {
		return a.ended
	}
	if w.Measures() {
		r.phone.Target.Journal.Warnf("the test is of androidx.benchmark and measures by itself, which is not what is measured here: set workload.instrumentation.macrobenchmark: true to have its own results")
	}
	if w.Started != nil && a.ended == nil && s.logged() {
		if a.ended, err = s.full.Await(ctx, a.log); err != nil {
			return err
		}
	}
	if w.Started != nil { // a very short process has not been read: the next reading finds it
		if err := a.frames.Read(ctx, false); err != nil {
			return err
		}
	}
	return a.frames.Read(ctx, false)
}
