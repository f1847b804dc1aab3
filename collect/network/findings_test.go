package network

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/simulator"
	simconsole "github.com/apkgate/apkgate/simulator/console"
)

// looking is a simulated device that must not be changed.
func looking(t *testing.T, profile string, o simulator.Options) *adbDevice {
	t.Helper()
	s, err := simulator.Start(profile, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	d, err := adb.Dial(t.Context(), s.Address(), adb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &adbDevice{Device: d}
}

// adbDevice records commands that would change the device, and may have another serial.
type adbDevice struct {
	device.Device
	serial  string
	changed []string
}

func (d *adbDevice) Serial() string {
	if d.serial != "" {
		return d.serial
	}
	return "2A131FDH2000AB"
}

func (d *adbDevice) Exec(ctx context.Context, line string) (device.Output, error) {
	for _, verb := range []string{"svc ", " add ", " del ", "settings put"} {
		if strings.Contains(line, verb) {
			d.changed = append(d.changed, line)
		}
	}
	return d.Device.Exec(ctx, line)
}

// The reported action for each network is what Set then does, and reporting changes nothing.
func TestFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile, name string
		o             simulator.Options
		refuse, ok    bool
		detail, run   string // parts
	}{
		{phone, "wifi", simulator.Options{}, true, true, "wifi: the device's own Wi-Fi", "turns mobile data off"},
		{phone, "offline", simulator.Options{}, true, true, "offline: no network at all", "turns Wi-Fi and mobile data off"},
		{phone, "lte", simulator.Options{Network: "4g"}, true, true, "lte: the device's own mobile network, which is LTE", "turns Wi-Fi off"},
		{phone, "office", simulator.Options{Network: "4g"}, true, true, "office: the device's own mobile network, which is LTE", "turns Wi-Fi off"},
		{phone, "3g", simulator.Options{Network: "4g", Root: true}, true, true, "3g: mobile data can be slowed down", "turns Wi-Fi off, and has tc: 1600 kbit/s down, 768 up, 300 ms"},
		{phone, "3g", simulator.Options{Network: "4g", Production: true}, false, true, "3g: mobile data can't be slowed down: adb has no root on the device", "turns Wi-Fi off, has it as fast as it is, and says so"},
		{phone, "3g", simulator.Options{Network: "4g", Production: true}, true, false, "3g: mobile data can't be slowed down: adb has no root on the device", "measures nothing on it, as conditions.policy says"},
		{emulator, "office", simulator.Options{}, true, true, "office: the emulator's own link, as fast as this computer's", "turns Wi-Fi off"},
	} {
		d := looking(t, c.profile, c.o)
		got, err := Findings(t.Context(), d, 0, []string{"", c.name}, c.refuse)
		if err != nil || len(got) != 1 {
			t.Errorf("%s, %s: %+v, %v", c.profile, c.name, got, err)
			continue
		}
		if f := got[0]; f.OK != c.ok || f.Detail != c.detail || f.Run != c.run || (f.Hint != "") != strings.Contains(c.detail, "can't") {
			t.Errorf("%s, %s: %+v", c.profile, c.name, f)
		}
		if len(d.changed) > 0 {
			t.Errorf("%s, %s: looking did %q", c.profile, c.name, d.changed)
		}
	}
}

// An emulator's console slows down what it can, and receives no command for a report; the console
// of another emulator is reported as such.
func TestFindingsOfAConsole(t *testing.T) {
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
	console := &simconsole.Emulator{Name: "test", OnNetwork: func(simconsole.Network) { told++ }}
	go func() { _ = console.Serve(l) }()
	port := l.Addr().(*net.TCPAddr).Port
	d := looking(t, emulator, simulator.Options{})
	got, err := Findings(t.Context(), d, port, []string{"3g", "lossy"}, true)
	if err != nil || len(got) != 2 || !strings.HasSuffix(got[0].Run, "has console: 1600 kbit/s, 300 ms") || !strings.Contains(got[1].Run, "has tc: ") {
		t.Errorf("%+v, %v", got, err)
	}
	if told != 0 {
		t.Errorf("the console was told %d changes", told)
	}
}

// A device that adb reaches over its own Wi-Fi is measured on no other network.
func TestFindingsWhereAdbUsesWifi(t *testing.T) {
	t.Parallel()
	d := looking(t, phone, simulator.Options{})
	d.serial = "adb-2A131FDH2000AB-vWgJpq._adb-tls-connect._tcp"
	got, err := Findings(t.Context(), d, 0, []string{"wifi", "lte", "none"}, false)
	if err != nil || len(got) != 3 || !got[0].OK {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, f := range got[1:] {
		if f.OK || !strings.Contains(f.Detail, "adb itself reaches the device over its Wi-Fi") || f.Hint != hintWireless || f.Run != "" {
			t.Errorf("%+v", f)
		}
	}
}

// A lost device is reported as lost, not as one that can't be slowed down.
func TestFindingsOfALostDevice(t *testing.T) {
	t.Parallel()
	d := looking(t, phone, simulator.Options{Network: "4g"})
	_ = d.Close()
	if got, err := Findings(t.Context(), d, 0, []string{"wifi", "3g"}, false); err == nil || !strings.Contains(err.Error(), `the network "3g"`) || len(got) != 1 || errors.As(err, new(*unableError)) {
		t.Errorf("%+v, %v", got, err)
	}
}
