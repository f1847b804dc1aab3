package phone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/adbd"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCrashEndsTheInstrumentation(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still+"fault crash after tap repetition 2\n")
	if s := start(p, instrument); finish(t, p, s) != 0 || !strings.Contains(s.out.String(), "OK (1 test)") {
		t.Errorf("the first repetition prints %s", s.out.String())
	}
	s := start(p, instrument)
	finish(t, p, s)
	has(t, s.out.String(), "INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n")
	has(t, output(t, p, "logcat -d -b crash -v brief"), "E/AndroidRuntime", "FATAL EXCEPTION: main\n", "Process: com.example.still, PID: ")
	has(t, output(t, p, "logcat -d -b events -v threadtime"), "I am_crash: [", ",com.example.still,", "java.lang.IllegalStateException")
	if s := start(p, instrument); finish(t, p, s) != 0 || !strings.Contains(s.out.String(), "OK (1 test)") {
		t.Errorf("the third repetition prints %s", s.out.String())
	}
}

func TestFaultConditions(t *testing.T) {
	for condition, want := range map[string]string{"sdk=9": "Process crashed.", "sdk<9": "OK (1 test)", "network=3g": "OK (1 test)"} {
		p := newPhone(t, "pixel-3-android-9", still+"fault crash after tap when "+condition+"\n")
		s := start(p, instrument)
		finish(t, p, s)
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("when %s, on Android 9 with wifi: %s, want %s", condition, s.out.String(), want)
		}
	}
}

func TestANRIsLoggedAndTheAppContinues(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", strings.Replace(still, "main 6s", "main 14s", 1)+"fault anr after tap\n")
	s := start(p, instrument)
	pass(t, p, 10*time.Second)
	has(t, output(t, p, "logcat -d -b events -v threadtime"), "I am_anr  : [0,", ",com.example.still,550026948,Input dispatching timed out (")
	has(t, output(t, p, "logcat -d -b system -v threadtime"), "E ActivityManager: ANR in com.example.still (com.example.still/.MainActivity)\n")
	has(t, output(t, p, "dumpsys gfxinfo com.example.still"), "99th percentile: 4950ms\n") // 32 frames, one of 6.5 s
	finish(t, p, s)
	has(t, s.out.String(), "OK (1 test)")
}

func TestStuckWorkloadNeverEnds(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still+"fault stuck after tap\n")
	s := start(p, instrument)
	pass(t, p, 10*time.Minute)
	select {
	case <-s.done:
		t.Fatal("it ended")
	default:
	}
	output(t, p, "am force-stop com.example.still")
	<-s.done
	has(t, s.out.String(), "Process crashed.")
}

func TestLostProcessLosesItsFrames(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still, "lost after swipe repetition 1")
	s := start(p, instrument)
	pass(t, p, 3*time.Second)
	pid, before := output(t, p, "pidof com.example.still"), frames(t, p)
	pass(t, p, 2500*time.Millisecond)
	if again := output(t, p, "pidof com.example.still"); again == pid {
		t.Error("the process is the same")
	}
	if n := frames(t, p); n >= before {
		t.Errorf("%d frames, %d before the loss", n, before)
	}
	finish(t, p, s)
	has(t, s.out.String(), "OK (1 test)")
	has(t, output(t, p, "logcat -d -b events"), "am_proc_died: [0,"+strings.TrimSpace(pid)+",com.example.still")
}

func TestFullDisk(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	put(t, p, "/data/local/tmp/a.apk", still)
	p.Break(simapp.Fault{Kind: simapp.NoSpace})
	if _, err := p.Create("/data/local/tmp/b.apk", 0o644, time.Now()); !errors.Is(err, adbd.ErrNoSpace) {
		t.Errorf("a push meets %v", err)
	}
	if out, _, code := run(t, p, "pm install /data/local/tmp/a.apk"); code != 1 || out != "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]\n" {
		t.Errorf("an installation: exit code %d, %q", code, out)
	}
	has(t, output(t, p, "df /data"), "       0 100% /data\n")
	p.Mend(simapp.NoSpace)
	has(t, output(t, p, "pm install /data/local/tmp/a.apk"), "Success")
}

