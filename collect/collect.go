// Package collect measures: it drives a device through a scenario and makes a
// run of what it saw. Set-up, warm-up, then repetition by repetition: prepare,
// start the workload, read frames while it runs, read the log, sort the frames
// into a bucket for each UI event; at the end, leave the device as it was. Where
// energy is asked for, the device's power is recorded beside it, and each bucket
// gets its joules.
//
// It owns the order of things and what follows from a lost repetition. Package preparation
// does what is done to a device beforehand, repetition what is done while the app is measured,
// and record says what of it goes into a run's record. Package target speaks with the device,
// workload makes the app do something, recorders record meanwhile, and framesource,
// energymeter and applog read frames, energy and the log. Package loss has the ways in which a
// repetition is lost, and journal the progress and the warnings. It does not know how a device
// is reached (package device), what a dump means (package trace), what power a reading stands
// for (package energy), or whether the numbers are good (package gate).
//
// It takes a stand: a repetition is measured whole or it is lost, said so, and made
// again. Nothing is filled in.
//
// The reasons are in docs/design/collection.md.
package collect

import (
	"context"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
)

// Collect makes one run. However it ends, the device is left as it was found,
// as far as it can still be reached.
func Collect(ctx context.Context, job Job, options Options) Result {
	c := newCollector(job, options, newStation(job, options))
	err := c.collect(ctx)
	return c.result(context.WithoutCancel(ctx), err)
}

// NotMade is the result of a job that was not begun, because of err.
func NotMade(job Job, options Options, err error) Result {
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
