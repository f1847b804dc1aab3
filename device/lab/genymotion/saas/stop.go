package saas

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// stopWithin bounds Stop; each try takes gmsaas up to a minute.
const stopWithin = 5 * time.Minute

// mayAppear is how long after it was asked for an instance may first be listed: one call
// of gmsaas to the platform ends within 30 s (its saas/client.py). A process that was
// killed in between has left nobody who would know.
const mayAppear = 45 * time.Second

// Stop stops the instance that has the lease's name, and returns once the platform lists
// none any more.
func (l *Lab) Stop(ctx context.Context, of lease.Lease, tell func(string)) error {
	l.unwatch(of.ID)
	if of.Detail[noteAsked] == "" {
		return nil // the platform was not asked for anything
	}
	ctx, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	if err := genymotion.EndOrphans("gmsaas", of.ID); err != nil {
		tell(err.Error())
	}
	doing := "stop the instance " + of.ID
	if _, err := l.gmsaas(doing); err != nil {
		return byHand(err, of) // which no waiting brings
	}
	for {
		left, err := l.stopAll(ctx, of.ID, doing, tell)
		var refused *refusedError
		if errors.As(err, &refused) && !refused.failed.Retry {
			return byHand(refused.failed, of)
		}
		if err == nil && left == 0 && !l.mayStillAppear(of) {
			return nil
		}
		if boot.Pause(ctx, l.lookEvery) != nil {
			if err == nil && errors.Is(ctx.Err(), context.Canceled) {
				err = context.Cause(ctx)
			}
			if err == nil {
				err = &boot.Error{Lab: called, What: fmt.Sprintf("%s: it is still listed after %s", doing, prose.Duration(stopWithin)), Retry: true}
			}
			return byHand(err, of)
		}
	}
}

// stopAll stops what is listed under the name, and tells how many were.
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

// mayStillAppear reports whether an instance that nobody was told of may still be on its way.
func (l *Lab) mayStillAppear(of lease.Lease) bool {
	if of.Detail[noteUUID] != "" {
		return false
	}
	asked, err := time.Parse(time.RFC3339, of.Detail[noteAsked])
	return err == nil && time.Since(asked).Abs() < l.mayAppear
}

// byHand adds to an error what somebody can do, and what happens if nobody does.
func byHand(err error, of lease.Lease) error {
	e := &boot.Error{Lab: called, What: "stop the instance " + of.ID + ": " + err.Error()}
	var failed *boot.Error
	if errors.As(err, &failed) {
		e.What, e.Advice, e.Retry = failed.What, failed.Advice, failed.Retry
	}
	if e.Advice != "" {
		e.Advice += "; "
	}
	e.Advice += "then apkgate devices clean, or stop " + of.ID + " on https://cloud.geny.io"
	if m := of.Detail[noteMinutes]; m != "" {
		e.Advice += fmt.Sprintf("; the platform stops it by itself %s minutes after it has booted", prose.Clip(m, 10))
	}
	return e
}
