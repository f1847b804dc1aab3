package setup_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// What is wrong before anything is measured ends with 2, uses no device, and is found by doctor
// too.
func TestErrorsBeforeMeasuring(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	workload := `{test-package: com.example.demo.test, class: "com.example.demo.ReadMailTest#readsMail"}`
	for name, c := range map[string]struct {
		from, to string
		said     []string
	}{
		"another package":      {"package: com.example.demo,", "package: com.example.other,", []string{"demo-good.apk is the app com.example.demo", "app.package in the configuration is com.example.other"}},
		"another test package": {"com.example.demo.test,", "com.example.demo.tests,", []string{"demo-test.apk is the package com.example.demo.test", "test-package is com.example.demo.tests"}},
		"no such runner":       {"test,", "test, runner: com.example.Runner,", []string{"demo-test.apk has no runner com.example.Runner, but androidx.test.runner.AndroidJUnitRunner"}},
		"no such class":        {"ReadMailTest#", "ReadMailsTest#", []string{"there is no class com.example.demo.ReadMailsTest in ", "demo-test.apk"}},
		"no maestro":           {"instrumentation: " + workload, "maestro: {flow: flow.yaml}", []string{"scenarios[0].workload.maestro", "find the command maestro on this computer: executable file not found"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := clitest.NewLab(t, "demo-good", "")
			clitest.WriteFile(t, l.Path("flow.yaml"), "appId: com.example.demo\n")
			l.Edit(c.from, c.to)
			for _, got := range []clitest.Result{
				l.Apkgate("run"), clitest.Run(t, nil, "doctor", "--config", l.Path("apkgate.yml")),
				clitest.Run(t, nil, "compare", "--config", l.Path("apkgate.yml"), "--base", l.Path("demo-good.apk"), "--head", l.Path("demo-good.apk")),
			} {
				if got.Status != exit.StatusUsage || strings.Contains(got.Stderr, "run 1 of") {
					t.Errorf("exit status %d, want %d before anything is measured\n%s%s", got.Status, exit.StatusUsage, got.Stdout, got.Stderr)
				}
				message, hint := clitest.Complaint(t, got)
				for _, want := range c.said {
					if !strings.Contains(message, want) {
						t.Errorf("%q says nothing of %q", message, want)
					}
				}
				if hint == "" {
					t.Errorf("no hint beside %q", message)
				}
			}
		})
	}
}

// A file that is no APK, nor contains APKs, is reported before a device is queried.
func TestUninstallableAppsAreRejected(t *testing.T) {
	t.Parallel()
	for apk, said := range map[string]string{
		"app.AAB":                   "app.AAB is an app bundle, which no device installs",
		"[demo-good.apk, parts]":    "parts is in a list, and is no APK itself",
		"[all.apks, demo-good.apk]": "all.apks is in a list, and is no APK itself",
	} {
		l := clitest.NewLab(t, "demo-good", "")
		for _, file := range []string{"app.AAB", "all.apks"} {
			clitest.WriteFile(t, l.Path(file), "x")
		}
		if err := os.Mkdir(l.Path("parts"), 0o755); err != nil {
			t.Fatal(err)
		}
		l.Edit("apk: demo-good.apk", "apk: "+apk)
		got := l.Apkgate("run")
		if message, hint := clitest.Complaint(t, got); got.Status != exit.StatusUsage || !strings.Contains(message, said) || hint == "" {
			t.Errorf("%s: exit status %d, %q, hint %q", apk, got.Status, message, hint)
		}
	}
}

