package collect

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/record"
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
	a.late = record.Latest(one)
}

// workloadEnded is when that was on CLOCK_MONOTONIC, 0 where it is not known.
func (c *collector) workloadEnded(a *attempt) time.Duration {
	if a.workload.End == "" {
		return 0
	}
	until, _ := a.log.Times(a.workload.End)()
	return until
}

// lookAtViews reads the views that the app's window has now. It does so in the warm-up alone,
// since dumpsys stops the app's UI thread meanwhile: of an event what is there when it was
// looked at last before the next one counts.
func (c *collector) lookAtViews(ctx context.Context, a *attempt) error {
	if a.measured || c.watcher == nil || !c.evident || c.noViews {
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
		c.views.Add(w.Count(before))
	}
	return nil
}

// withoutViews goes on without, unless the device is gone.
func (c *collector) withoutViews(err error) error {
	if loss.IsGone(err) || ctxEnded(err) {
		return err
	}
	c.noViews = true
	c.journal.Warnf("the views of the app's windows are not known: %v", err)
	return nil
}

// addViews puts them into the section, with what is believed where any are hidden.
func (c *collector) addViews() {
	if c.run.Frames == nil || len(c.views) == 0 {
		return
	}
	c.run.Frames.Views = c.views
	if c.views.Hidden() {
		c.journal.Warnf("views that are drawn though later ones cover them: %s", hierarchy.Believed)
	}
}
