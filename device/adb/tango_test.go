package adb_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/simulator"
)

// tango is an independent client of adb, made for the web. The daemon has to satisfy both it
// and Debian's adb, which guards against a misreading of the protocol.
type tango struct {
	t    *testing.T
	said *bufio.Scanner
	in   io.WriteCloser
}

// startTango starts the client on a phone with a private key, or skips the test.
func startTango(t *testing.T, phone *simulator.Simulated, key string) *tango {
	t.Helper()
	const folder = "testdata/tango"
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: apt-get install nodejs npm")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Skip("the second client of adb is not installed: npm ci in device/adb/" + folder)
	}
	_, port, _ := strings.Cut(phone.Address(), ":")
	cmd := exec.CommandContext(testContext(t), node, filepath.Join(folder, "client.mjs"), port, key)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &tango{t, bufio.NewScanner(out), in}
}

// says returns the client's next event.
func (c *tango) says(what string) any {
	c.t.Helper()
	if !c.said.Scan() {
		c.t.Fatalf("the client ends before %q", what)
	}
	var line struct {
		What  string
		Value any
	}
	if err := json.Unmarshal(c.said.Bytes(), &line); err != nil || line.What != what {
		c.t.Fatalf("%q, %v; want %q", c.said.Text(), err, what)
	}
	return line.Value
}

func (c *tango) wants(what string, want any) {
	c.t.Helper()
	if got := c.says(what); !reflect.DeepEqual(got, want) {
		c.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// ownKey returns the file of a private key, and the public key.
func ownKey(t *testing.T) (file, public string) {
	t.Helper()
	home := t.TempDir()
	keys, err := keysIn(home).Keys()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = keys[0].Public(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, ".android", "adbkey"), public
}

func TestTangoOnSimulatedPhones(t *testing.T) {
	t.Parallel()
	phone := startSimulated(t, "pixel-7-android-14", simulator.Options{Production: true})
	key, public := ownKey(t)
	if err := phone.Daemon.RequireKey(public); err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	c := startTango(t, phone, key)
	banner, _ := c.says("banner").(object)
	features, _ := banner["features"].([]any)
	if banner["model"] != "Pixel 7" || !slices.Contains(features, any("sendrecv_v2")) || !slices.Contains(features, any("ls_v2")) {
		t.Errorf("the banner: %v", banner)
	}
	c.wants("shell", object{"stdout": "out\n", "stderr": "err\n", "exitCode": 7.0})
	c.wants("stdin", object{"stdout": "abc\n", "exitCode": 0.0})
	c.wants("exec", "raw\n")
	c.wants("sync", object{
		"same": true, "size": 300_000.0, "permission": float64(0o644), "mtime": 1_600_000_000.0,
		"listed": []any{"file"}, "missing": "Error",
	})
	c.wants("many", true)
	if log, _ := c.says("logcat").(string); !strings.Contains(log, "simulated phone") {
		t.Errorf("logcat: %q", log)
	}
	c.wants("refused", "refused")
	c.wants("reverse", []any{"tcp:7000"})
	if got := say(t, phone, "tcp:7000", "hello"); got != "heard hello" {
		t.Errorf("an app on the phone hears %q", got)
	}
	io.WriteString(c.in, "go on\n")
	c.wants("heard", "hello")
	c.wants("removed", 0.0)
	c.wants("root", "adbd cannot run as root in production builds\n")
}

func TestTangoAuthenticates(t *testing.T) {
	t.Parallel()
	phone := startSimulated(t, "nexus-5x-android-6.0.0", simulator.Options{})
	if err := phone.Daemon.RequireKey(otherPublicKey(t)); err != nil {
		t.Fatal(err)
	}
	phone.Daemon.AcceptKeys(true)
	key, _ := ownKey(t)
	if banner, _ := startTango(t, phone, key).says("banner").(map[string]any); banner["model"] != "Nexus 5X" {
		t.Errorf("the banner: %v", banner)
	}
}