// What can be known from files alone is reported before a device is used: a file that is no APK, and
// a folder where a report is to be written.
func TestKnownBeforeMeasuring(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		content    string
		args       []string
		says, hint string
	}{
		"cut short": {"not an archive", []string{"run"}, "demo-good.apk is no APK: it is no ZIP archive", "see that the build has ended"},
		"Git LFS":   {"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", []string{"run"}, "demo-good.apk is no APK", "git lfs pull"},
		"a folder":  {"", []string{"run", "--html", "."}, "write the html report to .: it is a folder", "report.html"},
	} {
		l := clitest.NewLab(t, "demo-good", "")
		if c.content != "" {
			clitest.WriteFile(t, l.Path("demo-good.apk"), c.content)
		}
		got := l.Apkgate(c.args...)
		if message, hint := clitest.Complaint(t, got); got.Status != exit.StatusUsage || !strings.Contains(message, c.says) || !strings.Contains(hint, c.hint) || strings.Contains(got.Stderr, "run 1 of") {
			t.Errorf("%s: exit status %d, %q, hint %q", what, got.Status, message, hint)
		}
	}
}

// doctor starts the adb server of this computer if none runs, unless it is told not to.
func TestDoctorStartsTheServer(t *testing.T) {
	if _, err := exec.LookPath("adb"); err != nil {
		t.Skip("the adb command is not installed: apt-get install adb")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	for name, value := range map[string]string{"ANDROID_ADB_SERVER_PORT": port, "HOME": t.TempDir(), "ADB_MDNS": "0", "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553"} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() { _ = exec.Command("adb", "kill-server").Run() })
	t.Chdir(t.TempDir())
	doctor := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		cli.Main(terminal.Console{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Getenv: os.Getenv}, append([]string{"doctor"}, args...))
		return stdout.String() + stderr.String()
	}
	if said := doctor("--start-adb=false"); !strings.Contains(said, "no adb server listens at 127.0.0.1:"+port) || !strings.Contains(said, "1 problem: the devices\n") {
		t.Errorf("without a server doctor says\n%s", said)
	}
	// What it sees is left open: adb now and then scans for emulators before it reads the limit of
	// ports, and finds those of other tests.
	if said := doctor(); !strings.Contains(said, "note: no adb server ran, and one was started") || strings.Contains(said, "no adb server listens") {
		t.Errorf("doctor says\n%s", said)
	}
	if said := doctor(); strings.Contains(said, "note: ") {
		t.Errorf("doctor starts it again:\n%s", said)
	}
}

// Maestro looks for devices at only one adb server: a device that it can't find is refused before
// anything is measured.
func TestMaestroSees(t *testing.T) {
	bin := t.TempDir()
	clitest.WriteFile(t, filepath.Join(bin, "maestro"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(bin, "maestro"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	socket := adbThatSees(t, "R58M-elsewhere\tdevice transport_id:1\n")
	for name, c := range map[string]struct{ devices, says, hint string }{
		"an address":            {"  - address: 127.0.0.1:1\n", "run a Maestro flow on 127.0.0.1:1: Maestro finds the devices of the adb server on port 5037 alone", "adb connect 127.0.0.1:1"},
		"of another adb server": {"  - serial: R58M-elsewhere\n", "run a Maestro flow on R58M-elsewhere", "without ADB_SERVER_SOCKET"},
		"two of the network":    {"  - address: 127.0.0.1:1\n  - serial: 127.0.0.1:2\n", "Maestro finds none of several devices of the network", "one of them at a time"},
		"the one that adb sees": {"", "run a Maestro flow on R58M-elsewhere", "without ADB_SERVER_SOCKET"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.devices != "" {
				c.devices = "devices:\n" + c.devices
			}
			clitest.WriteFile(t, filepath.Join(dir, "flow.yaml"), "appId: com.example.demo\n")
			clitest.WriteFile(t, filepath.Join(dir, "apkgate.yml"), "app: {package: com.example.demo}\nscenarios: [{name: x, workload: {maestro: {flow: flow.yaml}}}]\n"+c.devices)
			t.Chdir(dir)
			for _, command := range []string{"doctor", "collect"} {
				var stdout, stderr bytes.Buffer
				status := cli.Main(terminal.Console{
					Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now,
					Getenv: func(name string) string { return map[string]string{"ADB_SERVER_SOCKET": socket}[name] },
				}, []string{command})
				if said := stderr.String(); status != exit.StatusUsage || !strings.Contains(said, c.says) || !strings.Contains(said, c.hint) {
					t.Errorf("%s: exit status %d, %s", command, status, said)
				}
			}
		})
	}
}

// An APK that apkgate can't read may be readable to the device.
func TestUnreadableAPKIsLeftToTheDevice(t *testing.T) {
	l := clitest.NewLab(t, "demo-good", "")
	var b bytes.Buffer
	if err := zip.NewWriter(&b).Close(); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, l.Path("demo-good.apk"), b.String())
	if got := clitest.Run(t, nil, "doctor", "--config", l.Path("apkgate.yml")); got.Status != exit.StatusPass {
		t.Errorf("exit status %d\n%s", got.Status, got.Stderr)
	}
}

// adbThatSees is an adb server that only lists devices.
func adbThatSees(t *testing.T, list string) (socket string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			asked := make([]byte, len("000ehost:devices-l"))
			if _, err := c.Read(asked); err == nil {
				fmt.Fprintf(c, "OKAY%04x%s", len(list), list)
			}
			c.Close()
		}
	}()
	return "tcp:" + listener.Addr().String()
}

