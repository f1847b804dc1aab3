package collect

import (
	"context"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/run"
)

// Module makes the runs of the classes of one Macrobenchmark module: jobs that differ in
// their scenarios alone. The app and its test are installed once. A class that fails does
// not hold up those after it; where the device is lost, they are lost with it.
func Module(ctx context.Context, jobs []Job, options Options) []Result {
	s := newStation(jobs[0], options)
	var all []*collector
	for _, job := range jobs {
		all = append(all, newCollector(job, options, s))
	}
	errs := collectModule(ctx, all, options)
	out := make([]Result, len(all))
	for i, c := range all {
		out[i] = c.result(context.WithoutCancel(ctx), errs[i])
	}
	return out
}

// collectModule measures them one after another, and returns why each is not whole.
func collectModule(ctx context.Context, all []*collector, options Options) []error {
	first, errs := all[0], make([]error, len(all))
	defer first.tearDown(ctx)
	lost := first.setUp(ctx)
	ready := first.readiness()
	for i, c := range all {
		if lost != nil {
			errs[i] = lost
			continue
		}
		if i > 0 {
			c.take(ready, options)
		}
		if errs[i] = c.repeat(ctx); ctx.Err() != nil || loss.IsGone(errs[i]) {
			lost = errs[i]
		}
	}
	first.target.Journal = first.journal
	return errs
}

// readiness is what set-up has found out, for whoever goes on with the same installation.
type readiness struct {
	app       run.App
	context   map[string]string
	warnings  []run.Warning
	buildSize map[string]float64
	granted   []string
	taking    taking
}

func (c *collector) readiness() readiness {
	return readiness{c.run.App, maps.Clone(c.run.Context), slices.Clone(c.journal.Warnings), c.buildSize, c.granted, c.taking}
}

// take goes on with what another collector has installed and set up.
func (c *collector) take(r readiness, options Options) {
	c.holder = c
	c.target.Journal = c.journal
	c.run.Started, c.run.App, c.run.Context = started(options), r.app, maps.Clone(r.context)
	c.journal.Warnings = append(slices.Clone(r.warnings), c.journal.Warnings...)
	c.buildSize, c.granted, c.taking = r.buildSize, r.granted, r.taking
}
