package adb_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/adb/adbtest"
	"github.com/apkgate/apkgate/simulator"
)

// splitAPK is one file of a simulated app that consists of several.
func splitAPK(lines ...string) string {
	return "apkgate-simulated-app/1\npackage com.example.parts\nversion 3.0 30\n" + strings.Join(lines, "\n") + "\n"
}

// realCommandOn is the real adb command, bound to a simulated phone.
func realCommandOn(t *testing.T, profile string, o simulator.Options) (*command, *simulator.Simulated) {
	t.Helper()
	server, port, process := realServerProcess(t)
	phone := startSimulated(t, profile, o)
	if _, err := server.Connect(testContext(t), phone.Address()); err != nil {
		t.Fatal(err)
	}
	return &command{t: t, path: process.Path, port: port, serial: phone.Address(), home: t.TempDir()}, phone
}

func startSimulated(t *testing.T, profile string, o simulator.Options) *simulator.Simulated {
	t.Helper()
	phone, err := simulator.Start(profile, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { phone.Close() })
	return phone
}

// runWith is run with a standard input.
func (c *command) runWith(stdin string, args ...string) (stdout string, code int) {
	c.t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(testContext(c.t), c.path, append([]string{"-P", c.port, "-s", c.serial}, args...)...)
	cmd.Env, cmd.Stdin, cmd.Stdout = adbtest.Environment(c.home), strings.NewReader(stdin), &out
	_ = cmd.Run() // the exit code is checked
	return out.String(), cmd.ProcessState.ExitCode()
}

// The commands that people type, on old and new phones: the real adb implements each of them
// differently by version.
func TestRealAdbOnPhonesOfTheLab(t *testing.T) {
	for _, profile := range []string{"pixel-7-android-14", "pixel-3-android-9", "nexus-5x-android-6.0.0"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			c, phone := realCommandOn(t, profile, simulator.Options{})
			if out, errs, code := c.run("logcat", "-d", "-b", "main"); code != 0 || !strings.Contains(out, "boot") || strings.Contains(out+errs, "not found") {
				t.Errorf("logcat: %q, %q, exit code %d", out, errs, code)
			}
			if phone.Profile.API >= 24 { // older phones can't signal the end of input
				if out, code := c.runWith("abc\n", "shell", "cat"); out != "abc\n" || code != 0 {
					t.Errorf("shell cat: %q, exit code %d", out, code)
				}
			}
			files := writeFiles(t, map[string]string{
				"base.apk": splitAPK("incomplete"), "en.apk": splitAPK("split config.en"), "pushed": "hello",
			})
			if out, errs, code := c.run("install-multiple", "-r", "-t", files["base.apk"], files["en.apk"]); code != 0 {
				t.Errorf("install-multiple: %q, %q, exit code %d", out, errs, code)
			}
			if out, _, _ := c.run("shell", "pm", "path", "com.example.parts"); !strings.Contains(out, "split_config.en.apk") {
				t.Errorf("after install-multiple the parts are %q", out)
			}
			if phone.Profile.API >= 24 {
				report := filepath.Join(t.TempDir(), "report.zip")
				out, errs, code := c.run("bugreport", report)
				if r, err := zip.OpenReader(report); err != nil || code != 0 {
					t.Errorf("bugreport: %v; %q, %q, exit code %d", err, out, errs, code)
				} else if r.Close(); len(r.File) == 0 {
					t.Error("the bug report is empty")
				}
			} else if out, errs, code := c.run("bugreport"); code != 0 || !strings.Contains(out, "dumpstate") {
				t.Errorf("bugreport: %q, %q, exit code %d", out, errs, code)
			}
			if out, errs, code := c.run("push", files["pushed"], "/data/local/tmp/dir/x"); code != 0 {
				t.Errorf("push: %q, %q, exit code %d", out, errs, code)
			}
			if out, errs, code := c.run("ls", "/data/local/tmp/dir"); code != 0 || !strings.Contains(out, " x\n") {
				t.Errorf("ls: %q, %q, exit code %d", out, errs, code)
			}
		})
	}
}

func TestRealAdbReverse(t *testing.T) {
	t.Parallel()
	c, phone := realCommandOn(t, "pixel-7-android-14", simulator.Options{})
	echo := listen(t, func(line string) string { return "heard " + line })
	if out, errs, code := c.run("reverse", "tcp:7000", "tcp:"+echo); code != 0 {
		t.Fatalf("reverse: %q, %q, exit code %d", out, errs, code)
	}
	if out, _, code := c.run("reverse", "--list"); code != 0 || !strings.Contains(out, " tcp:7000 tcp:"+echo) {
		t.Errorf("reverse --list: %q, exit code %d", out, code)
	}
	if got := say(t, phone, "tcp:7000", "hello\n"); got != "heard hello\n" {
		t.Errorf("an app on the phone hears %q", got)
	}
	if _, errs, code := c.run("reverse", "--remove-all"); code != 0 {
		t.Errorf("reverse --remove-all: %q, exit code %d", errs, code)
	}
	if out, _, _ := c.run("reverse", "--list"); strings.Contains(out, "tcp:7000") {
		t.Errorf("after --remove-all: %q", out)
	}
}

func TestRealAdbRootOnAUserBuild(t *testing.T) {
	t.Parallel()
	c, _ := realCommandOn(t, "pixel-7-android-14", simulator.Options{Production: true})
	if out, _, _ := c.run("root"); !strings.Contains(out, "adbd cannot run as root in production builds") {
		t.Errorf("%q", out)
	}
}

