package target

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// onPhone is a simulated phone as the target of a run.
func onPhone(t *testing.T, o simulator.Options) (*simulator.Simulated, *Target) {
	t.Helper()
	s, err := simulator.Start("pixel-7-android-14", 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	d := New("pixel", s.Clock(), time.Now(), func(context.Context) (device.Device, error) { return onThe(s) })
	d.Journal, d.Owner = journal.New("pixel", nil), &devicelock.Owner{PID: 1, Host: "here", Lock: "lock"}
	return s, d
}

// onThe opens another connection to the phone.
func onThe(s *simulator.Simulated) (device.Device, error) {
	return adb.Dial(context.Background(), s.Address(), adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
}

// shell runs a command on the phone, as its user would.
func shell(t *testing.T, s *simulator.Simulated, line string) string {
	t.Helper()
	var out strings.Builder
	s.Phone.Start(t.Context(), line, nil, &out, &out)()
	return strings.TrimSpace(out.String())
}

// A change is undone if its value is unchanged since, and left alone if somebody has changed it.
func TestTearDownUndoesUnchangedChanges(t *testing.T) {
	t.Parallel()
	text, err := simapp.Open("demo-good")
	if err != nil {
		t.Fatal(err)
	}
	apk := t.TempDir() + "/demo.apk"
	if err := os.WriteFile(apk, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change      Change
		made, since string // commands: the change, and what happened afterwards
		ask, want   string // a command, and its final output
		kept        bool   // a warning says that it stays
	}{
		"a setting":                                {Change{Kind: Setting, Space: "system", Name: "a", Before: "1", Put: "2"}, "settings put system a 2", "", "settings get system a", "1", false},
		"a setting that nobody had set":            {Change{Kind: Setting, Space: "system", Name: "a", Before: "null", Put: "2"}, "settings put system a 2", "", "settings get system a", "null", false},
		"a setting that was changed since":         {Change{Kind: Setting, Space: "system", Name: "a", Before: "1", Put: "2"}, "settings put system a 2", "settings put system a 3", "settings get system a", "3", true},
		"a setting that was put back since":        {Change{Kind: Setting, Space: "system", Name: "a", Before: "1", Put: "2"}, "settings put system a 1", "", "settings get system a", "1", false},
		"a property":                               {Change{Kind: Property, Name: "debug.a", Before: "1", Put: "0"}, "setprop debug.a 0", "", "getprop debug.a", "1", false},
		"a property that was changed since":        {Change{Kind: Property, Name: "debug.a", Before: "1", Put: "0"}, "setprop debug.a 0", "setprop debug.a 7", "getprop debug.a", "7", true},
		"the screen that stays on":                 {Change{Kind: StayOn, Before: "2", Put: "true"}, "svc power stayon true", "", "settings get global stay_on_while_plugged_in", "2", false},
		"the screen that somebody turned":          {Change{Kind: StayOn, Before: "2", Put: "true"}, "svc power stayon true", "svc power stayon ac", "settings get global stay_on_while_plugged_in", "1", true},
		"the screen where nothing was told":        {Change{Kind: StayOn, Put: "true"}, "svc power stayon true", "", "settings get global stay_on_while_plugged_in", "0", false},
		"Wi-Fi":                                    {Change{Kind: Network, Name: "wifi", Before: "enable", Put: "disable"}, "svc wifi disable", "", "settings get global wifi_on", "1", false},
		"mobile data":                              {Change{Kind: Network, Name: "data", Before: "disable", Put: "enable"}, "svc data enable", "", "settings get global mobile_data", "0", false},
		"the battery":                              {Change{Kind: Battery, Put: "unplug"}, "dumpsys battery unplug", "", "dumpsys battery | grep UPDATES", "", false},
		"a file":                                   {Change{Kind: Files, Put: "/data/local/tmp/apkgate-x /data/local/tmp/apkgate-y"}, "echo x >/data/local/tmp/apkgate-y; echo z >/data/local/tmp/yours", "", "ls /data/local/tmp", "yours", false},
		"an app that runs":                         {Change{Kind: App, Name: "com.example.demo"}, "am start -W com.example.demo/.MainActivity", "", "pidof com.example.demo", "", false},
		"a package":                                {Change{Kind: Package, Name: "com.example.demo", Put: "12,SIZE"}, "", "", "pm path com.example.demo", "", false},
		"a package of a size that none told":       {Change{Kind: Package, Name: "com.example.demo"}, "", "", "pm path com.example.demo", "", false},
		"a package that is another since":          {Change{Kind: Package, Name: "com.example.demo", Put: "12"}, "", "", "pm path com.example.demo | grep -c package:", "1", true},
		"the log's size":                           {Change{Kind: LogSize, Name: "log", Before: "main=256K,events=512K", Put: "16M"}, "logcat -G 16M -b main -b events", "", sizes, "main: ring buffer is 256 KiB events: ring buffer is 512 KiB", false},
		"the size of a log that was changed since": {Change{Kind: LogSize, Name: "log", Before: "main=256K,events=256K", Put: "16M"}, "logcat -G 16M -b main -b events", "logcat -G 8M -b main", sizes, "main: ring buffer is 8 MiB events: ring buffer is 256 KiB", false},
		"the size of a log of a restarted phone":   {Change{Kind: LogSize, Name: "log", Before: "main=256K", Put: "16M"}, "", "", sizes, "main: ring buffer is 256 KiB events: ring buffer is 256 KiB", false},
		"a package that is gone":                   {Change{Kind: Package, Name: "com.example.other", Put: "12"}, "", "", "pm path com.example.other", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, d := onPhone(t, simulator.Options{Powered: "usb"})
			if err := s.Phone.Install(text); err != nil {
				t.Fatal(err)
			}
			size := shell(t, s, "ls -l /data/app/com.example.demo-1/base.apk")
			c.change.Put = strings.ReplaceAll(c.change.Put, "SIZE", strings.Fields(size)[3])
			shell(t, s, c.change.note()+c.made)
			shell(t, s, c.since)
			if err := d.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			told := strings.Join(warnings(d), "\n")
			if got := oneLine(shell(t, s, c.ask)); got != c.want || strings.Contains(told, "it was changed since") != c.kept {
				t.Errorf("%q, want %q; told %q", got, c.want, told)
			}
			if left := shell(t, s, "ls /data/local/tmp"); strings.Contains(left, "apkgate-") {
				t.Errorf("left: %s", left)
			}
		})
	}
}

// sizes queries the sizes of two buffers of the log.
const sizes = "logcat -g -b main -b events"

// oneLine normalizes an answer by removing how full each buffer is.
func oneLine(text string) string {
	return strings.ReplaceAll(regexp.MustCompile(` \(.*`).ReplaceAllString(text, ""), "\n", " ")
}

// A device keeps more of its log while it is measured and as much as before afterwards; one that
// refuses is measured with a warning.
func TestEnlargeLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options simulator.Options
		during  string // of both buffers
		after   string
		told    string // "" for none
	}{
		"a phone":                {simulator.Options{}, "16 MiB", "256 KiB", ""},
		"one of little memory":   {simulator.Options{LowRAM: true}, "4 MiB", "64 KiB", ""},
		"one that takes no size": {simulator.Options{FixedLog: true}, "256 KiB", "256 KiB", "no more of its log than main=256K,system=256K,events=256K"},
	} {
		s, d := onPhone(t, c.options)
		for _, step := range []func(context.Context) error{d.Open, d.ReadFacts, d.EnlargeLog, d.EnlargeLog} { // again, as after a loss
			if err := step(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		d.owned = true
		of := func(size string) string {
			return "main: ring buffer is " + size + " events: ring buffer is " + size
		}
		if got := oneLine(shell(t, s, sizes)); got != of(c.during) || d.KeepsLog != (c.told == "") {
			t.Errorf("%s: while it is measured %q, kept %v", name, got, d.KeepsLog)
		}
		d.TearDown(t.Context(), "com.example")
		if got, told := oneLine(shell(t, s, sizes)), strings.Join(warnings(d), "\n"); got != of(c.after) || !strings.Contains(told, c.told) || (told == "") != (c.told == "") {
			t.Errorf("%s: afterwards %q; told %q", name, got, told)
		}
	}
}

// The sizes of log buffers are parsed as each version of Android prints them (logcat.cpp).
func TestReadLogSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/dev/log/main: ring buffer is 256Kb (1Kb consumed), max entry is 5120b, max payload is 4076b\n":                                                   "main=256K",
		"main: ring buffer is 5Mb (2Mb consumed), max entry is 5120b, max payload is 4068b\nradio: ring buffer is 64Kb (1Kb consumed), max entry is 5120b": "main=5M",
		"main: ring buffer is 256 KiB (123 KiB consumed, 206 KiB readable), max entry is 5120 B, max payload is 4068 B\n" +
			"events: ring buffer is 1 MiB (1024 KiB consumed), max entry is 5120 B, max payload is 4068 B\n": "main=256K,events=1M",
		"logcat: unknown option\n": "", "main: ring buffer is 99999999999999999999Kb": "",
	} {
		if got := readLogSizes([]byte(text)).String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A change that can't be undone now stays recorded for the next run, before that run's own changes.
func TestTearDownKeepsFailedChanges(t *testing.T) {
	t.Parallel()
	s, d := onPhone(t, simulator.Options{Ignored: []string{"system a"}})
	shell(t, s, Change{Kind: Setting, Space: "system", Name: "b", Before: "1", Put: "2"}.note()+Change{Kind: Setting, Space: "system", Name: "a", Before: "1", Put: "2"}.note()+"settings put system b 2")
	s.Phone.Set("system a", "2")
	for range 2 {
		if err := d.Restore(t.Context()); err == nil || !strings.Contains(err.Error(), "1 change could not be put back") {
			t.Fatal(err)
		}
		if told := strings.Join(warnings(d), "\n"); !strings.Contains(told, "the setting a stays at 2") || !strings.Contains(told, "adb shell settings put system a 1") {
			t.Errorf("told %q", told)
		}
		notes := parseLedger([]byte(shell(t, s, readLedger)))
		if want := []Change{{Kind: Setting, Space: "system", Name: "a", Before: "1", Put: "2"}}; !slices.Equal(notes, want) {
			t.Errorf("noted: %v, want %v", notes, want)
		}
	}
	if now := shell(t, s, "settings get system b"); now != "1" {
		t.Errorf("the other is %s", now)
	}
}

// renaming is a device that stores a setting under another value.
type renaming struct{ stubborn }

func (r *renaming) Exec(ctx context.Context, command string) (device.Output, error) {
	out, err := r.stubborn.Exec(ctx, command)
	if r.value == "60" {
		r.value = "60.0"
	}
	return out, err
}

// A setting that a device stores under another value is restored too.
func TestHoldRestoresARenamedValue(t *testing.T) {
	t.Parallel()
	d := &renaming{stubborn{value: "120.0"}}
	target := New("pixel", stillClock{}, time.Now(), func(context.Context) (device.Device, error) { return d, nil })
	target.Journal = journal.New("pixel", nil)
	if err := target.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := target.Hold(t.Context(), "system", "peak_refresh_rate", "60"); err != nil || d.value != "60.0" {
		t.Fatalf("held at %s, %v", d.value, err)
	}
	target.TearDown(t.Context(), "com.example")
	if d.value != "120.0" || len(warnings(target)) != 0 {
		t.Errorf("left at %s, warnings %q", d.value, warnings(target))
	}
}
