package adb_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device/adb/adbtest"
)

// command is the real adb command, bound to a real server and a simulated phone.
type command struct {
	t      *testing.T
	path   string
	port   string
	serial string
	home   string
}

// run runs adb and returns its outputs and its exit code.
func (c *command) run(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(testContext(c.t), c.path, append([]string{"-P", c.port, "-s", c.serial}, args...)...)
	cmd.Env = adbtest.Environment(c.home)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("running adb %q: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// The real adb command works with the simulated phone's daemon.
func TestRealAdbOnATestPhone(t *testing.T) {
	for _, features := range []string{modernFeatures, ""} {
		t.Run("features "+features, func(t *testing.T) {
			t.Parallel()
			testRealCommand(t, features)
		})
	}
}

func testRealCommand(t *testing.T, features string) {
	server, port, process := realServerProcess(t)
	phone := newTestPhone(features)
	_, addr := serve(t, phone)
	if _, err := server.Connect(testContext(t), addr); err != nil {
		t.Fatal(err)
	}
	c := &command{t: t, path: process.Path, port: port, serial: addr, home: t.TempDir()}

	t.Run("devices", func(t *testing.T) {
		out, errs, code := c.run("devices", "-l")
		if code != 0 || !strings.Contains(out, addr) || !strings.Contains(out, "model:Test_Phone") {
			t.Errorf("%q, %q, exit code %d", out, errs, code)
		}
	})
	t.Run("shell", func(t *testing.T) {
		out, errs, code := c.run("shell", "echo out; echo err >&2; exit 3")
		if features == "" {
			if out != "out\r\nerr\r\n" {
				t.Errorf("%q, want both outputs as a terminal shows them", out)
			}
			return
		}
		if out != "out\n" || errs != "err\n" || code != 3 {
			t.Errorf("%q, %q, exit code %d", out, errs, code)
		}
	})
	t.Run("exec-out", func(t *testing.T) {
		out, _, code := c.run("exec-out", `printf '\000\r\n\377'`)
		if out != "\x00\r\n\xff" || code != 0 {
			t.Errorf("%q, exit code %d", out, code)
		}
	})
	t.Run("push and pull", func(t *testing.T) {
		dir := t.TempDir()
		there, back := filepath.Join(dir, "there"), filepath.Join(dir, "back")
		contents := bytes.Repeat([]byte("0123456789"), 200_000)
		if err := os.WriteFile(there, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := c.run("push", there, "/data/local/tmp/file"); code != 0 {
			t.Fatalf("push: %q, %q, exit code %d", out, errs, code)
		}
		if f, _ := phone.file("/data/local/tmp/file"); !bytes.Equal(f.contents, contents) {
			t.Errorf("the phone got %d bytes, want %d", len(f.contents), len(contents))
		}
		if out, errs, code := c.run("pull", "/data/local/tmp/file", back); code != 0 {
			t.Fatalf("pull: %q, %q, exit code %d", out, errs, code)
		}
		if got, _ := os.ReadFile(back); !bytes.Equal(got, contents) {
			t.Errorf("%d bytes came back, want %d", len(got), len(contents))
		}
		out, errs, code := c.run("pull", "/none", back)
		if code == 0 || !strings.Contains(out+errs, "No such file or directory") && !strings.Contains(out+errs, "does not exist") {
			t.Errorf("pulling what is not there: %q, %q, exit code %d", out, errs, code)
		}
		phone.mu.Lock()
		phone.full = true
		phone.mu.Unlock()
		out, errs, code = c.run("push", there, "/data/local/tmp/file2")
		if code == 0 || !strings.Contains(out+errs, "No space left on device") {
			t.Errorf("pushing to a full phone: %q, %q, exit code %d", out, errs, code)
		}
		phone.mu.Lock()
		phone.full = false
		phone.mu.Unlock()
	})
	t.Run("install", func(t *testing.T) {
		apk := filepath.Join(t.TempDir(), "app.apk")
		contents := strings.Repeat("an APK ", 300_000)
		if err := os.WriteFile(apk, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := c.run("install", "-r", apk)
		phone.mu.Lock()
		how := phone.installed[contents]
		phone.mu.Unlock()
		if code != 0 || !strings.Contains(out, "Success") || !strings.Contains(how, "-r") {
			t.Errorf("%q, %q, exit code %d; the phone was asked %q", out, errs, code, how)
		}
	})
	t.Run("logcat", func(t *testing.T) {
		out, errs, code := c.run("logcat", "-d", "-v", "monotonic")
		if code != 0 || !strings.Contains(out, "I apkgate : E1") {
			t.Errorf("%q, %q, exit code %d", out, errs, code)
		}
	})
	t.Run("refused service", func(t *testing.T) {
		if out, errs, code := c.run("disable-verity"); code == 0 {
			t.Errorf("disable-verity was granted: %q, %q", out, errs)
		}
	})
}
