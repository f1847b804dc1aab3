// Package conditions brings a device to the state in which it is measured: the start of the device
// is over, no dialog of the system's stands before the app, the screen neither turns nor
// changes with the light of the room, nothing is compiled in the background, and, where that is
// asked for, the clocks are held.
//
// It owns what is set and what is asked before, by version of Android. How a change is noted
// and put back is package target's, and whether a device is fit at all is package device's to
// say. It takes a stand: what users have stays as they have it, animations above all; what is
// changed is put back, unless somebody else has changed it since; and what can't be set is
// told, or refused where the configuration says so.
package conditions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// Holder holds one device still for one run.
type Holder struct {
	Target *target.Target
	Want   config.Conditions
	// Energy says that joules are measured.
	Energy bool

	// Fixed says that the clocks are held.
	Fixed bool
	// Scales are those of the device's animations; Told is false where it doesn't tell.
	Scales device.Scales
	Told   bool

	amiss []device.Finding
}

// ErrUnfit says that a device is not as it should be, where the configuration wants nothing
// measured on such a one.
var ErrUnfit = errors.New("the device is not fit to measure on, and conditions.policy is refuse")

// Hold sets what a restart of the device undoes.
func (h *Holder) Hold(ctx context.Context) error {
	h.amiss = nil
	if err := h.Dismiss(ctx); err != nil {
		return err
	}
	out, err := h.Target.Ask(ctx, device.Together(questions(h.Target.Facts.API)...))
	if err != nil {
		return fmt.Errorf("look what there is to be held still: %w", err)
	}
	now := read(string(out.Stdout), h.Target.Facts.API)
	h.Scales, h.Told = device.ReadAnimations(now.animations)
	for _, set := range []func(context.Context, state) error{h.holdBrightness, h.holdRotation, h.holdDexopt, h.holdPerformance} {
		if err := set(ctx, now); err != nil {
			return err
		}
	}
	return h.Refused()
}

// Tell warns of what is not as it should be, which Refused then knows of.
func (h *Holder) Tell(f device.Finding) {
	h.amiss = append(h.amiss, f)
	hint := ""
	if f.Hint != "" {
		hint = " (" + f.Hint + ")"
	}
	h.Target.Journal.Warnf("the device is not fit: %s: %s%s", f.Name, f.Detail, hint)
}

// Refused is ErrUnfit where something is not as it should be and nothing is measured then.
func (h *Holder) Refused() error {
	if len(h.amiss) == 0 || !h.Want.Refuses() {
		return nil
	}
	var what []string
	for _, f := range h.amiss {
		what = append(what, f.Name+": "+journal.Line(f.Detail))
	}
	return h.Target.Advise(loss.Infrastructure, fmt.Errorf("%w: %s", ErrUnfit, strings.Join(what, "; ")),
		"apkgate doctor has the command for each; conditions.policy: warn measures all the same")
}

// set changes a setting of the system's until the run ends, and reads it back.
func (h *Holder) set(ctx context.Context, finding, name, before, value string) error {
	if before == value || before == "" {
		return nil
	}
	c := target.Change{Kind: target.Setting, Space: "system", Name: name, Before: before, Put: value}
	if err := h.Target.Do(ctx, device.Quote("settings", "put", c.Space, c.Name, c.Put), c); err != nil {
		return fmt.Errorf("put the setting %s: %w", name, err)
	}
	now, err := h.Target.Setting(ctx, c.Space, c.Name)
	if err == nil && now != "" && now != value {
		h.Tell(device.Finding{
			Name: finding, Detail: fmt.Sprintf("the device ignores what is set over adb: %s was set to %s and is %s", name, value, journal.Line(now)),
			Hint: "some makers want \"USB debugging (Security settings)\" turned on in the developer options",
		})
	}
	return err
}
