package phone

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/profile"

	"github.com/apkgate/apkgate/simulator/simapp"
)

func benchPhone(b *testing.B) *Phone {
	pr, err := profile.Find("pixel-7-android-14")
	if err != nil {
		b.Fatal(err)
	}
	p := New(pr, 1, Options{Chatter: -1})
	b.Cleanup(p.Close)
	if err := p.Install([]byte(still)); err != nil {
		b.Fatal(err)
	}
	p.Start(b.Context(), instrument, nil, &strings.Builder{}, &strings.Builder{})
	if err := p.Clock().Sleep(context.Background(), 3*time.Second); err != nil {
		b.Fatal(err)
	}
	return p
}

// The output of `am instrument -r` for a class with one test that passes.
func TestInstrumentationOutput(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	s := start(p, instrument)
	if code := finish(t, p, s); code != 0 {
		t.Errorf("exit code %d", code)
	}
	want := `INSTRUMENTATION_STATUS: class=com.example.still.MainTest
INSTRUMENTATION_STATUS: current=1
INSTRUMENTATION_STATUS: id=AndroidJUnitRunner
INSTRUMENTATION_STATUS: numtests=1
INSTRUMENTATION_STATUS: stream=
com.example.still.MainTest:
INSTRUMENTATION_STATUS: test=runs
INSTRUMENTATION_STATUS_CODE: 1
INSTRUMENTATION_STATUS: class=com.example.still.MainTest
INSTRUMENTATION_STATUS: current=1
INSTRUMENTATION_STATUS: id=AndroidJUnitRunner
INSTRUMENTATION_STATUS: numtests=1
INSTRUMENTATION_STATUS: stream=.
INSTRUMENTATION_STATUS: test=runs
INSTRUMENTATION_STATUS_CODE: 0
INSTRUMENTATION_RESULT: stream=

Time: S

OK (1 test)


INSTRUMENTATION_CODE: -1
`
	if got := regexp.MustCompile(`Time: 6\.\d+`).ReplaceAllString(s.out.String(), "Time: S"); got != want {
		t.Errorf("it prints\n%s\nwant\n%s", got, want)
	}
	// The system stops the app when its instrumentation ends.
	if out, _, code := run(t, p, "pidof com.example.still"); code != 1 || out != "" {
		t.Errorf("the app still runs: %q", out)
	}
}

func TestInstrumentationErrors(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	out, errs, code := run(t, p, "am instrument -w -r com.example.gone/androidx.test.runner.AndroidJUnitRunner")
	has(t, out, "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{com.example.gone/", "INSTRUMENTATION_STATUS_CODE: -1")
	has(t, errs, "INSTRUMENTATION_FAILED: com.example.gone/")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	out, _, _ = run(t, p, strings.Replace(instrument, "MainTest", "NoTest", 1))
	has(t, out, "test=initializationError", "INSTRUMENTATION_STATUS_CODE: -2", "FAILURES!!!")
}

func TestTestAPKTestsAnotherPackage(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	const test = "apkgate-simulated-app/1\npackage com.example.still.test\ntests com.example.still\nrunner a.b.Runner\ntest a.b.T#m main\n"
	if err := p.Install([]byte(test)); err != nil {
		t.Fatal(err)
	}
	s := start(p, "am instrument -w -r com.example.still.test/a.b.Runner")
	pass(t, p, time.Second)
	if out := output(t, p, "pidof com.example.still"); strings.TrimSpace(out) == "" {
		t.Error("the app under test does not run")
	}
	finish(t, p, s)
	has(t, s.out.String(), "class=a.b.T", "test=m", "OK (1 test)")
}

func TestUIEventsAreLogged(t *testing.T) {
	for name, format := range map[string]string{"nexus-4-android-4.3": "threadtime", "pixel-3-android-9": "monotonic"} {
		p := newPhone(t, name, still)
		s := start(p, instrument)
		begun := p.Clock().Now()
		finish(t, p, s)
		out := output(t, p, "logcat -d -v "+format+" -s apkgate:I")
		var events []string
		for _, line := range strings.Split(out, "\n") {
			if _, event, ok := strings.Cut(line, " I apkgate : "); ok {
				events = append(events, event)
			}
		}
		if !slices.Equal(events, []string{"tap", "swipe"}) {
			t.Errorf("%s: events %q in\n%s", name, events, out)
		}
		if format == "monotonic" {
			// 0.3 s for the launch, 0.1 s to settle, tapped after 1 s: within a few 10 ms.
			seconds := strings.Fields(strings.Split(out, "\n")[1])[0]
			at, err := time.ParseDuration(seconds + "s")
			if since := at - begun; err != nil || since < 1100*time.Millisecond || since > 1500*time.Millisecond {
				t.Errorf("the tap is logged at %s, %v after the start (%v)", seconds, since, err)
			}
		}
		tag := "ActivityManager"
		has(t, output(t, p, "logcat -d -b system -v brief"), "I/"+tag, "Displayed com.example.still/.MainActivity: +")
	}
}

