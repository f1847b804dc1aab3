package saas

import (
	"context"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// stopWithin is the timeout of Stop; each attempt of gmsaas takes up to a minute.
const stopWithin = 5 * time.Minute

// mayAppear is how long after a request an instance may first be listed: one call of gmsaas to
// the platform ends within 30 s (its saas/client.py). If the process was killed in between, no
// other process knows of the instance.
const mayAppear = 45 * time.Second

// Stop stops the instance with the lease's name, and returns once the platform no longer lists
// any.
func (l *Lab) Stop(ctx context.Context, of lease.Lease, tell func(string)) error {
	l.unwatch(of.ID)
	if of.Detail[noteAsked] == "" {
		return nil // nothing was requested of the platform
	}
	if err := genymotion.EndOrphans("gmsaas", of.ID); err != nil {
		tell(err.Error())
	}
	byHand := "stop " + of.ID + " on https://cloud.geny.io"
	if m := of.Detail[noteMinutes]; m != "" {
		byHand += fmt.Sprintf("; the platform stops it by itself %s minutes after it has booted", prose.Clip(m, 10))
	}
	doing := "stop the instance " + of.ID
	return boot.Ending{
		Lab: called, Doing: doing, Still: "it is still listed", ByHand: byHand,
		Within: stopWithin, Every: l.lookEvery, Hopeless: genymotion.Hopeless,
		Step: func(ctx context.Context) (bool, error) {
			left, err := l.stopAll(ctx, of.ID, doing, tell)
			return left == 0 && !boot.MayAppear(of, noteAsked, noteUUID, l.mayAppear), err
		},
	}.Run(ctx)
}

// stopAll stops the listed instances with the name, and returns their number.
func (l *Lab) stopAll(ctx context.Context, name, doing string, tell func(string)) (listed int, err error) {
	a, err := l.list(ctx, doing)
	if err != nil {
		return 0, err
	}
	there := a.named(name)
	for _, i := range there {
		if i.ending() {
			continue
		}
		tell(fmt.Sprintf("stopping the instance %s", name))
		if _, err := l.ask(ctx, doing, stopTimeout, "instances", "stop", i.UUID); err != nil {
			return len(there), err
		}
	}
	return len(there), nil
}
