package collect

import "testing"

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
