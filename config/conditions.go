package config

import (
	"strconv"
	"time"
)

// What happens where a device is not as it should be.
const (
	PolicyWarn   = "warn"   // it is measured all the same, with a warning
	PolicyRefuse = "refuse" // nothing is measured on it
)

// When a device's fixed performance mode is turned on.
const (
	PerformanceNever  = "never"
	PerformanceAuto   = "auto"   // where the device has one, and no energy is measured
	PerformanceAlways = "always" // also beside energy; that a device has none is told
)

// Conditions say how a device is held still while it is measured on, and what happens where
// it can't be.
type Conditions struct {
	// What happens where a device is not fit to measure on, or can't be held still: warn measures all the same, and says so in the run; refuse measures nothing on it and ends with exit status 3.
	Policy string `yaml:"policy,omitempty" jsonschema:"enum=warn,enum=refuse,default=warn"`
	// Hold the clocks of CPU and GPU at a rate that the device can keep up (Android 11 and later, where its maker has built that in): auto does where the device has it and no energy is measured, always also beside energy, never nowhere. Runs with and without it are not alike: a phone that has it begins a new history.
	FixedPerformance string `yaml:"fixed-performance,omitempty" jsonschema:"enum=never,enum=auto,enum=always,default=auto"`
	// Let Android compile apps in the background meanwhile. Without it, it may not (Android 14 and later).
	BackgroundDexopt bool `yaml:"background-dexopt,omitempty" jsonschema:"default=false"`
	// How bright the screen is, such as 40%. Without it, as it was last set by hand. The light of the room changes nothing either way.
	Brightness Fraction `yaml:"brightness,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1"`
	// By how many degrees the screen is turned. Without it, it stays as it is when the run begins.
	Rotation *int `yaml:"rotation,omitempty" jsonschema:"enum=0,enum=90,enum=180,enum=270"`
	// How long a device is waited for that is still busy before anything is measured, such as after its start; 0s does not look.
	IdleWithin time.Duration `yaml:"idle-within" jsonschema:"default=1m"`
}

// Refuses reports whether nothing is measured on a device that is not as it should be.
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
