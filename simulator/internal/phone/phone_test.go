package phone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// still is an app without noise that draws 60 frames after each event.
const still = `apkgate-simulated-app/1
package com.example.still
version 2.0 20
noise session 0% repetition 0% frame 0% tail 0%
cost 5ms
startup 300ms
scenario main 6s
  start 30
  1s tap 60
  3s swipe 60 opens
test com.example.still.MainTest#runs main
`

const instrument = "am instrument -w -r -e class com.example.still.MainTest com.example.still/androidx.test.runner.AndroidJUnitRunner"

func newPhone(t *testing.T, profileName, app string, faults ...string) *Phone {
	t.Helper()
	pr, err := profile.Find(profileName)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Chatter: -1, Tracing: "on"} // the log is not overwritten
	for _, text := range faults {
		f, err := simapp.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	p := New(pr, 1, o)
	t.Cleanup(p.Close)
	if app != "" {
		if err := p.Install([]byte(app)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// started is a started command.
type started struct {
	out, err bytes.Buffer
	done     chan int
}

func start(p *Phone, command string) *started {
	s := &started{done: make(chan int, 1)}
	wait := p.Start(context.Background(), command, strings.NewReader(""), &s.out, &s.err)
	go func() { s.done <- wait() }()
	return s
}

// run runs a command that ends at once.
func run(t *testing.T, p *Phone, command string) (stdout, stderr string, code int) {
	t.Helper()
	s := start(p, command)
	select {
	case code = <-s.done:
	case <-time.After(time.Minute):
		t.Fatalf("%s does not end", command)
	}
	return s.out.String(), s.err.String(), code
}

func output(t *testing.T, p *Phone, command string) string {
	t.Helper()
	out, errs, code := run(t, p, command)
	if code != 0 {
		t.Fatalf("%s: exit code %d: %s%s", command, code, out, errs)
	}
	return out
}

func pass(t *testing.T, p *Phone, d time.Duration) {
	t.Helper()
	if err := p.Clock().Sleep(context.Background(), d); err != nil {
		t.Fatal(err)
	}
}

// finish lets time pass until a command ends.
func finish(t *testing.T, p *Phone, s *started) int {
	t.Helper()
	for range 60 {
		pass(t, p, time.Second)
		select {
		case code := <-s.done:
			return code
		default:
		}
	}
	select { // its goroutine may not have run in such a short time
	case code := <-s.done:
		return code
	case <-time.After(30 * time.Second):
		t.Fatal("the command does not end within a minute of the phone's time")
	}
	return 0
}

func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%.3000s", want, text)
		}
	}
}

func TestTimePassesOnlyOnTheClock(t *testing.T) {
	p := newPhone(t, "nexus-5-android-4.4.4", "")
	before := p.Clock().Now()
	s := start(p, "echo begun; sleep 90; echo ended")
	pass(t, p, 89*time.Second)
	select {
	case <-s.done:
		t.Fatal("sleep 90 ended after 89 s")
	default:
	}
	pass(t, p, 2*time.Second)
	if code := <-s.done; code != 0 || s.out.String() != "begun\nended\n" {
		t.Errorf("exit code %d, output %q", code, s.out.String())
	}
	// 91 s of sleep, and the 4 ms of a command.
	if took := p.Clock().Now() - before; took != 91*time.Second+shell.CommandTime {
		t.Errorf("%v have passed", took)
	}
}

func TestShellLanguage(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	for command, want := range map[string]string{
		`echo 'a  b' "c $? d" e\ f`:    "a  b c 0 d e f\n",
		`false; echo $?`:               "1\n",
		`true && echo yes || echo no`:  "yes\n",
		`false && echo yes || echo no`: "no\n",
		`(echo a; echo b) | grep b`:    "b\n",
		`echo a > /sdcard/x; echo b >> /sdcard/x; cat /sdcard/x | grep -c .`: "2\n",
		`echo "pid $(echo 12)"`:                            "pid 12\n",
		`echo it\'s; # a comment`:                          "it's\n",
		"echo a \\\n b\n\necho c":                          "a b\nc\n",
		`sh -c 'echo "x"; exit 3; echo y' ; echo after $?`: "x\nafter 3\n",
		`(exit 4; echo no); echo $?`:                       "4\n",
		`echo m; (false` + "\n" + `) </dev/null; echo m$?`: "m\nm1\n",
		`nope 2>/dev/null; echo $?`:                        "127\n",
		`{ echo a; echo b; } 2>&1 | grep a`:                "a\n",
		`[ -e /data/local/tmp ] && echo there`:             "there\n",
	} {
		if out, _, _ := run(t, p, command); out != want {
			t.Errorf("%s\nprints %q, want %q", command, out, want)
		}
	}
	for command, want := range map[string]string{
		"echo 'a":   "no closing quote",
		"echo a |":  "syntax error",
		"(echo a":   "unmatched",
		"echo a )":  "syntax error",
		"true &&":   "syntax error",
		"echo $(ls": "unmatched",
	} {
		if _, errs, code := run(t, p, command); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %q; want %q", command, code, errs, want)
		}
	}
}

