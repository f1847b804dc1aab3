package signature

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/r8map"
)

// TestNormal applies each rule to a frame as compilers and Android versions write it.
func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		// Java: lines, and the text around them.
		"com.example.Store.read(Store.java:41)":                             "java com.example.Store.read",
		"  at com.example.Store.read(Store.java:44)":                        "java com.example.Store.read",
		"java.lang.Object.wait(Native method)":                              "java java.lang.Object.wait",
		"com.example.Store.<init>(SourceFile:3)":                            "java com.example.Store.<init>",
		"a.b.c(Unknown Source:12)":                                          "java a.b.c",
		"- locked <0x0d66cb12> (a java.lang.Object)":                        "",
		"- waiting to lock <0x0a1b> (a com.example.Store) held by thread 3": "",
		"(no managed stack frames)":                                         "",
		"":                                                                  "",
		// Lambdas and compilers' counters.
		"com.example.Main$$ExternalSyntheticLambda1.run(R8$$SyntheticClass:0)":      "java com.example.Main$$Lambda.run",
		"com.example.Main$$ExternalSyntheticLambda12.onClick(Unknown Source:4)":     "java com.example.Main$$Lambda.onClick",
		"com.example.-$$Lambda$Main$7qXzY-k_3.run(Unknown Source:2)":                "java com.example.Main$$Lambda.run",
		"com.example.Main$$Lambda$14/0x00000008400b5040.run(Unknown Source:8)":      "java com.example.Main$$Lambda.run",
		"com.example.Main$$Lambda$3.run(Unknown Source)":                            "java com.example.Main$$Lambda.run",
		"com.example.Main.lambda$onCreate$3(Main.java:61)":                          "java com.example.Main.lambda$onCreate",
		"com.example.Main.lambda$onCreate$0$com-example-Main(Main.java:61)":         "java com.example.Main.lambda$onCreate",
		"com.example.Main.onCreate$lambda-4(Main.kt:61)":                            "java com.example.Main.onCreate$lambda",
		"com.example.Main.onCreate$lambda$4$lambda$1(Main.kt:61)":                   "java com.example.Main.onCreate$lambda",
		"com.example.Main.$r8$lambda$OGn0jdVDNu7hhathJ6tysS0Cu-I(Main.java:0)":      "",
		"com.example.Store.access$000(Store.java:12)":                               "",
		"com.example.Store.-$$Nest$mload(Unknown Source:0)":                         "",
		"com.example.Main$$ExternalSyntheticOutline0.m(Unknown Source:7)":           "",
		"com.example.Main$$ExternalSyntheticApiModelOutline0.m(Unknown Source:7)":   "",
		"com.example.Main$$ExternalSyntheticBackport2.m(Unknown Source:7)":          "",
		"com.example.Store$1.run(Store.java:20)":                                    "java com.example.Store.run",
		"com.example.Store$read$2$1.invokeSuspend(Store.kt:20)":                     "java com.example.Store$read.invokeSuspend",
		"com.example.Store$Inner.run(Store.java:20)":                                "java com.example.Store$Inner.run",
		"$Proxy12.load(Unknown Source)":                                             "java $Proxy.load",
		"sun.reflect.GeneratedMethodAccessor31.invoke(Unknown Source)":              "java sun.reflect.GeneratedMethodAccessor.invoke",
		"android.os.Looper.loopOnce(Looper.java:161)":                               "java android.os.Looper.loop",
		"android.os.Looper.loop(Looper.java:154)":                                   "java android.os.Looper.loop",
		"android.os.MessageQueue.nextLegacy(MessageQueue.java:1)":                   "java android.os.MessageQueue.next",
		"android.os.BinderProxy.transactNative(Native method)":                      "java android.os.BinderProxy.transact",
		"com.android.internal.os.ZygoteInit$MethodAndArgsCaller.run(Zygote.java:9)": "java com.android.internal.os.ZygoteInit.main",
		"dalvik.system.NativeStart.main(Native Method)":                             "",
		// Native: addresses, offsets, builds, the folders of an installation.
		"native: #00 pc 000000000004df5c  /apex/com.android.runtime/lib64/bionic/libc.so (syscall+28) (BuildId: 01331f74b0bb2cb9)": "native libc.so",
		"#00 pc 000000000001be6c  /system/lib64/libc.so (syscall+28)":                                                              "native libc.so",
		"native: pc 000000000004df5c  /apex/com.android.runtime/lib64/bionic/libc.so (syscall+28) (BuildId: 01331f74b0bb2cb9)":     "native libc.so",
		"native: #03 pc 00000b37  [vdso:e89a2000] (__kernel_vsyscall+7)":                                                           "",
		"#01 pc 0000000000010dfc  /system/lib64/libutils.so (android::Looper::pollOnce(int, int*, int*, void**)+176)":              "native libutils.so",
		"#04 pc 1234  /data/app/~~3q7Zz==/com.example.mail-9kQw==/lib/arm64/libsync.so (sync_loop(int)+176)":                       "native libsync.so sync_loop",
		"#04 pc 99  /data/app/com.example.mail-1/lib/arm/libsync.so (sync_loop(long)+4)":                                           "native libsync.so sync_loop",
		"#04 pc 99  /data/app/~~x==/com.example.mail-y==/base.apk!libsync.so (offset 0x1a000) (sync_loop(int)+176) (BuildId: ab)":  "native libsync.so sync_loop",
		"#05 pc 00  /memfd:jit-cache (deleted) (com.example.Store.read+12)":                                                        "native jit-cache",
		"#05 pc 00  /dev/ashmem/dalvik-jit-code-cache (deleted) (com.example.Store.read+12)":                                       "native jit-cache",
		"#06 pc 00  /system/framework/arm64/boot-framework.oat (android.os.Looper.loop+1)":                                         "native boot.oat",
		"#06 pc 00  /data/dalvik-cache/arm64/system@framework@boot.oat (android.os.Looper.loop+1)":                                 "native boot.oat",
		"#06 pc 00  /data/app/~~x==/com.example-y==/oat/arm64/base.odex (com.example.Store.read+1)":                                "native base.apk",
		"#07 pc 00  <anonymous:7f3a2b1000>": "native <anonymous>",
		"#07 pc 00  <unknown>":              "",
		// Kernel: offsets, suffixes of compilers, names by architecture.
		"kernel: futex_wait_queue_me+0xcc/0x158":                 "kernel futex_wait_queue_me",
		"(kernel) futex_wait_queue_me+0xc4/0x114":                "kernel futex_wait_queue_me",
		"kernel: binder_ioctl_write_read.constprop.43+0x15e/0x2": "kernel binder_ioctl_write_read",
		"kernel: __arm64_sys_fsync+0x1c/0x28":                    "kernel sys_fsync",
		"kernel: SyS_fsync+0x88/0x19c":                           "kernel sys_fsync",
		"kernel: compat_SyS_ioctl+0x1cb/0xced":                   "kernel sys_ioctl",
		"kernel: cpu_switch_to+0x48/0x4c":                        "",
		"kernel: el0_svc_common.llvm.1234+0x98/0x160":            "",
		"kernel: (couldn't read /proc/self/task/1045/stack)":     "",
	} {
		if got := normal(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestRulesNeedTheirOrder: in another order, rules remove what they should leave.
func TestRulesNeedTheirOrder(t *testing.T) {
	for name, test := range map[string]struct {
		rules rules
		text  string
	}{
		"an accessor is told by its number":      {javaRules, "com.example.Store.access$000"},
		"a lambda's name is no number":           {javaRules, "com.example.-$$Lambda$Main$1x.run"},
		"a host's numbers are no pool's":         {threadRules, "OkHttp https://10.0.0.7/v2"},
		"an address is no number":                {threadRules, "worker@1a2b3c4d"},
		"a suffix hides how a thread gets there": {kernelRules, "__schedule.constprop.3"},
	} {
		turned := slices.Clone(test.rules)
		slices.Reverse(turned)
		if in, out := test.rules.apply(test.text), turned.apply(test.text); in == out {
			t.Errorf("%s: %q is %q in either order", name, test.text, in)
		}
	}
}

func TestThreadNames(t *testing.T) {
	for name, want := range map[string]string{
		"main": "main", "pool-3-thread-7": "pool-#-thread-#", "Thread-3662": "Thread-#", "AsyncTask #7": "AsyncTask ##",
		"Binder:1234_5": "Binder", "binder:4473_4": "Binder", "Binder_2": "Binder", "Binder Thread #3": "Binder", "BinderWatch": "BinderWatch",
		"HwBinder:77_1": "HwBinder", "OkHttp https://api.example.com/...": "OkHttp", "OkHttp api2.example.com": "OkHttp",
		"OkHttp Dispatcher": "OkHttp Dispatcher", "OkHttp ConnectionPool": "OkHttp ConnectionPool", "Okio Watchdog": "Okio Watchdog",
		"DefaultDispatcher-worker-12": "DefaultDispatcher-worker-#", "fetch https://a.b/c?d=1": "fetch URL",
		"worker@1a2b3c4d": "worker@", "job 0b1e7c1e-51a3-4f8e-9c2c-0a1b2c3d4e5f": "job #",
		"om.example.mail": "main", "com.example.mail": "main",
	} {
		if got := threadName(run.ANRThread{Name: name}, run.ANR{Process: "com.example.mail"}); got != want {
			t.Errorf("thread %q is %q, want %q", name, got, want)
		}
	}
	other := run.ANRThread{Name: "system_server", Process: "system_server"}
	if got := threadName(other, run.ANR{Process: "com.example.mail"}); got != "main" {
		t.Errorf("the system's main thread is %q", got)
	}
}

// blocked is a main thread that waits for the lock of a worker, which is in fsync.
func blocked() run.ANR {
	return run.ANR{
		Kind: run.ANRInput, Process: "com.example.mail", PID: 4711, Repetition: 1,
		Threads: []run.ANRThread{
			{Name: "main", State: "Blocked", Kind: run.WaitLock, WaitsFor: "lock of com.example.Store", Stack: []string{
				"com.example.Store.read(Store.java:41)", "- waiting to lock <0x0a1b> (a com.example.Store) held by thread 12", "com.example.Inbox.open(Inbox.java:7)",
			}},
			{Name: "pool-3-thread-7", State: "Native", Kind: run.WaitIO, Stack: []string{
				"kernel: __arm64_sys_fsync+0x1c/0x28", "native: #00 pc 000b7374  /apex/com.android.runtime/lib64/bionic/libc.so (fsync+4) (BuildId: a8)",
				"java.io.FileDescriptor.sync(Native method)", "com.example.Store.write(Store.java:90)", "- locked <0x0a1b> (a com.example.Store)",
				"com.example.Store$1.run(Store.java:12)", "java.lang.Thread.run(Thread.java:1012)",
			}},
		},
	}
}

// again is the same fault on another day: other lines, addresses, counters, ids.
func again() run.ANR {
	a := blocked()
	a.PID, a.Repetition = 1815, 4
	a.Threads[0].Stack = []string{"com.example.Store.read(Store.java:48)", "com.example.Feed.show(Feed.java:3)"}
	a.Threads[1].Name = "pool-1-thread-2"
	a.Threads[1].Stack = []string{
		"kernel: SyS_fsync+0x88/0x19c", "#00 pc 1c  /system/lib/libc.so (fsync+8)",
		"java.io.FileDescriptor.sync(Native Method)", "com.example.Store.write(Store.java:97)", "- locked <0x0ffe> (a com.example.Store)",
		"com.example.Store$2.run(Store.java:14)", "java.lang.Thread.run(Thread.java:764)",
	}
	return a
}

func TestSameFaultSameSignature(t *testing.T) {
	a, b := blocked(), again()
	Fill(&a, anr.Dump{}, nil)
	Fill(&b, anr.Dump{}, nil)
	if a.Signature == "" || a.Signature != b.Signature || len(a.Signature) != 16 {
		t.Errorf("signatures %q and %q of one fault", a.Signature, b.Signature)
	}
	deeper := blocked() // as in a loop one iteration later
	deeper.Threads[1].Stack = slices.Insert(deeper.Threads[1].Stack, 4, deeper.Threads[1].Stack[3:6]...)
	if got := Of(deeper); got != a.Signature {
		t.Errorf("a round more of the same loop is %q, was %q", got, a.Signature)
	}
	for name, change := range map[string]func(*run.ANR){
		"another method":  func(o *run.ANR) { o.Threads[1].Stack[3] = "com.example.Store.compact(Store.java:90)" },
		"another process": func(o *run.ANR) { o.Threads[1].Process = "com.example.backend" },
		"another thread":  func(o *run.ANR) { o.Threads[0].Critical = true },
	} {
		o := blocked()
		change(&o)
		if got := Of(o); got == a.Signature {
			t.Errorf("%s: the signature is the same", name)
		}
	}
	none := run.ANR{Threads: []run.ANRThread{{Name: "main", Stack: []string{"(no managed stack frames)"}}}}
	if Of(none) != "" || Of(run.ANR{}) != "" {
		t.Error("an ANR without a stack has a signature")
	}
	if err := (run.Run{Format: run.Format, App: run.App{Package: "a"}, Scenario: "s", Status: run.Complete, Iterations: make([]run.Iteration, 1), ANRs: []run.ANR{a}}).Validate(); err != nil {
		t.Errorf("a record with the signature: %v", err)
	}
}

// TestOfIgnoresLibraryFramesOfRunningThreads: the library frames of a running thread do not count,
// those of a waiting one do.
func TestOfIgnoresLibraryFramesOfRunningThreads(t *testing.T) {
	at := func(kind string, innermost ...string) run.ANR {
		return run.ANR{Threads: []run.ANRThread{{Name: "main", Kind: kind, Stack: append(innermost, "com.example.Feed.parse(Feed.java:3)", "android.os.Looper.loop(Looper.java:1)")}}}
	}
	put, trim := "java.util.HashMap.put(HashMap.java:1)", "native: #00 pc 1  /apex/libc.so (memcpy+4)"
	if Of(at(run.WaitRunning, put)) != Of(at(run.WaitRunning, trim, put)) || Of(at(run.WaitRunning)) != Of(at(run.WaitRunning, put)) {
		t.Error("a thread that ran has another signature a moment later")
	}
	if Of(at(run.WaitSignal, put)) == Of(at(run.WaitSignal, trim)) {
		t.Error("a thread that waited elsewhere has the same signature")
	}
	if Of(at(run.WaitRunning, "com.example.Text.trim(Text.java:1)")) == Of(at(run.WaitRunning)) {
		t.Error("a thread that ran in another method of the app has the same signature")
	}
	library := run.ANR{Threads: []run.ANRThread{{Name: "main", Kind: run.WaitRunning, Stack: []string{"native: pc 1  /data/app/a/lib/libsync.so (sync_loop+4)", "java.lang.Thread.run(Thread.java:1)"}}}}
	if !Own(library.Threads[0].Stack[0]) || Own(trim) || Own(put) || Of(library) == "" {
		t.Error("a function of a library that the app brought is its own, one of Android's is not")
	}
	alone := run.ANR{Threads: []run.ANRThread{{Name: "main", Kind: run.WaitRunning, Stack: []string{put}}}}
	if Of(alone) == "" {
		t.Error("a stack of libraries alone has no signature")
	}
}

// TestOfCycle: a deadlock has one signature, whichever thread is listed first.
func TestOfCycle(t *testing.T) {
	a := blocked()
	a.Cycle = true
	b := blocked()
	b.Cycle = true
	slices.Reverse(b.Threads)
	if Of(a) != Of(b) || Of(a) == Of(blocked()) {
		t.Errorf("a cycle is %q and %q, and without being one %q", Of(a), Of(b), Of(blocked()))
	}
	if got := len(new(Vectors).Of(a)); got != 2 {
		t.Errorf("a cycle of two has %d vectors", got)
	}
}

func TestVector(t *testing.T) {
	a := blocked()
	a.Features = []string{CPUHigh}
	a.Threads[1].Process = "com.example.mail:sync3"
	got := new(Vectors).Of(a)
	want := []Vector{{Generic: []string{CPUHigh}, Own: []string{"java com.example.Store.run", "java com.example.Store.write"}, Locks: 2, Length: 2, Read: true, Specific: []string{
		"java com.example.Store.run", "java com.example.Store.write", "java java.io.FileDescriptor.sync", "java java.lang.Thread.run",
		"kernel sys_fsync", "native libc.so", "process ", "process com.example.mail:sync#", "thread pool-#-thread-#",
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the vector (-want +got):\n%s", d)
	}
	a.Threads[1].Process = a.Process // its own, by name
	if got := new(Vectors).Of(a)[0]; slices.Contains(got.Specific, "process com.example.mail") {
		t.Errorf("the ANR's own process is %q", got.Specific)
	}
	idle := run.ANR{Threads: []run.ANRThread{{Name: "main", Kind: run.WaitIdle, Stack: []string{"a.B.c(B.java:1)"}}}}
	if got := new(Vectors).Of(idle)[0]; got.Locks != 0 {
		t.Errorf("a thread that waits for no lock has %d", got.Locks)
	}
	a.Threads[0].Stack, a.Threads[1].Stack = nil, nil // the lines of locks were left out
	if got := new(Vectors).Of(a)[0]; got.Locks != 1 || got.Read {
		t.Errorf("%+v, want the one lock that main waits for, and no stack", got)
	}
	if got := new(Vectors).Of(run.ANR{}); got != nil {
		t.Errorf("an ANR of nobody has vectors %+v", got)
	}
}

func TestFeatures(t *testing.T) {
	cpu := func(percent, wait float64, top ...anr.Usage) anr.Dump {
		return anr.Dump{Recognized: true, CPU: []anr.CPU{
			{Later: true, Total: anr.Usage{Percent: 1}}, {Total: anr.Usage{Percent: percent, IOWait: wait}, Top: top},
		}}
	}
	pressed := cpu(10, 0)
	pressed.Pressure = []anr.Pressure{{Of: "cpu"}, {Of: "memory", Some: 10}}
	relaxed := cpu(10, 0)
	relaxed.Pressure = []anr.Pressure{{Of: "io", Some: 99}, {Of: "memory", Some: 9.9}}
	full := cpu(10, 0)
	full.Processes = []anr.Process{{Name: "com.example.mail"}, {Name: "other", Heap: &anr.Heap{}}, {Name: "com.example.mail", Heap: &anr.Heap{FreePercent: 3}}, {Name: "com.example.mail:x"}}
	roomy := cpu(10, 0)
	roomy.Processes = []anr.Process{{Name: "com.example.mail", Heap: &anr.Heap{FreePercent: 4}}}
	for name, test := range map[string]struct {
		dump anr.Dump
		want string
	}{
		"nothing":      {anr.Dump{}, ""},
		"all CPUs":     {cpu(90, 0), "cpu: high, iowait: low"},
		"half":         {cpu(69.9, 19.9), "cpu: medium, iowait: low"},
		"the disk":     {cpu(95, 46), "cpu: low, iowait: high"},
		"a fifth":      {cpu(20, 20), "cpu: low, iowait: high"},
		"hardly any":   {cpu(49.9, 0), "cpu: low, iowait: low"},
		"the app":      {cpu(89.9, 0, anr.Usage{PID: 2, Name: "com.example.mail", Percent: 1}, anr.Usage{PID: 4711, Name: "com.example.mail", Percent: 80}), "app cpu: high, cpu: medium, iowait: low"},
		"the app idle": {cpu(95, 0, anr.Usage{PID: 4711, Name: "com.example.mail", Percent: 79.9}), "app cpu: low, cpu: high, iowait: low"},
		"pages freed":  {cpu(10, 0, anr.Usage{Name: "kswapd0", Percent: 10}), "cpu: low, iowait: low, memory: low"},
		"few freed":    {cpu(10, 0, anr.Usage{Name: "kswapd0", Percent: 9.9}), "cpu: low, iowait: low"},
		"memory":       {pressed, "cpu: low, iowait: low, memory: low"},
		"memory good":  {relaxed, "cpu: low, iowait: low, memory: good"},
		"heap full":    {full, "cpu: low, heap: full, iowait: low"},
		"heap good":    {roomy, "cpu: low, heap: good, iowait: low"},
	} {
		a := blocked()
		Fill(&a, test.dump, nil)
		if got := strings.Join(a.Features, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	freed := cpu(10, 0, anr.Usage{Name: "kswapd0", Percent: 10})
	freed.Pressure = relaxed.Pressure
	both := blocked()
	if Fill(&both, freed, nil); slices.Contains(both.Features, MemoryGood) || !slices.Contains(both.Features, MemoryLow) {
		t.Errorf("pages are freed, and nobody waits for them: %q", both.Features)
	}
	a := blocked()
	a.Features = []string{MemoryLow, CPUHigh} // from the log
	Fill(&a, cpu(95, 0), nil)
	if got := strings.Join(a.Features, ", "); got != "cpu: high, iowait: low, memory: low" {
		t.Errorf("with the log's: %q", got)
	}
}

const mapping = `# compiler: R8
com.example.Store -> a.b:
# {"id":"sourceFile","fileName":"Store.java"}
    1:1:void lock():17:17 -> a
    1:1:void write():90 -> a
    2:2:void write():95:95 -> a
    3:3:void read():41:41 -> b
    4:4:void scan():41:41 -> c
    4:4:void sum():42:42 -> c
com.example.Main$$ExternalSyntheticLambda0 -> a.c:
# {"id":"com.android.tools.r8.synthesized"}
    1:1:void run():0:0 -> run
`

// TestFillRetraces: two builds of one app have the source's names in common, inlined methods
// are expanded, synthesized ones dropped.
func TestFillRetraces(t *testing.T) {
	names, err := r8map.Read(strings.NewReader(mapping))
	if err != nil {
		t.Fatal(err)
	}
	a := run.ANR{Threads: []run.ANRThread{{Name: "main", Stack: []string{
		"a.b.a(SourceFile:1)", "- locked <0x1> (a a.b)", "a.b.b(Unknown Source:3)", "a.b.c(SourceFile:4)", "a.c.run(R8$$SyntheticClass:1)",
		"android.os.Looper.loop(Looper.java:7)", "native: #00 pc 1  /system/lib/libc.so (read+4)",
	}}}}
	Fill(&a, anr.Dump{}, names)
	want := []string{
		"com.example.Store.lock(Store.java:17)", "com.example.Store.write(Store.java:90)", "- locked <0x1> (a a.b)", "com.example.Store.read(Store.java:41)",
		"a.b.c(SourceFile:4)", // scan or sum
		"android.os.Looper.loop(Looper.java:7)", "native: #00 pc 1  /system/lib/libc.so (read+4)",
	}
	if d := cmp.Diff(want, a.Threads[0].Stack); d != "" {
		t.Errorf("the stack (-want +got):\n%s", d)
	}
	if a.Signature != Of(a) {
		t.Errorf("the signature %q is not that of the stack as it is kept", a.Signature)
	}
	deep := run.ANR{Threads: []run.ANRThread{{Name: "main"}}}
	for range run.MaxStack {
		deep.Threads[0].Stack = append(deep.Threads[0].Stack, "a.b.a(SourceFile:1)")
	}
	deep.Threads[0].Tells = run.MaxStack
	Fill(&deep, anr.Dump{}, names)
	if n := len(deep.Threads[0].Stack); n != run.MaxStack || deep.Threads[0].Tells != 0 {
		t.Errorf("a stack of %d frames, want at most %d; line %d tells, which is not there", n, run.MaxStack, deep.Threads[0].Tells)
	}
}

// TestFillKeepsTheWaitingFrame: the line that shows what a thread waits for is found again after
// the lines before it have become more or fewer.
func TestFillKeepsTheWaitingFrame(t *testing.T) {
	names, err := r8map.Read(strings.NewReader(mapping))
	if err != nil {
		t.Fatal(err)
	}
	stack := []string{"a.b.a(SourceFile:1)", "a.b.b(Unknown Source:3)", "a.c.run(R8$$SyntheticClass:1)", "android.os.Looper.loop(Looper.java:7)"}
	for tells, want := range map[int]int{0: 0, 1: 1, 2: 3, 3: 4, 4: 4} {
		a := run.ANR{Threads: []run.ANRThread{{Name: "main", Stack: slices.Clone(stack), Tells: tells}}}
		Fill(&a, anr.Dump{}, names)
		if got := a.Threads[0].Tells; got != want || len(a.Threads[0].Stack) != 4 {
			t.Errorf("line %d is now line %d of %q, want %d", tells, got, a.Threads[0].Stack, want)
		}
	}
}

// FuzzNormal: a normalized frame is not longer than the frame, and normalizing it again changes
// nothing.
func FuzzNormal(f *testing.F) {
	for _, text := range []string{
		"com.example.Store.read(Store.java:41)", "native: #00 pc 00  /a/b.so (c(d)+1) (BuildId: e)", "kernel: a.isra.0+0x1/0x2", "com.a.-$$Lambda$b$c.d(e)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := normal(text)
		if len(got) > 2*len(text)+32 {
			t.Errorf("%q is %q", text, got)
		}
		if again := normal(text); again != got {
			t.Errorf("%q is %q and then %q", text, got, again)
		}
	})
}
