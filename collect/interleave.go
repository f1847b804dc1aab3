package collect

import (
	"context"
	"errors"
)

// Pair is two builds of one app to be compared on one device: the same job but
// for the app. Base's device, scenario and network count for both.
type Pair struct{ Base, Head Job }

// Interleave measures both builds in turns, in the order base, head, head, base,
// base, head, head, …: Repetitions rounds of one repetition of each, so that
// heat and drift are the same for both, and each is as often first as the other.
// A build is installed anew when its turn comes, without the data of the one
// before (an older build can't replace a newer one, nor one with another key),
// and runs the scenario's warm-up before it is measured.
//
// Both runs have as many iterations as there are rounds, the n-th of each being
// of round n. A repetition that is lost is made again, within its build's
// retries; where that is of no use both runs end, with the same error, since a
// round of one build alone can't be compared.
func Interleave(ctx context.Context, p Pair, options Options) (base, head Result) {
	p.Head.Device, p.Head.Open, p.Head.Clock = p.Base.Device, p.Base.Open, p.Base.Clock
	p.Head.Scenario, p.Head.Network = p.Base.Scenario, p.Base.Network
	s := &station{clean: true}
	a, b := newCollector(p.Base, options, s), newCollector(p.Head, options, s)
	err := interleave(ctx, a, b)
	return Result{Device: p.Base.Device, Run: a.finish(err), Err: err}, Result{Device: p.Base.Device, Run: b.finish(err), Err: err}
}

func interleave(ctx context.Context, a, b *collector) error {
	defer a.tearDown(ctx)
	if a.job.App.APK == "" || b.job.App.APK == "" {
		return a.final(Infrastructure, errors.New("compare two builds: each needs an APK file"))
	}
	if err := a.setUp(ctx); err != nil {
		return err
	}
	if err := a.warmUp(ctx); err != nil {
		return err
	}
	first, second := a, b
	for n := 1; n <= a.job.Scenario.Repetitions; n++ {
		if err := first.measure(ctx, n); err != nil {
			return err
		}
		if err := second.measure(ctx, n); err != nil {
			return err
		}
		first, second = second, first
	}
	return nil
}

// turn makes one repetition, after it has put its build on the device where
// another's is there.
func (c *collector) turn(ctx context.Context, n int) (measurement, error) {
	if c.holder != c {
		if err := c.takeOver(ctx); err != nil {
			return measurement{}, c.fail(Infrastructure, Measure, n, err)
		}
	}
	return c.repetition(ctx, n)
}

// takeOver installs this collector's build in place of another's, and warms it up.
func (c *collector) takeOver(ctx context.Context) error {
	c.report(SetUp, 0, 0, "installing the other build")
	c.holder = nil
	if err := c.try(ctx, "am", "force-stop", c.job.App.Package); err != nil {
		return err
	}
	if err := c.installApp(ctx); err != nil {
		return err
	}
	c.holder = c
	if len(c.run.Context) == 0 {
		if err := c.readContext(ctx); err != nil {
			return err
		}
	}
	return c.warmUp(ctx)
}
