package collect

import (
	"context"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
)

// Pair is two builds of one app to be compared on one device: the same job but
// for the app. Base's device, scenario, network, energy and evidence count for both.
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
// retries; where that is of no use both runs end, since a round of one build
// alone can't be compared. The error of the build that was not at fault is then
// ErrOtherBuild as well.
func Interleave(ctx context.Context, p Pair, options Options) (base, head Result) {
	p.Head.Device, p.Head.Open, p.Head.Clock = p.Base.Device, p.Base.Open, p.Base.Clock // Claim is the base's, which sets up
	p.Head.Scenario, p.Head.Network, p.Head.Energy, p.Head.Evidence = p.Base.Scenario, p.Base.Network, p.Base.Energy, p.Base.Evidence
	s := newStation(p.Base, options)
	s.clean = true
	a, b := newCollector(p.Base, options, s), newCollector(p.Head, options, s)
	at, err := interleave(ctx, a, b)
	result := func(c *collector) Result {
		own := err
		if err != nil && at != c {
			own = fmt.Errorf("%w: %w", ErrOtherBuild, err)
		}
		return c.result(own)
	}
	return result(a), result(b)
}

// ErrOtherBuild says that a run ended because the build that it was measured in
// turns with could not be measured.
var ErrOtherBuild = errors.New("measuring in turns ended with the other build")

// interleave returns at which build it ended, where it did not come to its end.
func interleave(ctx context.Context, a, b *collector) (at *collector, err error) {
	defer a.tearDown(ctx)
	if a.job.App.APK == "" || b.job.App.APK == "" {
		return a, a.target.Final(loss.Infrastructure, errors.New("compare two builds: each needs an APK file"))
	}
	if err := a.setUp(ctx); err != nil {
		return a, err
	}
	if err := a.warmUp(ctx); err != nil {
		return a, err
	}
	first, second := a, b
	for n := 1; n <= a.job.Scenario.Repetitions; n++ {
		if err := first.measure(ctx, n); err != nil {
			return first, err
		}
		if err := second.measure(ctx, n); err != nil {
			return second, err
		}
		first, second = second, first
	}
	return nil, nil
}

// turn makes one repetition, after it has put its build on the device where
// another's is there, or let the device rest that was lost and has come back.
func (c *collector) turn(ctx context.Context, n int) (measurement, error) {
	c.target.Journal = c.journal
	ready := func(context.Context) error { return nil }
	switch {
	case c.holder != c:
		ready = c.takeOver
	case c.meter != nil && !c.meter.Settled():
		ready = c.settle
	}
	if err := ready(ctx); err != nil {
		return measurement{}, c.fail(loss.Infrastructure, journal.Measure, n, err)
	}
	return c.repetition(ctx, n, true)
}

// takeOver installs this collector's build in place of another's, and warms it up.
func (c *collector) takeOver(ctx context.Context) error {
	c.journal.Report(journal.SetUp, 0, 0, "installing the other build")
	c.holder = nil
	if err := c.target.Try(ctx, "am", "force-stop", c.job.App.Package); err != nil {
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
	if err := c.plan.FindActivity(ctx); err != nil {
		return err
	}
	if err := c.compile(ctx); err != nil {
		return err
	}
	if c.meter != nil {
		if err := c.meter.Ready(ctx, c.build); err != nil {
			return err
		}
	}
	return c.warmUp(ctx)
}
