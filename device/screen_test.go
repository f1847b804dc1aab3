package device_test

import (
	"testing"

	"github.com/apkgate/apkgate/device"
)

func TestReadScreen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]device.Screen{
		"  mWakefulness=Awake\nDisplay Power: state=ON\n":            device.ScreenOn,
		"Display Power: state=VR\n":                                  device.ScreenOn,
		"  mWakefulness=Dozing\nDisplay Power: state=DOZE\n":         device.ScreenDozes,
		"  mWakefulness=Dozing\nDisplay Power: state=DOZE_SUSPEND\n": device.ScreenDozes,
		"  mWakefulness=Dozing\nDisplay Power: state=OFF\n":          device.ScreenOff, // without an ambient display
		"Display Power: state=UNKNOWN\n":                             device.ScreenNotReported,
		"  mWakefulness=Awake\n":                                     device.ScreenOn, // Android 4.2
		"  mWakefulness=Asleep\n":                                    device.ScreenOff,
		"  mPowerState=SCREEN_ON_BIT SCREEN_BRIGHT_BIT \n":           device.ScreenOn, // 4.1
		"  mPowerState=0\n  mPowerState=\n":                          device.ScreenOff,
		"Can't find service: power\n":                                device.ScreenNotReported,
	} {
		if got, said := device.ReadScreen(text); got != want || said == "" {
			t.Errorf("%q: %v (%s), want %v", text, got, said, want)
		}
	}
}
