package energy

import (
	"errors"
	"fmt"
	"strings"
)

// Auto selects the best source that a device offers.
const Auto = "auto"

// Offers is the sources that a device offers.
type Offers struct {
	// Emulator is set if there is no hardware to measure.
	Emulator bool
	// Rails is nil if the device has power rails, otherwise the error of OfRails.
	Rails error
	// Battery is nil if the battery is trustworthy, otherwise the error of Correct.
	Battery error
	// Platform is nil if batterystats has an estimate.
	Platform error
	// Profile is the name of the model.
	Profile string
}

// Choice is the chosen source of joules.
type Choice struct {
	Source Source
	// From is the value of metric.EnergyFrom.
	From string
	// PassedOver states for each better source why it was not chosen, and the remedy.
	PassedOver []string
}

var errEmulator = errors.New("an emulator has no hardware to measure")

// Choose returns the requested source: one of Rails, Battery, Model and Platform, or with Auto the
// best. It returns an error if the requested source is unavailable; Auto never fails, since the
// model is always available.
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

// reason returns the cause of a refusal without the operation.
func reason(refusal error) error {
	if inner := errors.Unwrap(refusal); inner != nil {
		return inner
	}
	return refusal
}

// From returns the value of metric.EnergyFrom: the source, for the model with the name of its
// profile.
func From(source Source, profile string) string {
	if source != Model || profile == "" {
		return string(source)
	}
	return strings.TrimSpace(string(source) + " " + profile)
}

// Hint returns the remedy for an error of this package, "" if there is none.
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
