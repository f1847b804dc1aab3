package diagnosecmd_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/run"
)

// scroll is a text trace of an app that draws 60 frames a second, each in 9 ms; the 30th waits 40
// ms of its layout in the kernel.
func scroll() string {
	var lines []line
	add := func(name string, tid, cpu int, ms float64, event string) {
		group := "(  100)"
		if tid == 0 {
			group = "(-----)"
		}
		lines = append(lines, line{ms, fmt.Sprintf("%s-%d %s [%03d] d..3 %.6f: %s\n", name, tid, group, cpu, 10+ms/1000, event)})
	}
	const app, renderer = 100, 101
	names := map[int]string{0: "swapper", app: "om.example.mail", renderer: "RenderThread"} // the kernel keeps 15 bytes
	turn := func(tid, cpu int, from, to float64, then string) {
		add(names[0], 0, cpu, from, fmt.Sprintf("sched_switch: prev_comm=swapper/%d prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=%s next_pid=%d next_prio=110", cpu, names[tid], tid))
		add(names[tid], tid, cpu, to, fmt.Sprintf("sched_switch: prev_comm=%s prev_pid=%d prev_prio=110 prev_state=%s ==> next_comm=swapper/%d next_pid=0 next_prio=120", names[tid], tid, then, cpu))
	}
	for i := range 60 {
		t, wait := float64(i)*50/3, 0.0
		if i == 31 || i == 32 {
			continue // the 30th is still being drawn
		}
		if i == 30 {
			wait = 40
			turn(app, 1, t, t+1, "D")
			add(names[0], 0, 1, t+wait+1, "sched_waking: comm=om.example.mail pid=100 prio=110 target_cpu=001")
		}
		turn(app, 1, t+wait+1.001*wait/40, t+wait+6.1, "S")
		mark := func(tid int, ms float64, text string) {
			add(names[tid], tid, tid-app+1, t+ms, "tracing_mark_write: "+text)
		}
		mark(app, 0.1, "B|100|Choreographer#doFrame")
		mark(app, 0.5, "B|100|traversal")
		mark(app, 0.6, "B|100|layout")
		for _, end := range []float64{3, 5, 6} {
			mark(app, end+wait, "E|100")
		}
		add(names[app], app, 1, t+wait+5.3, "sched_waking: comm=RenderThread pid=101 prio=110 target_cpu=002")
		turn(renderer, 2, t+wait+5.4, t+wait+9.1, "S")
		mark(renderer, wait+5.5, "B|100|DrawFrame")
		mark(renderer, wait+8, "B|100|queueBuffer")
		mark(renderer, wait+8.5, "E|100")
		mark(renderer, wait+9, "E|100")
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.ms, b.ms) })
	text := "# tracer: nop\n#\n#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
	for _, l := range lines {
		text += l.text
	}
	return text
}

type line struct {
	ms   float64
	text string
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ps is what systrace writes after a trace: the processes by their names.
const ps = "PROCESS DUMP\nUSER PID PPID VSZ RSS WCHAN PC S NAME CMD\nu0_a1 100 1 1 2 0 0 S com.example.mail mail\n"

func page(trace string) string {
	script := func(text string) string {
		return `<script class="trace-data" type="application/text">` + "\n" + text + "</script>\n"
	}
	return "<!DOCTYPE html>\n<html>\n" + script(ps) + script(trace) + "</html>\n"
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func says(t *testing.T, what, got string, want ...string) {
	t.Helper()
	got = strings.Join(strings.Fields(strings.ReplaceAll(got, "\u00a0", " ")), " ")
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%s: %q is not in it:\n%s", what, w, got)
		}
	}
}

func passes(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	got := clitest.Run(t, nil, append([]string{"diagnose"}, args...)...)
	if got.Status != 0 {
		t.Fatalf("%q: exit status %d: %s", args, got.Status, got.Stderr)
	}
	return got
}

func TestDiagnoseTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "trace.html", page(scroll()))
	write(t, "trace.html.gz", packed(t, page(scroll())))
	for _, name := range []string{"trace.html", "trace.html.gz"} {
		got := passes(t, name, "--package", "com.example.mail", "--html", "why.html").Stdout
		says(t, name, got, "Late frames: 1 of 58 frames late", "57 in time, 1 late, 0 frozen", "Late frame: 48.9 ms", "in layout", "Usual frame: 8.9 ms", "whole run: late 1")
		html, err := os.ReadFile("why.html")
		if err != nil {
			t.Fatal(err)
		}
		says(t, "the page", string(html), "<svg ", "com.example.mail in "+name, "Late frame: 48.9 ms")
	}
	var found saved.Diagnosis
	if err := json.Unmarshal([]byte(passes(t, "trace.html", "--package", "com.example.mail", "--format", "json").Stdout), &found); err != nil {
		t.Fatal(err)
	}
	if found.Format != "apkgate.diagnosis/1" || found.File != "trace.html" || found.Kind != "systrace" || found.Frames == nil || len(found.Frames.Worst) != 1 || found.Causes == nil || found.Warnings == nil {
		t.Errorf("as JSON it is %+v", found)
	}
}

// dump is what Android writes for an app whose main thread waits for a lock.
const dump = `Subject: Input dispatching timed out (com.example.mail/.ListActivity is not responding. Waited 5003ms for MotionEvent)

----- pid 100 at 2026-11-20 22:00:01 -----
Cmd line: com.example.mail

DALVIK THREADS (2):
"main" prio=5 tid=1 Blocked
  | sysTid=100 nice=-10 cgrp=default sched=0/0 handle=0x7b
  at com.example.mail.a.b(SourceFile:4)
  - waiting to lock <0x0a1b> (a com.example.mail.Store) held by thread 12
  at android.os.Looper.loop(Looper.java:288)

"sync" prio=5 tid=12 Sleeping
  | sysTid=112 nice=0 cgrp=default sched=0/0 handle=0x7c
  at java.lang.Thread.sleep(Native method)
  at com.example.mail.Sync.run(Sync.java:41)
  - locked <0x0a1b> (a com.example.mail.Store)

----- end 100 -----
`

const mapping = `com.example.mail.Inbox -> com.example.mail.a:
    4:4:void show():88:88 -> b
`

func TestDiagnoseThreadDump(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "anr_1", dump)
	write(t, "mapping.txt", mapping)
	says(t, "a dump", passes(t, "anr_1").Stdout, "Not responding: the main thread of com.example.mail waits for thread sync, in com.example.mail.Sync.run(Sync.java:41); Input dispatching timed out",
		"main of com.example.mail (Blocked)", "waits for lock com.example.mail.Store held by sync", "Stack of sync")
	says(t, "with a mapping", passes(t, "anr_1", "--mapping", "mapping.txt").Stdout, "com.example.mail.Inbox.show(")
	var found saved.Diagnosis
	if err := json.Unmarshal([]byte(passes(t, "anr_1", "--format", "json").Stdout), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.ANRs) != 1 || found.ANRs[0].Kind != run.ANRInput || found.ANRs[0].WaitedMS != 5003 || found.ANRs[0].Signature == "" || found.Package != "com.example.mail" {
		t.Errorf("as JSON it is %+v", found)
	}
}

// Exports of Google Play and Firebase lack the lines that begin a file of Android.
func TestDiagnoseExports(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "play", "\"main\" tid=1 Blocked\n  at com.example.Inbox.open (Inbox.java:12)\n- waiting to lock <0x0a71> (a com.example.Store) held by thread 12\n\n\"sync\" tid=12 Runnable\n  at com.example.Store.sync (Store.java:88)\n")
	write(t, "firebase", "# Crashlytics\n\nmain (blocked):tid=1 systid=0 | waiting to lock <0x0a71> (com.example.Store) held by thread 12\n       at com.example.Inbox.open(Inbox.java:12)\n\nsync (runnable):tid=12 systid=0 \n       at com.example.Store.sync(Store.java:88)\n")
	for _, file := range []string{"play", "firebase"} {
		says(t, file, passes(t, file).Stdout, "the main thread waits for thread sync, in com.example.Store.sync(Store.java:88)", "The main thread did not respond: it waited for thread sync, which held the lock")
	}
}