// wire records the effects of faults on the connection.
type wire struct{ did []string }

func (w *wire) Drop()           { w.did = append(w.did, "drop") }
func (w *wire) Hang(on bool)    { w.did = append(w.did, fmt.Sprint("hang ", on)) }
func (w *wire) Offline(on bool) { w.did = append(w.did, fmt.Sprint("offline ", on)) }
func (w *wire) Refuse(on bool)  { w.did = append(w.did, fmt.Sprint("refuse ", on)) }
func (w *wire) Drip(bytes int, _ func() <-chan struct{}) {
	w.did = append(w.did, fmt.Sprint("drip ", bytes))
}

func TestConnectionFaults(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still, "drop after tap repetition 2", "hang at 2s for 1s repetition 3", "offline after tap repetition 4",
		"refuse at 2s for 1s repetition 5", "drip at 2s for 1s repetition 6", "die at 2s repetition 7")
	w := &wire{}
	p.Attach(w)
	for _, want := range []string{"", "drop", "hang true hang false", "offline true", "refuse true refuse false", "drip 16 drip 0", "refuse true drop"} {
		finish(t, p, start(p, instrument))
		if got := strings.Join(w.did, " "); got != want {
			t.Errorf("the connection saw %q, want %q", got, want)
		}
		w.did = nil
	}
}

func TestReboot(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	w := &wire{}
	p.Attach(w)
	s := start(p, instrument)
	pass(t, p, 2*time.Second)
	run(t, p, "reboot")
	if code := <-s.done; code == 0 {
		t.Error("the instrumentation ends well")
	}
	if got := output(t, p, "getprop sys.boot_completed"); got != "\n" {
		t.Errorf("sys.boot_completed is %q at once", got)
	}
	if out := output(t, p, "logcat -d -b all"); strings.Contains(out, "Displayed") {
		t.Error("the log survives")
	}
	pass(t, p, 30*time.Second)
	if got := output(t, p, "getprop sys.boot_completed"); got != "1\n" {
		t.Errorf("sys.boot_completed is %q after 30 s", got)
	}
	if !slices.Equal(w.did, []string{"offline true", "offline false"}) {
		t.Errorf("the connection saw %q", w.did)
	}
	finish(t, p, start(p, instrument)) // the app is still installed
}

// isDead reports whether the phone has died.
func isDead(p *Phone) bool {
	select {
	case <-p.Died():
		return true
	default:
		return false
	}
}

func TestDieFault(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	if isDead(p) {
		t.Error("it is dead from the beginning")
	}
	p.Break(simapp.Fault{Kind: simapp.Die, For: time.Second})
	p.Break(simapp.Fault{Kind: simapp.Die})
	pass(t, p, 2*time.Second)
	if !isDead(p) {
		t.Error("it lives on")
	}
}

// A restart takes as long as specified, or never completes.
func TestRebootDuration(t *testing.T) {
	for fault, up := range map[string]time.Duration{"reboot for 1s": 1 * time.Second, "reboot": 25 * time.Second, "noboot": 0} {
		f, err := simapp.ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		p := newPhone(t, "pixel-5-android-11", still)
		w := &wire{}
		p.Attach(w)
		boot := output(t, p, "cat /proc/sys/kernel/random/boot_id")
		p.Break(f)
		if output(t, p, "cat /proc/sys/kernel/random/boot_id") == boot {
			t.Errorf("%s: the kernel is the same", fault)
		}
		booted := func() bool { return output(t, p, "getprop sys.boot_completed") == "1\n" }
		if up > 0 {
			pass(t, p, up-200*time.Millisecond)
			if booted() {
				t.Errorf("%s: it is up before %v", fault, up)
			}
			pass(t, p, 400*time.Millisecond)
		} else {
			pass(t, p, time.Hour)
		}
		if booted() != (up > 0) {
			t.Errorf("%s: up after %v: %t", fault, up, booted())
		}
		if !slices.Equal(w.did, []string{"offline true", "offline false"}) {
			t.Errorf("%s: the connection saw %q", fault, w.did)
		}
	}
}

