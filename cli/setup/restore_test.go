package setup_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// shelf is a phone of a configuration, and apkgate on it.
func shelf(t *testing.T) (d device.Device, apkgate func(args ...string) (status int, said string), phone *simulator.Simulated) {
	t.Helper()
	phone, err := simulator.Start(clitest.FaultyPhone, 1, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close() })
	l := clitest.NewLab(t, "demo-good", "")
	clitest.WriteFile(t, l.Path("apkgate.yml"), fmt.Sprintf(clitest.LabConfig, "demo-good", "wifi", "  - {address: \""+phone.Address()+"\", name: shelf}\n"))
	d = dial(t, phone)
	return d, func(args ...string) (int, string) {
		var out bytes.Buffer
		c := terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Now: time.Now, Clock: phone.Clock(),
			Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
		}
		c.Stderr = &out
		return cli.Main(c, append(args, "--config", l.Path("apkgate.yml"))), out.String()
	}, phone
}

// dial connects to a phone until the test ends.
func dial(t *testing.T, phone *simulator.Simulated) device.Device {
	t.Helper()
	d, err := adb.Dial(t.Context(), phone.Address(), adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// killed leaves on the phone what a killed run leaves there.
func killed(t *testing.T, d device.Device) {
	t.Helper()
	_, err := d.Exec(t.Context(), "echo 'kind=setting&space=system&name=screen_off_timeout&before=60000&put=86399000' >>/data/local/tmp/apkgate-changed; "+
		"settings put system screen_off_timeout 86399000")
	if err != nil {
		t.Fatal(err)
	}
}

func screenOff(t *testing.T, d device.Device) string {
	t.Helper()
	out, err := d.Exec(t.Context(), "settings get system screen_off_timeout; ls /data/local/tmp")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out.Stdout))
}

// `apkgate doctor` reports what a killed run left, and `devices restore` undoes it and prints what.
func TestRestore(t *testing.T) {
	t.Parallel()
	d, apkgate, _ := shelf(t)
	killed(t, d)
	if status, said := apkgate("doctor"); status != exit.StatusPass || !strings.Contains(said, "a killed run left this to do: set the setting screen_off_timeout back to 60000") || !strings.Contains(said, "apkgate devices restore") {
		t.Errorf("doctor ends with %d and says\n%s", status, said)
	}
	if now := screenOff(t, d); !strings.HasPrefix(now, "86399000") {
		t.Errorf("doctor has set it to %q", now)
	}
	if status, said := apkgate("devices", "restore", "--device", "shelf"); status != exit.StatusPass || !strings.Contains(said, "shelf: ") || !strings.Contains(said, "is done: set the setting screen_off_timeout back to 60000") {
		t.Errorf("it ends with %d and says\n%s", status, said)
	}
	if now := screenOff(t, d); now != "60000" {
		t.Errorf("afterwards there is %q", now)
	}
	if status, said := apkgate("devices", "restore"); status != exit.StatusPass || !strings.Contains(said, "nothing is left to put back") {
		t.Errorf("once more it ends with %d and says\n%s", status, said)
	}
	for _, names := range [][]string{{"--device", "drawer"}, {"--device", "shelf", "--device", "drawer"}} {
		status, said := apkgate(append([]string{"devices", "restore"}, names...)...)
		if status != exit.StatusUsage || !strings.Contains(said, "--device drawer: ") || !strings.Contains(said, "shelf") {
			t.Errorf("%q, of which one is not there, ends with %d and says\n%s", names, status, said)
		}
	}
}

// A change that can't be undone is no success, and stays recorded.
func TestRestoreReportsFailures(t *testing.T) {
	t.Parallel()
	d, apkgate, _ := shelf(t)
	killed(t, d)
	if _, err := d.Exec(t.Context(), "echo 'kind=of+a+later+apkgate&name=a&put=1' >>/data/local/tmp/apkgate-changed"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		status, said := apkgate("devices", "restore")
		if status != exit.StatusInfrastructure || !strings.Contains(said, "does not know") || !strings.Contains(said, "1 change could not be put back") || !strings.Contains(said, "hint: ") {
			t.Errorf("it ends with %d and says\n%s", status, said)
		}
	}
	if now := screenOff(t, d); !strings.HasPrefix(now, "60000") {
		t.Errorf("what could be put back is %q", now)
	}
}

// A device in use is left alone: doctor names the user, and nothing is undone.
func TestRestoreSkipsADeviceInUse(t *testing.T) {
	t.Parallel()
	d, apkgate, phone := shelf(t)
	killed(t, d)
	if _, _, err := devicelock.Mark(t.Context(), d.Exec, devicelock.Owner{User: "alice", Host: "ci-3", PID: 77, Doing: "com.example/scroll", Since: time.Now()}, 0, ":"); err != nil {
		t.Fatal(err)
	}
	const who = "alice@ci-3 (pid 77, com.example/scroll) since "
	if status, said := apkgate("doctor"); status != exit.StatusPass || !strings.Contains(said, "in use by "+who) || strings.Contains(said, "killed") {
		t.Errorf("doctor ends with %d and says\n%s", status, said)
	}
	if status, said := apkgate("devices", "restore"); status != exit.StatusInfrastructure || !strings.Contains(said, who) {
		t.Errorf("it ends with %d and says\n%s", status, said)
	}
	if now := screenOff(t, d); !strings.HasPrefix(now, "86399000") {
		t.Errorf("it was set to %q", now)
	}
	// Its owner was killed long ago.
	if err := phone.Clock().Sleep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if status, said := apkgate("devices", "restore"); status != exit.StatusPass || !strings.Contains(said, "screen_off_timeout") {
		t.Errorf("when its owner is gone it ends with %d and says\n%s", status, said)
	}
}
