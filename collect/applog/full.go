package applog

import (
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
)

// FullDisplay waits for an app that reports itself as fully drawn. Whether it does is learned from
// its first start.
type FullDisplay struct {
	Target  *target.Target
	App     string // its package
	known   bool   // it has been started
	reports bool   // and reported itself
}

// fullWithin is how long after its first frame an app may take to be fully drawn.
const fullWithin = 15 * time.Second

// Await waits until the log shows that the app is fully drawn, if it may do so; lost reports that
// it did not, and did before.
func (f *FullDisplay) Await(ctx context.Context, log *Log) (lost, err error) {
	if f.known && !f.reports {
		return nil, nil
	}
	drawn, err := f.Target.Poll(ctx, time.Second, fullWithin, func() (bool, error) {
		err := log.Read(ctx)
		return log.fullyDrawn(f.App), err
	})
	if err != nil {
		return nil, err
	}
	if f.reports && !drawn {
		lost := fmt.Errorf("%w: the app did not say within %v that it is fully drawn, as it did before", loss.ErrStart, fullWithin)
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: lost}, nil
	}
	f.known, f.reports = true, drawn
	return nil, nil
}
