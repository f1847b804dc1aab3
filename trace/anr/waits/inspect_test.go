package waits_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// An inspection of a whole dump: totals, states, the chain, and the head.
func TestInspect(t *testing.T) {
	text, err := os.ReadFile("testdata/cycle.txt")
	if err != nil {
		t.Fatal(err)
	}
	head := "RssKb: 211120\nVmSwapKb: 19256\n----- Output from /proc/pressure/io -----\nsome avg10=33.00 avg60=0 avg300=0 total=1\n----- End output from /proc/pressure/io -----\n" +
		"Load: 11.2 / 9.87 / 8.6\nCPU usage from 0ms to 8231ms later (a to b) with 99% awake:\n31% TOTAL: 20% user + 8.8% kernel + 2.2% iowait\n\n"
	seen, err := waits.Inspect(strings.NewReader(head + string(text) + "\noutgoing transaction 7: 0 from 1:1 to 2:2 code 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	d := seen.Details.(waits.Details)
	if len(d.Threads) != 3 || !d.Cycle || d.Threads[2].Next != 2 {
		t.Errorf("chain %+v", d.Threads)
	}
	if len(d.Cycles) != 1 || len(d.Cycles[0]) != 2 || d.Cycles[0][0].Name != "sync" || d.Cycles[0][1].Name != "index" || d.Cycles[0][0].Process != "com.example.mail" {
		t.Errorf("cycles %+v", d.Cycles)
	}
	if said := strings.Join(d.Summary(), "\n"); !strings.Contains(said, "deadlock: sync of com.example.mail waits for index of com.example.mail waits for sync of com.example.mail\n") {
		t.Errorf("in words: %s", said)
	}
	d.Threads, d.Cycles = nil, nil
	want := waits.Details{
		Form:    "android",
		Subject: "Input dispatching timed out (a1b2c3 com.example.mail/com.example.mail.InboxActivity is not responding. Waited 5001ms for MotionEvent).",
		Build:   "example/lab/phone:16/BP2A.250605.031/1:user/release-keys", Process: "com.example.mail", PID: 4100, Cycle: true, Transactions: 1,
		Processes: []waits.ProcessDetails{{PID: 4100, Name: "com.example.mail", Time: "2026-03-02 10:15:31.064728684+0100", Threads: 4, States: map[string]int{"Blocked": 3, "Waiting": 1}}},
		CPU:       []waits.CPUDetails{{ToMS: 8231, Later: true, Total: 31, IOWait: 2.2}}, Load: []float64{11.2, 9.87, 8.6}, RSSKB: 211120, SwapKB: 19256,
		Pressure: []waits.PressureShare{{Of: "io", Some: 33}},
	}
	if diff := cmp.Diff(want, d); diff != "" || len(seen.Warnings) > 0 || seen.Nothing {
		t.Errorf("nothing %v, warnings %v (-want +got)\n%s", seen.Nothing, seen.Warnings, diff)
	}
}

// A file without a process is reported as one without a dump.
func TestInspectOfNoDump(t *testing.T) {
	for _, text := range []string{"", "Subject: something\n", "hello\n"} {
		if seen, err := waits.Inspect(strings.NewReader(text)); err != nil || !seen.Nothing {
			t.Errorf("%q: nothing %v, %v", text, seen.Nothing, err)
		}
	}
}

// The warnings of the file are followed by those of the chain.
func TestInspectWarnings(t *testing.T) {
	seen, err := waits.Inspect(strings.NewReader("----- pid 9 at x -----\nCmd line: a\n\"sync\" prio=5 tid=4 Native\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.Warnings) != 2 || !strings.Contains(seen.Warnings[0].Text, "has no end") || !strings.Contains(seen.Warnings[1].Text, "the thread of process 9") {
		t.Errorf("warnings %v", seen.Warnings)
	}
	if lines := seen.Details.(waits.Details).Summary(); !slices.Equal(lines, []string{"process 9 a: 1 thread (1 Native)"}) {
		t.Errorf("said %q", lines)
	}
}

// The summary lists the details, shortened where there are many.
func TestSummary(t *testing.T) {
	d := waits.Details{
		Subject: "Input dispatching timed out", Process: "com.example", PID: 9,
		CPU: []waits.CPUDetails{{FromMS: 5, ToMS: 10, Total: 31, IOWait: 2.25}},
		Threads: []run.ANRThread{
			{Name: "main", State: "Blocked", Kind: "lock", WaitsFor: "lock a.B held by sync", Stack: slices.Repeat([]string{"a.b.c(A.java:1)"}, 10)},
			{Name: "sync", Process: "other", Kind: "running", Next: 1, Critical: true, Stack: slices.Repeat([]string{"a.b.c(A.java:1)"}, 8)},
		},
	}
	for pid := range 22 {
		d.Processes = append(d.Processes, waits.ProcessDetails{PID: pid, Name: "p", Threads: 3, States: map[string]int{"Native": 2, "Blocked": 1}})
	}
	want := append([]string{"subject: Input dispatching timed out"}, d.Summary()[1:21]...)
	want = append(want, "and 2 processes more", "CPUs from 5 to 10 ms: 31.0% used, 2.2% waiting for I/O", "waiting:",
		"  1. main of com.example, Blocked: lock a.B held by sync")
	want = append(want, slices.Repeat([]string{"       a.b.c(A.java:1)"}, 8)...)
	want = append(want, "       and 2 lines more", "  2. sync of other: running, which is thread 1 (critical)")
	want = append(want, slices.Repeat([]string{"       a.b.c(A.java:1)"}, 8)...)
	if diff := cmp.Diff(want, d.Summary()); diff != "" || d.Summary()[1] != "p: 3 threads (2 Native and 1 Blocked)" {
		t.Errorf("(-want +got)\n%s\n%s", diff, d.Summary()[1])
	}
	if d.Summary()[2] != "process 1 p: 3 threads (2 Native and 1 Blocked)" {
		t.Errorf("said %q", d.Summary()[2])
	}
	if nobody := (waits.Details{PID: 9, Threads: []run.ANRThread{{Name: "main", Kind: "idle"}}}).Summary(); !slices.Equal(nobody, []string{"waiting:", "  1. main of process 9: idle"}) {
		t.Errorf("said %q", nobody)
	}
}

// FuzzInspect tests that no text makes the graph panic, loop for ever, or return a chain that no
// record can store.
func FuzzInspect(f *testing.F) {
	for _, name := range []string{"cycle.txt", "binder.txt", "dalvik.txt", "watchdog.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("----- pid 9 at x -----\n\"main\" prio=5 tid=1 Native\n  native: #00 pc 1  /libc.so (syscall+28)\n  native: #01 pc 1  /egl/lib.so (glDrawArrays+4)\n  at android.os.MessageQueue.nativePollOnce(Native method)\n\n\"b\" prio=5 tid=2 Waiting\n  at android.os.Debug.waitForDebugger(Debug.java:1)\n  at a.B$Stub.onTransact(B.java:1)\n----- end 9 -----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		seen, err := waits.Inspect(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		d := seen.Details.(waits.Details)
		if len(d.Cycles) > waits.MaxCycles {
			t.Fatalf("%d cycles", len(d.Cycles))
		}
		if len(d.Threads) > run.MaxANRThreads {
			t.Fatalf("%d threads, a record holds %d", len(d.Threads), run.MaxANRThreads)
		}
		for i, th := range d.Threads {
			if th.Next > len(d.Threads) || th.Kind == "" || len(th.Stack) > run.MaxStack || !utf8.ValidString(th.Name+th.WaitsFor) {
				t.Fatalf("thread %d: %+v", i, th)
			}
		}
		d.Summary()
	})
}
