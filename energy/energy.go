// Package energy converts a device's power readings to joules: readings of power rails or of the
// battery, an estimate by a power profile, or the platform's own; over a run, an interval between
// two UI events, or a method.
//
// It owns the corrections that real devices need (units, signs, charging). It does not talk to
// devices (package collect does) and does not judge (package gate does). Below it, package model
// estimates by a power profile and package methods attributes energy to methods.
//
// Every joule bears the name of its source, sources are never mixed, and a reading that can't be
// trusted is rejected rather than repaired by a guess.
//
// Source: EDATA (chapter 3 and section 6.1.1).
package energy

// Source is a source of joules.
type Source string

// The sources, the best first.
const (
	Rails    Source = "rails"    // on-device power monitors, by Perfetto
	Battery  Source = "battery"  // current × voltage of the battery
	Model    Source = "model"    // a power profile × the time in each state
	Platform Source = "platform" // the estimate of batterystats
)

// Measured reports whether the source measures rather than estimates joules.
func (s Source) Measured() bool { return s == Rails || s == Battery }
