package collect

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/gfxinfo"
)

func TestTheActiveRefreshRateIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`DisplayDeviceInfo{"Built-in Screen": 1080 x 1920, 59.9 fps, density 480`:                                                                                                      "59.9",
		`DisplayDeviceInfo{"Built-in Screen": uniqueId="local:0", 1080 x 2340, modeId 2, defaultModeId 1, supportedModes [{id=1, width=1080, fps=60.0}, {id=2, width=1080, fps=90.0}]`: "90.0",
		`DisplayDeviceInfo{"x": uniqueId="local:0", 1080 x 2340, modeId 1, renderFrameRate 30.0, supportedModes [{id=1, fps=60.0, alternativeRefreshRates=[]}]`:                        "30.0",
		"nothing": "",
	} {
		if got := refreshRate(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestTheForgivenWaitIsReadOffTheDisplay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		// 16.67 - (16.57 - 1) - 1 is 0.1 ms after the app, and 4 ms more.
		`DisplayDeviceInfo{"Built-in Screen": 1080 x 1920, density 480, 480.0 x 480.0 dpi, appVsyncOff 1000000, presDeadline 16567262, FLAG_SECURE}`: 4_099_404 * time.Nanosecond,
		`DisplayDeviceInfo{"Built-in Screen": 1440 x 2560, 60.0 fps, appVsyncOff 7500000, presDeadline 12666667, touch INTERNAL}`:                    0,
		`DisplayDeviceInfo{"Built-in Screen": appVsyncOff 99999999999999999999, presDeadline 1}`:                                                     0,
		"nothing": 0,
	} {
		if got := forgiven(text, gfxinfo.VsyncPeriod); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