// For each unusable device, doctor prints what to do about it.
func TestDoctorOnDevicesThatCantBeUsed(t *testing.T) {
	socket := adbThatSees(t, "R58M\tunauthorized usb:1-1 transport_id:1\nemulator-5554\toffline transport_id:2\n"+
		"4567\tno permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:3\n")
	dir := t.TempDir()
	t.Chdir(dir)
	var stdout, stderr bytes.Buffer
	c := terminal.Console{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"ADB_SERVER_SOCKET": socket}[name] },
	}
	if status := cli.Main(c, []string{"doctor"}); status != exit.StatusInfrastructure {
		t.Errorf("exit status %d, want %d", status, exit.StatusInfrastructure)
	}
	for _, want := range []string{
		`R58M is "unauthorized"`, "R58M: unlock it and allow this computer to debug it",
		`emulator-5554 is "offline"`, "emulator-5554: connect it again, or restart it",
		`4567 is "no permissions`, "4567: let this user open it over USB: install Android's udev rules",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("nothing of %q in\n%s", want, &stderr)
		}
	}
	if _, err := os.Stat(dir + "/apkgate.yml"); err == nil {
		t.Error("doctor wrote a configuration")
	}
}

// A device that another apkgate measures on is listed with its user, and is still fit: a run waits.
func TestDoctorOnADeviceInUse(t *testing.T) {
	phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { phone.Close() })
	l := clitest.NewLab(t, "demo-good", "")
	clitest.WriteFile(t, l.Path("apkgate.yml"), fmt.Sprintf(clitest.LabConfig, "demo-good", "wifi", "  - {address: \""+phone.Address()+"\", name: shelf}\n"))
	doctor := func() string {
		var stdout, stderr bytes.Buffer
		c := terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Clock: phone.Clock(),
			Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
		}
		if status := cli.Main(c, []string{"doctor", "--verbose", "--config", l.Path("apkgate.yml")}); status != exit.StatusPass {
			t.Errorf("exit status %d\n%s%s", status, &stdout, &stderr)
		}
		return stdout.String()
	}
	other, err := devicelock.Take(devicelock.Folder(), phone.Address(), devicelock.Me(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("(pid %d) since ", os.Getpid())
	if said := doctor(); !strings.Contains(said, want) {
		t.Errorf("nothing of %q in\n%s", want, said)
	}
	other.Release()
	if said := doctor(); strings.Contains(said, "in use") {
		t.Errorf("the phone is free, and doctor says\n%s", said)
	}
}

// The source of frames is reported beforehand: frames of two sources are never compared.
func TestDoctorShowsTheSourceOfFrames(t *testing.T) {
	for profile, c := range map[string]struct{ before, want string }{
		"pixel-7-android-14":     {"", "ok   frames       read from the system's frame timeline"},
		"galaxy-s21-android-13":  {"setprop persist.traced.enable 0", "ok   frames       read from the system's frame timeline; tracing is turned off, and a run turns it on for as long as it takes"},
		"pixel-5-android-11":     {"", "ok   frames       read from dumps of gfxinfo, which cost the app time, as before Android 12"},
		"nexus-5x-android-6.0.0": {"", "ok   frames       read from dumps of gfxinfo, which cost the app time, as before Android 12"},
		// By what was shown, if configured:
		"moto-g5-android-7.0": {"", "BAD  frames       read from dumps of gfxinfo, which cost the app time: only Android 11 and later report what was shown"},
		"c1-go-android-11":    {"", "ok   frames       read from the compositor's record of buffers"},
	} {
		phone, err := simulator.Start(profile, 1, simulator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { phone.Close() })
		phone.Phone.Start(t.Context(), c.before, nil, io.Discard, io.Discard)()
		l, by := clitest.NewLab(t, "demo-good", ""), "auto"
		if strings.Contains(c.want, "shown") || strings.Contains(c.want, "buffers") {
			by = "shown"
		}
		clitest.WriteFile(t, l.Path("apkgate.yml"), "app: {package: com.example.demo}\nscenarios:\n  - name: s\n    frames-by: "+by+"\n    workload: {monkey: {events: 10}}\n"+
			"devices: [{address: \""+phone.Address()+"\"}]\n")
		var stdout, stderr bytes.Buffer
		cli.Main(terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Clock: phone.Clock(),
			Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
		}, []string{"doctor", "--verbose", "--config", l.Path("apkgate.yml")})
		if off := strings.Contains(stdout.String(), "tracing is turned off"); !strings.Contains(stdout.String(), c.want) || off != (c.before != "") {
			t.Errorf("%s: want %q in\n%s%s", profile, c.want, &stdout, &stderr)
		}
	}
}

