// Package collect measures: it drives a device through a scenario and makes a run of the
// observations. It sets the device up and warms up; then, for each repetition, it prepares, starts
// the workload, reads frames while it runs, reads the log, and sorts the frames into a bucket for
// each UI event. At the end it leaves the device as it was. If energy is configured, the device's
// power is recorded at the same time, and each bucket gets its joules.
//
// It owns the order of these steps and what follows from a lost repetition. Preparing the device
// belongs to package preparation, one repetition to repetition, and the run's record to record.
// Below those, target talks to the device, workload drives the app, recorders records, framesource
// reads frames, energymeter energy and applog the log; loss defines the failures, and journal the
// progress. It does not know how a device is reached (package device), how dumps are parsed
// (package trace), what power a reading stands for (package energy), or whether the numbers are
// good (package gate).
//
// A repetition is measured completely, or it is lost, reported as lost, and repeated. Nothing is
// filled in.
//
// The reasons are in docs/design/collection.md.
package collect

import (
	"context"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
)

// Collect makes one run. However it ends, the device is left as it was found, as far as it can
// conditions be reached.
func Collect(ctx context.Context, job Job, options Options) Result {
	c := newCollector(job, options, newStation(job, options))
	err := c.collect(ctx)
	return c.result(context.WithoutCancel(ctx), err)
}

// NotStarted returns the result of a job that was not started because of err.
func NotStarted(job Job, options Options, err error) Result {
	c := newCollector(job, options, newStation(job, options))
	return c.result(context.Background(), c.fail(loss.Infrastructure, journal.SetUp, 0, err))
}

func (c *collector) collect(ctx context.Context) error {
	defer c.tearDown(ctx)
	if err := c.setUp(ctx); err != nil {
		return err
	}
	return c.repeat(ctx)
}
