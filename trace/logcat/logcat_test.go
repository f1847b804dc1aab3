package logcat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/logcat"
)

func read(t testing.TB, text string) logcat.Log {
	t.Helper()
	l, err := logcat.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestReadEveryFormat(t *testing.T) {
	t.Parallel()
	// 17 March is day 76 of 2000, a leap year: 76 full days before it.
	wall := 76*24*time.Hour + 16*time.Hour + 13*time.Minute + 38*time.Second + 811*time.Millisecond
	full := logcat.Entry{Clock: logcat.Wall, Time: wall, PID: 1702, TID: 2395, Priority: 'D', Tag: "My Tag", Message: "a: b"}
	with := func(clock logcat.Clock, at time.Duration) logcat.Entry {
		e := full
		e.Clock, e.Time = clock, at
		return e
	}
	byApp := full
	byApp.App = true
	for text, want := range map[string]logcat.Entry{
		"03-17 16:13:38.811  1702  2395 D My Tag  : a: b":                        full,
		"03-17 16:13:38.811  1000  1702  2395 D My Tag  : a: b":                  full,
		"03-17 16:13:38.811 u0_a12  1702  2395 D My Tag: a: b":                   byApp,
		"03-17 16:13:38.811 10120  1702  2395 D My Tag: a: b":                    byApp,
		"03-17 16:13:38.811 1010120:  1702  2395 D My Tag: a: b":                 byApp,
		"03-17 16:13:38.811  root  1702  2395 D My Tag: a: b":                    full,
		"2000-03-17 16:13:38.811 +0100  1702  2395 D My Tag: a: b":               with(logcat.Wall, wall+10957*24*time.Hour),
		"   123.456  1702  2395 D My Tag: a: b":                                  with(logcat.Monotonic, 123456*time.Millisecond),
		"     0.000001  1702  2395 D My Tag: a: b":                               with(logcat.Monotonic, time.Microsecond),
		"1489767218.811  1702  2395 D My Tag: a: b":                              with(logcat.Epoch, 1489767218811*time.Millisecond),
		"[ 03-17 16:13:38.811  1702: 2395 D/My Tag ]\na: b\n\n":                  full,
		"[       123.456  1702: 2395 D/My Tag   ]\na: b\n\n":                     with(logcat.Monotonic, 123456*time.Millisecond),
		"03-17 16:13:38.811 D/My Tag  ( 1702): a: b":                             {Clock: logcat.Wall, Time: wall, PID: 1702, Priority: 'D', Tag: "My Tag", Message: "a: b"},
		"D/My Tag( 1702): a: b":                                                  {PID: 1702, Priority: 'D', Tag: "My Tag", Message: "a: b"},
		"D/My Tag: a: b":                                                         {Priority: 'D', Tag: "My Tag", Message: "a: b"},
		"03-17 16:13:38.811  1702  2395 D empty:":                                {Clock: logcat.Wall, Time: wall, PID: 1702, TID: 2395, Priority: 'D', Tag: "empty"},
		"--------- beginning of main\n   123.456  1702  2395 D My Tag: a: b\r\n": with(logcat.Monotonic, 123456*time.Millisecond),
	} {
		l := read(t, text)
		if len(l.Entries) != 1 || len(l.Warnings) != 0 {
			t.Errorf("%q: %+v, %v", text, l.Entries, l.Warnings)
			continue
		}
		got := l.Entries[0]
		got.Line = 0
		if got != want {
			t.Errorf("%q:\n got %+v\nwant %+v", text, got, want)
		}
	}
}

func TestReadWarnsOfLinesThatAreNotEntries(t *testing.T) {
	t.Parallel()
	l := read(t, "garbage\n03-17 16:13:38.811  1702  2395 D ok: fine\n13-45 99:99:99.000  1  2 D t: m\n12.5 x y D t: m\n")
	if len(l.Entries) != 1 || l.Entries[0].Line != 2 || len(l.Warnings) != 3 || l.Warnings[0].Line != 1 || l.Warnings[2].Line != 4 {
		t.Errorf("%+v, %v", l.Entries, l.Warnings)
	}
	in, err := logcat.Inspect(strings.NewReader("garbage"))
	if err != nil || len(in.Metrics) != 0 || len(in.Warnings) != 2 {
		t.Errorf("%+v, %v", in, err)
	}
}

// events returns the events of a log that has fewer than the limit.
func events(t *testing.T, l logcat.Log) []logcat.Event {
	t.Helper()
	found, doubts := logcat.Events(l.Entries)
	if len(doubts) != 0 {
		t.Errorf("doubts: %v", doubts)
	}
	return found
}

// An app that imitates the system's entries can neither fill the memory nor hide the test's events,
// and reading its log stays fast: comparing each event with all before it would take a minute for
// these lines.
func TestEventsOfAFloodedLogAreBounded(t *testing.T) {
	t.Parallel()
	const lines = 100_000
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "  100.%03d  4242  4242 I ActivityManager: Displayed a/.B%d: +1ms\n", i%1000, i)
		fmt.Fprintf(&b, "  100.%03d  4242  4242 E AndroidRuntime: FATAL EXCEPTION: t%d\n", i%1000, i)
	}
	b.WriteString("  101.000   500   500 I apkgate : open message\n")
	begun := time.Now()
	found, doubts := logcat.Events(read(t, b.String()).Entries)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("reading took %v", took)
	}
	last := found[len(found)-1]
	if last.Kind != logcat.UIEvent || last.Name != "open message" {
		t.Errorf("the test's own event is hidden behind the app's: the last is %+v", last)
	}
	if len(found) > 50_000 {
		t.Errorf("%d events are kept", len(found))
	}
	// All crashes are of the same process within ten seconds, so they count once.
	if len(doubts) != 1 || !strings.Contains(doubts[0].Text, "100000 events") || !strings.Contains(doubts[0].Text, "displayed") {
		t.Errorf("doubts: %v", doubts)
	}
}

