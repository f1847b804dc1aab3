package config

import "time"

// The sources of energy that a file may name, in addition to EnergyAuto.
const (
	EnergyAuto     = "auto"     // the best that the device offers
	EnergyRails    = "rails"    // the device's own power monitors, by Perfetto
	EnergyBattery  = "battery"  // current × voltage of the battery
	EnergyModel    = "model"    // a power profile × the time in each state
	EnergyPlatform = "platform" // the estimate of batterystats
	EnergyNone     = "none"     // not measured
)

// Energy configures how joules are measured.
type Energy struct {
	// The source of joules. auto selects the best that the device offers: its power rails, its
	// battery where it isn't charging, otherwise the model, which is all that an emulator has.
	// Joules of different sources are never compared.
	Source string `yaml:"source,omitempty" jsonschema:"enum=auto,enum=rails,enum=battery,enum=model,enum=platform,enum=none,default=auto"`
	// The power profile of the model, in the format of Android's power_profile.xml. Without it, a reference phone.
	PowerProfile string `yaml:"power-profile,omitempty"`
	// The capacity of the battery in mAh, to show joules in per cent of it. Without it, that of the
	// device or the power profile.
	BatteryCapacity float64 `yaml:"battery-capacity-mah,omitempty" jsonschema:"minimum=200,maximum=60000"`
	// Compile the app ahead of time before it is measured (Android 7 and later), where its scenario
	// doesn't configure that: speed, or none to leave it as it was installed.
	Compile string `yaml:"compile,omitempty" jsonschema:"enum=speed,enum=none,default=speed"`
	// How long the device rests after each warm-up, before it is measured. Without it: two minutes
	// where joules are measured, but 30 seconds between builds that are measured alternately, and none
	// where joules are computed by a model.
	Settle *time.Duration `yaml:"settle,omitempty"`
	// For a device on wireless adb: how long the connection is cut in each repetition, so that it
	// uses no energy; about as long as the workload takes. Frames aren't measured then. Without it,
	// the connection stays.
	Disconnect time.Duration `yaml:"disconnect,omitempty" jsonschema:"default=0s"`
	// Sample the app's methods with simpleperf, to show which of them use the energy. The app must
	// be profileable or a debug build.
	Methods bool `yaml:"methods,omitempty" jsonschema:"default=false"`
	// How often each thread is sampled, in Hz of its time on a CPU. Threads that run for less than a period are never seen.
	SampleHz int `yaml:"sample-hz,omitempty" jsonschema:"minimum=1,maximum=10000,default=500"`
	// The folder for a pprof profile and a table of the methods of each run.
	Profiles string `yaml:"profiles,omitempty" jsonschema:"default=.apkgate/energy"`
}

// Measured reports whether energy is configured at all.
func (e *Energy) Measured() bool { return e != nil && e.Source != EnergyNone }

// DefaultEnergy returns the values of an empty section.
func DefaultEnergy() Energy {
	return Energy{Source: EnergyAuto, Compile: CompileSpeed, SampleHz: 500, Profiles: ".apkgate/energy"}
}

func (d *decoder) energy(dst **Energy) reader {
	return func(n *node, path string) {
		e := DefaultEnergy()
		e.Profiles = d.join(e.Profiles)
		settle := time.Duration(0)
		d.mapping(n, path,
			may("source", oneOf(d, &e.Source, EnergyAuto, EnergyRails, EnergyBattery, EnergyModel, EnergyPlatform, EnergyNone)),
			may("power-profile", d.filePath(&e.PowerProfile)),
			may("battery-capacity-mah", d.number(&e.BatteryCapacity, 200, 60_000)),
			may("compile", oneOf(d, &e.Compile, CompileSpeed, CompileNone)),
			may("settle", d.duration(&settle, 0, time.Hour)),
			may("disconnect", d.duration(&e.Disconnect, time.Second, 24*time.Hour)),
			may("methods", d.boolean(&e.Methods)),
			may("sample-hz", integer(d, &e.SampleHz, 1, 10_000)),
			may("profiles", d.filePath(&e.Profiles)),
		)
		if n.find("settle") != nil {
			e.Settle = &settle
		}
		if methods := n.find("methods"); e.Methods && e.Source == EnergyNone {
			d.at(methods, path+".methods", "want false where energy.source is none: methods are ranked by their energy")
		}
		*dst = &e
	}
}
