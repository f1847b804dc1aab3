package energy

import (
	"errors"
	"fmt"
	"strings"
)

// Auto asks for the best source that a device offers.
const Auto = "auto"

// Offers is what a device was found to offer.
type Offers struct {
	// Emulator says that there is no hardware to measure.
	Emulator bool
	// Rails is nil where the device has power rails, otherwise what OfRails said.
	Rails error
	// Battery is nil where the battery can be trusted, otherwise what Correct said.
	Battery error
	// Platform is nil where batterystats estimates.
	Platform error
	// Profile is the name of the model.
	Profile string
}

// Choice is where joules come from.
type Choice struct {
	Source Source
	// From is the value of metric.EnergyFrom.
	From string
	// PassedOver says of each better source why it was not taken, and what can be
	// done about it.
	PassedOver []string
}

var errEmulator = errors.New("an emulator has no hardware to measure")

// Choose takes the source that is asked for: one of Rails, Battery, Model and
// Platform, or with Auto the best. The error says why the one that is asked for
// can't be had; with Auto there is none, since the model is always there.
func Choose(asked string, offers Offers) (Choice, error) {
	refusals := map[Source]error{Rails: offers.Rails, Battery: offers.Battery, Platform: offers.Platform, Model: nil}
	if offers.Emulator {
		refusals[Rails], refusals[Battery] = errEmulator, errEmulator
	}
	if asked != Auto {
		source := Source(asked)
		refusal, known := refusals[source]
		if !known {
			return Choice{}, fmt.Errorf("choose the source of energy: %q is none of %s, %s, %s, %s and %s", asked, Auto, Rails, Battery, Model, Platform)
		}
		if refusal != nil {
			return Choice{}, fmt.Errorf("measure energy by %s: %w", source, reason(refusal))
		}
		return Choice{Source: source, From: From(source, offers.Profile)}, nil
	}
	c := Choice{}
	for _, source := range []Source{Rails, Battery, Model} {
		refusal := refusals[source]
		if refusal == nil {
			c.Source, c.From = source, From(source, offers.Profile)
			break
		}
		text := reason(refusal).Error()
		if errors.Is(refusal, ErrCharging) { // the other hints lead to the source that is taken anyway
			text += " (" + Hint(refusal) + ")"
		}
		c.PassedOver = append(c.PassedOver, text)
	}
	return c, nil
}

// reason is the refusal of a source without what was being done.
func reason(refusal error) error {
	if inner := errors.Unwrap(refusal); inner != nil {
		return inner
	}
	return refusal
}

// From is the value of metric.EnergyFrom: the source, for the model with the name
// of its profile.
func From(source Source, profile string) string {
	if source != Model || profile == "" {
		return string(source)
	}
	return strings.TrimSpace(string(source) + " " + profile)
}

// Hint is what a user can do about an error of this package, "" where nothing.
func Hint(err error) string {
	switch {
	case errors.Is(err, ErrCharging):
		return "unplug the device, or use wireless adb"
	case errors.Is(err, ErrPowerUnknown):
		return "measure for longer, or choose another source"
	case errors.Is(err, ErrNoUpdates):
		return "measure for longer, so that the battery's sensor updates more often"
	case errors.Is(err, ErrUnit), errors.Is(err, ErrCounter), errors.Is(err, ErrDirection), errors.Is(err, ErrUnsteady), errors.Is(err, ErrNoCurrent), errors.Is(err, ErrNoVoltage):
		return "the battery's sensor can't be trusted on this device: set energy.source to model"
	}
	return ""
}
