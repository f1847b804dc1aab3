package phone

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace/simpleperf"
)

const perfFile = "/data/local/tmp/a.data"

// profiled plays the app's scenario under simpleperf and parses the recording.
func profiled(t *testing.T, p *Phone, options string) (profile *simpleperf.Profile, from, to time.Duration) {
	t.Helper()
	pid := strings.TrimSpace(output(t, p, "nohup simpleperf record --app com.example.still "+options+
		" --call-graph dwarf -o "+perfFile+" </dev/null >/data/local/tmp/a.log 2>&1 & echo $!"))
	pass(t, p, time.Second)
	has(t, output(t, p, "cat /data/local/tmp/a.log"), "Waiting for process of app com.example.still")
	from, to = play(t, p) // the process ends with the instrumentation, and the recording with it
	gone(t, p, pid)
	has(t, output(t, p, "cat /data/local/tmp/a.log"), "Samples recorded: ")
	profile, err := simpleperf.Read(bytes.NewReader([]byte(output(t, p, "cat "+perfFile))))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range profile.Warnings {
		t.Errorf("the reader doubts the recording: %s", w.Text)
	}
	return profile, from, to
}

// symbols counts the samples by innermost frame.
func symbols(p *simpleperf.Profile) map[string]int {
	out := map[string]int{}
	for _, s := range p.Samples {
		out[p.Frames[s.Chain[0]].Symbol]++
	}
	return out
}

func TestSamplesFollowTheCPUTime(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", hungry)
	got, from, to := profiled(t, p, "-e task-clock -f 1000 --clockid monotonic")
	truth := p.Truth(from, to)
	if got.Recorder != "simpleperf" || got.Clock != "monotonic" || got.Meta["app_package_name"] != "com.example.still" || got.Events[0].Name != "task-clock:u" {
		t.Errorf("recorder %q, clock %q, event %q, meta %v", got.Recorder, got.Clock, got.Events[0].Name, got.Meta)
	}
	// One sample for each millisecond of each thread.
	if n := len(got.Samples); math.Abs(float64(n)-float64(truth.CPU.Milliseconds())) > 3 {
		t.Errorf("%d samples of %v of CPU time", n, truth.CPU)
	}
	seen := symbols(got)
	for name, m := range truth.Methods {
		want := m.LocalCPU.Seconds() * 1000
		if math.Abs(float64(seen[name])-want) > 4*math.Sqrt(want)+3 {
			t.Errorf("%s has %d samples for %v of CPU time", name, seen[name], m.LocalCPU)
		}
	}
	if len(truth.Methods) != 3 {
		t.Errorf("the truth knows %d methods", len(truth.Methods))
	}
	threads := map[string]bool{}
	for _, s := range got.Samples {
		threads[got.Threads[s.Thread].Name] = true
		if s.Time < from || s.Time > to || s.Period != 1_000_000 {
			t.Fatalf("a sample at %v of period %d; the run went from %v to %v", s.Time, s.Period, from, to)
		}
		if outer := got.Frames[s.Chain[len(s.Chain)-1]].Symbol; outer != "__libc_init" && outer != "_ZL15__pthread_startPv" {
			t.Fatalf("a call chain begins in %q", outer)
		}
	}
	for name := range threads { // those that answer calls
		if strings.HasPrefix(name, "binder:") {
			delete(threads, name)
		}
	}
	if !threads["m.example.still"] || !threads["RenderThread"] || !threads["pool-2-thread-1"] || len(threads) != 3 {
		t.Errorf("samples are of threads %v", threads)
	}
}

