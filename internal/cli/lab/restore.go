package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device/claim"
)

// Restore puts back what a run that was killed left changed on the device, and says
// what that was. Where somebody uses the device, nothing is done, and the error is a
// *claim.HeldError.
func (d Device) Restore(ctx context.Context, now time.Time) (told []string, err error) {
	me := claim.Me(now)
	me.Doing = "apkgate devices restore"
	taken, err := claim.Take(claim.Folder(), d.key, me)
	var held *claim.HeldError
	switch {
	case errors.As(err, &held):
		return nil, loss.Final(d.Name, loss.Infrastructure, fmt.Errorf("the device is %w", err), "wait for it to end")
	case err == nil:
		defer taken.Release()
		me.Lock = taken.Lock()
	}
	t := target.New(d.Name, d.Clock, now, d.Open)
	t.Journal, t.Owner, t.Console = journal.New(d.Name, nil), &me, d.port
	err = t.Restore(ctx)
	for _, w := range t.Journal.Warnings {
		told = append(told, w.Text)
	}
	return told, err
}

// Shared reports whether anybody else may use the device.
func (d Device) Shared() bool { return d.key != "" }
