package properties

import (
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/jank"
)

func TestForgiven(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		// 16.67 - (16.57 - 1) - 1 is 0.1 ms after the app, and 4 ms more.
		`DisplayDeviceInfo{"Built-in Screen": 1080 x 1920, density 480, 480.0 x 480.0 dpi, appVsyncOff 1000000, presDeadline 16567262, FLAG_SECURE}`: 4_099_404 * time.Nanosecond,
		`DisplayDeviceInfo{"Built-in Screen": 1440 x 2560, 60.0 fps, appVsyncOff 7500000, presDeadline 12666667, touch INTERNAL}`:                    0,
		`DisplayDeviceInfo{"Built-in Screen": appVsyncOff 99999999999999999999, presDeadline 1}`:                                                     0,
		"nothing": 0,
	} {
		if got := forgiven(text, jank.VsyncPeriod); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
