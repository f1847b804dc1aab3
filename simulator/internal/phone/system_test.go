package phone

import (
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/system"
	"github.com/apkgate/apkgate/simulator/profile"
)

// The services come up after sys.boot_completed, and until then no command that needs one
// works; System UI's dialog has the focus from then on, and accepts a touch of its button
// after a second.
func TestBoot(t *testing.T) {
	t.Parallel()
	p := phoneWith(t, "sdk-gphone64-x86-android-14", Options{Boot: system.Boot{Takes: 20 * time.Second, Services: 10 * time.Second, ANR: true}})
	const asks = "getprop sys.boot_completed; getprop init.svc.bootanim; service check package; pm path com.example"
	wantOutput(t, p, asks, "\nrunning\nService package: not found\ncmd: Can't find service: package\n", 20)
	pass(t, p, 20*time.Second)
	wantOutput(t, p, asks, "1\nstopped\nService package: not found\ncmd: Can't find service: package\n", 20)
	wantOutput(t, p, "settings get system x; dumpsys window", "cmd: Can't find service: settings\nCan't find service: window\n", 0)
	pass(t, p, 10*time.Second)
	wantOutput(t, p, asks, "1\nstopped\nService package: found\n", 1)
	const title = "Application Not Responding: com.android.systemui"
	out := output(t, p, "dumpsys window | grep mCurrentFocus=")
	if !strings.HasPrefix(out, "  mCurrentFocus=Window{") || !strings.HasSuffix(out, " u0 "+title+"}\n") {
		t.Errorf("focus: %q", out)
	}
	pass(t, p, time.Second)
	wantOutput(t, p, "input tap 540 700", "", 0)
	if got := p.Dialog(); got != title {
		t.Errorf("a touch beside the buttons left %q", got)
	}
	wantOutput(t, p, "uiautomator dump /data/local/tmp/w.xml", "UI hierchary dumped to: /data/local/tmp/w.xml\n", 0)
	xml := output(t, p, "cat /data/local/tmp/w.xml")
	if !strings.Contains(xml, `text="Wait" resource-id="android:id/aerr_wait"`) || !strings.Contains(xml, `bounds="[108,1350][972,1500]"`) {
		t.Errorf("the dialog is\n%s", xml)
	}
	wantOutput(t, p, "input tap 540 1425", "", 0)
	if got := p.Dialog(); got != "" {
		t.Errorf("Wait left %q", got)
	}
}

// phoneWith returns a phone with options.
func phoneWith(t *testing.T, name string, o Options) *Phone {
	t.Helper()
	pr, err := profile.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	p := New(pr, 1, o)
	t.Cleanup(p.Close)
	return p
}

// wantOutput runs a command, and checks its output on both streams and its status.
func wantOutput(t *testing.T, p *Phone, command, want string, status int) {
	t.Helper()
	out, errs, code := run(t, p, command)
	if out+errs != want || code != status {
		t.Errorf("%s: status %d, %q; want %d, %q", command, code, out+errs, status, want)
	}
}

// The commands that hold a phone still answer like each version of Android.
func TestCommandsThatHoldAPhoneStill(t *testing.T) {
	t.Parallel()
	const (
		fix = "cmd power set-fixed-performance-mode-enabled true"
		job = "cmd jobscheduler get-job-state android 27873780"
	)
	for _, c := range []struct {
		profile, command string
		options          Options
		said             string
		status           int
		fixed            bool
	}{
		{"pixel-3-android-9", fix, Options{FixedPerformance: 1.2}, "No shell command implementation.\n", 0, false},
		{"nord-android-10", fix, Options{FixedPerformance: 1.2}, "Unknown command: set-fixed-performance-mode-enabled\n", 255, false},
		{"pixel-5-android-11", fix, Options{}, system.NoPerformance, 255, false},
		{"pixel-5-android-11", fix, Options{FixedPerformance: 1.2}, "", 0, true},
		{"sdk-gphone-android-11", fix, Options{}, "", 0, false},
		{"pixel-7-android-14", job, Options{}, "waiting\n", 0, false},
		{"pixel-7-android-14", "pm bg-dexopt-job --disable; " + job, Options{}, "Background dexopt job disabled\nunknown(1000/jid27873780)\n", 23, false},
		{"pixel-7-android-14", "pm bg-dexopt-job --disable; pm bg-dexopt-job --enable; " + job, Options{}, "Background dexopt job disabled\nBackground dexopt job enabled\nwaiting\n", 0, false},
		{"galaxy-s21-android-13", "pm bg-dexopt-job --disable", Options{}, "Success\n", 0, false},
	} {
		p := phoneWith(t, c.profile, c.options)
		wantOutput(t, p, c.command, c.said, c.status)
		if fixed, _ := p.Held(); fixed != c.fixed {
			t.Errorf("%s: %s: fixed %v", c.profile, c.command, fixed)
		}
	}
}

// The boot of a phone keeps its CPUs busy.
func TestBootKeepsCPUsBusy(t *testing.T) {
	t.Parallel()
	p := phoneWith(t, "pixel-7-android-14", Options{Boot: system.Boot{Busy: time.Minute}})
	ticks := func() (n int) {
		for _, word := range strings.Fields(output(t, p, "grep 'cpu ' /proc/stat"))[1:4] {
			n += atoi(t, word)
		}
		return n
	}
	busy := func() int {
		before := ticks()
		pass(t, p, 10*time.Second)
		return ticks() - before
	}
	pass(t, p, time.Second)
	first := busy()
	pass(t, p, 2*time.Minute)
	if then := busy(); first < 8*8*100 || then > first/4 { // eight CPUs, 80 % of 10 s at least
		t.Errorf("busy for %d ticks of 10 s at the start, and for %d later", first, then)
	}
}
