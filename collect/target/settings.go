package target

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
)

// Setting reads a setting: "" if the device does not know the command, "null" if it was never set.
func (t *Target) Setting(ctx context.Context, space, name string) (string, error) {
	text, err := t.Output(ctx, "settings", "get", space, name)
	if err != nil {
		return "", fmt.Errorf("read the setting %s: %w", name, err)
	}
	return strings.TrimSpace(text), nil
}

// Hold changes a setting until the run ends. Some devices store it under another value. Called
// again, after the device was lost, it changes it again.
func (t *Target) Hold(ctx context.Context, space, name, value string) error {
	before, err := t.Setting(ctx, space, name)
	if err != nil {
		return err
	}
	c := Change{Kind: Setting, Space: space, Name: name, Before: before, Put: value}
	put := device.Quote("settings", "put", space, name, value)
	if before == "" || before == value { // nothing that could be restored
		err = t.Record(ctx, put)
	} else {
		err = t.Do(ctx, put, c)
	}
	if err != nil {
		return fmt.Errorf("put the setting %s: %w", name, err)
	}
	now, err := t.Setting(ctx, space, name)
	if err == nil && now != "" && now != value && now != before && t.made(c) != nil {
		c.Put = now
		err = t.Do(ctx, ":", c)
	}
	return err
}

// reset restores the earlier value of a setting, "null" if it was never set, and reads it back. The
// error contains the command to do so by hand.
func (t *Target) reset(ctx context.Context, space, name, before string) error {
	words := []string{"settings", "put", space, name, before}
	if before == unset {
		words = []string{"settings", "delete", space, name}
	}
	if err := t.Try(ctx, words...); err != nil {
		return fmt.Errorf("put the setting %s back: %w", name, err)
	}
	now, err := t.Setting(ctx, space, name)
	if err == nil && now != "" && now != before {
		err = fmt.Errorf("the setting %s stays at %s: set it by hand, adb shell %s", name, journal.Line(now), device.Quote(words...))
	}
	return err
}

// StayOn turns the screen on and keeps it on while a charger is connected. From here on the app may
// run.
func (t *Target) StayOn(ctx context.Context, app string) error {
	runs := Change{Kind: App, Name: app} // TearDown stops it anyway
	err := t.Do(ctx, runs.note()+device.Quote("svc", "power", "stayon", "true"), Change{Kind: StayOn, Before: t.Facts.StayOn, Put: "true"})
	if err != nil {
		return fmt.Errorf("keep the screen on: %w", err)
	}
	now, err := t.Setting(ctx, "global", StayOnSetting)
	if with, queryErr := strconv.Atoi(now); err == nil && queryErr == nil && with == 0 {
		t.ignored(StayOnSetting, "any charger", now)
	}
	return err
}

// ignored warns of a setting that did not change.
func (t *Target) ignored(name, value, now string) {
	t.Journal.Warnf("the device ignores what is set over adb: %s was set to %s and is %s (some makers want \"USB debugging (Security settings)\" turned on in the developer options)",
		name, value, journal.Line(now))
}
