package desktop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Keys of a lease's details. A created device has the lease's name.
const (
	noteExisting = "existing" // the name of an existing device
	noteCreating = "creating" // since when, as RFC 3339
	noteCreated  = "created"  // "yes" once gmtool has said so
	noteStarting = "starting" // since when
	noteStarted  = "started"  // "yes" once gmtool has said so
)

// Boot starts an existing device, or creates one with the lease's name and starts it.
func (l *Lab) Boot(ctx context.Context, spec boot.Spec, held *lease.Held, tell func(string)) (*boot.Booted, error) {
	if err := held.For(spec.Name); err != nil {
		return nil, err
	}
	name, err := held.ID(), error(nil)
	if spec.Existing != "" {
		name, err = l.ready(ctx, spec.Existing, held, tell)
	} else {
		err = l.make(ctx, spec, held, tell)
	}
	if err != nil {
		return nil, err
	}
	b, err := l.up(ctx, name, tell)
	switch {
	case err != nil:
	case held.Lease().Detail[noteStarting] != "":
		l.computer.SetBattery(ctx, b, spec.BatteryPercent, tell)
	case spec.BatteryPercent > 0:
		tell(fmt.Sprintf("the battery is not set to %d%%: the device was already running, and keeps running", spec.BatteryPercent))
	}
	return b, err
}

// ready makes sure that an existing device is running, and returns its name.
func (l *Lab) ready(ctx context.Context, asked string, held *lease.Held, tell func(string)) (string, error) {
	doing := "look for the virtual device " + prose.Quote(asked, 80)
	machines, err := l.list(ctx, doing)
	if err != nil {
		return "", err
	}
	m, doubt := choose(machines, asked)
	if doubt != nil {
		return "", doubt.Failed(called, doing, "gmtool admin list shows those that are there")
	}
	if err := held.Note(noteExisting, m.Name); err != nil {
		return "", err
	}
	if !m.off() {
		tell(fmt.Sprintf("%s is already running (%s): it is used as it is, and keeps running", prose.Short(prose.OneLine(m.Name)), prose.Clip(m.State, 20)))
		return m.Name, nil
	}
	return m.Name, l.start(ctx, m.Name, held, tell)
}

// choose finds a device by its name or its UUID.
func choose(machines []machine, asked string) (machine, *genymotion.Doubt) {
	var offers []genymotion.Offer
	for _, m := range machines {
		offers = append(offers, genymotion.Offer{ID: m.UUID, Name: m.Name})
	}
	offer, doubt := genymotion.Choose("virtual device", offers, asked, "")
	if doubt != nil {
		return machine{}, doubt
	}
	if i := slices.IndexFunc(machines, func(m machine) bool { return m.UUID == offer.ID }); i >= 0 && same(machines, machines[i].Name) == 1 {
		return machines[i], nil
	}
	return machine{}, &genymotion.Doubt{What: "several virtual devices have that name", Advice: "rename all but one of them in Genymotion: gmtool finds a device by its name"}
}

// same counts the devices with the name.
func same(machines []machine, name string) (n int) {
	for _, m := range machines {
		if m.Name == name {
			n++
		}
	}
	return n
}

// start starts a device. On some computers a start fails several times a day and works the
// next time (exit code 3, issue 13 of the vendor's Gradle plugin), so it is tried twice.
func (l *Lab) start(ctx context.Context, name string, held *lease.Held, tell func(string)) error {
	if err := held.Note(noteStarting, boot.Now()); err != nil {
		return err
	}
	tell("starting " + prose.Short(prose.OneLine(name)))
	err := l.startOnce(ctx, name)
	var failed *genymotion.RefusedError
	if errors.As(err, &failed) && failed.Code == codeFailed && failed.Failed.Retry {
		tell(err.Error() + ": trying once more")
		err = l.startOnce(ctx, name)
	}
	if err != nil {
		return err
	}
	return held.Note(noteStarted, "yes")
}

// startOnce cold boots a device: versions before 3 have no saved states, and no option against
// them.
func (l *Lab) startOnce(ctx context.Context, name string) error {
	doing := "start " + prose.Quote(name, 80)
	_, err := l.run(ctx, doing, startWithin, "admin", "start", name, "--coldboot")
	var failed *genymotion.RefusedError
	if errors.As(err, &failed) && slices.Contains([]int{codeNoAction, codeBadValue, codeMissing}, failed.Code) {
		_, err = l.run(ctx, doing, startWithin, "admin", "start", name)
	}
	return err
}

// appearsWithin is the timeout for a started device to have a serial.
const appearsWithin = time.Minute

// up waits until the device has a serial, and Android answers.
func (l *Lab) up(ctx context.Context, name string, tell func(string)) (*boot.Booted, error) {
	doing := "look for " + prose.Quote(name, 80)
	for until := time.Now().Add(appearsWithin); ; {
		machines, err := l.list(ctx, doing)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(machines, func(m machine) bool { return m.Name == name })
		state := "it is not listed"
		if i >= 0 {
			if m := machines[i]; m.State == "On" && m.Serial != "" {
				b := &boot.Booted{Serial: m.Serial, Address: m.Serial}
				return b, l.computer.Up(ctx, called, b, tell)
			}
			state = "its state is " + prose.Quote(machines[i].State, 40)
		}
		if time.Now().After(until) {
			return nil, &boot.Error{Lab: called, What: fmt.Sprintf("%s: it was started, and %s after %s", doing, state, prose.Duration(appearsWithin)), Advice: adviceStart, Retry: true}
		}
		if err := boot.Pause(ctx, l.lookEvery); err != nil {
			return nil, err
		}
	}
}

// options returns the arguments of gmtool admin create for the spec.
func options(spec boot.Spec) (out []string) {
	for _, o := range []struct {
		name  string
		value int
	}{
		{"width", spec.Width}, {"height", spec.Height}, {"density", spec.Density}, {"nbcpu", spec.Cores}, {"ram", spec.RAMMiB},
	} {
		if o.value > 0 {
			out = append(out, fmt.Sprintf("--%s=%d", o.name, o.value))
		}
	}
	return out
}

// image returns the name of an Android version in versions with hardware profiles: "Android
// 11.0".
func image(android string) string {
	if strings.HasPrefix(strings.ToLower(android), "android") {
		return android
	}
	return "Android " + android
}