// mksh prints "not found" before Android 10 and a longer message since; a command is unknown
// on Android versions that lack it.
func TestUnknownCommands(t *testing.T) {
	for name, want := range map[string]string{
		"nexus-4-android-4.3": "/system/bin/sh: frobnicate: not found\n",
		"pixel-5-android-11":  "/system/bin/sh: frobnicate: inaccessible or not found\n",
	} {
		_, errs, code := run(t, newPhone(t, name, ""), "frobnicate -x")
		if code != 127 || errs != want {
			t.Errorf("%s: exit code %d, %q; want 127, %q", name, code, errs, want)
		}
	}
	old := newPhone(t, "galaxy-s3-android-4.1.1", "")
	has(t, output(t, old, "dumpsys window"), "\n  Display: init=720x1280 cur=720x1280 app=720x1280 rng=720x670-1280x1230\n")
	for _, command := range []string{"settings get global wifi_on", "wm size", "pidof x", "cmd package list packages"} {
		if _, _, code := run(t, old, command); code != 127 {
			t.Errorf("Android 4.1.1 knows %q: exit code %d", command, code)
		}
	}
}

func TestProperties(t *testing.T) {
	p := newPhone(t, "nexus-5x-android-6.0.0", "")
	for command, want := range map[string]string{
		"getprop ro.product.model":                                        "Nexus 5X\n",
		"getprop ro.product.manufacturer":                                 "Google\n",
		"getprop ro.build.version.release":                                "6.0.0\n",
		"getprop ro.build.version.sdk":                                    "23\n",
		"getprop ro.product.cpu.abi":                                      "x86\n",
		"getprop sys.boot_completed":                                      "1\n",
		"getprop no.such.property":                                        "\n",
		"wm size":                                                         "Physical size: 1080x1920\n",
		"wm density":                                                      "Physical density: 480\n",
		"settings get global airplane_mode_on":                            "0\n",
		"settings put global x y; settings get global x":                  "y\n",
		"settings get secure nothing":                                     "null\n",
		"setprop debug.hwui.profile true; getprop debug.hwui.profile":     "true\n",
		"svc wifi disable; svc data disable; settings get global wifi_on": "0\n",
	} {
		if got := output(t, p, command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	has(t, output(t, p, "getprop"), "[ro.build.version.sdk]: [23]", "[ro.apkgate.simulated]: [1]")
	has(t, output(t, p, "dumpsys battery"), "  level: ", "  temperature: 287\n", "  scale: 100\n")
	has(t, output(t, p, "dumpsys power"), "mWakefulness=Awake")
	has(t, output(t, p, "df /data"), "Filesystem     1K-blocks", " /data\n")
	has(t, output(t, newPhone(t, "nexus-5-android-4.4.4", ""), "df /data"), "Filesystem               Size     Used     Free   Blksize", "12.0G")
}

// shell_v2 was introduced in Android 7.
func TestBanner(t *testing.T) {
	if b := newPhone(t, "nexus-5x-android-6.0.0", "").Banner(); strings.Contains(b, "shell_v2") {
		t.Errorf("Android 6 says %q", b)
	}
	b := newPhone(t, "moto-g5-android-7.0", "").Banner()
	has(t, b, "device::ro.product.name=moto_g5;ro.product.model=Moto G5;ro.product.device=moto_g5;", "features=shell_v2,cmd")
}

func TestInstallAndUninstall(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	put(t, p, "/data/local/tmp/a.apk", still)
	has(t, output(t, p, "pm install -r -t -g /data/local/tmp/a.apk"), "Success\n")
	if got := output(t, p, "pm path com.example.still"); got != "package:/data/app/com.example.still-1/base.apk\n" {
		t.Errorf("pm path prints %q", got)
	}
	has(t, output(t, p, "pm list packages"), "package:android\n", "package:com.example.still\n")
	has(t, output(t, p, "pm list instrumentation"), "instrumentation:com.example.still/androidx.test.runner.AndroidJUnitRunner (target=com.example.still)")
	has(t, output(t, p, "dumpsys package com.example.still"), "versionName=2.0\n", "versionCode=20 ")
	has(t, output(t, p, "cmd package compile -m speed -f com.example.still"), "Success")
	has(t, output(t, p, "dumpsys package com.example.still"), "Dexopt state:\n", "[status=speed] [reason=cmdline]")
	has(t, output(t, p, "pm uninstall com.example.still"), "Success\n")
	if out, _, code := run(t, p, "pm path com.example.still"); code != 1 || out != "" {
		t.Errorf("pm path of a package that is gone: exit code %d, %q", code, out)
	}
	put(t, p, "/data/local/tmp/b.apk", "PK\x03\x04")
	if out, _, code := run(t, p, "pm install /data/local/tmp/b.apk"); code != 1 || !strings.HasPrefix(out, "Failure [INSTALL_PARSE_FAILED_NOT_APK") {
		t.Errorf("installing a zip file: exit code %d, %q", code, out)
	}
	if _, errs, _ := run(t, newPhone(t, "nexus-5-android-4.4.4", still), "pm install -g /data/local/tmp/a.apk"); errs != "Error: Unknown option: -g\n" {
		t.Errorf("Android 4.4 takes -g: %q", errs)
	}
}

func TestFiles(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	put(t, p, "/sdcard/new/a.txt", "hello\n")
	if out := output(t, p, "cat /storage/emulated/0/new/../new/a.txt"); out != "hello\n" {
		t.Errorf("the pushed file holds %q", out)
	}
	if i, err := p.Stat("/sdcard/new/a.txt"); err != nil || i.Size() != 6 || i.ModTime().Unix() != 1e9 {
		t.Errorf("it is %v, %v", i, err)
	}
	if l, err := p.List("/sdcard/new"); err != nil || len(l) != 1 || l[0].Name() != "a.txt" {
		t.Errorf("the directory lists %v, %v", l, err)
	}
	if _, err := p.Open("/sdcard/gone"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "No such file or directory") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, errs, code := run(t, p, "rm /sdcard/new; echo x > /system/bin/sh"); code == 0 || !strings.Contains(errs, "Is a directory") || !strings.Contains(errs, "Read-only file system") {
		t.Errorf("exit code %d, %q", code, errs)
	}
	output(t, p, "rm -r /sdcard/new; rm -f /sdcard/new; ls /sdcard")
}

func TestInstallFromAStream(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	var out bytes.Buffer
	command := fmt.Sprintf("cmd package install -r -S %d", len(still))
	code := p.Start(context.Background(), command, strings.NewReader(still+"left over"), &out, &out)()
	if code != 0 || out.String() != "Success\n" {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}

func put(t *testing.T, p *Phone, path, text string) {
	t.Helper()
	w, err := p.Create(path, 0o644, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSameSeedPrintsTheSame(t *testing.T) {
	record := func(seed uint64) string {
		pr, err := profile.Find("pixel-7-android-14")
		if err != nil {
			t.Fatal(err)
		}
		p := New(pr, seed, Options{Chatter: -1})
		defer p.Close()
		text, err := simapp.Open("demo-worse")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Install(text); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for range 2 {
			s := start(p, "am instrument -w -r com.example.demo/androidx.test.runner.AndroidJUnitRunner")
			for range 8 {
				pass(t, p, time.Second)
				all.WriteString(output(t, p, "dumpsys gfxinfo com.example.demo framestats; dumpsys meminfo com.example.demo"))
			}
			finish(t, p, s)
			all.WriteString(s.out.String() + output(t, p, "logcat -d -v monotonic -b all"))
		}
		return all.String()
	}
	a := record(1)
	if a != record(1) {
		t.Error("two phones of one seed print different things")
	}
	if a == record(2) {
		t.Error("two seeds print the same")
	}
}

func TestStandardInputIsRead(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", "")
	const input = "one\ntwo\nthree\n"
	for _, c := range []struct{ command, want string }{
		{"cat", input},
		{"cat | grep -c .", "3\n"},
		{"grep -v two", "one\nthree\n"},
		{"grep -c o", "2\n"},
		{"cat > /data/local/tmp/x", ""},
		{"cat /data/local/tmp/x", input},
		{"grep two /data/local/tmp/x", "two\n"},
		{"echo x | cat", "x\n"},
	} {
		var out, errs bytes.Buffer
		if code := p.Start(t.Context(), c.command, strings.NewReader(input), &out, &errs)(); code != 0 || out.String() != c.want {
			t.Errorf("%s: %q, exit code %d, %s; want %q", c.command, &out, code, &errs, c.want)
		}
	}
}

// A concurrent liveness check is not part of a measurement.
func TestEmptyCommandTakesNoTime(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", "")
	before := p.Clock().Now()
	if output(t, p, ":"); p.Clock().Now() != before {
		t.Errorf("it took %v", p.Clock().Now()-before)
	}
	if output(t, p, "true"); p.Clock().Now() == before {
		t.Error("no command takes any time")
	}
}
