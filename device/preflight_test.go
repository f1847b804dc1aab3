package device_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/device"
)

// scripted is a device that answers each command with the text of the prefix that the command
// begins with.
type scripted struct {
	device.Device
	says map[string]string
	err  error
}

func (d scripted) Exec(_ context.Context, line string) (device.Output, error) {
	if d.err != nil {
		return device.Output{}, d.err
	}
	const separator = "; echo apkgate-next; "
	var answers []string
	code := 0
	for command := range strings.SplitSeq(line, separator) {
		answer := "sh: not found\n"
		code = 127
		for start, text := range d.says {
			if strings.HasPrefix(command, start) {
				answer, code = text, 0
			}
		}
		answers = append(answers, answer)
	}
	return device.Output{Stdout: []byte(strings.Join(answers, "apkgate-next\n")), ExitCode: code}, nil
}

// findings returns Preflight's findings, one on a line: name, ok or NOT OK, detail.
func findings(t *testing.T, d device.Device) string {
	t.Helper()
	list, err := device.Preflight(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range list {
		state := "ok"
		if !f.OK {
			state = "NOT OK"
		}
		if f.OK != (f.Hint == "") {
			t.Errorf("%s: a hint is for what is not OK, and only for that: %+v", f.Name, f)
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Name, state, f.Detail)
	}
	return b.String()
}

func TestPreflight(t *testing.T) {
	tests := []struct {
		name string
		says map[string]string
		want string
	}{
		{"Android 12, fit", map[string]string{
			"echo \"$(getprop":           "1,1,stopped\nService package: found\nService activity: found\n",
			"dumpsys window |":           "  mCurrentFocus=Window{2a1b3c u0 com.android.launcher3/com.android.launcher3.Launcher}\n",
			"dumpsys power":              "POWER MANAGER (dumpsys power)\n\n  mWakefulness=Awake\n\nDisplay Power: state=ON\n",
			"dumpsys window policy":      "WINDOW MANAGER POLICY STATE\n    KeyguardServiceDelegate\n      showing=false\n      showingAndNotOccluded=true\n      inputRestricted=false\n",
			"dumpsys battery":            "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  status: 2\n  level: 85\n  scale: 100\n  voltage: 4200\n  temperature: 273\n",
			"dumpsys thermalservice":     "IsStatusOverride: false\nThermal Status: 0\nHAL Ready: true\n",
			"settings get global low":    "0\n",
			"df /data":                   "Filesystem      1K-blocks     Used Available Use% Mounted on\n/dev/block/dm-8 115249236 20480000  94769236  18% /data\n",
			"settings get global window": "null\n1.0\n1\n",
			"settings get global air":    "0\nActive default network: 101\n",
			"settings get global verif":  "0\n1\nnull\n",
		}, `boot: ok: the device has started
screen: ok: the display is ON
lock: ok: unlocked
dialog: ok: none of the system's
battery: ok: 85 %, charged by USB
temperature: ok: battery at 27.3 °C
thermal: ok: throttling: none
saver: ok: off
storage: ok: 92548 MiB free in /data
animations: ok: scale 1
network: ok: connected (the system's network 101)
installs: ok: no verification of apps from adb is turned on
`},
		{"Android 12, unfit in every way", map[string]string{
			"echo \"$(getprop":           ",,running\n",
			"dumpsys window |":           "  mCurrentFocus=Window{45b1ddc u0 Application Not Responding: com.android.systemui}\n",
			"dumpsys power":              "  mWakefulness=Dozing\nDisplay Power: state=DOZE\n",
			"dumpsys window policy":      "    KeyguardServiceDelegate\n      showing=true\n",
			"dumpsys battery":            "  level: 19\n  scale: 100\n  temperature: 401\n",
			"dumpsys thermalservice":     "Thermal Status: 2\n",
			"settings get global low":    "1\n",
			"df /data":                   "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/block/with/a/name/that/breaks/the/line\n 1000000 600000 400000 60% /data\n",
			"settings get global window": "1.0\n1.0\n0.0\n",
			"settings get global air":    "1\nActive default network: none\n",
			"settings get global verif":  "null\nnull\n1\n",
		}, `boot: NOT OK: the device is still starting: sys.boot_completed is not 1
screen: NOT OK: the display is DOZE
lock: NOT OK: the lock screen shows
dialog: NOT OK: Android says that "com.android.systemui" does not respond, and lets no app have the focus
battery: NOT OK: 19 %
temperature: NOT OK: battery at 40.1 °C
thermal: NOT OK: throttling: moderate
saver: NOT OK: on
storage: NOT OK: 390 MiB free in /data
animations: NOT OK: scales of windows, transitions, animators: 1, 1, 0
network: NOT OK: airplane mode is on
installs: NOT OK: Auto Blocker is on: it keeps apps from being installed over adb
`},
		{"Android 4, line ends of a terminal", map[string]string{
			"echo \"$(getprop":          "1,1,stopped\r\nService package: found\r\nService activity: found\r\n",
			"dumpsys window |":          "  mCurrentFocus=null\r\n",
			"dumpsys power":             "Power Manager State:\r\n  mIsPowered=true mPowerState=3 mScreenOffTime=1 ms\r\n  mPowerState=SCREEN_BRIGHT_BIT SCREEN_ON_BIT \r\n",
			"dumpsys window policy":     "    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false\r\n",
			"dumpsys battery":           "  level: 50\r\n  scale: 200\r\n  temperature: 250\r\n",
			"df /data":                  "Filesystem             Size   Used   Free   Blksize\r\n/data                 12.5G   6.3G   6.2G   4096\r\n",
			"settings get global verif": "null\r\n1\r\nnull\r\n",
			"settings get global air":   "0\r\nNetworkInfo: type: WIFI[], state: CONNECTED/CONNECTED, reason: (unspecified)\r\n",
		}, `boot: ok: the device has started
screen: ok: screen on: true
lock: ok: unlocked
dialog: ok: none of the system's
battery: ok: 25 %
temperature: ok: battery at 25.0 °C
thermal: ok: the device does not report it
saver: ok: the device does not report it
storage: ok: 6348 MiB free in /data
animations: ok: the device does not report it
network: ok: connected
installs: ok: apps from adb are verified, so one may be refused or wait for a tap: settings put global verifier_verify_adb_installs 0 turns that off
`},
		{"Android 4.1, screen off", map[string]string{
			"echo \"$(getprop": "1,,\nService package: not found\n",
			"dumpsys power":    "  mIsPowered=true mPowerState=0 mScreenOffTime=1 ms\n  mPowerState=\n",
		}, `boot: NOT OK: the device is still starting: its service package is not there
screen: NOT OK: screen on: false
lock: ok: the device does not report it
dialog: ok: the device does not report it
battery: ok: the device does not report it
temperature: ok: the device does not report it
thermal: ok: the device does not report it
saver: ok: the device does not report it
storage: ok: the device does not report it
animations: ok: the device does not report it
network: ok: the device does not report it
installs: ok: the device does not report it
`},
		{"airplane mode with Wi-Fi", map[string]string{
			"echo \"$(getprop":        "1,,\nService package: not found\n",
			"settings get global air": "1\nActive default network: 101\n",
		}, `boot: NOT OK: the device is still starting: its service package is not there
screen: ok: the device does not report it
lock: ok: the device does not report it
dialog: ok: the device does not report it
battery: ok: the device does not report it
temperature: ok: the device does not report it
thermal: ok: the device does not report it
saver: ok: the device does not report it
storage: ok: the device does not report it
animations: ok: the device does not report it
network: ok: airplane mode is on
installs: ok: the device does not report it
`},
		{"no network", map[string]string{
			"settings get global air": "0\nActive default network: none\n",
		}, `boot: NOT OK: the device is still starting: sys.boot_completed is not 1
screen: ok: the device does not report it
lock: ok: the device does not report it
dialog: ok: the device does not report it
battery: ok: the device does not report it
temperature: ok: the device does not report it
thermal: ok: the device does not report it
saver: ok: the device does not report it
storage: ok: the device does not report it
animations: ok: the device does not report it
network: NOT OK: not connected to any
installs: ok: the device does not report it
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, findings(t, scripted{says: test.says})); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

func TestPreflightAcceptsAnInsecureLockScreen(t *testing.T) {
	for secure, want := range map[string]string{
		"false": "lock: ok: the lock screen shows and asks for nothing\n",
		"true":  "lock: NOT OK: the lock screen shows\n",
	} {
		policy := "    KeyguardServiceDelegate\n      showing=true\n      inputRestricted=true\n      secure=" + secure + "\n      dreaming=false\n"
		if got := findings(t, scripted{says: map[string]string{"dumpsys window policy": policy}}); !strings.Contains(got, want) {
			t.Errorf("secure=%s: got %s want %q", secure, got, want)
		}
	}
}

func TestPreflightOnALostDevice(t *testing.T) {
	d := scripted{err: fmt.Errorf("running: %w", device.ErrGone)}
	list, err := device.Preflight(context.Background(), d)
	if !errors.Is(err, device.ErrGone) || len(list) != 0 {
		t.Errorf("%d findings, %v; want none, and that the device is gone", len(list), err)
	}
}

func TestPreflightSurvivesAFailingCommand(t *testing.T) {
	d := scripted{err: errors.New("it printed too much")}
	list, err := device.Preflight(context.Background(), d)
	if err != nil || len(list) != 12 {
		t.Errorf("%d findings, %v; want 12", len(list), err)
	}
}

func TestSlowdown(t *testing.T) {
	for _, test := range []struct {
		says, heat string
		saver      bool
	}{
		{"IsStatusOverride: false\nThermal Status: 1\nHAL Ready: true\n0\n", "", false},
		{"Thermal Status: 3\r\nHAL Ready: true\r\nnull\r\n", "throttling: severe", false},
		{"Thermal Status: 2\n1\n", "throttling: moderate", true},
		{"Can't find service: thermalservice\n1\n", "", true},
		{"Thermal Status: 0\n  temperature: 431\n0\n", "", false}, // Android's own status takes precedence
		{"Can't find service: thermalservice\n  temperature: 431\n0\n", "battery at 43.1 °C", false},
		{"  temperature: 331\n0\n", "", false},
		{"sh: dumpsys: not found\n", "", false},
		{"", "", false},
	} {
		heat, saver, err := device.Slowdown(t.Context(), scripted{says: map[string]string{"dumpsys thermalservice; dumpsys battery; settings": test.says}})
		if heat != test.heat || saver != test.saver || err != nil {
			t.Errorf("%q: %q, %v, %v, want %q and %v", test.says, heat, saver, err, test.heat, test.saver)
		}
	}
	if _, _, err := device.Slowdown(t.Context(), scripted{err: device.ErrGone}); !errors.Is(err, device.ErrGone) {
		t.Errorf("of a device that is gone: %v", err)
	}
}

func TestQuote(t *testing.T) {
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"am", "force-stop", "com.example"}, "am force-stop com.example"},
		{[]string{"echo", ""}, "echo ''"},
		{[]string{"echo", "a b; rm -rf /"}, "echo 'a b; rm -rf /'"},
		{[]string{"echo", "it's"}, `echo 'it'\''s'`},
		{[]string{"echo", "$HOME\n`id`"}, "echo '$HOME\n`id`'"},
	} {
		if got := device.Quote(test.words...); got != test.want {
			t.Errorf("%q: %s, want %s", test.words, got, test.want)
		}
	}
}
