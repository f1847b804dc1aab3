package device

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// NetworkQuestion is the command whose output ReadNetwork reads.
const NetworkQuestion = "dumpsys connectivity"

// Kinds of network by ReadNetwork, beside Android's own names for them, such as
// "WIFI", "MOBILE", "ETHERNET" and "VPN".
const (
	NetworkNotTold = "?"
	NetworkNone    = ""
	NetworkUnknown = "unknown" // there is one
)

var (
	// Android 5 and later: a network's number or "none".
	defaultNetwork = regexp.MustCompile(`Active default network: (\w+)`)
	// Its kind stands in the line of its agent: "ni{[type: WIFI[], state: …" up to
	// Android 11, "ni{WIFI CONNECTED …" since.
	agentKind = regexp.MustCompile(`\bni\{(?:\[type: )?([A-Z_]{2,20})`)
	// Android 4: "NetworkInfo: type: WIFI[], state: CONNECTED/CONNECTED, …".
	networkInfo = regexp.MustCompile(`type: ([A-Za-z_]{2,20})[^,\n]*, state: CONNECTED/`)
)

// ReadNetwork is the kind of network that the device is on by default.
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
		return NetworkNotTold
	default:
		kind, _ := agent(output, id)
		return cmp.Or(kind, NetworkUnknown)
	}
}

// agent is the line of the network of that number, and its kind; both are "" where
// there is none.
func agent(output, id string) (kind, line string) {
	for line := range strings.Lines(output) {
		if kind := first(agentKind, line); kind != "" && strings.Contains(line, "network{"+id+"}") {
			return kind, line
		}
	}
	return "", ""
}

// signal is the strength of the network's signal in its line, in dBm (Android 7 and
// later, NetworkCapabilities.toString).
var signal = regexp.MustCompile(`SignalStrength: (-\d{1,3})\b`)

// ReadNetworkQuality is how strong the signal of the Wi-Fi is that the device is on:
// "excellent" from -60 dBm on, "good" from -70, "fair" from -80 (about where Android
// draws its bars), "poor" below; "" on another network, or where the device doesn't tell.
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
