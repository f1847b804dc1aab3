package collect

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/trace/perfetto/gc"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/work"
)

// startRecording starts what records beside the workload, for all that need it.
func (c *collector) startRecording(ctx context.Context, a *attempt) error {
	if err := c.recording.Start(ctx, c.refused(a, "nothing is recorded of it")); err != nil {
		return err
	}
	if a.energy != nil {
		if err := a.energy.StartUp(ctx); err != nil {
			return err
		}
	}
	if !c.evident || c.watcher == nil || !c.recording.Runs(c.perfetto) {
		return nil
	}
	c.watcher.ByTimeline = a.frames.By.Recorded()
	a.watched = c.watcher.Begin(a.log, a.n)
	return nil
}

// stopRecording ends what records.
func (c *collector) stopRecording(ctx context.Context, a *attempt) error {
	if !a.measured {
		return nil
	}
	if a.watched != nil {
		a.watched.Stop()
	}
	if a.energy != nil {
		if err := a.energy.ShutDown(ctx); err != nil {
			return err
		}
	}
	if err := c.end(ctx, a); err != nil {
		return err
	}
	return c.recording.Stop(ctx, c.refused(a, "its trace is not kept"))
}

// refused says what it means that a recorder did not do its part: where energy needs
// it, that is energy's to say; what is recorded for evidence alone may fail, and the
// repetition is measured all the same.
func (c *collector) refused(a *attempt, otherwise string) func(recorders.Recorder, error) error {
	return func(r recorders.Recorder, err error) error {
		switch {
		case a.energy != nil && r.Serves(power.Asker):
			return a.energy.Refused(err)
		case loss.IsGone(err) || ctxEnded(err):
			return err
		case r.Serves(frames.Asker):
			return fmt.Errorf("%w: %w", loss.ErrTimeline, err)
		}
		a.watched = nil
		c.journal.Warnf("repetition %d: %s: %v", a.n, otherwise, err)
		return nil
	}
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

// seen is what is known of the repetition once its log and its frames were read.
func (a *attempt) seen(log applog.Sifted) applog.Seen {
	s := applog.Seen{Frames: a.frames.Frames, Anomalies: log.Anomalies, Events: log.UI, Alive: a.frames.Alive}
	s.From, s.To = a.log.Span()
	return s
}

// keepEvidence keeps or drops what was recorded of the repetition.
func (c *collector) keepEvidence(ctx context.Context, a *attempt, s applog.Seen, lost error) {
	if a.watched == nil {
		return
	}
	s.Lost, s.Late = lost, a.late
	a.watched.End(ctx, s)
}

func ctxEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// readRecorded reads what was recorded as evidence of a repetition, whether it is kept or
// not, in one pass: what its frames were spent on, the runs of the garbage collector, and the
// app's work. Nothing where nothing was recorded.
func (c *collector) readRecorded(ctx context.Context, a *attempt, seen applog.Sifted) (*record.Collected, *work.Counts, error) {
	if a.watched == nil {
		return nil, nil, nil
	}
	of := func(pid int) bool { return a.frames.PIDs[pid] }
	collections, done := gc.New(of), work.New(of)
	var read rendering.Trace
	err := c.perfetto.Fetch(ctx, func(trace io.ReadSeeker) (err error) {
		read, err = rendering.Read(packets.Packets(trace), rendering.App{Package: c.job.App.Package, Process: of}, collections, done)
		return err
	})
	switch {
	case loss.IsGone(err), ctxEnded(err):
		return nil, nil, err
	case err != nil:
		c.journal.Warnf("repetition %d: what its frames waited for, the runs of the garbage collector and the app's work are not known: %v", a.n, err)
		return nil, nil, nil
	}
	done.Lost = read.KernelLost
	cleaned, noCleaning := record.CollectedOf(collections.Collections(read.KernelLost))
	worked, noWork := record.CountsOf(&done.Counts)
	for _, doubt := range []string{noCleaning, noWork} {
		if doubt != "" {
			c.journal.Warnf("%s", doubt)
		}
	}
	c.addPaths(a, seen, read)
	return cleaned, worked, nil
}
