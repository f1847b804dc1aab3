package target

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
)

// setting reads a setting, "" where the device does not know the command, "null" where
// nobody has set it.
func (t *Target) setting(ctx context.Context, space, name string) (string, error) {
	text, err := t.Output(ctx, "settings", "get", space, name)
	if err != nil {
		return "", fmt.Errorf("read the setting %s: %w", name, err)
	}
	return strings.TrimSpace(text), nil
}

// Put changes a setting and reads it back: some makers' phones let nobody change any
// over adb, and don't say so.
func (t *Target) Put(ctx context.Context, space, name, value string) error {
	if err := t.Try(ctx, "settings", "put", space, name, value); err != nil {
		return fmt.Errorf("put the setting %s: %w", name, err)
	}
	now, err := t.setting(ctx, space, name)
	if err == nil && now != "" && now != value {
		t.ignored(name, value, now)
	}
	return err
}

// Hold changes a setting until the run ends, and reads nothing back: some take it under
// another value. Called again, after the device was lost, it changes it again.
func (t *Target) Hold(ctx context.Context, space, name, value string) error {
	before, err := t.setting(ctx, space, name)
	if err != nil {
		return err
	}
	if what := "put the setting " + name + " back"; before != value && !t.Undoes(what) {
		t.UndoLater(what, func(ctx context.Context) error { return t.PutBack(ctx, space, name, before) })
	}
	if err := t.Try(ctx, "settings", "put", space, name, value); err != nil {
		return fmt.Errorf("put the setting %s: %w", name, err)
	}
	return nil
}

// PutBack gives a setting the value that it had, "null" where nobody had set it, and
// reads it back. The error says what to do by hand.
func (t *Target) PutBack(ctx context.Context, space, name, before string) error {
	if before == "" { // what could not be read can't be put back
		return nil
	}
	words := []string{"settings", "put", space, name, before}
	if before == "null" {
		words = []string{"settings", "delete", space, name}
	}
	if err := t.Try(ctx, words...); err != nil {
		return fmt.Errorf("put the setting %s back: %w", name, err)
	}
	now, err := t.setting(ctx, space, name)
	if err == nil && now != "" && now != before {
		err = fmt.Errorf("the setting %s stays at %s: set it by hand, adb shell %s", name, journal.Line(now), device.Quote(words...))
	}
	return err
}

// StayOn turns the screen on and keeps it on while a charger is connected.
func (t *Target) StayOn(ctx context.Context) error {
	if err := t.Try(ctx, "svc", "power", "stayon", "true"); err != nil {
		return fmt.Errorf("keep the screen on: %w", err)
	}
	now, err := t.setting(ctx, "global", StayOnSetting)
	if with, notTold := strconv.Atoi(now); err == nil && notTold == nil && with == 0 {
		t.ignored(StayOnSetting, "any charger", now)
	}
	return err
}

// ignored tells of a setting that stayed as it was.
func (t *Target) ignored(name, value, now string) {
	t.Journal.Warnf("the device ignores what is set over adb: %s was set to %s and is %s (some makers want \"USB debugging (Security settings)\" turned on in the developer options)",
		name, value, journal.Line(now))
}
