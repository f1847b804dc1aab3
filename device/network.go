package device

import (
	"regexp"
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
		for line := range strings.Lines(output) {
			if kind := first(agentKind, line); kind != "" && strings.Contains(line, "network{"+id+"}") {
				return kind
			}
		}
		return NetworkUnknown
	}
}