// What a run would do to a device is reported beforehand, with the consequences on that device.
func TestDoctorShowsWhatARunDoes(t *testing.T) {
	for _, c := range []struct {
		profile, scenario string
		hot               time.Duration
		debug             bool
		status            int
		want              []string
	}{
		{"pixel-7-android-14", "", 0, false, exit.StatusPass, []string{"ok   code", "a run has the app compiled: speed-profile"}},
		{"pixel-7-android-14", "    compile: none\n", 0, false, exit.StatusPass, []string{"measured as it was installed"}},
		{"pixel-7-android-14", "  - name: m\n    workload: {instrumentation: {test-package: com.example.demo, macrobenchmark: true}}\n", 0, false, exit.StatusPass, []string{"the app compiled: speed-profile\n", "everything that scenario m needs is on the device, or a run installs it"}},
		{"nexus-5x-android-6.0.0", "", 0, false, exit.StatusPass, []string{"Android compiles all of the app when it is installed"}},
		{"pixel-7-android-14", "", 0, true, exit.StatusPass, []string{"since it is a debug build", "hint: measure a release build"}},
		{"pixel-7-android-14", "    refresh-hz: 60\n", 0, false, exit.StatusPass, []string{"ok   refresh", "holds the display at 60 Hz"}},
		{"pixel-7-android-14", "    refresh-hz: 144\n", 0, false, exit.StatusInfrastructure, []string{"BAD  refresh", "has no 144 Hz", "one of its rates: 60 90"}},
		{"pixel-3-android-9", "    refresh-hz: 60\n", 0, false, exit.StatusInfrastructure, []string{"BAD  refresh", "only Android 10 and later"}},
		{"pixel-7-android-14", "    load: {cpu: 80%, downloads: 10, from: \"http://10.0.2.2/f\"}\n", 0, false, exit.StatusPass, []string{"ok   load", "s is measured under a load: cpu 80%, downloads 10"}},
		{"nexus-5x-android-6.0.0", "    load: {downloads: 10, from: \"http://10.0.2.2/f\"}\n", 0, false, exit.StatusInfrastructure, []string{"BAD  load", "neither nc nor curl"}},
		{"nexus-4-android-5.0.0", "    load: {cpu: 80%}\n", 0, false, exit.StatusInfrastructure, []string{"BAD  load", "only Android 6 and later"}},
		{"nexus-5x-android-6.0.0", "  - name: st\n    workload: {startup: {}}\n", 0, false, exit.StatusInfrastructure, []string{"BAD  start", `scenario "st" names no activity`, "workload.startup.activity"}},
		{"pixel-7-android-14", "  - name: st\n    workload: {startup: {}}\n", 0, false, exit.StatusPass, []string{"everything that scenario st needs"}},
		{"pixel-7-android-14", "", time.Hour, false, exit.StatusInfrastructure, []string{"BAD  thermal", "a run waits for that up to ten minutes"}},
	} {
		phone, err := simulator.Start(c.profile, 1, simulator.Options{HotFor: c.hot})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { phone.Close() })
		l := clitest.NewLab(t, "demo-good", "")
		app := "package: com.example.demo, apk: demo.apk"
		if c.debug {
			app = "package: com.example.demo"
			if err := phone.Phone.Install([]byte("apkgate-simulated-app/1\npackage com.example.demo\ndebuggable\n")); err != nil {
				t.Fatal(err)
			}
		}
		clitest.WriteFile(t, l.Path("demo.apk"), "apkgate-simulated-app/1\npackage com.example.demo\n")
		clitest.WriteFile(t, l.Path("apkgate.yml"), "app: {"+app+"}\nscenarios:\n  - name: s\n    workload: {monkey: {events: 10}}\n"+c.scenario+
			"devices: [{address: \""+phone.Address()+"\"}]\n")
		var stdout, stderr bytes.Buffer
		status := cli.Main(terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Clock: phone.Clock(),
			Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
		}, []string{"doctor", "--verbose", "--config", l.Path("apkgate.yml")})
		if status != c.status {
			t.Errorf("%+v: exit status %d\n%s%s", c, status, &stdout, &stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%+v: nothing of %q in\n%s", c, want, &stdout)
			}
		}
	}
}

