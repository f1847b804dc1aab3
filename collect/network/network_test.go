package network

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
	simconsole "github.com/apkgate/apkgate/simulator/console"
)

const (
	phone    = "pixel-7-android-14"
	emulator = "sdk-gphone64-x86-android-14"
)

// ready connects to a simulated device.
func ready(t *testing.T, profile string, o simulator.Options) (*simulator.Simulated, *target.Target) {
	t.Helper()
	s, err := simulator.Start(profile, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	d := target.New(profile, s.Clock(), time.Now(), func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, s.Address(), adb.Options{}) })
	d.Journal = journal.New(profile, nil)
	if err := errors.Join(d.Open(t.Context()), d.ReadFacts(t.Context())); err != nil {
		t.Fatal(err)
	}
	return s, d
}

// asked runs a command on the device as root and returns its output.
func asked(t *testing.T, d *target.Target, line string) string {
	t.Helper()
	out, err := d.Ask(t.Context(), "su 0 "+line)
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Stdout)
}

func warned(d *target.Target) string {
	var all []string
	for _, w := range d.Journal.Warnings {
		all = append(all, w.Text)
	}
	return strings.Join(all, "\n")
}

func TestSetAndUndo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, shaped string
	}{
		{"wifi", "WIFI", ""},
		{"offline", "", ""},
		{"none", "", ""},
		{"mobile", "MOBILE", ""},
		{"5g", "MOBILE", "tc: 1174000 kbit/s down, 211000 up, 5 ms"},
		{"lte", "MOBILE", "tc: 12000 kbit/s down, 12000 up, 70 ms"},
		{"3g", "MOBILE", "tc: 1600 kbit/s down, 768 up, 300 ms"},
		{"edge", "MOBILE", "tc: 240 kbit/s down, 200 up, 840 ms"},
		{"lossy", "MOBILE", "tc: 12000 kbit/s down, 12000 up, 70 ms, 10 % lost"},
	} {
		_, d := ready(t, emulator, simulator.Options{})
		for range 2 { // and once more, as after the device was lost
			shaped, err := Set(t.Context(), d, c.name, true)
			if err != nil || shaped != c.shaped {
				t.Fatalf("%s: %q, %v, want %q", c.name, shaped, err, c.shaped)
			}
		}
		text, _ := d.Output(t.Context(), "dumpsys", "connectivity")
		if kind := device.ReadNetwork(text); kind != c.kind {
			t.Errorf("%s: the device is on %q, want %q", c.name, kind, c.kind)
		}
		if shows := strings.Contains(asked(t, d, "tc qdisc show dev eth0"), "netem"); shows != (c.shaped != "") || warned(d) != "" {
			t.Errorf("%s: tc shapes: %t; warnings: %s", c.name, shows, warned(d))
		}
		if d.TearDown(t.Context(), "com.example.none"); warned(d) != "" {
			t.Errorf("%s: undone with: %s", c.name, warned(d))
		}
		if err := d.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := asked(t, d, "tc qdisc show dev eth0"); strings.Contains(left, "netem") || strings.Contains(left, "clsact") {
			t.Errorf("%s: left %s", c.name, left)
		}
		d.HangUp()
	}
}

func TestSetWarnsOrRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, profile, name string
		o                   simulator.Options
		why                 string
	}{
		{"no root", phone, "3g", simulator.Options{Network: "4g", Production: true}, "no root"},
		{"no netem", phone, "3g", simulator.Options{Network: "4g", NoNetem: true}, "kind is unknown"},
		{"no mobile data to be slow", phone, "3g", simulator.Options{Ignored: []string{"global mobile_data"}, Network: "none"}, "over which interface"},
	} {
		_, d := ready(t, c.profile, c.o)
		_, err := Set(t.Context(), d, c.name, true)
		var lost *loss.Error
		if !errors.As(err, &lost) || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), c.name) || !strings.Contains(lost.Hint(), "labs.md") {
			t.Errorf("%s, refused: %v", c.what, err)
		}
		shaped, err := Set(t.Context(), d, c.name, false)
		if err != nil || shaped != "" || !strings.Contains(warned(d), c.why) {
			t.Errorf("%s, told: %q, %v, %s", c.what, shaped, err, warned(d))
		}
		d.HangUp()
	}
}

