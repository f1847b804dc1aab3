package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/frames"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/power"
	"github.com/apkgate/apkgate/collect/recorders"
	"github.com/apkgate/apkgate/run"
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

// collected is what an app's garbage collector did in a repetition.
type collected struct {
	count int
	took  time.Duration
}

// addTo puts it into the record; nothing where it is not known.
func (g *collected) addTo(it *run.Iteration) {
	if g == nil {
		return
	}
	it.Metrics["gc.count"] = float64(g.count)
	it.Metrics["gc.time_ms"] = milliseconds(g.took)
}

// collectedOf is what the app's garbage collector did, of which ART writes in the trace, and in
// the log of slow runs alone. nil where the trace did not hold all of it.
func (c *collector) collectedOf(found gc.Collections) *collected {
	switch {
	case found.Lost > 0:
		c.journal.Warnf("the trace did not hold all of each repetition: the runs of the garbage collector are not known of those of which it lost a part")
		return nil
	case !found.Traced:
		return nil
	}
	out := &collected{count: len(found.Runs)}
	for _, r := range found.Runs {
		out.took += r.For
	}
	return out
}

// addWork puts what was counted of the app's work into the record, as far as it is known.
func addWork(it *run.Iteration, traced *work.Counts, done *frames.Done) {
	if done != nil {
		it.Metrics["work.page_faults"], it.Metrics["work.waits"] = float64(done.Faults), float64(done.Waits)
	}
	if traced == nil {
		return
	}
	for name, n := range map[string]int{
		"work.frames": traced.Frames, "work.measures": traced.Measures, "work.layouts": traced.Layouts, "work.draws": traced.Draws,
		"work.inflations": traced.Inflations, "work.recompositions": traced.Recompositions,
	} {
		it.Metrics[name] = float64(n)
	}
	if traced.Called {
		it.Metrics["work.transactions"] = float64(traced.Transactions)
	}
}

// workOf is what was counted of the app's work; nil where the trace did not hold all of it.
func (c *collector) workOf(found *work.Counts) *work.Counts {
	switch {
	case found.Lost > 0:
		c.journal.Warnf("the trace did not hold all of each repetition: the app's work is not counted in those of which it lost a part")
		return nil
	case !found.Traced:
		return nil
	}
	return found
}

// readRecorded reads what was recorded as evidence of a repetition, whether it is kept or
// not, in one pass: what its frames were spent on, the runs of the garbage collector, and the
// app's work. Nothing where nothing was recorded.
func (c *collector) readRecorded(ctx context.Context, a *attempt, seen applog.Sifted) (*collected, *work.Counts, error) {
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
	cleaned, worked := c.collectedOf(collections.Collections(read.KernelLost)), c.workOf(&done.Counts)
	c.addPaths(a, seen, read)
	return cleaned, worked, nil
}