// An app whose own sections are missing from traces is reported before a run, if traces are to
// explain slow frames.
func TestDoctorReportsMissingSections(t *testing.T) {
	for _, c := range []struct {
		flags, keep string
		production  bool
		want        bool
	}{
		{"unprofileable\n", "worst", true, true}, {"", "worst", true, false}, {"unprofileable\ndebuggable\n", "worst", true, false},
		{"unprofileable\n", "none", true, false}, {"unprofileable\n", "worst", false, false},
	} {
		phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{Production: c.production})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { phone.Close() })
		l := clitest.NewLab(t, "demo-good", "")
		clitest.WriteFile(t, l.Path("demo.apk"), "apkgate-simulated-app/1\npackage com.example.demo\n"+c.flags)
		clitest.WriteFile(t, l.Path("apkgate.yml"), "app: {package: com.example.demo, apk: demo.apk}\nscenarios:\n  - name: s\n    workload: {monkey: {events: 10}}\n"+
			"evidence: {keep: "+c.keep+"}\ndevices: [{address: \""+phone.Address()+"\"}]\n")
		var stdout, stderr bytes.Buffer
		status := cli.Main(terminal.Console{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now, Clock: phone.Clock(),
			Getenv: func(name string) string { return map[string]string{"HOME": l.Dir}[name] },
		}, []string{"doctor", "--verbose", "--config", l.Path("apkgate.yml")})
		said := strings.Contains(stdout.String(), "the app's own sections are in no trace")
		hinted := strings.Contains(stdout.String(), `add <profileable android:shell="true"/> to <application>`)
		if status != exit.StatusPass || said != c.want || hinted != c.want {
			t.Errorf("%+v: exit status %d\n%s%s", c, status, &stdout, &stderr)
		}
	}
}
