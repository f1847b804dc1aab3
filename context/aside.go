package devctx

import (
	"maps"

	"github.com/apkgate/apkgate/metric"
)

// The properties that say nothing of the device or the app, beside
// metric.EnergyFrom and metric.FramesBy.
const (
	Powered = "powered" // what powered the device: "battery", "usb", …
	Battery = "battery" // how full it was: "0-19%", "20-49%", …
	Thermal = "thermal" // how hot Android thought it: "none", "light", "moderate", …
	// Version is the app's: in a pull request every run has a new one, so that rules
	// of it would say what everybody knows, and no two runs would be quite alike.
	Version = "version"
	// AppABI is whose machine code of the app runs, where that is not the device's own: as
	// the version, it is what a pull request may change.
	AppABI = "app_abi"
	// NetworkQuality is how strong the Wi-Fi's signal was: "poor", "fair", "good",
	// "excellent".
	NetworkQuality = "network_quality"
	// SecurityPatch is of which month the system is. A phone gets one every month, and
	// would begin its history anew as often.
	SecurityPatch = "security_patch"
	// CPUMHz are the highest clocks of the cores. A phone's follow from its model, and an
	// emulator's are its host's.
	CPUMHz = "cpu_mhz"
	// Host is the computer that an emulator runs on. The runners of one label have
	// several CPUs in turns: each would have a history of its own.
	Host = "host"
)

// Aside are the properties that say how some of a run's numbers came about, or
// tell of the moment, or follow from others, and nothing more of the device or the app:
// a phone whose joules are read from its rails draws its frames as it did before, one whose frames are
// taken from another place takes the CPU time that it took, and one whose battery
// has waned is the same. They make no two contexts less alike, unless a list
// of properties names them. Numbers that do depend on one, such as joules on
// their source, are kept apart one by one (metric.Metric.Within).
var Aside = []string{
	metric.EnergyFrom, metric.FramesBy, Powered, Battery, Thermal, Version, AppABI,
	NetworkQuality, SecurityPatch, CPUMHz, Host,
}

// Shaped says how the network was slowed down: "console: 1600 kbit/s, 300 ms". It counts,
// and is there only where something was: what was measured at the device's own speed is
// of one kind, whatever the network was called.
const Shaped = "network_shaped"

// Virtual says what plays a device that is none: "emulator", "genymotion", … Phones don't
// have it.
const Virtual = "virtual"

// What is noted only where it is not as users have it; both count.
const (
	// Animations are how long they take, where somebody has set that: "off", "0.5x", or
	// "mixed" where windows, transitions and animators differ.
	Animations = "animations"
	// Performance is "fixed" where the clocks were held.
	Performance = "performance"
)

// Names of the properties that are Chosen.
const (
	GPU         = "gpu"         // what draws: "swiftshader", "NVIDIA GeForce RTX 3080", …
	RAM         = "ram"         // "2 GB"
	Cores       = "cores"       // "4"
	Density     = "density"     // dots per inch
	Translation = "translation" // what translates the app's machine code: "ndk_translation"
)

// Chosen are the properties that follow from the model of a phone, and are set aside
// there: said twice they would make unlike phones more unlike. Whoever makes a virtual
// device chooses them, and they count.
var Chosen = []string{GPU, RAM, Cores, Density, Translation}

// without returns the properties that are not set aside.
func without(a Properties) Properties {
	out := drop(a, a, Aside)
	if a[Virtual] == "" {
		out = drop(a, out, Chosen)
	}
	return out
}

// drop takes names out of what is a itself, or a copy of it by then.
func drop(a, out Properties, names []string) Properties {
	for _, name := range names {
		if _, has := out[name]; !has {
			continue
		}
		if len(out) == len(a) {
			out = maps.Clone(a)
		}
		delete(out, name)
	}
	return out
}