// What can't be explained is wrong input, with what the file contains instead.
func TestDiagnoseRejectsWrongInput(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "trace.html", page(scroll()))
	write(t, "anr_1", dump)
	write(t, "empty", "")
	write(t, "noise", strings.Repeat("\x00\xff\n\x01", 5_000))
	write(t, "packets", "\n\xff\xff\xff\xff\x0f"+strings.Repeat("\x00", 1_000))
	write(t, "cut.gz", packed(t, scroll())[:500])
	for _, c := range []struct{ args, want string }{
		{"", "diagnose takes one FILE, got 0 arguments"},
		{"trace.html trace.html", "got 2 arguments"},
		{"nowhere", "no such file"},
		{"trace.html --package com.example.maid", "it has no frame of com.example.maid"},
		{"trace.html --package com.example.mail --format sarif", "no findings for SARIF"},
		{"trace.html --package com.example.mail --format xml", "xml"},
		{"trace.html --package com.example.mail --html trace.html", "trace.html"},
		{"anr_1 --package com.example.maid", "it has the threads of com.example.mail"},
		{"anr_1 --mapping nowhere", "no such file"},
		{"anr_1 --open", "--open is for perfetto"},
		{"empty --package a.b", "it has no frame of any app, and is no dump of threads"},
		{"noise", "it has no frame of any app, and is no dump of threads"},
		{"noise --package a.b", "it has no frame of any app"},
		{"packets --package a.b", "it has no frame of any app"},
		{"cut.gz --package a.b", "unexpected EOF"},
	} {
		clitest.Refuses(t, clitest.Run(t, nil, append([]string{"diagnose"}, strings.Fields(c.args)...)...), c.want)
	}
}

// Files that are requested together with the link are written before the page is waited for.
func TestDiagnoseOpenWritesFilesFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "anr_1", dump)
	clitest.Refuses(t, clitest.Run(t, nil, "diagnose", "anr_1", "--open", "--html", "why.html"), "--open is for perfetto")
	html, err := os.ReadFile("why.html")
	if err != nil {
		t.Fatal(err)
	}
	says(t, "the page", string(html), "Who waited for whom")
}

// A package is needed only where several apps have frames: the system's parts are no such apps.
func TestTheOnlyAppIsMeant(t *testing.T) {
	text := filepath.Join(t.TempDir(), "trace.html")
	write(t, text, page(scroll()))
	// In 58 frames main runs 6.1 ms each, and RenderThread 3.7.
	says(t, "the only app", passes(t, text).Stdout, "App com.example.mail: 2 threads ran for", "1 of 58 frames late", "om.example.mail 354 ms", "RenderThread 215 ms")
	for _, c := range []struct {
		file    []string
		stdout  []string
		problem string
	}{
		{[]string{"perfetto", "nowinandroid_trace.perfetto-trace"}, []string{"App com.google.samples.apps.nowinandroid.demo ", "trace has frames of com.android.settings (67)"}, ""},
		{[]string{"perfetto", "api32_startup_warm.perfetto-trace"}, []string{"App androidx.benchmark.integration.macrobenchmark.target: ", "activityResume", "displayed"}, ""},
		{[]string{"systrace", "catapult_decompressed_atrace_data.txt"}, []string{"frames"}, ""},
		{[]string{"systrace", "catapult_compressed_atrace_data.txt"}, []string{"frames"}, ""},
		{[]string{"systrace", "catapult_android_systrace.txt"}, nil, "adb shell perfetto"},
	} {
		path := corpustest.Path(t, c.file...)
		if c.problem != "" {
			clitest.Refuses(t, clitest.Run(t, nil, "diagnose", path), c.problem)
			continue
		}
		says(t, path, passes(t, path).Stdout, c.stdout...)
	}
}

// A real trace in which the requested package has no frames.
func TestDiagnoseListsPackagesOfARealTrace(t *testing.T) {
	path := corpustest.Path(t, "perfetto", "nowinandroid_trace.perfetto-trace")
	const app = "com.google.samples.apps.nowinandroid.demo"
	clitest.Refuses(t, clitest.Run(t, nil, "diagnose", path, "--package", "com.example.mail"), "it has frames of "+app+" (", "com.android.settings (")
	got := passes(t, path, "--package", app)
	says(t, "the trace", got.Stdout, "Late frames: ", " frames late", "Late frame: ", "Usual frame: ", "scheduling was not recorded")
}

// Reading a large file shows its progress to a person.
func TestDiagnoseShowsProgressOfALargeFile(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := os.Create("large")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(101<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, nil, "diagnose", "large", "--package", "a.b")
	says(t, "to a log", got.Stderr, "reading large (106 MB)")
}
