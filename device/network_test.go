package device_test

import (
	"testing"

	"github.com/apkgate/apkgate/device"
)

// The kinds of network as Android 4, 5 to 11, and 12 and later print them.
func TestReadNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, want string }{
		"not reported":      {"Can't find service: connectivity\n", device.NetworkNotReported},
		"4, on Wi-Fi":       {"NetworkInfo: type: mobile[LTE], state: DISCONNECTED/DISCONNECTED\nNetworkInfo: type: WIFI[], state: CONNECTED/CONNECTED, reason: (unspecified)\n", "WIFI"},
		"4, on mobile":      {"NetworkInfo: type: mobile[HSPA+], state: CONNECTED/CONNECTED, reason: dataEnabled\n", "MOBILE"},
		"4, on none":        {"NetworkInfo: type: WIFI[], state: DISCONNECTED/DISCONNECTED, reason: (unspecified)\n", device.NetworkNone},
		"none":              {"Active default network: none\n", device.NetworkNone},
		"9, on mobile":      {"Active default network: 101\nCurrent Networks:\n  NetworkAgentInfo{ ni{[type: WIFI[], state: CONNECTING/CONNECTING]}  network{100}  nethandle{1} }\n  NetworkAgentInfo{ ni{[type: MOBILE[LTE], state: CONNECTED/CONNECTED]}  network{101}  nethandle{2} }\n", "MOBILE"},
		"14, on Wi-Fi":      {"Active default network: 100\n  NetworkAgentInfo{network{100}  handle{432902426637}  ni{WIFI CONNECTED extra: }  created=2026-01-05T09:00:00Z }\n", "WIFI"},
		"without its agent": {"Active default network: 100\n", device.NetworkUnknown},
	} {
		if got := device.ReadNetwork(c.output); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The quality is that of the default network's Wi-Fi, never of another network.
func TestReadNetworkQuality(t *testing.T) {
	t.Parallel()
	wifi := func(strength string) string {
		return "Active default network: 100\n  NetworkAgentInfo{network{99}  ni{WIFI CONNECTED extra: }  nc{[ Transports: WIFI SignalStrength: -30]} }\n" +
			"  NetworkAgentInfo{network{100}  ni{WIFI CONNECTED extra: }  nc{[ Transports: WIFI LinkDnBandwidth>=48000Kbps" + strength + "]} }\n"
	}
	for output, want := range map[string]string{
		wifi(" SignalStrength: -60"): "excellent", wifi(" SignalStrength: -61"): "good", wifi(" SignalStrength: -70"): "good",
		wifi(" SignalStrength: -71"): "fair", wifi(" SignalStrength: -80"): "fair", wifi(" SignalStrength: -81"): "poor", wifi(" SignalStrength: -127"): "poor",
		wifi(""): "", wifi(" SignalStrength: none"): "",
		"Active default network: 101\n  NetworkAgentInfo{network{101}  ni{MOBILE CONNECTED extra: }  nc{[ SignalStrength: -60]} }\n": "",
		"Active default network: none\n": "", "": "",
	} {
		if got := device.ReadNetworkQuality(output); got != want {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
	}
}
