package config

import (
	"strconv"
	"time"
)

// What to do with a device that is not as it should be.
const (
	PolicyWarn   = "warn"   // measure anyway, with a warning
	PolicyRefuse = "refuse" // measure nothing on it
)

// When to turn on a device's fixed performance mode.
const (
	PerformanceNever  = "never"
	PerformanceAuto   = "auto"   // where the device has one, and no energy is measured
	PerformanceAlways = "always" // also with energy; a device without the mode is reported
)

// Conditions are how a device is kept in a constant state while it is measured, and what to do
// where that is impossible.
type Conditions struct {
	// What to do with a device that is not fit to measure on, or can't be kept in a constant state:
	// warn measures anyway, with a warning in the run; refuse measures nothing on it and ends with
	// exit status 3.
	Policy string `yaml:"policy,omitempty" jsonschema:"enum=warn,enum=refuse,default=warn"`
	// Fix the clocks of CPU and GPU at a rate that the device can sustain (Android 11 and later,
	// where its maker supports it): auto where the device supports it and no energy is measured,
	// always also with energy, never nowhere. Runs with and without it are not comparable: a phone
	// that has it begins a new history.
	FixedPerformance string `yaml:"fixed-performance,omitempty" jsonschema:"enum=never,enum=auto,enum=always,default=auto"`
	// Let Android compile apps in the background during a run. Without it, it may not (Android 14
	// and later).
	BackgroundDexopt bool `yaml:"background-dexopt,omitempty" jsonschema:"default=false"`
	// The brightness of the screen, such as 40%. Without it, as last set by hand. The ambient light
	// changes nothing in either case.
	Brightness Fraction `yaml:"brightness,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// By how many degrees the screen is turned. Without it, it stays as it is when the run begins.
	Rotation *int `yaml:"rotation,omitempty" jsonschema:"enum=0,enum=90,enum=180,enum=270"`
	// How long to wait for a device that is still busy, such as after its start, before anything is
	// measured; 0s does not wait.
	IdleWithin time.Duration `yaml:"idle-within" jsonschema:"default=1m"`
}

// Refuses reports whether a device that is not as it should be is not measured at all.
func (c Conditions) Refuses() bool { return c.Policy == PolicyRefuse }

func (d *decoder) conditions(c *Conditions) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			may("policy", oneOf(d, &c.Policy, PolicyWarn, PolicyRefuse)),
			may("fixed-performance", oneOf(d, &c.FixedPerformance, PerformanceNever, PerformanceAuto, PerformanceAlways)),
			may("background-dexopt", d.boolean(&c.BackgroundDexopt)),
			may("brightness", d.fraction(&c.Brightness, false)),
			may("rotation", d.rotation(&c.Rotation)),
			may("idle-within", d.duration(&c.IdleWithin, 0, time.Hour)),
		)
	}
}

// rotation decodes a number of degrees.
func (d *decoder) rotation(dst **int) reader {
	return func(n *node, path string) {
		degrees, err := strconv.Atoi(n.text)
		if n.tag != "!!int" || err != nil || degrees%90 != 0 || degrees < 0 || degrees > 270 {
			d.at(n, path, "want one of 0, 90, 180, 270; got %s", describe(n))
			return
		}
		*dst = &degrees
	}
}
