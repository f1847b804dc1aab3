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
	"github.com/apkgate/apkgate/trace/perfetto/screens"
	"github.com/apkgate/apkgate/trace/perfetto/work"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/grouping"
	"github.com/apkgate/apkgate/trace/tasks/tasksources"
)

// evidence watches for anomalies, and keeps what was recorded of them.
type evidence struct {
	phone *Phone
	work  Work
	paths section.Collector   // what frames spent their time on
	tasks *grouping.Collector // nil if no repetition had any
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

// read reads the recording of a repetition, whether it is kept or not: what its frames spent their
// time on, the metrics of a trace, and the app's asynchronous tasks. If nothing was recorded, it
// adds nothing.
func (e *evidence) read(ctx context.Context, a *attempt, seen applog.Sifted, out *record.Measurement) error {
	if a.watched == nil {
		return nil
	}
	of := func(pid int) bool { return a.frames.PIDs[pid] }
	all := readers(of)
	beside := make([]packets.Reader, len(all))
	for i, one := range all {
		beside[i] = one
	}
	var traced rendering.Trace
	var list tasks.List
	var shown []trace.Screen
	var slow []int
	app := rendering.App{Package: e.work.App.Package, Process: of}
	asked := e.work.Watcher.Tasks
	err := e.phone.Perfetto.Fetch(ctx, func(trace io.ReadSeeker) (err error) {
		if asked {
			list, err = tasksources.OfTrace(packets.Packets(trace), of, applog.HasMessages(e.phone.Target.Facts.API))
		}
		if err == nil {
			slow = grouping.Slow(list, grouping.Late)
			app.Stretches = section.Stretches(list, slow)
			traced, err = rendering.Read(packets.Packets(trace), app, beside...)
		}
		if err == nil && len(list.Tasks) > 0 {
			shown, err = screens.Read(packets.Packets(trace), of)
		}
		return err
	})
	switch {
	case loss.Stops(err):
		return err
	case err != nil:
		e.phone.Target.Journal.Warnf("repetition %d: what its frames waited for, the runs of the garbage collector and the app's work are not known: %v", a.n, err)
		return nil
	}
	out.Traced = map[string]float64{}
	for _, one := range all {
		found, doubt := one.Metrics(traced.KernelLost)
		maps.Copy(out.Traced, found)
		if doubt != "" {
			e.phone.Target.Journal.Warnf("%s", doubt)
		}
	}
	e.addPaths(a, seen, traced)
	if asked {
		out.Tasks = e.addTasks(grouping.Repetition{Number: a.n, List: list, Events: uiEvents(seen), Screens: shown, Paths: section.TaskPaths(list, slow, traced, app)})
	}
	return nil
}

// addTasks adds the asynchronous tasks of a repetition, and returns them; nil if the app told none.
func (e *evidence) addTasks(r grouping.Repetition) *grouping.Queues {
	if len(r.List.Tasks) == 0 {
		if !e.work.Watcher.TasksExpected {
			return nil
		}
		why := "the app's process has not registered its messages with Perfetto, or Android's flag for that is off (apkgate doctor)"
		if !applog.HasMessages(e.phone.Target.Facts.API) {
			why = "before Android 16 there are no messages of loopers in traces"
		}
		e.warnOnce("no asynchronous tasks are known: " + why + "; and the app writes no sections of them (docs/tasks.md)")
		return nil
	}
	if e.tasks == nil {
		e.tasks = grouping.NewCollector(e.work.App.Package, grouping.Late)
	}
	queues := e.tasks.Add(r)
	return &queues
}

// warnOnce warns of what is mostly of the device, and so the same in each repetition.
func (e *evidence) warnOnce(text string) {
	if !slices.Contains(e.phone.Target.Journal.Warnings, run.Warning{Text: text}) {
		e.phone.Target.Journal.Warnf("%s", text)
	}
}

func uiEvents(seen applog.Sifted) (out []trace.Event) {
	for _, e := range seen.UI {
		out = append(out, trace.Event{Name: e.Name, At: e.Time})
	}
	return out
}

// addPaths adds what the frames of a repetition spent their time on. A trace that does not contain
// it is a warning.
func (e *evidence) addPaths(a *attempt, seen applog.Sifted, read rendering.Trace) {
	for _, w := range read.Warnings {
		e.warnOnce("what frames waited for: " + w.Text)
	}
	until := a.workloadEnded()
	read.Frames = slices.DeleteFunc(read.Frames, func(f rendering.Frame) bool { return !a.frames.Measures(f.At, until) })
	one := section.Repetition{Number: a.n, Trace: read, Events: uiEvents(seen)}
	e.paths.Add(one)
	a.late = record.Latest(one)
}