// The port on which adbd listens is not shaped.
func TestSetLeavesOutAdbsPort(t *testing.T) {
	t.Parallel()
	_, d := ready(t, phone, simulator.Options{})
	for property, want := range map[string]int{"": 5555, "5566": 5566, "0": 5555, "-1": 5555, "65536": 5555, "x": 5555} {
		d.Facts.Properties["service.adb.tcp.port"] = property
		if got := adbPort(d); got != want {
			t.Errorf("of %q: port %d, want %d", property, got, want)
		}
	}
	d.HangUp()
}

func TestSetOnALostDevice(t *testing.T) {
	t.Parallel()
	_, d := ready(t, emulator, simulator.Options{})
	d.HangUp()
	for _, name := range []string{"wifi", "3g", "offline"} {
		if _, err := Set(t.Context(), d, name, false); !loss.IsGone(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if shaped, err := Set(t.Context(), d, "", true); shaped != "" || err != nil {
		t.Errorf("no network is asked for: %q, %v", shaped, err)
	}
}

// The console of another emulator is left alone, and tc is used instead.
func TestSetLeavesAnotherEmulatorAlone(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), ".emulator_console_auth_token"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	told := 0
	console := &simconsole.Emulator{Name: "another one", OnNetwork: func(simconsole.Network) { told++ }}
	go func() { _ = console.Serve(l) }()
	for name, want := range map[string]string{"mine": "tc: ", "another_one": "console: "} {
		_, d := ready(t, emulator, simulator.Options{})
		d.Console, d.Facts.Properties["ro.boot.qemu.avd_name"] = l.Addr().(*net.TCPAddr).Port, name
		shaped, err := Set(t.Context(), d, "3g", true)
		if err != nil || !strings.HasPrefix(shaped, want) {
			t.Errorf("an emulator called %s: %q, %v", name, shaped, err)
		}
		d.TearDown(t.Context(), "com.example.none")
	}
	if told != 4 { // speed and delay, and both back
		t.Errorf("the other emulator's console was told %d changes of its own, want 4", told)
	}
}

// A network that is not as slow as its name is reported, but not if the phone is on such a network
// by itself.
func TestSetWarnsOfAnUnshapedName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile, has, name, want string
	}{
		{phone, "4g", "lte", ""},
		{phone, "4g", "LTE", ""},
		{phone, "4g", "mobile", ""},
		{phone, "4g", "wide", ""},
		{phone, "3g", "umts", ""},
		{phone, "4g", "umts", "mobile network is LTE"},
		{emulator, "4g", "4g", "emulator's own link"},
		{emulator, "4g", "mobile", ""},
		{"optimus-l3-android-4.1.1", "4g", "4g", ""}, // does not report its network
	} {
		_, d := ready(t, c.profile, simulator.Options{Network: c.has})
		if shaped, err := Set(t.Context(), d, c.name, true); err != nil || shaped != "" {
			t.Errorf("%+v: %q, %v", c, shaped, err)
		}
		if got := warned(d); (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: warned %q", c, got)
		}
		d.HangUp()
	}
}

// A clsact that netd uses too is not removed, however often the network was set.
func TestUndoKeepsAnEarlierClsact(t *testing.T) {
	t.Parallel()
	_, d := ready(t, phone, simulator.Options{Network: "3g"})
	asked(t, d, "tc qdisc add dev rmnet_data0 clsact")
	for range 2 {
		if shaped, err := Set(t.Context(), d, "edge", true); err != nil || !strings.Contains(shaped, "down") {
			t.Fatalf("%q, %v", shaped, err)
		}
	}
	d.TearDown(t.Context(), "com.example.none")
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := asked(t, d, "tc qdisc show dev rmnet_data0"); !strings.Contains(left, "clsact") || strings.Contains(left, "netem") {
		t.Errorf("left %s", left)
	}
	d.HangUp()
}
