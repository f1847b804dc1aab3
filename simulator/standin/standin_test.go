package standin_test

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/standin"
	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// command returns a program of the lab.
func command(l *standin.Lab, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(l.Bin, name), args...)
	cmd.Env = l.Environment()
	return cmd
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// adb runs adb with the lab's adb server.
func adb(t *testing.T, l *standin.Lab, args ...string) string {
	t.Helper()
	cmd := exec.Command("adb", args...)
	cmd.Env = l.Environment()
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// until waits until the condition is true.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

// evenPort returns a free port whose successor is free too. The search starts at random:
// others may be searching too.
func evenPort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10_000 + 2*rand.IntN(10_000)
		console, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		device, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+1))
		_ = console.Close()
		if err == nil {
			_ = device.Close()
			return port
		}
	}
	t.Fatal("no two ports are free from 10000 to 30000")
	return 0
}

// boot starts an emulator.
func boot(t *testing.T, l *standin.Lab) (cmd *exec.Cmd, port int) {
	t.Helper()
	output(t, command(l, "avdmanager", "create", "avd", "-n", "pixel", "-k", "system-images;android-34;google_apis;x86_64", "-d", "pixel_6"))
	port = evenPort(t)
	cmd = command(l, "emulator", "-avd", "pixel", "-port", strconv.Itoa(port), "-no-window")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, port
}

// An emulator announces itself to the adb server, boots, accepts commands at its console, and
// ends when it is told to.
func TestEmulator(t *testing.T) {
	t.Parallel()
	l := standin.New(t, standin.Options{Rate: 10})
	if l.ADB == 0 {
		t.Skip("there is no adb on this machine")
	}
	cmd, port := boot(t, l)
	serial := "emulator-" + strconv.Itoa(port)
	until(t, "adb to see the device", func() bool { return strings.Contains(adb(t, l, "devices"), serial+"\tdevice") })
	until(t, "the end of the boot", func() bool { return adb(t, l, "-s", serial, "shell", "getprop", "sys.boot_completed") == "1\n" })
	if got := adb(t, l, "devices", "-l"); !strings.Contains(got, "model:sdk_gphone64_x86_64") && !strings.Contains(got, "model:sdk_gphone64_x86") {
		t.Errorf("adb tells no model:\n%s", got)
	}

	conn, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	token, err := os.ReadFile(filepath.Join(l.Home, ".emulator_console_auth_token"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(conn)
	said := func(until string) string {
		var all string
		for !strings.HasSuffix(all, until) {
			line, err := lines.ReadString('\n')
			all += line
			if err != nil {
				t.Fatalf("%v after %q", err, all)
			}
		}
		return all
	}
	said("OK\r\n")
	if _, err := conn.Write([]byte("power capacity 80\r\nauth " + string(token) + "\r\npower capacity 80\r\npower display\r\n")); err != nil {
		t.Fatal(err)
	}
	if got := said("\r\n"); !strings.HasPrefix(got, "KO: ") {
		t.Errorf("a stranger may set the battery: %q", got)
	}
	said("OK\r\n")
	said("OK\r\n")
	if got := said("OK\r\n"); !strings.Contains(got, "capacity: 80\r\n") {
		t.Errorf("the console shows %q", got)
	}
	if got := adb(t, l, "-s", serial, "shell", "dumpsys", "battery"); !strings.Contains(got, "level: 80\n") {
		t.Errorf("Android shows\n%s", got)
	}
	if _, err := conn.Write([]byte("kill\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the emulator ends with %v", err)
	}
	until(t, "adb to miss the device", func() bool { return !strings.Contains(adb(t, l, "devices"), serial+"\tdevice") })
}

// A lab's devices end with its test, with the process that owned it, or with its folder,
// whichever ends first.
func TestNothingOutlivesTheLab(t *testing.T) {
	t.Parallel()
	t.Run("its test", func(t *testing.T) {
		var cmd *exec.Cmd
		t.Run("lab", func(t *testing.T) { cmd = emulator(t, standin.New(t, standin.Options{WithoutADB: true}).Folder) })
		_ = cmd.Wait() // returns when it is killed
	})
	t.Run("its owner", func(t *testing.T) {
		folder := state.Folder(t.TempDir())
		owner, err := folder.Own()
		if err != nil {
			t.Fatal(err)
		}
		cmd := emulator(t, folder)
		_ = owner.Close() // as the system does when the process dies
		if err := cmd.Wait(); err != nil {
			t.Errorf("the emulator ends with %v", err)
		}
	})
	t.Run("its folder", func(t *testing.T) {
		folder := state.Folder(filepath.Join(t.TempDir(), "lab"))
		if err := os.Mkdir(string(folder), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := emulator(t, folder)
		if err := os.RemoveAll(string(folder)); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	})
}

// emulator starts an emulator of a lab that consists only of a folder.
func emulator(t *testing.T, folder state.Folder) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-avd", "pixel", "-port", strconv.Itoa(evenPort(t)))
	cmd.Args[0] = "emulator"
	home := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(home, "pixel.avd"), 0o700), os.WriteFile(filepath.Join(home, "pixel.ini"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), state.Variable+"="+string(folder), "HOME="+home, "ANDROID_AVD_HOME="+home, "ANDROID_ADB_SERVER_PORT=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	until(t, "the instance", func() bool { list, err := instance.List(folder); return err == nil && len(list) == 1 })
	return cmd
}