func TestSilentApps(t *testing.T) {
	quiet := strings.Replace(still, "version", "events silent\nversion", 1)
	for name, lines := range map[string]int{"pixel-3-android-9": 0, "pixel-5-android-11": 2} {
		p := newPhone(t, name, quiet)
		finish(t, p, start(p, instrument))
		if out := output(t, p, "logcat -d -b main -s apkgate"); strings.Contains(out, "tap") {
			t.Errorf("%s: a silent app logs %q", name, out)
		}
		out := output(t, p, "logcat -d -b events -v threadtime")
		if n := strings.Count(out, "I input_interaction: Interaction with: "); n != lines {
			t.Errorf("%s: the system logs %d inputs, want %d", name, n, lines)
		}
		if lines > 0 {
			has(t, out, " com.example.still/com.example.still.MainActivity (server), ")
		}
	}
}

func TestLogcatOptions(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	output(t, p, "log -t one first; log -p e -t two second; log -t one third")
	for command, want := range map[string]int{
		"logcat -d -s one":              2,
		"logcat -d '*:S' two":           1,
		"logcat -d -b main '*:E'":       1,
		"logcat -d -t 1 -b main":        1,
		"logcat -d -b events":           0,
		"logcat -d -s one:W":            0,
		"logcat -d --regex=ird -b main": 1,
		"logcat -d -T 1000000 -b main":  4,
	} {
		out := output(t, p, command)
		n := 0
		for _, line := range strings.Split(out, "\n") {
			if line != "" && !strings.HasPrefix(line, "---------") {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d lines, want %d:\n%s", command, n, want, out)
		}
	}
	has(t, output(t, p, "logcat -d -v epoch -s two"), "\n         1767", " E two     : second")
	for _, command := range []string{"logcat -d -v monotonic", "logcat -d -v threadtime -v epoch", "logcat -b crash -d"} {
		out, errs, code := run(t, newPhone(t, "nexus-4-android-4.3", ""), command)
		if code != 255 || out != "" || errs == "" {
			t.Errorf("Android 4.3 takes %q: exit code %d, %q, %q", command, code, out, errs)
		}
	}
}

func TestLogcatFollows(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", "")
	ctx, hangUp := context.WithCancel(context.Background())
	var out strings.Builder
	done := make(chan int)
	wait := p.Start(ctx, "logcat -v brief -s apkgate", nil, &out, &out)
	go func() { done <- wait() }()
	output(t, p, "log -t apkgate tap; log -t other no")
	hangUp()
	if code := <-done; code != 129 {
		t.Errorf("exit code %d after a hang-up", code)
	}
	has(t, out.String(), "--------- beginning of main\nI/apkgate ( 3999): tap\n")
	if strings.Contains(out.String(), "no\n") {
		t.Errorf("it shows other tags: %q", out.String())
	}
}

func TestStartMonkeyAndTouches(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", still)
	out := output(t, p, "am start -W -n com.example.still/.MainActivity")
	has(t, out, "Starting: Intent { cmp=com.example.still/.MainActivity }", "Status: ok", "LaunchState: COLD", "TotalTime: ", "Complete\n")
	has(t, output(t, p, "dumpsys activity activities"), "topResumedActivity= ActivityRecord{1f2e3d u0 com.example.still/com.example.still.MainActivity t12}")
	before := frames(t, p)
	output(t, p, "input tap 100 200; echo")
	pass(t, p, time.Second)
	if n := frames(t, p) - before; n < 20 || n > 60 {
		t.Errorf("a tap renders %d frames, want about 36: 24 at 60 Hz, and as many more at 90 Hz", n)
	}
	run1 := func() string {
		s := start(p, "monkey -p com.example.still -s 42 --throttle 100 50")
		if code := finish(t, p, s); code != 0 {
			t.Errorf("monkey: exit code %d", code)
		}
		return s.out.String()
	}
	has(t, run1(), ":Monkey: seed=42 count=50\n", ":AllowPackage: com.example.still\n", "Events injected: 50\n", "// Monkey finished\n")
	if _, errs, code := run(t, p, "am start -n com.example.gone/.A"); code != 1 || !strings.Contains(errs, "does not exist") {
		t.Errorf("starting an app that is not there: exit code %d, %q", code, errs)
	}
}

// An emulator has no system keys, and monkey refuses to press them.
func TestMonkeyNeedsSystemKeys(t *testing.T) {
	for command, want := range map[string]int{
		"monkey -p com.example.still 3":                    251,
		"monkey -p com.example.still --pct-syskeys 5 3":    251,
		"monkey -p com.example.still --pct-syskeys 0 3":    0,
		"monkey -p com.example.still --pct-syskeys 0.05 3": 0,
	} {
		p := newPhone(t, "sdk-gphone64-x86-android-14", still)
		s := start(p, command)
		pass(t, p, 10*time.Second)
		if code := <-s.done; code != want {
			t.Errorf("%s: exit code %d, want %d", command, code, want)
		}
		if said := s.err.String(); want != 0 && !strings.Contains(said, "** SYS_KEYS has no physical keys but with factor ") {
			t.Errorf("%s: it says %q", command, said)
		}
	}
}

// monkey reports a crash on its standard error, and its end in its output; its status is the
// number of the event, of which one byte arrives.
func TestMonkeyReportsACrash(t *testing.T) {
	p := newPhone(t, "pixel-5-android-11", still)
	s := start(p, "monkey -p com.example.still --throttle 997 600") // one event a second
	pass(t, p, 256*time.Second)
	p.Break(simapp.Fault{Kind: simapp.Crash})
	pass(t, p, 2*time.Second)
	if code := <-s.done; code != 0 {
		t.Errorf("exit code %d, want that of event 256 in a byte", code)
	}
	has(t, s.err.String(), "// CRASH: com.example.still (pid ", "** System appears to have crashed at event 256 of 600 using seed 1\n")
	if strings.Contains(s.out.String(), "CRASH") {
		t.Errorf("its output tells of the crash: %s", s.out.String())
	}
	has(t, s.out.String(), "** Monkey aborted due to error.\nEvents injected: 256\n")
}

func frames(t *testing.T, p *Phone) int {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	pr := p.state.running["com.example.still"]
	if pr == nil {
		t.Fatal("the app does not run")
	}
	return p.drawn(pr)
}

// A script is a workload too: it sleeps on the phone's clock.
func TestScriptsDriveApps(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	put(t, p, "/data/local/tmp/flow.sh", "am start -n com.example.still/.MainActivity\nsleep 1\nlog -t apkgate tap\ninput tap 1 2\nsleep 1.5\nexit 3\n")
	s := start(p, "sh /data/local/tmp/flow.sh")
	pass(t, p, 900*time.Millisecond)
	if out := output(t, p, "logcat -d -s apkgate"); strings.Contains(out, "tap") {
		t.Error("the script does not sleep")
	}
	if code := finish(t, p, s); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	has(t, output(t, p, "logcat -d -v monotonic -s apkgate"), "I apkgate : tap")
}

func TestMemoryAndCPUTime(t *testing.T) {
	p := newPhone(t, "pixel-3-android-9", still)
	start(p, instrument)
	pass(t, p, 3*time.Second)
	has(t, output(t, p, "dumpsys meminfo com.example.still"), "** MEMINFO in pid ", "        TOTAL ", "TOTAL SWAP PSS:")
	stat := output(t, p, "cat /proc/$(pidof com.example.still)/stat")
	fields := strings.Fields(stat)
	if len(fields) < 40 || fields[1] != "(m.example.still)" {
		t.Fatalf("stat is %q", stat)
	}
	// 90 frames of 3.5 ms on this fast phone, and the launch: 0.3 to 0.5 s of
	// ticks of 10 ms, utime and stime together.
	if ticks := atoi(t, fields[13]) + atoi(t, fields[14]); ticks < 25 || ticks > 60 {
		t.Errorf("%d ticks of CPU time", ticks)
	}
}