// While the system is frozen all commands that need it wait, and no others.
func TestFrozenSystem(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", still)
	p.Break(simapp.Fault{Kind: simapp.Freeze, For: 20 * time.Second})
	for _, asks := range []string{":", "echo a", "getprop ro.build.version.sdk", "cat /proc/uptime", "logcat -d", "log -t a b", "dumpsys -l", "dumpsys sensorservice"} {
		if _, _, code := run(t, p, asks); code != 0 {
			t.Errorf("%s: exit status %d", asks, code)
		}
	}
	waits := map[string]*started{}
	for _, asks := range []string{"am force-stop com.example.still", "pm path com.example.still", "cmd package list packages", "settings get global a", "wm size", "input tap 1 1"} {
		waits[asks] = start(p, asks)
	}
	dump := start(p, "dumpsys gfxinfo com.example.still")
	pass(t, p, 9*time.Second)
	if isOver(dump) {
		t.Error("a dump ends within 9 s")
	}
	pass(t, p, 2*time.Second)
	<-dump.done
	has(t, dump.out.String(), "*** SERVICE 'gfxinfo' DUMP TIMEOUT (10000ms) EXPIRED ***")
	pass(t, p, 8*time.Second)
	for asks, s := range waits {
		if isOver(s) {
			t.Errorf("%s ends while the system is frozen", asks)
		}
	}
	pass(t, p, 2*time.Second)
	for asks, s := range waits {
		if code := <-s.done; code != 0 {
			t.Errorf("%s ends with %d once the system goes on", asks, code)
		}
	}
}

func isOver(s *started) bool {
	select {
	case code := <-s.done:
		s.done <- code
		return true
	default:
		return false
	}
}

// The watchdog kills a system that stays frozen. The kernel is not affected, and
// sys.boot_completed stays 1, while the services are missing.
func TestWatchdogKillsAFrozenSystem(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", still)
	s := start(p, instrument)
	boot, starts := output(t, p, "cat /proc/sys/kernel/random/boot_id"), output(t, p, "getprop sys.system_server.start_count")
	pass(t, p, 2*time.Second)
	p.Break(simapp.Fault{Kind: simapp.Freeze})
	asked := start(p, "pm path com.example.still")
	pass(t, p, 59*time.Second)
	if isOver(s) || isOver(asked) {
		t.Error("what waits for the system ends")
	}
	pass(t, p, 2*time.Second)
	<-s.done
	if code := <-asked.done; code != 20 {
		t.Errorf("a command that waited ends with %d", code)
	}
	has(t, output(t, p, "logcat -d -b system"), "*** WATCHDOG KILLING SYSTEM PROCESS")
	if _, errs, code := run(t, p, "am force-stop com.example.still"); code != 20 || !strings.Contains(errs, "Can't find service: activity") {
		t.Errorf("while the system starts: status %d, %q", code, errs)
	}
	if up := output(t, p, "getprop sys.boot_completed"); up != "1\n" {
		t.Errorf("sys.boot_completed is %q", up)
	}
	pass(t, p, 15*time.Second)
	if again := output(t, p, "getprop sys.system_server.start_count"); again == starts || output(t, p, "cat /proc/sys/kernel/random/boot_id") != boot {
		t.Errorf("the system has started %s times, before %s, or the kernel anew", again, starts)
	}
	finish(t, p, start(p, instrument))
}

