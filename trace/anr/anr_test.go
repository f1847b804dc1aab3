package anr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr"
)

func read(t *testing.T, text string) anr.Dump {
	t.Helper()
	d, err := anr.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// thread returns the only thread of a dump.
func thread(t *testing.T, text string) anr.Thread {
	t.Helper()
	d := read(t, text)
	if len(d.Processes) != 1 || len(d.Processes[0].Threads) != 1 {
		t.Fatalf("read %+v", d.Processes)
	}
	return d.Processes[0].Threads[0]
}

// The first lines of a thread in each format that Android has had.
func TestThreads(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want anr.Thread
	}{
		"ART": {
			"\"main\" prio=5 tid=1 Blocked\n  | group=\"main\" sCount=1 ucsCount=0 flags=1 obj=0x72a985e0 self=0xb400007cabc57380\n" +
				"  | sysTid=28941 nice=-10 cgrp=top-app sched=0/0 handle=0x7deceb74f8\n  | state=S schedstat=( 324804784 183300334 997 ) utm=23 stm=8 core=3 HZ=100\n" +
				"  | stack=0x7ff93a9000-0x7ff93ab000 stackSize=8188KB\n  | held mutexes= \"mutator lock\"(shared held)",
			anr.Thread{Name: "main", Line: 1, VMTID: 1, TID: 28941, Object: 0x72a985e0, Priority: 5, Nice: -10, State: "Blocked", Kernel: "S", User: 23, System: 8, Ran: 324804784, Queued: 183300334, Core: 3, Group: "top-app", Mutexes: `"mutator lock"(shared held)`},
		},
		"a daemon that starts":     {"\"Fin\" daemon prio=6 tid=0 Native (still starting up)", anr.Thread{Name: "Fin", Line: 1, Daemon: true, Priority: 6, State: "Native", Core: -1}},
		"not attached":             {"\"binder:1_4\" prio=5 (not attached)\n  | sysTid=9 nice=0 cgrp=default", anr.Thread{Name: "binder:1_4", Line: 1, Priority: 5, TID: 9, Group: "default", Core: -1}},
		"native":                   {"\"RenderThread\" sysTid=9997", anr.Thread{Name: "RenderThread", Line: 1, TID: 9997, Core: -1}},
		"a name with quotes":       {"\"a \"b\" prio=5 c\" prio=5 tid=7 Native", anr.Thread{Name: `a "b" prio=5 c`, Line: 1, Priority: 5, VMTID: 7, State: "Native", Core: -1}},
		"Dalvik":                   {"\"Binder_1\" prio=5 tid=8 NATIVE\n  | schedstat=( 12 3 4 ) utm=1 stm=2 core=0", anr.Thread{Name: "Binder_1", Line: 1, Priority: 5, VMTID: 8, State: "NATIVE", User: 1, System: 2, Ran: 12, Queued: 3}},
		"debuggerd's":              {"pid: 12, tid: 15, name: Thread-2  >>> com.example <<<", anr.Thread{Name: "Thread-2", Line: 1, TID: 15, Core: -1}},
		"a stack not to be walked": {"\"x\" sysTid=5\n  native: (backtrace::Unwind failed for thread 5: Thread doesn't exist)", anr.Thread{Name: "x", Line: 1, TID: 5, Core: -1, Unread: true}},
		"a name that is no UTF-8":  {"\"\xff\" sysTid=5", anr.Thread{Name: "\uFFFD", Line: 1, TID: 5, Core: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, thread(t, test.text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Frames are parsed, and printed as in the dump.
func TestFrames(t *testing.T) {
	for text, want := range map[string]anr.Frame{
		"at android.os.Looper.loop(Looper.java:294)":                 {Kind: anr.Java, Name: "android.os.Looper.loop", File: "Looper.java", Line: 294},
		"at java.lang.Object.wait!(Native method)":                   {Kind: anr.Java, Name: "java.lang.Object.wait", Line: -2},
		"at java.lang.VMThread.sleep(Native Method)":                 {Kind: anr.Java, Name: "java.lang.VMThread.sleep", Line: -2},
		"at a.b.c(Foo.java:~20)":                                     {Kind: anr.Java, Name: "a.b.c", File: "Foo.java", Line: 20},
		"at a.b.c(SourceFile)":                                       {Kind: anr.Java, Name: "a.b.c", File: "SourceFile"},
		"at a.b$$ExternalSyntheticLambda0.run(R8$$SyntheticClass:0)": {Kind: anr.Java, Name: "a.b$$ExternalSyntheticLambda0.run", File: "R8$$SyntheticClass"},
		"kernel: binder_thread_read+0x36c/0xda1":                     {Kind: anr.Kernel, Name: "binder_thread_read", Offset: 0x36c},
		"kernel: [<0>] do_epoll_wait+0x10/0x20":                      {Kind: anr.Kernel, Name: "do_epoll_wait", Offset: 0x10},
		"native: #03 pc 00045247  /system/lib/libbinder.so (android::IPCThreadState::talkWithDriver(bool)+391)": {Kind: anr.Native, Name: "android::IPCThreadState::talkWithDriver(bool)", Library: "/system/lib/libbinder.so", PC: 0x45247, Offset: 391},
		"#01  pc 00017d08  /system/lib/libc.so":                                                                            {Kind: anr.Native, Library: "/system/lib/libc.so", PC: 0x17d08},
		"#00 pc 000000000004df5c  /apex/a/libc.so (syscall+28) (BuildId: 01331f74)":                                        {Kind: anr.Native, Name: "syscall", Library: "/apex/a/libc.so", BuildID: "01331f74", PC: 0x4df5c, Offset: 28},
		"native: #05 pc 000000000200f05c  /memfd:jit-cache (deleted) (offset 0x2000000) (android.os.Looper.loop+476)":      {Kind: anr.Native, Name: "android.os.Looper.loop", Library: "/memfd:jit-cache", PC: 0x200f05c, Offset: 476},
		"#14 pc 00000000000306f0  [anon:dalvik-classes16.dex extracted in memory from /data/app/a==/base.apk!classes.dex]": {Kind: anr.Native, Library: "[anon:dalvik-classes16.dex extracted in memory from /data/app/a==/base.apk!classes.dex]", PC: 0x306f0},
		"#03 pc 3f998  /data/app/base.apk (offset 3000) (???) (BuildId: bb4e)":                                             {Kind: anr.Native, Library: "/data/app/base.apk", BuildID: "bb4e", PC: 0x3f998},
		"#19 pc 22258c  /system/lib64/libart.so (BuildId: e6c6)":                                                           {Kind: anr.Native, Library: "/system/lib64/libart.so", BuildID: "e6c6", PC: 0x22258c},
		"#01 pc 10  /a/libx.so ((anonymous namespace)::run(void (*)(int))+4)":                                              {Kind: anr.Native, Name: "(anonymous namespace)::run(void (*)(int))", Library: "/a/libx.so", PC: 0x10, Offset: 4},
		"#00 pc 10  (foo+4)":                    {Kind: anr.Native, Name: "foo", PC: 0x10, Offset: 4},
		"#01 pc 10  /memfd:jit-cache (deleted)": {Kind: anr.Native, Library: "/memfd:jit-cache", PC: 0x10},
	} {
		got := thread(t, "\"main\" sysTid=1\n  "+text)
		if diff := cmp.Diff([]anr.Frame{want}, got.Frames); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
			continue
		}
		// A printed frame parses to the same frame, apart from a file without a line number.
		again := thread(t, "\"main\" sysTid=1\n  "+asLine(got.Frames[0]))
		if want.Kind != anr.Kernel {
			if diff := cmp.Diff(got.Frames, again.Frames); diff != "" {
				t.Errorf("%s: read again (-first +second)\n%s", text, diff)
			}
		}
	}
}

// asLine formats a frame as a line of a dump.
func asLine(f anr.Frame) string {
	if f.Kind == anr.Java {
		return "at " + f.String()
	}
	return strings.Replace(f.String(), "native: pc", "native: #00 pc", 1)
}

// Locks are parsed, and printed as in the dump.
func TestLocks(t *testing.T) {
	for text, want := range map[string]anr.Lock{
		"locked <0x0d3a2f0a> (a java.lang.Object)":                             {Kind: anr.Held, ID: "0x0d3a2f0a", Class: "java.lang.Object"},
		"waiting to lock <0x0d3a2f0a> (a java.lang.Object) held by thread 5":   {Kind: anr.Wanted, ID: "0x0d3a2f0a", Class: "java.lang.Object", Owner: 5},
		"waiting on <@addr=0x13782c90> (a java.lang.Class<com.example.Store>)": {Kind: anr.WaitedOn, ID: "@addr=0x13782c90", Class: "java.lang.Class<com.example.Store>"},
		"sleeping on <0x09228c2d> (a java.lang.Object)":                        {Kind: anr.SleptOn, ID: "0x09228c2d", Class: "java.lang.Object"},
		"waiting to lock an unknown object":                                    {Kind: anr.Wanted},
	} {
		got := thread(t, "\"main\" sysTid=1\n  at a.b.c(A.java:1)\n  - "+text)
		if diff := cmp.Diff([]anr.Lock{want}, got.Locks); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
		if lines, at := got.Stack(10, 0); len(lines) != 2 || lines[1] != "- "+text || at != 0 {
			t.Errorf("%s: printed as %q", text, lines)
		}
	}
	for text, owner := range map[string]int{"held by tid=12 (worker)": 12, "held by threadid=9 (a b)": 9, "held by thread 7": 7, "held by nobody": 0} {
		if got := thread(t, "\"main\" sysTid=1\n  - waiting to lock <0x41b2e6f8> (a a.B) "+text); got.Locks[0].Owner != owner || got.Locks[0].Frame != -1 {
			t.Errorf("%s: read %+v", text, got.Locks)
		}
	}
}

// A stack is limited to a number of lines, with each lock at its frame.
func TestStacks(t *testing.T) {
	th := thread(t, "\"main\" sysTid=1\n  - locked <0x1> (a a.A)\n  at a.a.a(A.java:1)\n  - locked <0x2> (a a.B)\n  - locked <0x3> (a a.C)\n  at b.b.b(B.java:2)\n")
	want := []string{"- locked <0x1> (a a.A)", "a.a.a(A.java:1)", "- locked <0x2> (a a.B)", "- locked <0x3> (a a.C)", "b.b.b(B.java:2)"}
	for _, test := range []struct{ most, frame, lines, at int }{{9, 0, 5, 1}, {9, 1, 5, 4}, {5, 1, 5, 4}, {4, 1, 4, -1}, {3, 0, 3, 1}, {2, 0, 2, 1}, {1, 0, 1, -1}, {0, 0, 0, -1}, {9, -1, 5, -1}} {
		lines, at := th.Stack(test.most, test.frame)
		if diff := cmp.Diff(want[:test.lines], lines, cmpopts.EquateEmpty()); diff != "" || at != test.at {
			t.Errorf("%+v: at %d (-want +got)\n%s", test, at, diff)
		}
	}
}

// The lines around the processes: an entry of the drop box, with CPU times and pressure.
func TestHead(t *testing.T) {
	d := read(t, `Process: com.example.mail
PID: 4100
Flags: 0x20d83e44
Package: com.example.mail v12 (1.2)
Foreground: Yes
Activity: com.example.mail/.InboxActivity
Subject: Input dispatching timed out (Waited 5001ms for MotionEvent)
Build: example/lab/phone:16/1:user/release-keys
RssHwmKb: 249844
RssKb: 211120
VmSwapKb: 19256

----- Output from /proc/pressure/memory -----
some avg10=1.52 avg60=0.21 avg300=0.05 total=1503288
full avg10=0.26 avg60=0.11 avg300=0.01 total=603288
----- End output from /proc/pressure/memory -----
----- Output from /proc/pressure/io -----
some avg10=33.00 avg60=0.21 avg300=0.05 total=1503288
----- End output from /proc/pressure/io -----
Load: 11.2 / 9.87 / 8.6

CPU usage from 0ms to 8231ms later (2026-03-02 10:15:31.064 to 2026-03-02 10:15:39.295) with 99% awake:
  99% 4100/com.example.mail: 88% user + 11% kernel / faults: 1203 minor 5 major
    54% 4131/binder:4100_2: 50% user + 4% kernel
  1.5% 12/kworker/u16:3-events: 0% user + 1.5% kernel
 +0% 4999/sh: 0% user + 0% kernel
31% TOTAL: 20% user + 8.1% kernel + 2.2% iowait + 0.1% irq + 0.3% softirq
CPU usage from 12410ms to 0ms ago (2026-03-02 10:15:18 to 2026-03-02 10:15:31):
5% TOTAL: 3% user + 2% kernel

----- pid 4100 at 2026-03-02 10:15:31.064728684+0100 -----
Cmd line: com.example.mail
Heap: 37% free, 10215KB/15MB; 186022 objects
DALVIK THREADS (1):
"main" prio=5 tid=1 Runnable
  at a.b.c(A.java:1)

----- end 4100 -----
`)
	want := anr.Dump{
		Form: anr.Android, Parts: []string{""},
		Subject: "Input dispatching timed out (Waited 5001ms for MotionEvent)", Process: "com.example.mail", Package: "com.example.mail", PID: 4100,
		Build: "example/lab/phone:16/1:user/release-keys", Load: []float64{11.2, 9.87, 8.6}, Memory: anr.Memory{RSS: 211120, RSSPeak: 249844, Swap: 19256},
		Pressure: []anr.Pressure{{Of: "memory", Some: 1.52, Full: 0.26}, {Of: "io", Some: 33}}, Recognized: true,
		CPU: []anr.CPU{
			{
				ToMS: 8231, Later: true, Total: anr.Usage{Name: "TOTAL", Percent: 31, User: 20, System: 8.1, IOWait: 2.2, IRQ: 0.1, SoftIRQ: 0.3},
				Top: []anr.Usage{
					{PID: 4100, Name: "com.example.mail", Percent: 99, User: 88, System: 11, MinorFaults: 1203, MajorFaults: 5},
					{PID: 12, Name: "kworker/u16:3-events", Percent: 1.5, System: 1.5}, {PID: 4999, Name: "sh"},
				},
			},
			{FromMS: 12410, Total: anr.Usage{Name: "TOTAL", Percent: 5, User: 3, System: 2}},
		},
		Processes: []anr.Process{{
			PID: 4100, Name: "com.example.mail", Time: "2026-03-02 10:15:31.064728684+0100", Line: 31, Stated: 1,
			Heap:    &anr.Heap{FreePercent: 37, Used: 10215 << 10, Size: 15 << 20, Objects: 186022},
			Threads: []anr.Thread{{Name: "main", Line: 35, VMTID: 1, Priority: 5, State: "Runnable", Core: -1, Frames: []anr.Frame{{Kind: anr.Java, Name: "a.b.c", File: "A.java", Line: 1}}}},
		}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A repeated value counts once, and an impossible one is ignored.
func TestReadRejectsImpossibleHeads(t *testing.T) {
	d := read(t, "Process: a\nANR in b (b/.Main)\nPID: 5\nPID: 6\nPID: x\nSubject: s\nReason: r\nPackage: p v1\nPackage: q\nBuild: x\nBuild fingerprint: 'y'\n"+
		"RssKb: -5\nRssHwmKb: x\nVmSwapKb: 3\nsome avg10=5.00 avg60=1\nLoad: 1 / x / 2\nLoad: -1 / 2 / 3\nLoad: 1 / 2 / NaN\nLoad: 1 / 2 / 3 / 4\nLoad: 3 / 2 / 1\nLoad: 1 / 1 / 1\n"+
		"CPU usage from xms to 5ms later:\n1% TOTAL: 1% user\nCPU usage from 1ms to x later:\nCPU usage from 0ms to 5ms later:\n"+
		"  x% 5/a: 1% user\n  1e9% 5/a: 1% user\n  NaN% 5/a: 1% user\n  5% no colon\n  7% 5/TOTAL: x% user + 2% kernel + 3% other / faults: x minor 4 major\n----- Output from /proc/pressure/cpu -----\nsome avg10=x\nfull avg10=-1 a\nfull avg10=2 a\n")
	want := anr.Dump{
		Process: "a", PID: 5, Package: "p", Subject: "s", Build: "x", Recognized: true, Memory: anr.Memory{Swap: 3}, Load: []float64{3, 2, 1},
		CPU:      []anr.CPU{{ToMS: 5, Later: true, Top: []anr.Usage{{PID: 5, Name: "TOTAL", Percent: 7, System: 2, MajorFaults: 4}}}},
		Pressure: []anr.Pressure{{Of: "cpu", Full: 2}},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for text, want := range map[string]*anr.Heap{
		"42% free, 5MB/9MB; 109888 objects": {FreePercent: 42, Used: 5 << 20, Size: 9 << 20, Objects: 109888}, "0% free, 1023B/2GB; 0 objects": {Used: 1023, Size: 2 << 30},
		"42% free, 5MB/0MB; 1 objects": nil, "42% free, xMB/9MB": nil, "42% free, 5MB": nil, "42% free, 5/9MB": nil, "nothing": nil,
	} {
		p := read(t, "----- pid 9 at x -----\nHeap: "+text+"\nHeap: 1% free, 1MB/2MB; 3 objects\n----- end 9 -----\n").Processes[0]
		if want == nil {
			want = &anr.Heap{FreePercent: 1, Used: 1 << 20, Size: 2 << 20, Objects: 3} // the next line
		}
		if diff := cmp.Diff(want, p.Heap); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}

// Exports of consoles that collect ANRs: Google Play begins a thread with two lines, with a blank
// one among them, Firebase with one in a format of its own.
func TestExports(t *testing.T) {
	want := []anr.Thread{
		{
			Name: "main", VMTID: 1, State: "Native", Core: -1,
			Frames: []anr.Frame{
				{Kind: anr.Native, Name: "syscall", Library: "libc.so", BuildID: "f24f", PC: 0xc8b38, Offset: 28},
				{Kind: anr.Native, Library: "split_config.arm64_v8a.apk", PC: 0xe8aac},
				{Kind: anr.Java, Name: "android.os.MessageQueue.nativePollOnce", Line: -2},
			},
		},
		{
			Name: "Worker (1)", VMTID: 7, State: "TimedWaiting", Core: -1,
			Frames: []anr.Frame{{Kind: anr.Java, Name: "java.lang.Object.wait", Line: -2}},
			Locks:  []anr.Lock{{Kind: anr.Wanted, ID: "0x0a71", Class: "com.example.q", Owner: 12}},
		},
	}
	for name, text := range map[string]string{
		"Google Play": "\"main\" tid=1 Native\n\"main\" tid=1 Native\n \n  #00  pc 0x00000000000c8b38  libc.so (syscall+28) (BuildId: f24f)\n  #01  pc 0xe8aac  split_config.arm64_v8a.apk\n  at android.os.MessageQueue.nativePollOnce (Native method)\n" +
			"\"Worker (1)\" tid=7 TimedWaiting\n- waiting to lock <0x0a71> (a com.example.q) held by thread 12\n  at java.lang.Object.wait (Native method)\n",
		"Firebase": "# Crashlytics -\n# Application: com.example.app\n\nmain (native):tid=1 systid=0 \n#00 pc 0xc8b38 libc.so (syscall + 28) (BuildId: f24f)\n#01 pc 0xe8aac split_config.arm64_v8a.apk + 22343680\n       at android.os.MessageQueue.nativePollOnce(Native Method)\n\n" +
			"Worker (1) (timed waiting):tid=7 systid=0 | waiting to lock <0x0a71> (com.example.q) held by thread 12\n       at java.lang.Object.wait(Native Method)\n",
	} {
		d := read(t, text)
		if len(d.Processes) != 1 || len(d.Warnings) > 0 {
			t.Fatalf("%s: read %+v", name, d)
		}
		got := d.Processes[0].Threads
		for i := range got {
			got[i].Line = 0
			for j := range got[i].Locks {
				got[i].Locks[j].Frame = 0
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	for _, text := range []string{"a (b):tid=1", "a (b):tid=x systid=1 ", "a b):tid=1 systid=1", "a (b):tid=1 systid=x"} {
		if d := read(t, text); len(d.Processes) > 0 {
			t.Errorf("%q is no thread: %+v", text, d.Processes)
		}
	}
}

// Lines after a thread without frames and a blank line do not belong to the thread.
func TestReadThreadsWithoutFrames(t *testing.T) {
	d := read(t, "\"a\" sysTid=5\n\nsomething else\n\"b\" sysTid=6\n#00 pc 1  /a (b+1)\n\nsomething else\n\"c\" prio=5 tid=3 Native\n\"c\" prio=5 tid=4 Native\n\"d\" sysTid=8\n\"d\" sysTid=9\n")
	if n := len(d.Processes[0].Threads); n != 6 || len(d.Warnings) > 0 {
		t.Errorf("%d threads, %v", n, d.Warnings)
	}
	if d := read(t, "\"a\" sysTid=5\nsomething else\n"); len(d.Warnings) != 2 {
		t.Errorf("lines of a thread are attributed elsewhere: %v", d.Warnings)
	}
}

// debuggerd's output for two processes: the first line of each thread names both.
func TestTombstones(t *testing.T) {
	d := read(t, "pid: 12, tid: 12, name: main  >>> com.example --arg <<<\nuid: 10123\n    x0  0000\n\nbacktrace:\n      #00 pc 10  /a (b+1)\n      #01 pc 11  /a (c+1)\n\nstack:\n    #00  0000007f\n\npid: 12, tid: 15, name: Thread-2  >>> other <<<\n#00 pc 10  /a (b+1)\n\npid: 13, tid: 13, name: x\n")
	var got []string
	for _, p := range d.Processes {
		for _, th := range p.Threads {
			got = append(got, fmt.Sprintf("%d %s/%d %s %d", p.PID, p.Name, th.TID, th.Name, len(th.Frames)))
		}
	}
	if want := "12 com.example/12 main 2|12 com.example/15 Thread-2 1|13 /13 x 0"; strings.Join(got, "|") != want || len(d.Warnings) > 0 {
		t.Errorf("read %q, %v", got, d.Warnings)
	}
}

// The kernel's lists of transactions, of several versions, between other lines.
func TestTransactions(t *testing.T) {
	d := read(t, `proc 4100
context binder
  thread 4100: l 12 need_return 0 tr 0
    outgoing transaction 9001: 0000000000000000 from 4100:4100 to 5200:5210 code 1f flags 10 pri 0:120 r1 elapsed 8020ms
    incoming transaction 9002: ffffffc0 from 5200:5210 to 4100:4100 code 2 flags 10 pri 10 r1 node 7 size 88:0 data ffffff80
  pending async transaction 9100: 0000000000000000 from 0:0 to 5200:0 code 8 elapsed 12ms flags 11 pri 0 r0 node 5 size 88:0 offset 0
  pending transaction 9101: 0000000000000000 from 77:78 to 5200:0 code 8 flags 10 pri 0:120 r1
    outgoing transaction 9: nothing of it
    outgoing transaction x: 0 from 1:1 to 2:2
    outgoing transaction 9: 0 from 1:x to 2:2
    outgoing transaction 9: 0 from x:1 to 2:2
    outgoing transaction 9: 0 from 1:1
  buffer 12: 0 size 8:0:0 active
`)
	want := []anr.Transaction{
		{Place: anr.Outgoing, ID: 9001, FromPID: 4100, FromTID: 4100, ToPID: 5200, ToTID: 5210, Code: 0x1f, ElapsedMS: 8020, Line: 4},
		{Place: anr.Incoming, ID: 9002, FromPID: 5200, FromTID: 5210, ToPID: 4100, ToTID: 4100, Code: 2, ElapsedMS: -1, Line: 5},
		{Place: anr.Pending, ID: 9100, ToPID: 5200, Code: 8, OneWay: true, ElapsedMS: 12, Line: 6},
		{Place: anr.Pending, ID: 9101, FromPID: 77, FromTID: 78, ToPID: 5200, Code: 8, ElapsedMS: -1, Line: 7},
	}
	if diff := cmp.Diff(want, d.Binder); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !d.Recognized {
		t.Error("a list of calls is a part of a dump")
	}
}

// Waiting channels are in a list of their own, before or after the threads, and the last list
// counts.
func TestWaitingChannels(t *testing.T) {
	list := func(in string) string {
		return "----- Waiting Channels: pid 9 at 2026-03-02 -----\nCmd line: a\n\nsysTid=9      " + in + "\nsysTid=10     pipe_read\n\n----- end 9 -----\n\n"
	}
	d := read(t, list("first")+"----- pid 9 at 2026-03-02 -----\nCmd line: a\n\n\"main\" sysTid=9\n\n----- end 9 -----\n\n"+list("futex_wait"))
	if len(d.Processes) != 1 || d.Processes[0].Name != "a" || d.Processes[0].Threads[0].Channel != "futex_wait" || d.Cut {
		t.Errorf("read %+v", d)
	}
	alone := read(t, list("futex_wait"))
	if len(alone.Processes) != 1 || alone.Processes[0].Name != "a" || len(alone.Processes[0].Threads) != 2 {
		t.Fatalf("read %+v", alone.Processes)
	}
	if second := alone.Processes[0].Threads[1]; second.TID != 10 || second.Channel != "pipe_read" {
		t.Errorf("read %+v", second)
	}
}

// warned joins the texts of warnings.
func warned(d anr.Dump) string {
	var out []string
	for _, w := range d.Warnings {
		out = append(out, w.String())
	}
	return strings.Join(out, "; ")
}

// Truncated and unknown text is a warning, and what surrounds it is kept.
func TestDoubts(t *testing.T) {
	const whole = "----- pid 9 at 2026-03-02 -----\nCmd line: a\nDALVIK THREADS (1):\n\"main\" prio=5 tid=1 Native\n  at a.b.c(A.java:1)\n  at d.e.f(B.java:2)\n\n----- end 9 -----\n"
	for name, test := range map[string]struct {
		text, want string
		cut        bool
		frames     int
	}{
		"whole":                      {whole, "", false, 2},
		"without an end":             {whole[:strings.Index(whole, "\n\n")], "line 1: process 9 has no end: it is cut off, and its last threads and frames may be missing", true, 2},
		"cut in a frame":             {whole[:strings.Index(whole, "(B")+3], `line 6: a line of thread "main" is not understood: "d.e.f(B."; line 1: process 9 has no end: it is cut off, and its last threads and frames may be missing; 1 line of a thread is not understood`, true, 2},
		"fewer threads than stated":  {strings.Replace(whole, "(1)", "(3)", 1), "line 1: the dump states that process 9 has 3 Java threads, and 1 are there", false, 2},
		"garbage in a thread":        {strings.Replace(whole, "  at d", "  \x00?? d", 1), `line 6: a line of thread "main" is not understood: "\x00?? d.e.f(B.java:2)"; 1 line of a thread is not understood`, false, 1},
		"another in its middle":      {strings.Replace(whole, "\n\n----- end 9 -----", "\n"+whole, 1), "line 1: process 9 has no end: it is cut off, and its last threads and frames may be missing", false, 2},
		"a frame without an address": {strings.Replace(whole, "at d.e.f(B.java:2)", "#00 pc zz  /a", 1), `line 6: a line of thread "main" is not understood: "#00 pc zz  /a"; 1 line of a thread is not understood`, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := read(t, test.text)
			if got := warned(d); got != test.want || d.Cut != test.cut {
				t.Errorf("cut %v, %s\nwant %v, %s", d.Cut, got, test.cut, test.want)
			}
			if frames := len(d.Processes[0].Threads[0].Frames); frames != test.frames {
				t.Errorf("%d frames, want %d", frames, test.frames)
			}
		})
	}
}

// Text that is no dump yields none, and no error.
func TestReadTextThatIsNoDump(t *testing.T) {
	for _, text := range []string{"", "\n\n", "hello\nworld 5% of: it\n", "\"quoted\" text\n", "pid: x, tid: 5\n", "pid: 5, tid: x, name: a\n", "----- pid  at x -----\n", "----- pid 9999999999 at x -----\n"} {
		if d := read(t, text); d.Recognized || len(d.Processes) > 0 {
			t.Errorf("%q: read %+v", text, d)
		}
	}
}

// Where a dump exceeds a limit, the first entries are kept and the loss is a warning.
func TestLimits(t *testing.T) {
	deep := read(t, "\"main\" sysTid=1\n"+strings.Repeat("  at a.b.c(A.java:1)\n", anr.MaxStack+3))
	if n := len(deep.Processes[0].Threads[0].Frames); n != anr.MaxStack || !strings.Contains(warned(deep), "3 frames are not kept") {
		t.Errorf("%d frames, %s", n, warned(deep))
	}
	many := read(t, strings.Repeat("\"main\" sysTid=1\n  at a.b.c(A.java:1)\n", anr.MaxThreads+2))
	if n := len(many.Processes[0].Threads); n != anr.MaxThreads || !strings.Contains(warned(many), "2 threads are not kept") {
		t.Errorf("%d threads, %s", n, warned(many))
	}
	processes := read(t, strings.Repeat("----- pid 9 at 2026 -----\n\"main\" sysTid=1\n----- end 9 -----\n", anr.MaxProcesses+1))
	if n := len(processes.Processes); n != anr.MaxProcesses || !strings.Contains(warned(processes), "1 process is not kept") {
		t.Errorf("%d processes, %s", n, warned(processes))
	}
	long := read(t, "\"main\" sysTid=1\n  at a."+strings.Repeat("b", 5000)+".c(A.java:1)\n")
	if n := len(long.Processes[0].Threads[0].Frames[0].Name); n != 2000 || !strings.Contains(warned(long), "1 name is cut or left out") {
		t.Errorf("a name of %d bytes, %s", n, warned(long))
	}
	line := read(t, "\"main\" sysTid=1\n  at "+strings.Repeat("b", trace.MaxLine)+"(A.java:1)\n  at a.b.c(A.java:1)\n")
	if frames := line.Processes[0].Threads[0].Frames; len(frames) != 1 || !strings.Contains(warned(line), "line 2: the line is longer than") {
		t.Errorf("%d frames, %s", len(frames), warned(line))
	}
}

// Every real dump is read completely: each line of a thread is parsed, and there are as many
// threads as the dump states, except for one in which the runtime lost a thread.
func TestRealDumps(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpustest.Path(t, "anr"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	doubts := map[string]string{
		"newrelic_ApplicationExitInfo.trace.txt":   "line 2: the dump states that process 4473 has 33 Java threads, and 32 are there",
		"newrelic_traceThreads.txt":                "line 1: the dump states that process 4473 has 33 Java threads, and 32 are there",
		"sentry_thread_dump_no_stacktrace.txt":     "line 2: process 12345 has no end: it is cut off, and its last threads and frames may be missing",
		"sentry_thread_dump_process_name_main.txt": "line 2: process 12345 has no end: it is cut off, and its last threads and frames may be missing",
	}
	for _, path := range paths {
		name := filepath.Base(path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := read(t, string(text))
		if got := warned(d); got != doubts[name] || !d.Recognized {
			t.Errorf("%s: recognized %v, %q, want %q", name, d.Recognized, got, doubts[name])
		}
		frames, threads := 0, 0
		for _, p := range d.Processes {
			threads += len(p.Threads)
			for _, th := range p.Threads {
				frames += len(th.Frames)
			}
		}
		if want := countLines(string(text), "\""); threads != want {
			t.Errorf("%s: %d threads, the file has %d", name, threads, want)
		}
		if want := countLines(string(text), "at ", "native: #", "#", "kernel: "); frames != want {
			t.Errorf("%s: %d frames, the file has %d", name, frames, want)
		}
	}
}

// countLines counts the lines of a dump that begin a thread or a frame, apart from those that list
// class loaders or state that there is no stack.
func countLines(text string, begins ...string) (n int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, b := range begins {
			loader := b == "#" && !strings.Contains(line, " pc ")
			none := strings.HasPrefix(line, "kernel: (")
			if strings.HasPrefix(line, b) && !loader && !none {
				n++
				break
			}
		}
	}
	return n
}

// FuzzRead tests that no text makes the reader panic, exceed its limits, or return texts that no
// record can store.
func FuzzRead(f *testing.F) {
	f.Add([]byte("----- pid 9 at 2026-03-02 -----\nCmd line: a\nDALVIK THREADS (1):\n\"main\" prio=5 tid=1 Native\n  | state=S schedstat=( 1 2 3 ) utm=1\n  native: #00 pc 12  /a (b(c)+4) (BuildId: 5)\n  kernel: a+0x1/0x2\n  at a.b.c(A.java:1)\n  - waiting to lock <0x1> (a b) held by thread 5\n----- end 9 -----\n"))
	f.Add([]byte("Subject: Blocked in handler on a (b)\nCPU usage from 0ms to 5ms later:\n  1% 2/a: 1% user + 0% kernel / faults: 1 minor\n31% TOTAL: 1% user\nLoad: 1 / 2 / 3\n"))
	f.Add([]byte("  outgoing transaction 1: 0 from 1:2 to 3:4 code 5 flags 10 pri 0 r1 elapsed 5ms\n"))
	f.Add([]byte("pid: 1, tid: 2, name: a  >>> b <<<\n#00  pc 00017d08  /system/lib/libc.so (deleted)\n"))
	f.Add([]byte("----- Waiting Channels: pid 9 at x -----\nsysTid=9 a\n----- Output from /proc/pressure/io -----\nsome avg10=1 a\n"))
	f.Add([]byte(xcrash))
	f.Add([]byte(tombstone))
	f.Add([]byte("== dumpstate: x\n11-20 22:00:01.123  1  2  3 I am_anr  : [0,9,a,8,b]\n------ VM TRACES JUST NOW (x) ------\n----- pid 9 at x -----\n\"main\" prio=5 tid=1 Native\n----- end 9 -----\n------ VM TRACES AT LAST ANR (y) ------\n----- pid 9 at x -----\n[[TRUNCATED]]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := anr.Read(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Processes {
			if p.Part < 0 || p.Part >= len(d.Parts) {
				t.Fatalf("process %d is of part %d of %d", p.PID, p.Part, len(d.Parts))
			}
			for _, th := range p.Threads {
				for _, l := range th.Locks {
					if l.Frame < -1 || l.Frame >= len(th.Frames) {
						t.Fatalf("a lock stands at frame %d of %d", l.Frame, len(th.Frames))
					}
				}
				lines, _ := th.Stack(run.MaxStack, 0)
				for _, line := range lines {
					if strings.ToValidUTF8(line, "") != line {
						t.Fatalf("%q is no UTF-8", line)
					}
				}
			}
		}
	})
}

// BenchmarkRead reads a dump of 50 MB with many processes.
func BenchmarkRead(b *testing.B) {
	var process strings.Builder
	for i := range 100 {
		fmt.Fprintf(&process, "\"worker-%d\" prio=5 tid=%d Native\n  | group=\"main\" sCount=1 ucsCount=0 flags=1 obj=0x72a985e0 self=0xb400007cabc57380\n  | sysTid=%d nice=-10 cgrp=top-app sched=0/0 handle=0x7deceb74f8\n  | state=S schedstat=( 324804784 183300334 997 ) utm=23 stm=8 core=3 HZ=100\n", i, i+2, 5000+i)
		for j := range 8 {
			fmt.Fprintf(&process, "  native: #%02d pc 00000000000%05x  /system/lib64/libbinder.so (android::IPCThreadState::function%d(bool)+%d) (BuildId: 01331f74b0bb2cb958bdc15282b8ec7b)\n", j, j*4096+i, j, i)
		}
		for j := range 20 {
			fmt.Fprintf(&process, "  at com.example.feature%d.Presenter.onEvent%d(Presenter.java:%d)\n", i%50, j, j*10)
		}
		process.WriteString("  - locked <0x0a000001> (a com.example.Store)\n\n")
	}
	var text strings.Builder
	for pid := 1000; text.Len() < 50<<20; pid++ {
		fmt.Fprintf(&text, "----- pid %d at 2026-03-02 -----\nCmd line: com.example.app%d\nDALVIK THREADS (100):\n%s----- end %d -----\n", pid, pid, process.String(), pid)
	}
	b.SetBytes(int64(text.Len()))
	var d anr.Dump
	for b.Loop() {
		var err error
		if d, err = anr.Read(strings.NewReader(text.String())); err != nil {
			b.Fatal(err)
		}
	}
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	runtime.KeepAlive(d)
	d = anr.Dump{}
	runtime.GC()
	runtime.ReadMemStats(&without)
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/(1<<20), "MiB-kept")
}
