package collect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/collect/watch"
	"github.com/apkgate/apkgate/collect/workload"
	"github.com/apkgate/apkgate/config"
)

// fullDisplay waits for an app that says when it shows all that it should. Whether it
// does is learnt from its first start.
type fullDisplay struct {
	target *target.Target
	app    string
	known  bool // it has been started
	tells  bool // and it did say so
}

// fullWithin is how long after its first frame an app may take to be fully drawn.
const fullWithin = 15 * time.Second

// await waits until the log tells that the app is fully drawn, where it may; lost is
// that it did not, and has before.
func (f *fullDisplay) await(ctx context.Context, log *watch.Log) (lost, err error) {
	if f.known && !f.tells {
		return nil, nil
	}
	told, err := f.target.Poll(ctx, time.Second, fullWithin, func() (bool, error) {
		err := log.Read(ctx)
		return log.FullyDrawn(f.app), err
	})
	if err != nil {
		return nil, err
	}
	if f.tells && !told {
		lost := fmt.Errorf("%w: the app did not say within %v that it is fully drawn, as it did before", loss.ErrStart, fullWithin)
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: lost}, nil
	}
	f.known, f.tells = true, told
	return nil, nil
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
	log, err := watch.OpenLog(ctx, c.target)
	if err != nil {
		return err
	}
	if err := c.plan.StartBefore(ctx); err != nil {
		return err
	}
	if lost, err := c.full.await(ctx, log); lost != nil || err != nil {
		return errors.Join(lost, err)
	}
	return c.plan.Leave(ctx)
}

// logged reports whether the log tells of the start that is measured: an activity
// that comes back is neither displayed nor fully drawn anew.
func (c *collector) logged() bool {
	return c.job.Scenario.Workload.Startup.Mode != config.StartHot
}

// apart is how far the two times of a start may lie apart that are rounded: one to
// whole milliseconds, the other cut.
const apart = time.Millisecond

// compareStart holds what am start says against what the log tells of the same start.
func (c *collector) compareStart(n int, start workload.Start, seen watch.Sifted) {
	if !c.logged() {
		return
	}
	switch d := seen.Startup - start.Total; {
	case seen.Startup == 0:
		c.journal.Warnf("repetition %d: am start says that the first frame took %v, and the log does not tell of it", n, start.Total)
	case max(d, -d) > apart:
		c.journal.Warnf("repetition %d: am start says that the first frame took %v, and the log %v: the former counts", n, start.Total, seen.Startup)
	}
}

// needsNoFrames reports whether a repetition counts without frames: a start may draw
// the first ones of its window and no more.
func (c *collector) needsNoFrames(err error) bool {
	return c.job.Scenario.Workload.Startup != nil && errors.Is(err, loss.ErrNoFrames)
}
