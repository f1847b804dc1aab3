package saas

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Keys of a lease's details. An instance is only found by its name, the lease's ID: its UUID
// changes with each start, and a process that was killed during a start never received it.
const (
	noteAsked   = "asked"   // when the start was requested, as RFC 3339
	noteUUID    = "uuid"    // of the instance, once the platform has reported it
	noteMinutes = "minutes" // after which the platform stops it by itself
)

// defaultMinutes is the time limit of an instance by default. Each instance has one, since it
// is billed by the minute.
const defaultMinutes = 120

// Boot starts an instance of the recipe with the lease's name, and connects adb to it.
func (l *Lab) Boot(ctx context.Context, spec boot.Spec, held *lease.Held, tell func(string)) (*boot.Booted, error) {
	if err := held.For(spec.Name); err != nil {
		return nil, err
	}
	// A missing SDK and an unreachable platform are detected before anything is started that
	// could not be stopped then: start requires less than stop.
	if _, err := l.list(ctx, "list the instances"); err != nil {
		return nil, err
	}
	recipe, err := l.recipe(ctx, spec)
	if err != nil {
		return nil, err
	}
	if spec.Minutes == 0 {
		spec.Minutes = defaultMinutes
	}
	tell(fmt.Sprintf("starting an instance of %s, for %d minutes at most", recipe, spec.Minutes))
	if err := l.start(ctx, spec, recipe, held, tell); err != nil {
		return nil, err
	}
	b, err := l.connect(ctx, held.ID(), tell)
	if err == nil {
		l.computer.SetBattery(ctx, b, spec.BatteryPercent, tell)
	}
	return b, err
}

// recipe returns the recipe for the instance. A UUID is used as it is.
func (l *Lab) recipe(ctx context.Context, spec boot.Spec) (genymotion.Offer, error) {
	if isUUID(spec.Model) {
		return genymotion.Offer{ID: spec.Model, Name: spec.Model, Android: spec.Android}, nil
	}
	doing := "look for the recipe " + prose.Quote(spec.Model, 80)
	a, err := l.ask(ctx, doing, shortly, "recipes", "list")
	if err != nil {
		return genymotion.Offer{}, err
	}
	offer, doubt := genymotion.Choose("recipe", a.offers(), spec.Model, spec.Android)
	if doubt != nil {
		return offer, doubt.Failed(called, doing, "gmsaas recipes list shows those that the account has")
	}
	return offer, nil
}

// start starts the instance and waits until gmsaas reports it as online.
func (l *Lab) start(ctx context.Context, spec boot.Spec, recipe genymotion.Offer, held *lease.Held, tell func(string)) error {
	if err := held.Note(noteMinutes, strconv.Itoa(spec.Minutes)); err != nil {
		return err
	}
	if err := held.Note(noteAsked, boot.Now()); err != nil {
		return err
	}
	doing := fmt.Sprintf("start an instance of %s", recipe)
	a, err := l.ask(ctx, doing, l.startWithin(), "instances", "start", recipe.ID, held.ID(), "--max-run-duration", strconv.Itoa(spec.Minutes))
	var refused *genymotion.RefusedError
	if errors.As(err, &refused) && refused.Code == codeUsage && refused.Says("max-run-duration") {
		tell("this gmsaas can't limit how long the instance lives: it is stopped once it was unused for the time that the account sets")
		a, err = l.ask(ctx, doing, l.startWithin(), "instances", "start", recipe.ID, held.ID(), "--stop-when-inactive")
	}
	if err != nil {
		return err
	}
	if a.Instance == nil || !isUUID(a.Instance.UUID) {
		return &boot.Error{Lab: called, What: doing + ": gmsaas names no instance in its answer", Advice: adviceUpdate}
	}
	return held.Note(noteUUID, a.Instance.UUID)
}

// connect connects adb to the instance with the name and waits until Android answers.
func (l *Lab) connect(ctx context.Context, name string, tell func(string)) (*boot.Booted, error) {
	i, err := l.instance(ctx, name)
	if err != nil {
		return nil, err
	}
	serial, err := l.tunnel(ctx, i, tell)
	if err != nil {
		return nil, err
	}
	at, _ := address(serial)
	b := &boot.Booted{Serial: serial, Address: at}
	if err := l.computer.Up(ctx, called, b, tell); err != nil {
		return nil, err
	}
	w := l.watch(name)
	b.Died, b.Why = w.died, w.why
	return b, nil
}

// instance returns the online instance with the name.
func (l *Lab) instance(ctx context.Context, name string) (instance, error) {
	doing := "look for the instance " + name
	a, err := l.list(ctx, doing)
	if err != nil {
		return instance{}, err
	}
	for _, i := range a.named(name) {
		if i.State == online {
			return i, nil
		}
	}
	return instance{}, &boot.Error{Lab: called, What: doing + ": it was started, and " + stateOf(a, name), Retry: true}
}

// stateOf describes the state of the instance with a name.
func stateOf(a answer, name string) string {
	for _, i := range a.named(name) {
		return "is " + prose.Clip(prose.OneLine(i.State), 40) + " now"
	}
	return "is gone: it was stopped"
}

// tunnel opens the tunnel for adb, and returns the instance's serial.
func (l *Lab) tunnel(ctx context.Context, i instance, tell func(string)) (string, error) {
	doing := "connect adb to the instance " + i.Name
	for try := 1; ; try++ {
		a, err := l.ask(ctx, doing, tunnelTimeout, "instances", "adbconnect", i.UUID)
		var refused *genymotion.RefusedError
		switch {
		case err == nil && a.Instance != nil:
			if _, ok := address(a.Instance.Serial); ok {
				return a.Instance.Serial, nil
			}
			return l.serialOf(ctx, i.Name, doing)
		case err == nil, errors.As(err, &refused) && refused.Code == codeOtherPort:
			return l.serialOf(ctx, i.Name, doing) // old versions print nothing; or it is already connected
		case try == 2 || refused == nil || !refused.Failed.Retry:
			return "", err
		}
		tell(refused.Error() + ": trying once more")
	}
}

// serialOf returns the serial of a connected instance from the list.
func (l *Lab) serialOf(ctx context.Context, name, doing string) (string, error) {
	a, err := l.list(ctx, doing)
	if err != nil {
		return "", err
	}
	for _, i := range a.named(name) {
		if _, ok := address(i.Serial); ok {
			return i.Serial, nil
		}
	}
	return "", &boot.Error{Lab: called, What: doing + ": gmsaas reports no serial for it", Advice: adviceUpdate, Retry: true}
}
