package device_test

import (
	"testing"

	"github.com/apkgate/apkgate/device"
)

// A dialog of Android's own is distinguished from every other window, whatever its name.
func TestReadDialog(t *testing.T) {
	for output, want := range map[string]struct {
		d     device.Dialog
		shown bool
	}{
		"  mCurrentFocus=Window{45b1ddc u0 Application Not Responding: com.android.systemui}\r\n":                       {device.Dialog{Process: "com.android.systemui"}, true},
		"  mCurrentFocus=Window{1a u0 Application Error: com.example.mail:remote}\n":                                    {device.Dialog{Process: "com.example.mail:remote", Crashed: true}, true},
		"  mCurrentFocus=null\n  mCurrentFocus=Window{45b1ddc u10 Application Not Responding: com.android.phone}\n":     {device.Dialog{Process: "com.android.phone"}, true},
		"  mCurrentFocus=Window{2a1b3c u0 com.example.mail/com.example.mail.MainActivity}\n":                            {},
		"  mLastFocus=Window{45b1ddc u0 Application Not Responding: com.android.systemui}\n  mCurrentFocus=Window{1 a}": {},
		"  mCurrentFocus=Window{45b1ddc u0 Application Not Responding: }\n":                                             {},
		"": {},
	} {
		if d, shown := device.ReadDialog(output); d != want.d || shown != want.shown {
			t.Errorf("%q: %+v, %v", output, d, shown)
		}
	}
}

// A button is pressed in its middle, and only in a window of the system: an app may draw a
// button of the same name.
func TestFindButton(t *testing.T) {
	const (
		head  = "UI hierchary dumped to: /data/local/tmp/w.xml\n<?xml version='1.0' ?><hierarchy rotation=\"0\">"
		close = `<node resource-id="android:id/aerr_close" package="android" bounds="[100,500][900,600]" />`
		wait  = `<node resource-id="android:id/aerr_wait" package="android" bounds="[100,600][900,700]" />`
		app   = `<node resource-id="android:id/aerr_wait" package="com.example.evil" bounds="[0,0][10,10]" />`
		old   = `<node resource-id="android:id/button2" package="android" bounds="[10,20][30,40]" />`
	)
	names := device.Dialog{}.Buttons()
	for text, want := range map[string][2]int{
		head + "<node package=\"android\" resource-id=\"\" bounds=\"[0,0][1080,1920]\">" + close + wait + "</node></hierarchy>": {500, 650},
		head + app + wait + "</hierarchy>": {500, 650},
		head + app + "</hierarchy>":        {-1, -1},
		head + old + "</hierarchy>":        {20, 30},
		head + `<node resource-id="android:id/aerr_wait" package="android" bounds="[1,2][3" />` + "</hierarchy>": {-1, -1},
		"ERROR: could not get idle state.\n": {-1, -1},
		head + close:                         {-1, -1},
		"":                                   {-1, -1},
	} {
		x, y, found := device.FindButton(text, names)
		if found != (want[0] >= 0) || found && (x != want[0] || y != want[1]) {
			t.Errorf("%s\n%d, %d, %v; want %v", text, x, y, found, want)
		}
	}
	if x, y, found := device.FindButton(head+close+"</hierarchy>", device.Dialog{Crashed: true}.Buttons()); !found || x != 500 || y != 550 {
		t.Errorf("of a crash: %d, %d, %v", x, y, found)
	}
}

// A device is up once the services exist that all later commands need. It may still show its
// animation.
func TestReadBoot(t *testing.T) {
	const there = "Service package: found\nService activity: found\n"
	for output, want := range map[string]device.Boot{
		"1,1,stopped\n" + there: {Up: true},
		"1,1,\n" + there:        {Up: true}, // without a boot animation
		"1,,running\n" + there:  {Up: true, Pending: "dev.bootcomplete is not 1, the boot animation runs"},
		",,running\n" + there:   {Pending: "sys.boot_completed is not 1"},
		"1,1,stopped\r\nService package: found\r\nService activity: not found\r\n": {Pending: "its service activity is not there"},
		"1,1,stopped\n/system/bin/sh: service: not found\n":                        {Up: true}, // no such program
		"": {Pending: "sys.boot_completed is not 1"},
	} {
		if got := device.ReadBoot(output); got != want {
			t.Errorf("%q: %+v, want %+v", output, got, want)
		}
	}
}

// String is empty only for default animations.
func TestReadAnimations(t *testing.T) {
	for output, want := range map[string]string{
		"1.0\n1.0\n1.0\n": "", "null\nnull\n1\n": "", "0\n0.0\n0\n": "off", "0.5\n0.5\n0.5\n": "0.5x", "0\n1\n1\n": "mixed",
		"": "?", "1\n1\n": "?", "x\n1\n1\n": "?", "-1\n-1\n-1\n": "?", "NaN\nNaN\nNaN\n": "?",
	} {
		s, known := device.ReadAnimations(output)
		if got := s.String(); known && got != want || known == (want == "?") {
			t.Errorf("%q: %q, known %v; want %q", output, got, known, want)
		}
	}
}
