package applog

import (
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
)

// FullDisplay waits for an app that says when it shows all that it should. Whether it
// does is learnt from its first start.
type FullDisplay struct {
	Target *target.Target
	App    string // its package
	known  bool   // it has been started
	tells  bool   // and it did say so
}

// fullWithin is how long after its first frame an app may take to be fully drawn.
const fullWithin = 15 * time.Second

// Await waits until the log tells that the app is fully drawn, where it may; lost is
// that it did not, and has before.
func (f *FullDisplay) Await(ctx context.Context, log *Log) (lost, err error) {
	if f.known && !f.tells {
		return nil, nil
	}
	told, err := f.Target.Poll(ctx, time.Second, fullWithin, func() (bool, error) {
		err := log.Read(ctx)
		return log.fullyDrawn(f.App), err
	})
	if err != nil {
		return nil, err
	}
	if f.tells && !told {
		lost := fmt.Errorf("%w: the app did not say within %v that it is fully drawn, as it did before", loss.ErrStart, fullWithin)
		return &loss.Error{Cause: loss.Workload, Phase: journal.Measure, Err: lost}, nil
	}
	f.known, f.tells = true, told
	return nil, nil
}
