package properties

import (
	"regexp"
	"strconv"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/device"
)

var (
	level         = regexp.MustCompile(`(?m)^\s*level: (\d+)`)
	thermalStatus = regexp.MustCompile(`(?m)^\s*Thermal Status: (\d)\s*$`)
)

// battery sets the level in steps, so that runs at 81 % and 84 % are alike.
func (r *reader) battery(text string) {
	if m := level.FindStringSubmatch(text); m != nil {
		r.Properties[devctx.Battery] = batteryStep(m[1])
	}
}

func batteryStep(percent string) string {
	switch n, err := strconv.Atoi(percent); {
	case err != nil || n < 0 || n > 100:
		return ""
	case n < 20:
		return "0-19%"
	case n < 50:
		return "20-49%"
	case n < 80:
		return "50-79%"
	}
	return "80-100%"
}

// thermalNames are the names of Android's thermal states (Temperature.java), from 0 on.
var thermalNames = []string{"none", "light", "moderate", "severe", "critical", "emergency", "shutdown"}

// thermal reads `dumpsys thermalservice` (Android 10 and later, ThermalManagerService).
func (r *reader) thermal(text string) {
	if m := thermalStatus.FindStringSubmatch(text); m != nil {
		if n := int(m[1][0] - '0'); n < len(thermalNames) {
			r.Properties[devctx.Thermal] = thermalNames[n]
		}
	}
}

// network sets how the device is connected, unless the run sets that up, and how well.
func (r *reader) network(text string) {
	r.Properties[devctx.NetworkQuality] = device.ReadNetworkQuality(text)
	switch {
	case r.Properties["network"] != "":
	case r.facts.WifiOn:
		r.Properties["network"] = "wifi"
	case r.facts.DataOn:
		r.Properties["network"] = "mobile"
	default:
		r.Properties["network"] = "none"
	}
}

var (
	version    = regexp.MustCompile(`(?m)^\s*versionName=(\S+)`)
	primaryABI = regexp.MustCompile(`(?m)^\s*primaryCpuAbi=([A-Za-z0-9_-]{1,20})\s*$`)
)

// app reads `dumpsys package`: the version, and the ABI of the running machine code (Android 5 and
// later; "null" for an app without any).
func (r *reader) app(text string) {
	if m := version.FindStringSubmatch(text); m != nil {
		r.Version = m[1]
	}
	m, own := primaryABI.FindStringSubmatch(text), r.facts.Properties["ro.product.cpu.abi"]
	if m == nil || m[1] == "null" || own == "" || m[1] == own {
		return
	}
	r.Properties[devctx.AppABI] = m[1]
	if arm(m[1]) != arm(own) {
		r.Properties[devctx.Translation] = bridge(r.facts.Properties["ro.dalvik.vm.native.bridge"])
	}
}

func arm(abi string) bool { return strings.HasPrefix(abi, "arm") }

// bridge returns what translates machine code, by the library that ART loads for it
// ("libhoudini.so"; "0" if there is none).
func bridge(library string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(library, "lib"), ".so")
	if name == "" || name == "0" {
		return "unknown"
	}
	return name
}
