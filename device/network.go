package device

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// NetworkQuery is the command line whose output ReadNetwork parses.
const NetworkQuery = "dumpsys connectivity"

// Kinds of network that ReadNetwork returns, in addition to Android's own names such as
// "WIFI", "MOBILE", "ETHERNET" and "VPN".
const (
	NetworkNotReported = "?"
	NetworkNone        = ""
	NetworkUnknown     = "unknown" // connected, but to what is not reported
)

var (
	// Android 5 and later: the number of the network, or "none".
	defaultNetwork = regexp.MustCompile(`Active default network: (\w+)`)
	// The kind of the network is in its agent's line: "ni{[type: WIFI[], state: …" up to
	// Android 11, "ni{WIFI CONNECTED …" since.
	agentKind = regexp.MustCompile(`\bni\{(?:\[type: )?([A-Z_]{2,20})`)
	// Android 4: "NetworkInfo: type: WIFI[], state: CONNECTED/CONNECTED, …".
	networkInfo = regexp.MustCompile(`type: ([A-Za-z_]{2,20})[^,\n]*, state: CONNECTED/`)
)

// ReadNetwork returns the kind of the device's default network, from the output of
// NetworkQuery.
func ReadNetwork(output string) string {
	switch id := first(defaultNetwork, output); id {
	case "none":
		return NetworkNone
	case "":
		if kind := first(networkInfo, output); kind != "" {
			return strings.ToUpper(kind)
		}
		if strings.Contains(output, "NetworkInfo: ") {
			return NetworkNone
		}
		return NetworkNotReported
	default:
		kind, _ := agent(output, id)
		return cmp.Or(kind, NetworkUnknown)
	}
}

// agent returns the kind and the line of the network with the number, or "" for both where
// there is none.
func agent(output, id string) (kind, line string) {
	for line := range strings.Lines(output) {
		if kind := first(agentKind, line); kind != "" && strings.Contains(line, "network{"+id+"}") {
			return kind, line
		}
	}
	return "", ""
}

// signal matches the signal strength in a network's line, in dBm (Android 7 and later,
// NetworkCapabilities.toString).
var signal = regexp.MustCompile(`SignalStrength: (-\d{1,3})\b`)

// ReadNetworkQuality returns the signal strength of the Wi-Fi that the device is on:
// "excellent" from -60 dBm on, "good" from -70, "fair" from -80 (about where Android draws its
// bars), otherwise "poor". It returns "" on another network, or where the device does not
// report the strength.
func ReadNetworkQuality(output string) string {
	kind, line := agent(output, first(defaultNetwork, output))
	dBm, err := strconv.Atoi(first(signal, line))
	switch {
	case kind != "WIFI" || err != nil:
		return ""
	case dBm >= -60:
		return "excellent"
	case dBm >= -70:
		return "good"
	case dBm >= -80:
		return "fair"
	}
	return "poor"
}
