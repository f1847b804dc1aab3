package collect

import (
	"context"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/repetition"
	"github.com/apkgate/apkgate/run"
)

// Module makes the runs of the classes of one Macrobenchmark module: jobs that differ only in their
// scenarios. The app and its test are installed once. A failed class does not affect those after
// it; if the device is lost, they are lost with it. ended receives each result except the last as
// soon as its class has ended, failed or not; nil for none.
func Module(ctx context.Context, jobs []Job, options Options, ended func(k int, r Result)) []Result {
	s := newStation(jobs[0], options)
	var all []*collector
	for _, job := range jobs {
		all = append(all, newCollector(job, options, s))
	}
	out := make([]Result, len(all))
	last := len(all) - 1
	result := func(k int, err error) { out[k] = all[k].result(context.WithoutCancel(ctx), err) }
	why := collectModule(ctx, all, options, func(k int, err error) {
		if result(k, err); ended != nil {
			ended(k, out[k])
		}
	})
	result(last, why)
	return out
}

// collectModule measures the jobs one after another. done is called at the end of each but the
// last, with why it is incomplete: problems found when leaving the device are the last job's.
func collectModule(ctx context.Context, all []*collector, options Options, done func(k int, err error)) (err error) {
	first, last := all[0], len(all)-1
	defer all[last].tearDown(ctx)
	lost := first.setUp(ctx)
	ready := first.setUpResult()
	for k, c := range all {
		if err = lost; lost == nil {
			if k > 0 {
				c.adopt(ready, options)
			}
			if err = c.repeat(ctx); ctx.Err() != nil || loss.IsGone(err) {
				lost = err
			}
		}
		if k < last {
			done(k, err)
		}
	}
	return err
}

// setUpResult is the result of set-up, for collectors that continue with the same installation.
type setUpResult struct {
	app       run.App
	context   map[string]string
	warnings  []run.Warning
	buildSize map[string]float64
	granted   []string
	taking    taking
}

func (c *collector) setUpResult() setUpResult {
	return setUpResult{c.run.App, maps.Clone(c.run.Context), slices.Clone(c.journal.Warnings), c.prepared.Installer.Metrics, c.prepared.Installer.Granted, c.taking}
}

// adopt continues with what another collector has installed and set up.
func (c *collector) adopt(r setUpResult, options Options) {
	c.installed = c.prepared.Installer
	c.target.Journal = c.journal
	c.context.Values = maps.Clone(r.context)
	c.run.Started, c.run.App, c.run.Context = started(options), r.app, c.context.Values
	c.work.Started = c.run.Started
	c.repeater = repetition.New(c.phone, c.work)
	c.journal.Warnings = append(slices.Clone(r.warnings), c.journal.Warnings...)
	c.installed.Metrics, c.installed.Granted, c.taking = r.buildSize, r.granted, r.taking
}
