package collect

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/properties"
	"github.com/apkgate/apkgate/collect/record"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// result returns the result of the job that ended with err, nil for none.
func (c *collector) result(ctx context.Context, err error) Result {
	if c.watcher != nil {
		c.target.Journal = c.journal
		c.watcher.Close(ctx)
	}
	return Result{Device: c.job.Device, Station: c.job.Station, Run: c.finish(err), Err: err, Traces: energymeter.Traces(record.Spent(c.measured)), Took: c.taking.took()}
}

// finish completes the record of the run.
func (c *collector) finish(err error) run.Run {
	c.target.Journal = c.journal
	for _, doubt := range record.Doubts(c.measured) {
		c.journal.Warnf("%s", doubt)
	}
	c.record()
	if c.phone.Meter != nil {
		c.run.Energy = c.phone.Meter.Record(record.Spent(c.measured))
	}
	if c.watcher != nil {
		c.run.Evidence = slices.Concat(c.job.Files, c.watcher.Kept)
		c.run.Frames, c.run.Tasks = c.repeater.Frames(), c.repeater.Tasks()
		c.run.MethodTraces = c.repeater.MethodTraces()
	}
	r := c.run
	switch {
	case len(c.measured) == 0:
		r.Status = run.Failed
	case err != nil:
		r.Status = run.Partial
	default:
		r.Status = run.Complete
	}
	r.Warnings = c.journal.Warnings
	if err != nil { // run.Why returns the last warning
		r.Warnings = append(r.Warnings, run.Warning{Text: why(err)})
	}
	c.journal.Report(journal.Done, 0, 0, string(r.Status))
	return r
}

// record turns the measurements so far into iterations, and adds the context properties found in
// them.
func (c *collector) record() {
	c.run.ANRs = c.repeater.ANRs()
	c.correctRefreshRate()
	if _, users := c.job.Extra[metric.FramesBy]; !users && c.repeater.SawFrames() {
		c.context.Set(metric.FramesBy, record.FramesBy(c.phone.Frames.By))
	}
	if c.watcher != nil && c.phone.Evident { // recording affects the measurement
		recorded := "perfetto"
		if c.watcher.Tasks && applog.HasMessages(c.target.Facts.API) {
			recorded = "perfetto with tasks"
		}
		c.context.Set("recorded", recordedBy(recorded, c.repeater.MethodsBy()))
	}
	imported := record.Imported(c.measured, c.clean)
	for _, p := range imported.Context {
		c.context.Set(p.Name, p.Value)
	}
	c.run.Declared = imported.Declared
	if c.run.Iterations = imported.Iterations; c.run.Iterations == nil {
		c.run.Iterations = record.Iterations(c.measured)
	}
	for i := range c.run.Iterations {
		if c.prepared.Installer.Metrics != nil && c.run.Iterations[i].Metrics == nil {
			c.run.Iterations[i].Metrics = map[string]float64{}
		}
		maps.Copy(c.run.Iterations[i].Metrics, c.prepared.Installer.Metrics)
	}
}

// recordedBy returns the value of the context's property for what recorded a run.
func recordedBy(trace, methods string) string {
	if methods == "" {
		return trace
	}
	return trace + "+" + methods
}

// correctRefreshRate sets the highest rate at which frames were drawn.
func (c *collector) correctRefreshRate() {
	least := record.ShortestInterval(c.measured)
	if least == 0 {
		return
	}
	if doubt := c.prepared.Rate.Doubt(least); doubt != "" {
		c.journal.Warnf("%s", doubt)
	}
	if _, users := c.job.Extra["refresh_hz"]; !users {
		c.context.Set("refresh_hz", strconv.Itoa(int(float64(time.Second)/float64(least)+0.5)))
	}
}

// soFar returns the current run, to decide whether to continue: complete, and without what is
// computed at its end. It does not change the collector.
func (c *collector) soFar() run.Run {
	quiet := *c
	quiet.journal = journal.New(c.job.name(), nil)
	quiet.context = &properties.Noted{Values: maps.Clone(c.run.Context), Journal: quiet.journal}
	quiet.run.Context = quiet.context.Values
	quiet.record()
	quiet.run.Status, quiet.run.Warnings = run.Complete, []run.Warning{}
	return quiet.run
}

// why returns one sentence on why a run is incomplete, for its record.
func why(err error) string {
	if errors.Is(err, ErrOtherBuild) {
		return ErrOtherBuild.Error()
	}
	return loss.Why(err)
}
