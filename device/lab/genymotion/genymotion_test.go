package genymotion

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
)

var offers = []Offer{
	{"u1", "Google Pixel 3", "9.0"},
	{"u2", "Google Pixel 3", "10.0"},
	{"u3", "Google Pixel 3 XL", "10.0"},
	{"u4", "Samsung Galaxy S10", "11.0"},
	{"u5", "Samsung Galaxy S10", "11"},
	{"Google Nexus 5 - 5.0.0 - API 21 - 1080x1920", "Google Nexus 5 - 5.0.0 - API 21 - 1080x1920", "5.0.0"},
	{"Google Nexus 5 - 5.1.0 - API 22 - 1080x1920", "Google Nexus 5 - 5.1.0 - API 22 - 1080x1920", "5.1.0"},
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ name, android, want string }{
		{"Google Pixel 3", "9.0", "u1"},
		{"google pixel 3", "10", "u2"},
		{" Google Pixel 3 XL ", "", "u3"},
		{"u4", "", "u4"},
		{"Google Nexus 5", "5.1", "Google Nexus 5 - 5.1.0 - API 22 - 1080x1920"},
		{"Google Nexus 5 - 5.0.0 - API 21 - 1080x1920", "Android 5", "Google Nexus 5 - 5.0.0 - API 21 - 1080x1920"},
	} {
		got, doubt := Choose("recipe", offers, c.name, c.android)
		if doubt != nil || got.ID != c.want {
			t.Errorf("%s, Android %q: %q, %v, want %q", c.name, c.android, got.ID, doubt, c.want)
		}
	}
}

func TestDoubtListsOffers(t *testing.T) {
	for name, c := range map[string]struct {
		name, android, what string
		advice              []string
		not                 string
	}{
		"several versions": {"Google Pixel 3", "", `2 recipes are called "Google Pixel 3"`,
			[]string{"add the Android version", "Google Pixel 3 (Android 9.0)", "Google Pixel 3 (Android 10.0)"}, "XL"},
		"the same version twice": {"Samsung Galaxy S10", "11", `2 recipes are called "Samsung Galaxy S10" and have Android 11`,
			[]string{"by its ID", "u4", "u5"}, "Pixel"},
		"no such version": {"Google Pixel 3", "12.0", `no recipe "Google Pixel 3" has Android 12.0`,
			[]string{"Android 9.0", "Android 10.0"}, "XL"},
		"unknown": {"Pixel 3", "9.0", `no recipe is called "Pixel 3"`,
			[]string{"most similar", "Google Pixel 3 (Android 9.0)", "Google Pixel 3 XL"}, "Samsung"},
	} {
		got, doubt := Choose("recipe", offers, c.name, c.android)
		if doubt == nil || doubt.What != c.what {
			t.Errorf("%s: chose %v, doubt %+v, want %q", name, got, doubt, c.what)
			continue
		}
		for _, part := range c.advice {
			if !strings.Contains(doubt.Advice, part) {
				t.Errorf("%s: the advice is %q, want %q in it", name, doubt.Advice, part)
			}
		}
		if strings.Contains(doubt.Advice, c.not) {
			t.Errorf("%s: the advice %q speaks of %q", name, doubt.Advice, c.not)
		}
	}
	if _, doubt := Choose("recipe", offers, "Zebra", ""); doubt == nil || doubt.Advice != "" {
		t.Errorf("nothing is like Zebra, and yet: %+v", doubt)
	}
	many := make([]Offer, 50)
	for i := range many {
		many[i] = Offer{ID: strings.Repeat("x", i+1), Name: "Google Pixel " + strings.Repeat("x", i)}
	}
	if _, doubt := Choose("recipe", many, "Pixel", ""); doubt == nil || strings.Count(doubt.Advice, "Google") != mostNamed {
		t.Errorf("of 50 it names %+v", doubt)
	}
}

