package anr_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/anr"
)

const stars = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\n"

// A log in xCrash's format (Util.java, AnrHandler.java).
const xcrash = stars + "Tombstone maker: 'xCrash 3.0.0'\nCrash type: 'anr'\nApp ID: 'com.example.mail'\nAPI level: '29'\nBuild fingerprint: 'example/lab/phone:10/A/1:user/release-keys'\n" +
	"pid: 4100  >>> com.example.mail <<<\n\n--- --- --- --- --- --- --- --- --- --- --- --- --- --- --- ---\nCmd line: com.example.mail\nMode: ART DumpForSigQuit\n\nDALVIK THREADS (1):\n" +
	"\"main\" prio=5 tid=1 Native\n  | sysTid=4100 nice=0\n  at a.b.c(A.java:1)\n\n+++ +++ +++ +++ +++ +++ +++ +++ +++ +++ +++ +++ +++ +++ +++ +++\n\nlogcat:\n--------- tail end of log main (/system/bin/logcat)\n11-20 22:00:00.000  4100  4100 D mail: \"quoted\" prio=5\n\nmemory info:\n"

// A tombstone in libdebuggerd's format (tombstone.cpp).
const tombstone = stars + "Build fingerprint: 'example/lab/phone:13/A/1:user/release-keys'\nRevision: '0'\nABI: 'arm64'\nTimestamp: 2026-11-20 22:00:01+0100\nCmdline: com.example.mail\n" +
	"pid: 4100, tid: 4123, name: RenderThread  >>> com.example.mail <<<\nuid: 10123\nsignal 6 (SIGABRT), code -1 (SI_QUEUE), fault addr --------\nAbort message: 'Check failed: surface'\n    x0  0000000000000000  x1  0000007fd0d0b8a0\n\nbacktrace:\n" +
	"      #00 pc 00000000000512ac  /apex/com.android.runtime/lib64/bionic/libc.so (abort+164)\n"

// The writer of a file is recognized by text that only it writes, and a crash is not an ANR.
func TestForms(t *testing.T) {
	process := "----- pid 4100 at 2026-11-20 22:00:01 -----\nCmd line: com.example.mail\n\n\"main\" prio=5 tid=1 Native\n  at a.b.c(A.java:1)\n\n----- end 4100 -----\n"
	for name, test := range map[string]struct {
		text    string
		form    anr.Form
		process string // of the first process
		crash   *anr.Crash
	}{
		"Android's":                   {process, anr.Android, "com.example.mail", nil},
		"xCrash's":                    {xcrash, anr.XCrash, "com.example.mail", nil},
		"xCrash's of Java":            {stars + "Tombstone maker: 'xCrash 3.0.0'\nCrash type: 'java'\npid: 4100, tid: 4100, name: main  >>> com.example.mail <<<\n\njava stacktrace:\njava.lang.IllegalStateException: no\n", anr.XCrash, "com.example.mail", &anr.Crash{Process: "com.example.mail", Thread: "main", PID: 4100}},
		"a tombstone":                 {tombstone, anr.Tombstone, "com.example.mail", &anr.Crash{Process: "com.example.mail", Thread: "RenderThread", PID: 4100, Signal: "6 (SIGABRT)", Message: "Check failed: surface"}},
		"a tombstone in abort":        {strings.Replace(tombstone, "signal 6 (SIGABRT), code -1 (SI_QUEUE), fault addr --------\nAbort message: 'Check failed: surface'\n", "", 1), anr.Tombstone, "com.example.mail", &anr.Crash{Process: "com.example.mail", Thread: "RenderThread", PID: 4100, Signal: "6 (SIGABRT)"}},
		"a tombstone that was asked":  {strings.NewReplacer("signal 6 (SIGABRT)", "signal 35 (<debuggerd signal>)", "abort+164", "__epoll_pwait+8").Replace(tombstone), anr.Tombstone, "com.example.mail", nil},
		"a word of a signal, no line": {strings.Replace(process, "  at a", "  signal 11 (SIGSEGV), code 1\n  at a", 1), anr.Android, "com.example.mail", nil},
		"debuggerd's stacks":          {"----- pid 300 at 2026-11-20 22:00:01 -----\nCmd line: /system/bin/audioserver\n\n\"audioserver\" sysTid=300\n    #00 pc 00000000000a1b2c  /system/lib64/libc.so (__ioctl+4)\n\n----- end 300 -----\n", anr.Debuggerd, "/system/bin/audioserver", nil},
		"Google Play's":               {"\"main\" tid=1 Blocked\n  at com.example.Inbox.open (Inbox.java:12)\n\n", anr.Play, "", nil},
		"Firebase's":                  {"# Crashlytics - Stack trace\n# Application: com.example.mail\n# Platform: android\n\nmain (native):tid=1 systid=4100 \n       at a.b.c(A.java:1)\n", anr.Crashlytics, "com.example.mail", nil},
		"a bug report":                {"== dumpstate: 2026-11-20 22:00:05\n------ TOMBSTONE (/data/tombstones/tombstone_00: 2026-11-19 10:00:00) ------\n" + tombstone + "------ VM TRACES JUST NOW (/data/anr/a: 2026-11-20 22:00:04) ------\n" + process, anr.BugReport, "com.example.mail", nil},
	} {
		d := read(t, test.text)
		first := ""
		if len(d.Processes) > 0 {
			first = d.Processes[0].Name
		}
		if d.Form != test.form || first != test.process || d.Cut || !d.Recognized || len(d.Processes) != 1 {
			t.Errorf("%s: form %s of %q, cut %v, %d processes, %v", name, d.Form, first, d.Cut, len(d.Processes), d.Warnings)
		}
		if diff := cmp.Diff(test.crash, d.Crash); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if name == "Firebase's" && d.Process != "com.example.mail" {
			t.Errorf("%s: it is of %q", name, d.Process)
		}
	}
}

