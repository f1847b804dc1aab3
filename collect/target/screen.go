package target

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
)

// How long a lock screen may take to close, and how often it is polled.
const (
	unlockFor   = 5 * time.Second
	unlockEvery = 250 * time.Millisecond
)

// ErrLocked reports a lock screen that apkgate cannot dismiss.
var ErrLocked = errors.New("its lock screen shows, and asks for a PIN, a pattern or a password")

// Unlock dismisses a lock screen without a PIN, on a screen that is on: no window of an app behind
// it has the focus.
func (t *Target) Unlock(ctx context.Context) error {
	locked, err := t.locked(ctx)
	if err != nil || !locked {
		return err
	}
	dismiss := []string{"wm", "dismiss-keyguard"} // Android 7
	if t.Facts.API < 24 {
		dismiss = []string{"input", "keyevent", "82"} // the menu key
	}
	if err := t.Try(ctx, dismiss...); err != nil {
		return fmt.Errorf("unlock the device: %w", err)
	}
	gone, err := t.Poll(ctx, unlockEvery, unlockFor, func() (bool, error) {
		locked, err := t.locked(ctx)
		return !locked, err
	})
	if err == nil && !gone {
		err = t.Advise(loss.Infrastructure, fmt.Errorf("unlock the device: %w", ErrLocked), device.HintLock)
	}
	return err
}

// Shown is what a device's screen shows, as far as apps are concerned.
type Shown int

// What a screen shows. A device that does not report it is assumed to show apps.
const (
	ShowsApps Shown = iota
	ShowsLock
	ShowsNothing
	// ShowsDialog is a system dialog about a process that failed.
	ShowsDialog
)

// Shows queries, once, what the screen shows.
func (t *Target) Shows(ctx context.Context) (Shown, error) {
	out, err := t.Ask(ctx, device.JoinCommands("dumpsys power", device.LockQuery, device.FocusQuery))
	if err != nil {
		return ShowsApps, fmt.Errorf("read what the screen shows: %w", err)
	}
	answers := device.SplitAnswers(string(out.Stdout), 3)
	if answers == nil {
		return ShowsApps, nil
	}
	does, _ := device.ReadScreen(answers[0])
	_, dialog := device.ReadDialog(answers[2])
	switch {
	case does == device.ScreenOff, does == device.ScreenDozes:
		return ShowsNothing, nil
	case device.Locked(answers[1]):
		return ShowsLock, nil
	case dialog:
		return ShowsDialog, nil
	}
	return ShowsApps, nil
}

// locked reports whether the lock screen shows.
func (t *Target) locked(ctx context.Context) (bool, error) {
	out, err := t.Ask(ctx, device.LockQuery)
	if err != nil {
		return false, fmt.Errorf("check whether the device is locked: %w", err)
	}
	return device.Locked(string(out.Stdout)), nil
}

const screenTimeout = "screen_off_timeout"

// Values of screen_off_timeout, in ms.
const (
	litLong   = "86399000" // a day less a second: nobody sets that by hand
	litMinute = "60000"    // Android's default
)

// unset is what "settings get" prints for a setting that was never set.
const unset = "null"

// KeepLit keeps the screen from going off by itself: "stay on" counts only with a charger, and
// there may be none, or none visible to the system.
func (t *Target) KeepLit(ctx context.Context) error {
	before, err := t.Setting(ctx, "system", screenTimeout)
	if err != nil {
		return err
	}
	if before == unset { // Android's default applies
		before = litMinute
	}
	if _, queryErr := strconv.Atoi(before); queryErr != nil {
		return nil //nolint:nilerr // nolint:nilerr // what can't be read can't be restored
	}
	c := Change{Kind: Setting, Space: "system", Name: screenTimeout, Before: before, Put: litLong}
	if before == litLong && t.made(c) == nil {
		c.Before = litMinute
		t.Journal.Warnf("the screen was set to stay on for a day, as after a run that was killed: it goes off after a minute again when this run ends")
	}
	return t.ReplaceSetting(ctx, c)
}
