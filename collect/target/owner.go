package target

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/internal/prose"
)

// mayChange reports whether this process may change the device.
func (t *Target) mayChange() bool { return t.Owner == nil || t.owned }

// Own marks the device as used by its Owner, if any, once nobody else uses it, and undoes what a
// killed run left changed on it.
func (t *Target) Own(ctx context.Context, longest time.Duration) error {
	if t.Owner == nil {
		return nil
	}
	hold, rest, err := devicelock.Await(ctx, t.Ask, t.Clock, *t.Owner, longest, readLedger, func(by devicelock.Owner) {
		t.Journal.Report(journal.Waiting, 0, 0, fmt.Sprintf("is in use by %s: waiting up to %s", journal.Line(by.String()), prose.Duration(longest)))
	})
	if errors.Is(err, devicelock.ErrNoMark) {
		t.Journal.Warnf("%v: another user of it, here or on another computer, is not kept from using it at the same time, and what this run changes is not put back if the run is killed; see that adb may write to %s",
			err, devicelock.DeviceFolder)
		err = nil
	}
	if err != nil {
		return t.inUse(err)
	}
	t.owned = true
	t.hold.Store(hold)
	return t.putBackLeft(ctx, parseLedger(rest))
}

// inUse adds a hint to the error that somebody else uses the device.
func (t *Target) inUse(err error) error {
	var held *devicelock.HeldError
	if !errors.As(err, &held) {
		return err
	}
	return t.Advise(loss.Infrastructure, fmt.Errorf("the device is %w", held), "wait for it to end, or measure on another device")
}

// reclaim makes sure, after the device was lost, that nobody else has taken it.
func (t *Target) reclaim(ctx context.Context) error {
	hold := t.hold.Load()
	if hold == nil {
		return nil
	}
	err := hold.Reacquire(ctx, t.Ask, t.Clock.Now())
	if errors.Is(err, devicelock.ErrNoMark) {
		return nil
	}
	if err = t.inUse(err); err != nil && !loss.IsGone(err) {
		t.owned = false
	}
	return err
}

// release records on the device that nobody uses it, and that only the given changes are still to
// be undone.
func (t *Target) release(ctx context.Context, left []Change) error {
	line := keepNoted(left)
	if hold := t.hold.Swap(nil); hold != nil {
		line += hold.Release()
	} else {
		line += ":"
	}
	if _, err := t.Ask(ctx, line); err != nil {
		return fmt.Errorf("give the device up: %w", err)
	}
	return nil
}

// beat returns the prefix of a command that renews the mark, mostly "": it is sent along with other
// commands.
func (t *Target) beat() string {
	hold := t.hold.Load()
	if hold == nil {
		return ""
	}
	return hold.Renewal(t.Clock.Now())
}

// Renew renews the mark if that is due and no other command is sent.
func (t *Target) Renew(ctx context.Context) error {
	beat := t.beat()
	if beat == "" {
		return nil
	}
	_, err := t.ask(ctx, beat, ":")
	return err
}

// Leave records that no command will be sent to the device for so long.
func (t *Target) Leave(ctx context.Context, long time.Duration) error {
	hold := t.hold.Load()
	if hold == nil || long < devicelock.RenewEvery {
		return nil
	}
	_, err := t.ask(ctx, hold.Silence(t.Clock.Now(), long), ":")
	return err
}

// ask runs a command line after the prefix that renews the mark.
func (t *Target) ask(ctx context.Context, beat, line string) (device.Output, error) {
	out, err := t.dev.Exec(ctx, beat+line)
	if err != nil || beat == "" || !devicelock.Gone(&out) {
		return out, err
	}
	return out, t.reclaim(ctx)
}

// Restore takes the device for as long as undoing the changes of a killed run takes. What it did is
// in the journal, as warnings.
func (t *Target) Restore(ctx context.Context) error {
	if err := t.Open(ctx); err != nil {
		return fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	defer t.HangUp()
	if err := t.WaitBooted(ctx); err != nil {
		return err
	}
	if err := t.Own(ctx, 0); err != nil {
		return err
	}
	if err := t.release(context.WithoutCancel(ctx), t.failed); err != nil || len(t.failed) == 0 {
		return err
	}
	return t.Advise(loss.Infrastructure, fmt.Errorf("%s could not be put back", prose.Count(len(t.failed), "change", "changes")),
		"put back by hand what can't be from here, and remove the note of it: adb shell rm "+ledger)
}

// Left returns descriptions of what a killed run left changed on a device, and who uses the device
// now, if anybody: then the changes are that run's. It changes nothing.
func Left(ctx context.Context, d device.Device) (changes []string, by *devicelock.Owner, err error) {
	text, err := devicelock.Check(ctx, d.Exec, "", readLedger)
	var held *devicelock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, &held.Owner, nil
	case err != nil:
		return nil, nil, err
	}
	for _, c := range parseLedger(text) {
		if s := c.String(); !slices.Contains(changes, s) {
			changes = append(changes, s)
		}
	}
	return changes, nil, nil
}
