package device_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device"
)

// FuzzAnswers: whatever a device answers, the parsed values are in range and shown in one
// line.
func FuzzAnswers(f *testing.F) {
	f.Add("  level: 85\n  scale: 100\n  AC powered: false\n  USB powered: true\n")
	f.Add("Display Power: state=ON\nmScreenState=ON\nmWakefulness=Awake\n")
	f.Add("Active default network: 100\nNetworkAgentInfo [WIFI () - 100] SignalStrength: -55\n")
	f.Add("1.0\n1.0\n0.5\n")
	f.Add("mCurrentFocus=Window{1 u0 Application Not Responding: com.example.mail}\n")
	f.Add("[sys.boot_completed]: [1]\n")
	f.Fuzz(func(t *testing.T, output string) {
		if c, known := device.ReadCharge(output); known {
			by := slices.Clone(c.By)
			slices.Sort(by)
			if c.Percent < 0 || c.Percent > 100 || len(slices.Compact(by)) != len(c.By) {
				t.Errorf("a battery with %d %%, charged by %q", c.Percent, c.By)
			}
			oneLine(t, c.String())
		}
		screen, said := device.ReadScreen(output)
		oneLine(t, said)
		if screen == device.ScreenOn && said == "" {
			t.Error("the screen is on by no word of the device")
		}
		oneLine(t, device.ReadNetwork(output))
		if q := device.ReadNetworkQuality(output); q != "" && !slices.Contains([]string{"excellent", "good", "fair", "poor"}, q) {
			t.Errorf("a network that is %q", q)
		}
		if scales, known := device.ReadAnimations(output); known {
			for _, scale := range scales {
				if !(scale >= 0 && scale <= 100) {
					t.Errorf("a scale of %v", scale)
				}
			}
		}
		if d, shown := device.ReadDialog(output); shown {
			oneLine(t, d.Process)
		}
		oneLine(t, device.ReadBoot(output).Pending)
	})
}

func oneLine(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "\n") {
		t.Errorf("several lines: %q", text)
	}
}
