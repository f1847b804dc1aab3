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
	// Version is the app's: in a pull request every run has a new one, so that rules
	// of it would say what everybody knows, and no two runs would be quite alike.
	Version = "version"
	// NetworkQuality is how strong the Wi-Fi's signal was: "poor", "fair", "good",
	// "excellent".
	NetworkQuality = "network_quality"
)

// Aside are the properties that say how some of a run's numbers came about, or
// tell of the moment, and nothing of the device or the app: a phone whose joules
// are read from its rails draws its frames as it did before, one whose frames are
// taken from another place takes the CPU time that it took, and one whose battery
// has waned is the same. They make no two contexts less alike, unless a list
// of properties names them. Numbers that do depend on one, such as joules on
// their source, are kept apart one by one (metric.Metric.Within).
var Aside = []string{metric.EnergyFrom, metric.FramesBy, Powered, Battery, Version, NetworkQuality}

// without returns the properties that are not set aside.
func without(a Properties) Properties {
	out := a
	for _, name := range Aside {
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
