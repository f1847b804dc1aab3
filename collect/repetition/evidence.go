package repetition

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/gc"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
	"github.com/apkgate/apkgate/trace/perfetto/work"
)

// evidence watches for anomalies, and keeps what was recorded of them.
type evidence struct {
	phone *Phone
	work  Work
	paths section.Collector // what frames spent their time on
}

func (e *evidence) before(_ context.Context, a *attempt) error {
	if !a.measured || !e.phone.Evident || e.work.Watcher == nil || !e.phone.Recording.Runs(e.phone.Perfetto) {
		return nil
	}
	e.work.Watcher.ByTimeline = a.frames.By.Recorded()
	a.watched = e.work.Watcher.Begin(a.log, a.n)
	return nil
}

// while reacts to anomalies since the last reading.
func (e *evidence) while(ctx context.Context, a *attempt) error {
	if a.watched == nil {
		return nil
	}
	err := a.watched.Look(ctx, a.frames.Uptime(), a.frames.Frames)
	if err == nil || loss.Stops(err) {
		return err
	}
	e.phone.Target.Journal.Warnf("repetition %d: the recording could not be saved while it continued: %v", a.n, err)
	return nil
}

func (e *evidence) after(_ context.Context, a *attempt) error {
	if a.measured && a.watched != nil {
		a.watched.Stop()
	}
	return nil
}

// keep keeps or drops the recording of the repetition.
func (e *evidence) keep(ctx context.Context, a *attempt, s applog.Seen, lost error) {
	if a.watched == nil {
		return
	}
	s.Lost, s.Late = lost, a.late
	a.watched.End(ctx, s)
}

// reader reads metrics of an app from a trace, in one pass with other readers.
type reader interface {
	packets.Reader
	// Metrics returns the values by metric; none if they are unknown, with a doubt if that is
	// because the trace has lost that many of the kernel's events.
	Metrics(lost int) (metrics map[string]float64, doubt string)
}

// readers returns all readers of metrics of the app's processes.
func readers(of func(pid int) bool) []reader { return []reader{gc.New(of), work.New(of)} }

// read reads the recording of a repetition in one pass, whether it is kept or not: what its frames
// spent their time on, and the metrics of a trace. It returns nil if nothing was recorded.
func (e *evidence) read(ctx context.Context, a *attempt, seen applog.Sifted) (map[string]float64, error) {
	if a.watched == nil {
		return nil, nil
	}
	of := func(pid int) bool { return a.frames.PIDs[pid] }
	all := readers(of)
	beside := make([]packets.Reader, len(all))
	for i, one := range all {
		beside[i] = one
	}
	var traced rendering.Trace
	err := e.phone.Perfetto.Fetch(ctx, func(trace io.ReadSeeker) (err error) {
		traced, err = rendering.Read(packets.Packets(trace), rendering.App{Package: e.work.App.Package, Process: of}, beside...)
		return err
	})
	switch {
	case loss.Stops(err):
		return nil, err
	case err != nil:
		e.phone.Target.Journal.Warnf("repetition %d: what its frames waited for, the runs of the garbage collector and the app's work are not known: %v", a.n, err)
		return nil, nil
	}
	metrics := map[string]float64{}
	for _, one := range all {
		found, doubt := one.Metrics(traced.KernelLost)
		maps.Copy(metrics, found)
		if doubt != "" {
			e.phone.Target.Journal.Warnf("%s", doubt)
		}
	}
	e.addPaths(a, seen, traced)
	return metrics, nil
}

// addPaths adds what the frames of a repetition spent their time on. A trace that does not contain
// it is a warning.
func (e *evidence) addPaths(a *attempt, seen applog.Sifted, read rendering.Trace) {
	for _, w := range read.Warnings { // mostly of the device, and so the same each time
		doubt := run.Warning{Text: "what frames waited for: " + w.Text}
		if !slices.Contains(e.phone.Target.Journal.Warnings, doubt) {
			e.phone.Target.Journal.Warnf("%s", doubt.Text)
		}
	}
	until := a.workloadEnded()
	read.Frames = slices.DeleteFunc(read.Frames, func(f rendering.Frame) bool { return !a.frames.Measures(f.At, until) })
	one := section.Repetition{Number: a.n, Trace: read}
	for _, e := range seen.UI {
		one.Events = append(one.Events, trace.Event{Name: e.Name, At: e.Time})
	}
	e.paths.Add(one)
	a.late = record.Latest(one)
}
