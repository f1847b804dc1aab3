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

// ours reports whether the device is this process's to change.
func (t *Target) ours() bool { return t.Owner == nil || t.owned }

// Own marks the device as in use by its Owner, if any, once nobody else uses it, and
// puts back what a run that was killed left changed on it.
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
		return t.held(err)
	}
	t.owned = true
	t.hold.Store(hold)
	return t.putBackLeft(ctx, parseLedger(rest))
}

// held says what to do about a device that somebody else uses.
func (t *Target) held(err error) error {
	var held *devicelock.HeldError
	if !errors.As(err, &held) {
		return err
	}
	return t.Advise(loss.Infrastructure, fmt.Errorf("the device is %w", held), "wait for it to end, or measure on another device")
}

// stillOwn makes sure, after the device was lost, that nobody has taken it meanwhile.
func (t *Target) stillOwn(ctx context.Context) error {
	hold := t.hold.Load()
	if hold == nil {
		return nil
	}
	err := hold.Again(ctx, t.Ask, t.Clock.Now())
	if errors.Is(err, devicelock.ErrNoMark) {
		return nil
	}
	if err = t.held(err); err != nil && !loss.IsGone(err) {
		t.owned = false
	}
	return err
}

// giveUp says on the device that nobody uses it, and that nothing but this is still to
// be put back.
func (t *Target) giveUp(ctx context.Context, left []Change) error {
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

// beat is what to put before a command, "" mostly: the mark is renewed with what is
// sent anyhow.
func (t *Target) beat() string {
	hold := t.hold.Load()
	if hold == nil {
		return ""
	}
	return hold.Beat(t.Clock.Now())
}

// Renew renews the mark where that is due and nothing else is sent.
func (t *Target) Renew(ctx context.Context) error {
	beat := t.beat()
	if beat == "" {
		return nil
	}
	_, err := t.ask(ctx, beat, ":")
	return err
}

// Leave says that nothing is sent to the device for so long from now on.
func (t *Target) Leave(ctx context.Context, long time.Duration) error {
	hold := t.hold.Load()
	if hold == nil || long < devicelock.RenewEvery {
		return nil
	}
	_, err := t.ask(ctx, hold.Silence(t.Clock.Now(), long), ":")
	return err
}

// ask runs a command line behind what renews the mark.
func (t *Target) ask(ctx context.Context, beat, line string) (device.Output, error) {
	out, err := t.dev.Exec(ctx, beat+line)
	if err != nil || beat == "" || !devicelock.Gone(&out) {
		return out, err
	}
	return out, t.stillOwn(ctx)
}

// Restore takes the device for as long as it needs to put back what a run that was
// killed left changed on it. What it did is in the journal, as warnings.
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
	if err := t.giveUp(context.WithoutCancel(ctx), t.failed); err != nil || len(t.failed) == 0 {
		return err
	}
	return t.Advise(loss.Infrastructure, fmt.Errorf("%s could not be put back", prose.Count(len(t.failed), "change", "changes")),
		"put back by hand what can't be from here, and remove the note of it: adb shell rm "+ledger)
}

// Left is what a run that was killed left changed on a device, in words, and who uses
// the device now, if anybody does: then it is that run's. Nothing is changed by asking.
func Left(ctx context.Context, d device.Device) (changes []string, by *devicelock.Owner, err error) {
	text, err := devicelock.Look(ctx, d.Exec, "", readLedger)
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