// The clock for timeouts advances while the phone does not answer, and stands still while it
// does.
func TestPatience(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", still)
	waits := p.Patience()
	before := waits.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := waits.Sleep(ctx, time.Second); err == nil || waits.Now() != before {
		t.Errorf("of a phone that answers %v pass: %v", waits.Now()-before, err)
	}
	p.Break(simapp.Fault{Kind: simapp.Freeze, For: 30 * time.Second})
	asked, began := start(p, "wm size"), p.Clock().Now()
	if err := waits.Sleep(t.Context(), 25*time.Second); err != nil || isOver(asked) {
		t.Errorf("after 25 s: %v, or it answers", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := waits.Sleep(ctx, time.Hour); err == nil {
		t.Error("an hour passes, though the phone answers after 30 s")
	}
	if code := <-asked.done; code != 0 {
		t.Errorf("the command ends with %d", code)
	}
	if passed := p.Clock().Now() - began; passed < 30*time.Second || passed > 32*time.Second {
		t.Errorf("on the phone %v passed", passed)
	}
}

func TestGarbage(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	start(p, instrument)
	pass(t, p, 2*time.Second)
	clean := output(t, p, "dumpsys gfxinfo com.example.still framestats")
	p.Break(simapp.Fault{Kind: simapp.Garbage, For: time.Second})
	if dirty := output(t, p, "dumpsys gfxinfo com.example.still framestats"); dirty == clean || !strings.ContainsRune(strings.ToValidUTF8(dirty, "\uFFFD"), '\uFFFD') {
		t.Error("the dump is clean")
	}
	pass(t, p, 2*time.Second)
	if again := output(t, p, "dumpsys battery"); strings.ContainsRune(strings.ToValidUTF8(again, "\uFFFD"), '\uFFFD') {
		t.Error("the garbage does not end")
	}
}

func FuzzShell(f *testing.F) {
	for _, s := range []string{
		instrument, "logcat -d -v monotonic -s apkgate", "dumpsys gfxinfo com.example.still framestats reset",
		"(echo a; exit 3) </dev/null; echo $?", `echo "a $(pidof x)" 'b' \c | grep -v a > /sdcard/x && cat < /sdcard/x`,
		"monkey -p com.example.still 5", "{ sleep 1; } 2>&1 &", "sh -c 'sh -c \"echo\"'", "ls -l /; rm -rf /data/local; ls a/b",
		"logcat -T '01-05 09:00:00.000' -b all", "setprop a b;getprop;settings put global a b", "pm install -S 5", "input swipe 1 2 3 4",
		"echo 'buffers {} data_sources { config { name: \"android.power\" android_power_config { battery_poll_ms: 250 collect_power_rails: true battery_counters: BATTERY_COUNTER_CURRENT } } }' | perfetto --txt -c - -o /data/misc/perfetto-traces/a --background; sleep 4; pkill -l SIGINT perfetto",
		"am start -W com.example.still/.A; nohup simpleperf record --app com.example.still -e cpu-clock -f 100 -o /data/local/tmp/p </dev/null >/data/local/tmp/l 2>&1 & echo $!; wait; kill -0 $!",
		"dumpsys battery unplug; cmd battery set level 5; dumpsys batterystats --reset; dumpsys batterystats -c; cmd package compile -m speed -f com.example.still",
		"cat /proc/stat /sys/devices/system/cpu/cpufreq/policy0/stats/time_in_state; input keyevent 26; settings put system screen_brightness 300",
		"grep -c x; cat -", "df; reboot; am start -W -S com.example.still/.A",
	} {
		f.Add(s)
	}
	pr, _ := profileForFuzz()
	f.Fuzz(func(t *testing.T, command string) {
		p := New(pr, 1, Options{Chatter: -1})
		defer p.Close()
		if err := p.Install([]byte(still)); err != nil {
			t.Fatal(err)
		}
		s := start(p, command)
		for range 3 {
			pass(t, p, 5*time.Second)
		}
		p.Close()
		<-s.done
	})
}

func profileForFuzz() (profile.Profile, error) { return profile.Find("pixel-5-android-11") }
