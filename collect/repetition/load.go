package repetition

import (
	"context"

	"github.com/apkgate/apkgate/collect/load"
)

// besides keeps the device busy while the app is measured, from before the workload's start until
// after its end.
type besides struct {
	nothing
	load *load.Load
	work Work
}

func newBesides(p *Phone, w Work) *besides {
	return &besides{load: load.New(p.Target, w.Scenario.Load), work: w}
}

func (b *besides) before(ctx context.Context, a *attempt) error {
	if !a.measured {
		return nil
	}
	return b.load.Start(ctx, b.work.Scenario.Timeout)
}

func (b *besides) after(ctx context.Context, a *attempt) error { return b.load.Stop(ctx, a.n) }
