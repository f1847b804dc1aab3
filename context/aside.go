package devctx

import (
	"maps"

	"github.com/apkgate/apkgate/metric"
)

// The properties that do not describe the device or the app, in addition to metric.EnergyFrom and
// metric.FramesBy.
const (
	Powered = "powered" // what powered the device: "battery", "usb", …
	Battery = "battery" // how full it was: "0-19%", "20-49%", …
	Thermal = "thermal" // how hot Android reported it to be: "none", "light", "moderate", …
	// Version is the app's version: in a pull request every run has a new one, so that rules with
	// it would be trivial, and no two runs would be quite alike.
	Version = "version"
	// AppABI is the ABI of the app's native code, where that is not the device's own: like the
	// version, a pull request may change it.
	AppABI = "app_abi"
	// NetworkQuality is the strength of the Wi-Fi signal: "poor", "fair", "good", "excellent".
	NetworkQuality = "network_quality"
	// SecurityPatch is the month of the system's security patch. A phone gets one every month, and
	// would start its history anew as often.
	SecurityPatch = "security_patch"
	// CPUMHz are the maximum clocks of the cores. A phone's follow from its model, and an
	// emulator's are its host's.
	CPUMHz = "cpu_mhz"
	// Host is the computer that an emulator runs on. The runners of one label alternate between
	// CPUs, each of which would have a history of its own.
	Host = "host"
)

// Aside are the properties that describe how some of a run's numbers were measured, or the moment,
// or that follow from others, and do not describe the device or the app. A phone whose joules are
// read from its rails draws its frames as before, one whose frames come from another source takes
// the same CPU time, and one whose battery has aged is the same phone. They do not make two
// contexts less similar, unless a list of properties names them. Numbers that do depend on one,
// such as joules on their source, are separated individually (metric.Metric.Within).
var Aside = []string{
	metric.EnergyFrom, metric.FramesBy, Powered, Battery, Thermal, Version, AppABI,
	NetworkQuality, SecurityPatch, CPUMHz, Host,
}

// Shaped describes how the network was throttled: "console: 1600 kbit/s, 300 ms". It counts, and is
// present only where it was: measurements at the device's own speed are of one kind, whatever the
// network was called.
const Shaped = "network_shaped"

// Virtual is the kind of a virtual device: "emulator", "genymotion", … Phones don't have it.
const Virtual = "virtual"

// Properties that are recorded only where they differ from a user's device; both count.
const (
	// Animations is their duration scale, where it was set: "off", "0.5x", or "mixed" where
	// windows, transitions and animators differ.
	Animations = "animations"
	// Performance is "fixed" where the clocks were fixed.
	Performance = "performance"
	// Load is what else kept the device busy: "cpu 80%, memory 80%".
	Load = "load"
)

// Names of the properties that are Chosen.
const (
	GPU         = "gpu"         // the renderer: "swiftshader", "NVIDIA GeForce RTX 3080", …
	RAM         = "ram"         // "2 GB"
	Cores       = "cores"       // "4"
	Density     = "density"     // dots per inch
	Translation = "translation" // the translator of the app's native code: "ndk_translation"
)

// Chosen are the properties that follow from the model of a phone, where they are set aside:
// counting them twice would make different phones less similar. The maker of a virtual device
// chooses them, and there they count.
var Chosen = []string{GPU, RAM, Cores, Density, Translation}

// without returns the properties that are not set aside.
func without(a Properties) Properties {
	out := drop(a, a, Aside)
	if a[Virtual] == "" {
		out = drop(a, out, Chosen)
	}
	return out
}

// drop removes names from out, which is a itself or already a copy of it.
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
