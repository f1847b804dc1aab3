// Package conditions brings a device to the state in which it is measured: its start is over, no
// system dialog covers the app, the screen neither turns nor changes with ambient light, nothing is
// compiled in the background, and, if configured, the clocks are held.
//
// It owns which settings are read and changed on which version of Android. Recording a change and
// undoing it belongs to package target; whether a device is fit to measure on is decided by package
// device. Conditions of users' phones are kept as they are, animations above all. A change is
// undone unless somebody else has changed the same thing since. What can't be set is a warning, or
// an error if the configuration says so.
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

// Holder holds the conditions of one device for one run.
type Holder struct {
	Target *target.Target
	Want   config.Conditions
	// Energy reports that joules are measured.
	Energy bool

	// Fixed reports that the clocks are held.
	Fixed bool
	// Scales are the device's animation scales; ScalesKnown is false if it does not report them.
	Scales      device.Scales
	ScalesKnown bool

	unfit []device.Finding
}

// ErrUnfit reports that a device is unfit, and that the configuration refuses to measure on one.
var ErrUnfit = errors.New("the device is not fit to measure on, and conditions.policy is refuse")

// Hold makes the changes that a restart of the device undoes.
func (h *Holder) Hold(ctx context.Context) error {
	h.unfit = nil
	if err := h.Dismiss(ctx); err != nil {
		return err
	}
	out, err := h.Target.Ask(ctx, device.JoinCommands(questions(h.Target.Facts.API)...))
	if err != nil {
		return fmt.Errorf("read the conditions to be held: %w", err)
	}
	now := read(string(out.Stdout), h.Target.Facts.API)
	h.Scales, h.ScalesKnown = device.ReadAnimations(now.animations)
	for _, set := range []func(context.Context, state) error{h.holdBrightness, h.holdRotation, h.holdDexopt, h.holdPerformance} {
		if err := set(ctx, now); err != nil {
			return err
		}
	}
	return h.Refused()
}

// Report warns of an unfit condition, which Refused then takes into account.
func (h *Holder) Report(f device.Finding) {
	h.unfit = append(h.unfit, f)
	hint := ""
	if f.Hint != "" {
		hint = " (" + f.Hint + ")"
	}
	h.Target.Journal.Warnf("the device is not fit: %s: %s%s", f.Name, f.Detail, hint)
}

// Refused returns ErrUnfit if a condition is unfit and the configuration refuses to measure then.
func (h *Holder) Refused() error {
	if len(h.unfit) == 0 || !h.Want.Refuses() {
		return nil
	}
	var what []string
	for _, f := range h.unfit {
		what = append(what, f.Name+": "+journal.Line(f.Detail))
	}
	return h.Target.Advise(loss.Infrastructure, fmt.Errorf("%w: %s", ErrUnfit, strings.Join(what, "; ")),
		"apkgate doctor has the command for each; conditions.policy: warn measures all the same")
}

// set changes a system setting until the run ends, and reads it back.
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
		h.Report(device.Finding{
			Name: finding, Detail: fmt.Sprintf("the device ignores what is set over adb: %s was set to %s and is %s", name, value, journal.Line(now)),
			Hint: "some makers want \"USB debugging (Security settings)\" turned on in the developer options",
		})
	}
	return err
}
