package recorddevice_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// A shared device is held while it is recorded, by a mark on it that is not in the recording, and
// left as it was found: changes of a killed run are undone before.
func TestRecordDeviceHoldsASharedDevice(t *testing.T) {
	t.Parallel()
	phone, err := simulator.Start("pixel-5-android-11", 1, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = phone.Close() })
	d, err := simulated.Open(phone)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left := "kind=setting&space=system&name=screen_off_timeout&before=30000&put=1800000"
	if _, err := d.Exec(t.Context(), "settings put system screen_off_timeout 1800000; echo '"+left+"' >"+devicelock.DeviceFolder+"/apkgate-changed"); err != nil {
		t.Fatal(err)
	}
	l := clitest.NewLab(t, "demo-good", "")
	l.ConfigurePhones("demo-good", clitest.Text(fmt.Sprintf("  - address: %s\n", phone.Address())), "wifi")
	dir := filepath.Join(t.TempDir(), "recording")
	other, _, err := devicelock.Mark(t.Context(), d.Exec, devicelock.Owner{User: "bob", Host: "elsewhere", PID: 1}, 0, ":")
	if err != nil {
		t.Fatal(err)
	}
	clitest.Fails(t, clitest.Run(t, nil, "record-device", dir, "--config", l.Path("apkgate.yml")), exit.StatusInfrastructure, "in use by bob@elsewhere", "wait for it to end")
	if _, err := d.Exec(t.Context(), other.Release()); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Clock: phone.Clock(),
		Now: func() time.Time { return time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC) },
	}
	if status := cli.Main(c, []string{"record-device", dir, "--config", l.Path("apkgate.yml")}); status != exit.StatusPass || !strings.Contains(stdout.String(), "it replays: exactly\n") {
		t.Fatalf("status %d: %s%s", status, stdout.String(), stderr.String())
	}
	if !strings.Contains(stderr.String(), "set the setting screen_off_timeout back to 30000") {
		t.Errorf("it says nothing of what a killed run left: %s", stderr.String())
	}
	out, err := d.Exec(t.Context(), "ls "+devicelock.DeviceFolder+"; settings get system screen_off_timeout")
	if err != nil || strings.TrimSpace(string(out.Stdout)) != "30000" {
		t.Errorf("left on the device: %s, %v", out.Stdout, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, recording.ExchangesFile))
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	for _, secret := range []string{phone.Address(), "host=", "pid=" + fmt.Sprint(os.Getpid()), "user=", "/" + host + "/"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the recording tells of %s", secret)
		}
	}
	moved := clitest.Run(t, nil, "collect", "--replay", dir)
	if moved.Status != exit.StatusPass {
		t.Errorf("replay: %+v", moved)
	}
}