func TestEventsIgnoreSystemTagsOfApps(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"I ActivityManager: Displayed com.example/.Main: +1ms",
		"I ActivityTaskManager: Displayed com.example/.Main: +1ms",
		"I wm_activity_launch_time: [0,123,com.example/.Main,1]",
		"E ActivityManager: ANR in com.example (com.example/.Main)",
		"I am_anr  : [0,500,com.example,8,Input dispatching timed out]",
		"I am_proc_died: [0,500,com.example,0,2]",
		"I am_proc_start: [0,500,10120,com.example,activity,com.example/.Main]",
		"I am_crash: [0,500,com.example,8,java.lang.IllegalStateException,no,Main.java,17]",
		"I input_interaction: Interaction with: a2b17b9 com.example/com.example.Main (server), ",
	} {
		for uid, want := range map[string]int{" 1000 ": 1, " root ": 1, " ": 1, " 10120 ": 0, " u0_a120 ": 0, " 1010120 ": 0} {
			if got := events(t, read(t, "     1.000"+uid+" 700  701 "+line)); len(got) != want {
				t.Errorf("%q of the user %q: %d events, want %d", line, uid, len(got), want)
			}
		}
	}
	// A process is trusted about its own crash.
	if got := events(t, read(t, "     1.000 u0_a120  700  701 E AndroidRuntime: FATAL EXCEPTION: main")); len(got) != 1 {
		t.Errorf("a crash logged by the app itself: %+v", got)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	l := read(t, strings.Join([]string{
		"     0.900  1000  1001 I am_proc_start: [0,500,10120,com.example,top-activity,{com.example/com.example.Main}]",
		"     1.000   500   500 I apkgate : open message",
		"     1.500   500   500 I apkgate : scroll list=inbox n=3",
		"     1.600   500   500 I apkgate :  ",
		"     2.000  1000  1001 I input_interaction: Interaction with: [Gesture Monitor] swipe-up (server), a2b17b9 com.example/com.example.Main (server), PointerEventDispatcher0 (server), ",
		"     3.000  1000  1001 I ActivityTaskManager: Displayed com.example/.Main for user 0: +1s23ms",
		"     3.001  1000  1001 I wm_activity_launch_time: [0,123,com.example/.Main,1023]",
		"     3.100  1000  1001 I ActivityManager: Displayed com.example/.Other: +45ms (total +2s1ms)",
		"     4.000  1000  1001 I am_anr  : [0,500,com.example,8,Input dispatching timed out (x, y)]",
		"     4.900  1000  1001 E ActivityManager: ANR in com.example (com.example/.Main)",
		"     4.900  1000  1001 E ActivityManager: PID: 500",
		"     4.900  1000  1001 E ActivityManager: Reason: Input dispatching timed out",
		"     5.000   500   500 E AndroidRuntime: FATAL EXCEPTION: main",
		"     5.000   500   500 E AndroidRuntime: Process: com.example, PID: 500",
		"     5.000   500   500 E AndroidRuntime: java.lang.IllegalStateException: no",
		"     5.000   500   500 E AndroidRuntime: \tat com.example.Main.onClick",
		"     5.002  1000  1001 I am_crash: [0,500,com.example,8,java.lang.IllegalStateException,no, not here,Main.java,17]",
		"     5.100  1000  1001 I am_proc_died: [0,500,com.example,0,2]",
		"     6.000   500   512 I HWUI    : Davey! duration=1415ms; Flags=1, FrameTimelineVsyncId=431805, IntendedVsync=5942236671, Vsync=5943574236617, ",
		"     6.001   500   512 I HWUI    : Davey! duration=lots; IntendedVsync=5942236671, ",
		"     6.002   500   512 I OpenGLRenderer: Davey! duration=800ms; Flags=1",
		"    50.000   600   600 F libc    : Fatal signal 11 (SIGSEGV), code 1, fault addr 0x0 in tid 600 (example)",
	}, "\n"))
	var got []string
	for _, e := range events(t, l) {
		got = append(got, fmt.Sprintf("%s %d %s %s %d %v %v", e.Kind, e.Time/time.Millisecond, e.Name, e.Process, e.PID, e.Duration, e.Args))
	}
	want := []string{
		"begun 900  com.example 500 0s map[]",
		"ui 1000 open message  500 0s map[]",
		"ui 1500 scroll  500 0s map[list:inbox n:3]",
		"input 2000 com.example/com.example.Main com.example 0 0s map[]",
		"displayed 3000 com.example/.Main com.example 0 1.023s map[]",
		"displayed 3100 com.example/.Other com.example 0 2.001s map[]",
		"anr 4000  com.example 500 0s map[]",
		"crash 5000  com.example 500 0s map[]",
		"died 5100  com.example 500 0s map[]",
		"long-frame 6000 5942236671  500 1.415s map[]",
		"crash 50000   600 0s map[]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A bug report has logs among text that resembles them.
func TestReadLogsOfABugReport(t *testing.T) {
	t.Parallel()
	l := read(t, `========================================================
== dumpstate: 2026-01-02 03:04:05
========================================================
------ UPTIME (uptime) ------
03:04:05 up 1:10,  0 user,  load average: 1.0, 1.1, 1.2
------ SYSTEM LOG (logcat -v threadtime -v printable -v uid -d *:v) ------
--------- beginning of main
01-02 03:04:01.000  1000  1700  1720 I ActivityTaskManager: Displayed com.example/.Main: +1s23ms
01-02 03:04:02.000 10120  4242  4242 I apkgate : open
------ 0.103s was the duration of 'SYSTEM LOG' ------
------ EVENT LOG (logcat -b events -v threadtime -d *:v) ------
01-02 03:04:03.000  1000  1700  1720 I am_anr  : [0,500,com.example,8,Input]
------ 0.103s was the duration of 'EVENT LOG' ------
DUMP OF SERVICE dropbox:
01-02 03:00:00.000  1000  1700  1720 I am_anr  : [0,499,com.example,8,Input]
E/AndroidRuntime(  500): FATAL EXCEPTION: main
`)
	if len(l.Entries) != 3 || len(l.Warnings) != 0 {
		t.Errorf("%+v, %v", l.Entries, l.Warnings)
	}
	if got := events(t, l); len(got) != 3 || got[0].Kind != logcat.Displayed || got[2].PID != 500 {
		t.Errorf("%+v", got)
	}
}

// A start time beyond the range of a duration is rejected, not negative.
func TestEventsRejectStartTimeOverflow(t *testing.T) {
	t.Parallel()
	for _, ms := range []string{"9223372036855", "9223372036854775807", "86400000", "-1"} {
		if got := events(t, read(t, "1.000 1000 1001 I wm_activity_launch_time: [0,123,com.example/.Main,"+ms+"]")); len(got) != 0 {
			t.Errorf("%s ms: %+v", ms, got)
		}
	}
}

func TestEventsOfAndroid41WithoutUser(t *testing.T) {
	t.Parallel()
	ev := events(t, read(t, "I/am_anr  (  300): [500,com.example,0,keyDispatchingTimedOut]"))
	if len(ev) != 1 || ev[0].PID != 500 || ev[0].Process != "com.example" || ev[0].Detail != "keyDispatchingTimedOut" {
		t.Errorf("%+v", ev)
	}
}

// Until Android 9 both buffers report a full display, once by itself and once since the first of
// the activities that led to it; an app can't log one under the system's tag.
func TestEventsFullyDrawn(t *testing.T) {
	t.Parallel()
	log := "  9.000  1000  1  1 I am_activity_fully_drawn_time: [0,7,a/.B,1250,2000]\n" +
		"  9.000  1000  1  1 I ActivityManager: Fully drawn a/.B: +1s250ms (total +2s)\n" +
		"  9.500 10120  9  9 I ActivityTaskManager: Fully drawn a/.B: +1ms\n"
	ev := events(t, read(t, log))
	if len(ev) != 1 || ev[0].Kind != logcat.FullyDrawn || ev[0].Process != "a" || ev[0].Duration != 2*time.Second {
		t.Errorf("%+v", ev)
	}
	in, err := logcat.Inspect(strings.NewReader(log))
	if _, displayed := in.Metrics["startup.ttid_ms"]; err != nil || in.Metrics["startup.ttfd_ms"] != 2000 || displayed {
		t.Errorf("%v, %v", in.Metrics, err)
	}
}

// Lines that logd of Android 8 to 11 prints for dropped entries (LogBuffer.cpp).
func TestEventsWarnOfDroppedUIEvents(t *testing.T) {
	t.Parallel()
	const scroll, other = "  1.000  70  71 I apkgate : scroll\n", "  1.000  70  71 I apkgate : back\n"
	chatty := func(what string) string { return "  1.000  70  71 I chatty  : uid=10120(com.example) " + what + "\n" }
	repeats := chatty("Instr: com.exam identical 2 lines")
	for name, c := range map[string]struct{ log, want string }{
		"repeats":                       {scroll + repeats + scroll, `2 UI events are missing: the device drops lines that repeat the one before them ("scroll")`},
		"one":                           {scroll + chatty("identical 1 line") + scroll, "1 UI event is missing"},
		"of two kinds":                  {scroll + repeats + scroll + other + repeats + other, "4 UI events are missing"},
		"of another line":               {scroll + repeats + other, ""},
		"of another thread":             {scroll + strings.Replace(repeats, "70  71", "70  72", 1) + scroll, ""},
		"of another process":            {scroll + strings.Replace(repeats, "70  71", "80  71", 1) + scroll, ""},
		"with a line of another":        {scroll + "  1.000  80  80 I libc : x\n" + repeats + scroll, "2 UI events are missing"},
		"too many lines":                {chatty("expire 157 lines") + scroll, "157 lines of the process that writes the UI events are missing"},
		"too many lines of others":      {strings.Replace(chatty("expire 157 lines"), "70  71", "80  81", 1) + scroll, ""},
		"no number":                     {scroll + chatty("identical -2 lines") + scroll, ""},
		"more than it can count":        {scroll + chatty("identical 99999999999 lines") + scroll, ""},
		"an app that says what it says": {scroll + "  1.000  70  71 I chatty: identical\n" + scroll, ""},
	} {
		_, doubts := logcat.Events(read(t, c.log).Entries)
		switch {
		case c.want == "" && len(doubts) > 0:
			t.Errorf("%s: %v", name, doubts)
		case c.want != "" && (len(doubts) != 1 || !strings.HasPrefix(doubts[0].Text, c.want)):
			t.Errorf("%s: %v, want %q", name, doubts, c.want)
		}
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	in, err := logcat.Inspect(strings.NewReader("     1.000  1  1 I ActivityManager: Displayed a/.B: +1d2h3m4s5ms\n     9.000  1  1 I ActivityManager: Displayed a/.C: +10ms\n     9.500  1  1 E ActivityManager: ANR in a\n"))
	if err != nil {
		t.Fatal(err)
	}
	// 93,784,005 ms and 10 ms.
	if in.Metrics["startup.ttid_ms"] != 46892007.5 || in.Metrics["anr.count"] != 1 {
		t.Errorf("%v", in.Metrics)
	}
	if d := in.Details.(logcat.Details); d.Entries != 3 || d.Clock != logcat.Monotonic || d.Last-d.First != 8500*time.Millisecond || d.Priorities["I"] != 2 {
		t.Errorf("%+v", d)
	}
}

// TestCorpus compares real logs with counts by regular expressions.
func TestCorpus(t *testing.T) {
	t.Parallel()
	folder := corpustest.Path(t, "logcat")
	for name, tags := range map[string][]string{
		"jeanboydev_emulator_9_eventlog.txt": {"am_pss", "am_proc_died", "auditd", "service_manager_slow"},
		"loghub_Android_2k.log":              {"WindowManager", "PowerManagerService", "TextView"},
	} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		l := read(t, string(data))
		lines := regexp.MustCompile(`(?m)^\d\d-\d\d `).FindAllIndex(data, -1)
		if len(l.Entries) != len(lines) || len(l.Warnings) != 0 {
			t.Errorf("%s: %d entries of %d, %v", name, len(l.Entries), len(lines), l.Warnings)
		}
		for _, tag := range tags {
			n := 0
			for _, e := range l.Entries {
				if e.Tag == tag {
					n++
				}
			}
			if want := len(regexp.MustCompile(`(?m) [A-Z] `+tag+` *:`).FindAllIndex(data, -1)); n != want || n == 0 {
				t.Errorf("%s: %d entries of %s, want %d", name, n, tag, want)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("     1.000   500   500 I apkgate : open message a=b\n[ 03-17 16:13:38.811  1702: 2395 D/My Tag ]\na: b\n\n"))
	f.Add([]byte("     4.0  1  1 I am_anr  : [0,500,com.example,8,Input]\n1.1 1 1 E AndroidRuntime: FATAL EXCEPTION: main\n"))
	f.Add([]byte("1.1 1 1 I ActivityManager: Displayed a/.b: +1d2h3ms\n1.1 1 1 I wm_activity_launch_time: [a/b]\n1.1 1 1 I input_interaction: Interaction with: "))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := logcat.Inspect(strings.NewReader(string(data)))
		if err != nil {
			t.Fatalf("an error for what was read: %v", err)
		}
		for name, v := range in.Metrics {
			if v < 0 {
				t.Errorf("%s is %g", name, v)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("03-17 16:13:38.811  1702  2395 D PowerManagerService: acquire lock=233570404, flags=0x1, tag=\"View Lock\"\n", 100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if l := read(b, text); len(l.Entries) != 100_000 {
			b.Fatal("entries are missing")
		}
	}
}
