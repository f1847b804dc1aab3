package collect

import (
	"context"
	"errors"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/watch"
)

// startRecording starts what records beside the workload, for all that need it. What
// is recorded for evidence alone may fail: the repetition is measured all the same.
func (c *collector) startRecording(ctx context.Context, a *attempt) error {
	if c.perfetto.Asked() {
		err := c.perfetto.Start(ctx)
		if lost := c.needed(a, err, "nothing is recorded of it"); lost != nil {
			return lost
		}
		a.recorded = err == nil
	}
	if a.energy != nil {
		if err := a.energy.StartUp(ctx); err != nil {
			return err
		}
	}
	if c.watcher == nil || !c.evident || !a.recorded {
		return nil
	}
	var err error
	a.watched, err = c.watcher.Begin(ctx, a.n)
	return err
}

// stopRecording ends what records.
func (c *collector) stopRecording(ctx context.Context, a *attempt) error {
	if a.watched != nil {
		a.watched.Stop()
	}
	if a.energy != nil {
		if err := a.energy.ShutDown(ctx); err != nil {
			return err
		}
	}
	if !a.recorded {
		return nil
	}
	return c.needed(a, c.perfetto.Stop(ctx), "its trace is not kept")
}

// needed is the error of a recorder, as far as the repetition is lost by it: where
// energy needs what it records, or the device is lost.
func (c *collector) needed(a *attempt, err error, otherwise string) error {
	switch {
	case err == nil:
		return nil
	case a.energy != nil && a.energy.Traced():
		return a.energy.Invalid(err)
	case loss.IsGone(err) || ctxEnded(err):
		return err
	}
	a.watched = nil
	c.journal.Warnf("repetition %d: %s: %v", a.n, otherwise, err)
	return nil
}

// look reacts to what went wrong since the last reading.
func (c *collector) look(ctx context.Context, a *attempt) error {
	if a.watched == nil {
		return nil
	}
	err := a.watched.Look(ctx, a.frames.Uptime(), a.frames.Frames)
	if err == nil || loss.IsGone(err) || ctxEnded(err) {
		return err
	}
	c.journal.Warnf("repetition %d: what was recorded could not be saved while it went on: %v", a.n, err)
	return nil
}

// keepEvidence keeps or drops what was recorded of the repetition.
func (c *collector) keepEvidence(ctx context.Context, a *attempt, seen watch.Sifted, lost error) {
	if a.watched == nil {
		return
	}
	s := watch.Seen{Frames: a.frames.Frames, Anomalies: seen.Anomalies, Events: seen.UI, Alive: a.frames.Alive, Lost: lost}
	s.From, s.To = a.log.Span()
	a.watched.End(ctx, s)
}

func ctxEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
