package device_test

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/device"
)

func TestRefreshRate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`DisplayDeviceInfo{"Built-in Screen": 1080 x 1920, 59.9 fps, density 480`:                                                                                                      "59.9",
		`DisplayDeviceInfo{"Built-in Screen": uniqueId="local:0", 1080 x 2340, modeId 2, defaultModeId 1, supportedModes [{id=1, width=1080, fps=60.0}, {id=2, width=1080, fps=90.0}]`: "90.0",
		`DisplayDeviceInfo{"x": uniqueId="local:0", 1080 x 2340, modeId 1, renderFrameRate 30.0, supportedModes [{id=1, fps=60.0, alternativeRefreshRates=[]}]`:                        "30.0",
		"nothing": "",
	} {
		if got := device.RefreshRate(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestRefreshRates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"modes [{id=1, width=1080, height=2400, fps=120.00001}, {id=2, width=1080, height=2400, fps=60.000004}, {id=3, width=720, height=1600, fps=60.0}]": {60, 120},
		"modes [{id=1, fps=0.0}, {id=2, fps=99999999999999999999.0}]":                                                                                      nil,
		"nothing": nil,
	} {
		if got := device.RefreshRates(text); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