func TestSamplesOfCompiledCode(t *testing.T) {
	kinds := func(compile bool) map[string]simpleperf.Kind {
		p := newPhone(t, "galaxy-s21-android-13", hungry+"method com.example.still.Old.loop 10% kind interpreted\n")
		if compile {
			if out := output(t, p, "cmd package compile -m speed -f com.example.still"); out != "Success\n" {
				t.Errorf("compile says %q", out)
			}
		}
		got, _, _ := profiled(t, p, "-e cpu-clock -f 500")
		out := map[string]simpleperf.Kind{}
		for _, f := range got.Frames {
			out[f.Symbol] = f.Kind
		}
		return out
	}
	before, after := kinds(false), kinds(true)
	const parse, decode = "com.example.still.Json.parse", "_ZN4feed6decodeEv"
	if before[parse] != simpleperf.JIT || after[parse] != simpleperf.AOT || before[decode] != simpleperf.Native || after[decode] != simpleperf.Native {
		t.Errorf("before compiling %s and %s, after it %s and %s", before[parse], before[decode], after[parse], after[decode])
	}
	const loop = "com.example.still.Old.loop"
	if before[loop] != simpleperf.Interpreted || after[loop] != simpleperf.AOT {
		t.Errorf("before compiling %s is %s, after it %s", loop, before[loop], after[loop])
	}
	if before["android.os.Looper.loop"] != simpleperf.AOT {
		t.Errorf("the framework's code is %q", before["android.os.Looper.loop"])
	}
}

func TestShortThreadsAreRarelySampled(t *testing.T) {
	short := still + "load 5ms after tap in a.B.c\nmethod a.B.c 0%\n"
	seen := 0
	p := newPhone(t, "pixel-7-android-14", short)
	for range 3 {
		got, _, _ := profiled(t, p, "-e task-clock -f 10")
		seen += symbols(got)["a.B.c"]
	}
	if seen > 1 { // 5 ms of a period of 100 ms: once in twenty
		t.Errorf("a thread of 5 ms was sampled %d times in 3 runs at 10 Hz", seen)
	}
}

func TestSimpleperfErrors(t *testing.T) {
	p := newPhone(t, "c1-go-android-11", still+"unprofileable\n")
	for line, want := range map[string]string{
		"simpleperf record --app com.example.still -e cpu-clock":  "isn't debuggable/profileable",
		"simpleperf record --app com.example.none -e cpu-clock":   "doesn't exist",
		"simpleperf record --app com.example.still -e task-clock": "Event type 'task-clock' is not supported",
		"simpleperf record --app com.example.still -e cpu-cycles": "Event type 'cpu-cycles' is not supported",
		"simpleperf record -e cpu-clock":                          "No threads to monitor",
		"simpleperf record --app com.example.still --wat":         "Unknown option for record command: '--wat'",
		"simpleperf record --clockid moon":                        "Invalid clockid: moon",
	} {
		if _, errs, code := run(t, p, line); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %q", line, code, errs)
		}
	}
	debug := newPhone(t, "pixel-7-android-14", still+"unprofileable\ndebuggable\n")
	has(t, output(t, debug, "dumpsys package com.example.still"), "flags=[ DEBUGGABLE ")
	if got, _, _ := profiled(t, debug, "-e task-clock -f 100"); len(got.Samples) == 0 {
		t.Error("a debug build can't be sampled")
	}
	old := newPhone(t, "moto-g5-android-7.0", still)
	if _, _, code := run(t, old, "simpleperf --version"); code != 127 {
		t.Errorf("Android 7 has a simpleperf of its own (exit code %d)", code)
	}
	put(t, old, "/data/local/tmp/simpleperf", "pushed")
	has(t, output(t, old, "/data/local/tmp/simpleperf --version"), "Simpleperf version")
}

func TestSimpleperfDuration(t *testing.T) {
	p := newPhone(t, "pixel-7-android-14", hungry)
	output(t, p, "am start -W com.example.still/.MainActivity")
	s := start(p, "simpleperf record --app com.example.still -e task-clock -f 100 --duration 2 -o "+perfFile)
	pass(t, p, 1900*time.Millisecond)
	has(t, output(t, p, "pidof simpleperf"), "2")
	if code := finish(t, p, s); code != 0 {
		t.Fatalf("simpleperf ends with %d: %s", code, s.err.String())
	}
	if !strings.HasPrefix(output(t, p, "cat "+perfFile), "PERFILE2") {
		t.Error("there is no recording")
	}
}
