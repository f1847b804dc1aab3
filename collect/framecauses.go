package collect

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/hierarchy"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
	"github.com/apkgate/apkgate/trace/perfetto/rendering/section"
)

// addPaths takes up what the frames of a repetition were spent on. A trace that does not
// tell is a warning.
func (c *collector) addPaths(a *attempt, seen applog.Sifted, read rendering.Trace) {
	for _, w := range read.Warnings { // mostly the device's, and so the same each time
		doubt := run.Warning{Text: "what frames waited for: " + w.Text}
		if !slices.Contains(c.journal.Warnings, doubt) {
			c.journal.Warnf("%s", doubt.Text)
		}
	}
	until := c.workloadEnded(a)
	read.Frames = slices.DeleteFunc(read.Frames, func(f rendering.Frame) bool { return !a.frames.Measures(f.At, until) })
	one := section.Repetition{Number: a.n, Trace: read}
	for _, e := range seen.UI {
		one.Events = append(one.Events, section.Event{Name: e.Name, At: e.Time})
	}
	c.paths.Add(one)
	a.late = latest(one)
}

// latest is the frame of a repetition that missed its deadline by the most and was seen to,
// nil where none did.
func latest(r section.Repetition) (out *applog.Late) {
	for _, f := range r.Trace.Frames {
		if by := f.Took - f.Deadline; (f.Class == run.SlowFrames || f.Class == run.FrozenFrames) && (out == nil || by > out.By) {
			out = &applog.Late{At: f.At, Took: f.Took, By: by}
		}
	}
	return out
}

// workloadEnded is when that was on CLOCK_MONOTONIC, 0 where it is not known.
func (c *collector) workloadEnded(a *attempt) time.Duration {
	if a.workload.End == "" {
		return 0
	}
	until, _ := a.log.Times(a.workload.End)()
	return until
}

// spentOn is the record's section of what frames were spent on, each of which leads to
// the trace of its repetition, where one was kept.
func (c *collector) spentOn(kept []run.Evidence) *run.Frames {
	out := c.paths.Frames()
	if out == nil {
		return nil
	}
	for _, list := range [][]run.LateFrame{out.Worst, out.Usual} {
		for i := range list {
			for _, e := range kept {
				if e.Kind == run.PerfettoTrace && e.Repetition == list[i].Repetition {
					list[i].Evidence = e.Digest
				}
			}
		}
	}
	return out
}

// seenViews are the views of the app's window after each UI event, by its name, in the
// order in which the events came first.
type seenViews struct {
	list []run.Views
	told bool // that the device does not tell of them
}

// lookAtViews reads the views that the app's window has now. It does so in the warm-up alone,
// since dumpsys stops the app's UI thread meanwhile: of an event what is there when it was
// looked at last before the next one counts.
func (c *collector) lookAtViews(ctx context.Context, a *attempt) error {
	if a.measured || c.watcher == nil || !c.evident || c.views.told {
		return nil
	}
	out, err := c.target.Exec(ctx, "dumpsys", "activity", "top")
	if err == nil {
		err = a.log.Read(ctx)
	}
	if err != nil {
		return c.withoutViews(err)
	}
	before := cmp.Or(a.event, run.Start)
	a.event = a.log.Event()
	tree, err := hierarchy.Read(bytes.NewReader(out.Stdout))
	if err != nil {
		return c.withoutViews(err)
	}
	if w, ok := tree.Of(c.job.App.Package); ok && a.event == before {
		c.views.add(w.Count(before))
	}
	return nil
}

// withoutViews goes on without, unless the device is gone.
func (c *collector) withoutViews(err error) error {
	if loss.IsGone(err) || ctxEnded(err) {
		return err
	}
	c.views.told = true
	c.journal.Warnf("the views of the app's windows are not known: %v", err)
	return nil
}

// add takes the place of what was seen after an event of that name.
func (s *seenViews) add(v run.Views) {
	for i, known := range s.list {
		if known.Event == v.Event {
			s.list[i] = v
			return
		}
	}
	if len(s.list) < run.MaxViews {
		s.list = append(s.list, v)
	}
}

// addViews puts them into the section, with what is believed where any are hidden.
func (c *collector) addViews() {
	if c.run.Frames == nil || len(c.views.list) == 0 {
		return
	}
	c.run.Frames.Views = c.views.list
	if slices.ContainsFunc(c.views.list, func(v run.Views) bool { return len(v.Hidden) > 0 }) {
		c.journal.Warnf("views that are drawn though later ones cover them: %s", hierarchy.Believed)
	}
}