func TestSameVersion(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"11", "11.0", true}, {"11.0", "11.0.0", true}, {"Android 11.0", "11", true}, {"android 8.1", "8.1.0", true},
		{"11", "1", false}, {"10.0", "1", false}, {"8.0", "8.1", false}, {"", "11", false}, {"20", "2.0", false},
	} {
		if got := SameVersion(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: same %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

// The names of offers are untrusted.
func FuzzChoose(f *testing.F) {
	f.Add("Google Pixel 3", "Google Pixel 3", "9.0", "9")
	f.Add("a - b", "A", "", "")
	f.Fuzz(func(t *testing.T, offered, asked, has, want string) {
		o, doubt := Choose("recipe", []Offer{{"id", offered, has}, {"id2", offered, has}}, asked, want)
		if doubt == nil {
			t.Fatalf("of two that are alike it chose %v", o)
		}
		if strings.ContainsAny(doubt.What+doubt.Advice, "\n\r\x1b") {
			t.Errorf("unprintable: %q %q", doubt.What, doubt.Advice)
		}
	})
}

// mute is a device that gives the same answer to everything.
type mute struct {
	device.Device
	says string
}

func (m mute) Exec(context.Context, string) (device.Output, error) {
	return device.Output{Stdout: []byte(m.says)}, nil
}

func (m mute) Close() error { return nil }

// A battery that can't be set, or a lost device, is reported and is no error.
func TestSetBatteryErrors(t *testing.T) {
	for want, reach := range map[string]func(context.Context, *boot.Booted) (device.Device, error){
		`the battery is not set to 80%: the device says that its level is "100"`: func(context.Context, *boot.Booted) (device.Device, error) {
			return mute{says: "Current Battery Service state:\n  level: 100\n  scale: 100\n"}, nil
		},
		`the battery is not set to 80%: the device says that its level is ""`: func(context.Context, *boot.Booted) (device.Device, error) {
			return mute{says: "Can't find service: battery\n"}, nil
		},
		"the battery is not set to 80%: the device is gone": func(context.Context, *boot.Booted) (device.Device, error) {
			return nil, device.ErrGone
		},
	} {
		var told []string
		Computer{Reach: reach}.SetBattery(t.Context(), &boot.Booted{}, 80, func(line string) { told = append(told, line) })
		if !slices.Equal(told, []string{want}) {
			t.Errorf("reported %q, want %q", told, want)
		}
	}
	Computer{}.SetBattery(t.Context(), &boot.Booted{}, 0, nil) // not requested: nothing is done
}

// A billed device that adb could not reach is not booted again. One that adb reached and that
// was not up in time is, and so is one without a price.
func TestUnreachedDevicesAreNotBootedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ paid, reached, again bool }{{true, false, false}, {true, true, true}, {false, false, true}, {false, true, true}} {
		late := &boot.NotUpError{Last: "adb: connection refused", Reached: c.reached, Err: context.DeadlineExceeded}
		failed := late.Failed("a lab", "10.0.0.7:5555", Computer{Paid: c.paid}.unreached())
		if failed.Retry != c.again || (failed.Hint() == "") != c.again || !strings.Contains(failed.Error(), "connection refused") {
			t.Errorf("%+v: %+v", c, failed)
		}
	}
}

// Programs are found in the PATH and where their installers put them, never in apkgate's
// working directory.
func TestFind(t *testing.T) {
	inPath, installed := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(inPath, "gmtool"), filepath.Join(installed, "gmtool"), filepath.Join(installed, "gmsaas")} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(inPath)
	getenv := func(path string) func(string) string { return func(string) string { return path } }
	for _, c := range []struct{ name, path, want string }{
		{"gmtool", inPath, filepath.Join(inPath, "gmtool")},
		{"gmsaas", inPath, filepath.Join(installed, "gmsaas")},
		{"gmtool", ".", filepath.Join(installed, "gmtool")},
		{"gmtool", "", filepath.Join(installed, "gmtool")},
		{"genyshell", inPath, ""},
	} {
		if got, ok := Find(c.name, getenv(c.path), installed); got != c.want || ok != (c.want != "") {
			t.Errorf("%s with the PATH %q: %q, want %q", c.name, c.path, got, c.want)
		}
	}
}

// An orphan is identified by its program, even if an interpreter runs it.
func TestOrphans(t *testing.T) {
	for _, c := range []struct {
		args []string
		is   bool
	}{
		{[]string{"/usr/bin/python3", "/usr/local/bin/gmsaas", "instances", "start"}, true},
		{[]string{"/usr/bin/python3", "-I", "/usr/local/bin/gmsaas", "instances"}, true},
		{[]string{"gmsaas", "--format", "json"}, true},
		{[]string{"gmsaas.exe"}, true},
		{[]string{"grep", "-r", "-n", "gmsaas"}, false},
		{[]string{"vim", "gmsaas.log"}, false},
		{nil, false},
	} {
		if got := runs(c.args, "gmsaas"); got != c.is {
			t.Errorf("%q: %v, want %v", c.args, got, c.is)
		}
	}
}