// Consecutive dumps of one process, and the sections of a bug report, are separate parts.
func TestParts(t *testing.T) {
	one, two := "----- pid 41 at a -----\nCmd line: one\n\n----- end 41 -----\n", "----- pid 42 at a -----\nCmd line: two\n\n----- end 42 -----\n"
	for name, test := range map[string]struct {
		text  string
		parts []string
		of    []int
	}{
		"one file":              {one + two, []string{""}, []int{0, 0}},
		"again and again":       {one + two + one, []string{"", ""}, []int{0, 0, 1}},
		"a bug report":          {"------ VM TRACES JUST NOW (/data/anr/a: x) ------\n" + one + two + "------ VM TRACES AT LAST ANR (/data/anr/b: x) ------\n" + two + "------ 0.1s was the duration of 'VM' ------\n", []string{"VM TRACES JUST NOW", "VM TRACES AT LAST ANR"}, []int{0, 0, 1}},
		"a section of nothing":  {"------ VM TRACES JUST NOW (x) ------\n------ VM TRACES AT LAST ANR (y) ------\n" + two, []string{"VM TRACES AT LAST ANR"}, []int{0}},
		"a report that is read": {"------ ANR FILES (ls -lt /data/anr) ------\nanr_1\n------ SYSTEM LOG (logcat) ------\n" + one, []string{"ANR FILES"}, []int{0}},
	} {
		d := read(t, test.text)
		var of []int
		for _, p := range d.Processes {
			of = append(of, p.Part)
		}
		if diff := cmp.Diff([]any{test.parts, test.of}, []any{d.Parts, of}); diff != "" || len(d.Warnings) > 0 {
			t.Errorf("%s: %v (-want +got)\n%s", name, d.Warnings, diff)
		}
	}
}

// A file whose end or beginning is within a dump is cut off; a complete one is not.
func TestCutOff(t *testing.T) {
	const head, frames = "DALVIK THREADS (1):\n\"main\" prio=5 tid=1 Native\n  | sysTid=41 nice=0\n  | held mutexes=\n", "  native: #00 pc 00000000000512ac  /system/lib64/libc.so (__ioctl+4)\n  at a.b.c(A.java:1)\n  - locked <0x0a> (a b.C)\n"
	for name, test := range map[string]struct {
		text string
		cut  bool
	}{
		"whole":                       {head + frames, false},
		"without a last line's end":   {head + strings.TrimSpace(frames), false},
		"in attributes":               {head, true},
		"in a frame of Java":          {head + "  at a.b.c(A.ja", true},
		"in a native frame":           {head + "  native: #00 pc 00000000000512ac  /system/lib64/libc.so (__io", true},
		"in an address":               {head + "  native: #00 pc 000000", true},
		"in a lock":                   {head + "  at a.b.c(A.java:1)\n  - locked <0x0a", true},
		"in the name of a thread":     {head + frames + "\n\"wor", true},
		"fewer threads than it says":  {strings.Replace(head, "(1)", "(3)", 1) + frames, true},
		"Android's own mark":          {head + frames + "\n\n[[TRUNCATED]]\n", true},
		"xCrash's without its end":    {xcrash[:strings.Index(xcrash, "+++ ")], true},
		"the end of a thread, then a": {"  at a.b.c(A.java:1)\n  | state=S schedstat=( 1 1 1 )\n  - locked <0x0a> (a b.C)\n\n" + head + frames, true},
		"a process without its end":   {"----- pid 41 at a -----\n" + head + frames, true},
	} {
		d := read(t, test.text)
		if said := len(d.Warnings) > 0; d.Cut != test.cut || said != test.cut {
			t.Errorf("%s: cut off %v, %v; want %v", name, d.Cut, d.Warnings, test.cut)
		}
	}
}