// An emulator's port accepts a second host and then stays silent.
func TestDialHintsAtTheSerialOfAHeldEmulator(t *testing.T) {
	t.Parallel()
	phone := startSimulated(t, "sdk-gphone64-x86-android-14", simulator.Options{})
	phone.Daemon.Exclusive(true)
	if _, err := realServer(t).Connect(testContext(t), phone.Address()); err != nil {
		t.Fatal(err)
	}
	_, err := adb.Dial(testContext(t), phone.Address(), adb.Options{ConnectTimeout: 300 * time.Millisecond})
	if !errors.Is(err, device.ErrGone) || !strings.Contains(hint(err), "serial") {
		t.Errorf("%v (%s), want the advice to give its serial", err, hint(err))
	}
}

// Several APKs are installed directly and through adb's server, with the package manager's
// newer command and its older one.
func TestInstallSplitAPKs(t *testing.T) {
	files := writeFiles(t, map[string]string{
		"base.apk": splitAPK("incomplete"), "en.apk": splitAPK("split config.en"), "it's.apk": splitAPK("split config.x86"),
	})
	for _, profile := range []string{"pixel-7-android-14", "pixel-3-android-9", "nexus-5x-android-6.0.0", "nexus-4-android-5.0.0"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			phone := startSimulated(t, profile, simulator.Options{})
			d := dial(t, phone.Address(), adb.Options{})
			if err := d.Install(testContext(t), files["base.apk"], files["en.apk"], files["it's.apk"]); err != nil {
				t.Fatal(err)
			}
			out, err := d.Exec(testContext(t), "pm path com.example.parts")
			if got := strings.Count(string(out.Stdout), "package:"); got != 3 || err != nil {
				t.Errorf("%d parts are there: %q, %v", got, out.Stdout, err)
			}
		})
	}
	t.Run("through a server", func(t *testing.T) {
		t.Parallel()
		phone := startSimulated(t, "pixel-7-android-14", simulator.Options{})
		d, err := realServer(t).Connect(testContext(t), phone.Address())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Install(testContext(t), files["base.apk"], files["en.apk"]); err != nil {
			t.Error(err)
		}
	})
}

func TestInstallAbandonsARejectedSession(t *testing.T) {
	files := writeFiles(t, map[string]string{
		"base.apk": splitAPK("incomplete"), "en.apk": splitAPK("split config.en"), "again.apk": splitAPK("split config.en"), "other.apk": "no APK", "empty.apk": "",
	})
	for _, c := range []struct {
		what, profile string
		files         []string
		want          string
		hint          bool
	}{
		{"a base alone", "pixel-7-android-14", []string{"base.apk"}, "INSTALL_FAILED_MISSING_SPLIT", true},
		{"no base", "pixel-7-android-14", []string{"en.apk", "again.apk"}, "INSTALL_FAILED_INVALID_APK", true},
		{"what is no APK", "pixel-7-android-14", []string{"base.apk", "other.apk"}, "INSTALL_PARSE_FAILED_NOT_APK", true},
		{"an empty file", "pixel-7-android-14", []string{"base.apk", "empty.apk"}, "empty or no file", false},
		{"before Android 5", "nexus-5-android-4.4.4", []string{"base.apk", "en.apk"}, "Android 5", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			phone := startSimulated(t, c.profile, simulator.Options{})
			var paths []string
			for _, name := range c.files {
				paths = append(paths, files[name])
			}
			err := dial(t, phone.Address(), adb.Options{}).Install(testContext(t), paths...)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, device.ErrGone) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if (hint(err) != "") != c.hint {
				t.Errorf("the advice is %q", hint(err))
			}
			if n := phone.Phone.Sessions(); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
	}
}

// Where a split can't be sent, the session is abandoned.
func TestInstallAbandonsASessionWithoutRoom(t *testing.T) {
	t.Parallel()
	files := writeFiles(t, map[string]string{"base.apk": splitAPK("incomplete"), "large.apk": strings.Repeat("x", 33<<20)})
	phone := startSimulated(t, "pixel-7-android-14", simulator.Options{})
	d := dial(t, phone.Address(), adb.Options{})
	if err := d.Install(testContext(t), files["base.apk"], files["large.apk"]); err == nil || errors.Is(err, device.ErrGone) {
		t.Errorf("%v, want that it has no room", err)
	}
	if n := phone.Phone.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// A debug build's daemon restarts as root, and adb reconnects.
func TestRealAdbRootOnADebugBuild(t *testing.T) {
	t.Parallel()
	c, _ := realCommandOn(t, "pixel-7-android-14", simulator.Options{})
	if out, errs, code := c.run("root"); code != 0 || !strings.Contains(out, "restarting adbd as root") {
		t.Fatalf("%q, %q, exit code %d", out, errs, code)
	}
	if out, errs, code := c.run("wait-for-device", "shell", "echo", "back"); code != 0 || out != "back\n" {
		t.Fatalf("%q, %q, exit code %d", out, errs, code)
	}
	if out, _, _ := c.run("root"); !strings.Contains(out, "adbd is already running as root") {
		t.Errorf("the second time: %q", out)
	}
}

// writeFiles writes files to a folder and returns their paths by name.
func writeFiles(t *testing.T, contents map[string]string) map[string]string {
	t.Helper()
	dir, paths := t.TempDir(), map[string]string{}
	for name, text := range contents {
		paths[name] = filepath.Join(dir, name)
		if err := os.WriteFile(paths[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// say sends a line from an app on the phone to one of its ports, and returns the answer.
func say(t *testing.T, phone *simulator.Simulated, local, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	app, err := phone.Daemon.DialReverse(ctx, local)
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	if _, err := app.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 100)
	n, err := app.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer[:n])
}

// listen answers each connection's first line on a free port, and returns the port.
func listen(t *testing.T, answer func(line string) string) (port string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err == nil {
				io.WriteString(conn, answer(line))
			}
			conn.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port
}
