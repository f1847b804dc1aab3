package waits_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// read reads a dump of testdata.
func read(t *testing.T, name string) anr.Dump {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d, err := anr.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Warnings) > 0 {
		t.Errorf("%s: %v", name, d.Warnings)
	}
	return d
}

// parse reads a dump of one process with these threads.
func parse(t *testing.T, threads ...string) anr.Dump {
	t.Helper()
	text := fmt.Sprintf("----- pid 4100 at 2026-03-02 10:15:31 -----\nCmd line: com.example.mail\n\nDALVIK THREADS (%d):\n", len(threads))
	d, err := anr.Read(strings.NewReader(text + strings.Join(threads, "\n\n") + "\n\n----- end 4100 -----\n"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// said lists the threads of a chain as in a record.
func said(c waits.Chain) (lines []string) {
	var a run.ANR
	c.Fill(&a)
	for _, t := range a.Threads {
		line := strings.TrimSpace(t.Process + " " + t.Name + ": " + t.WaitsFor)
		if t.Next > 0 {
			line += fmt.Sprintf(" -> %d", t.Next)
		}
		if t.Critical {
			line += " !"
		}
		lines = append(lines, line)
	}
	return lines
}

// Which thread waits for which in whole dumps, from the unresponsive one.
func TestChains(t *testing.T) {
	for name, want := range map[string][]string{
		"deadlock.txt": {"main: lock com.example.mail.Store held by sync !", "sync: lock com.example.mail.Inbox held by main -> 1 !"},
		"cycle.txt": {
			"main: lock com.example.mail.Store held by sync",
			"sync: lock com.example.mail.Inbox held by index !",
			"index: lock com.example.mail.Store held by sync -> 2 !",
		},
		"binder.txt": {
			"main: binder com.example.feed.IFeed::query (com.example.feed)",
			"com.example.feed binder:5200_1: binder com.example.mail.IKeys::sign (com.example.mail)",
			"binder:4100_2: binder android.os.IVault::unlock (system_server)",
			"system_server binder:1500_7: binder com.example.feed.ITokens::token (com.example.feed)",
			"com.example.feed binder:5200_3: binder android.os.IVault::read (system_server)",
			"system_server binder:1500_9: io vfs_fsync_range !",
		},
		"calls.txt": {
			"main: binder com.example.feed.IFeed::query (com.example.feed, likely)",
			"com.example.feed binder:5200_1: binder com.example.mail.IKeys::sign (com.example.mail, likely)",
			"binder:4100_2: binder android.os.IVault::unlock (system_server, likely)",
			"system_server binder:1500_7: binder com.example.feed.ITokens::token (com.example.feed, likely)",
			"com.example.feed binder:5200_3: binder android.os.IVault::read (system_server, likely)",
			"system_server binder:1500_9: io vfs_fsync_range !",
		},
		"watchdog.txt": {
			"android.fg: lock com.android.server.am.ActivityManagerService held by binder:1500_F",
			"binder:1500_F: binder android.os.IVold::fstrim !",
		},
		"dalvik.txt": {"main: lock com.example.mail.Store held by sync", "sync: join upload", "upload: sleep !"},
	} {
		t.Run(name, func(t *testing.T) {
			chain := waits.Of(read(t, name), waits.Subject{})
			if got := said(chain); !slices.Equal(got, want) || len(chain.Warnings) > 0 {
				t.Errorf("\n got %s\nwant %s\n%v", strings.Join(got, "\n     "), strings.Join(want, "\n     "), chain.Warnings)
			}
		})
	}
}

// Each thread of a cycle is critical, and none before it.
func TestCriticalThreadsOfACycle(t *testing.T) {
	var got []string
	for _, s := range waits.Of(read(t, "cycle.txt"), waits.Subject{}).Critical() {
		got = append(got, s.Thread.Name)
	}
	if !slices.Equal(got, []string{"sync", "index"}) {
		t.Errorf("critical: %q", got)
	}
	if none := (waits.Chain{Cycle: -1}).Critical(); none != nil {
		t.Errorf("of no chain: %v", none)
	}
}

const wantsStore = "\"main\" prio=5 tid=1 Blocked\n  at com.example.Inbox.open(Inbox.java:12)\n  - waiting to lock <0x0a01> (a com.example.Store)"

// Which thread another waits for, where the dump shows it, and where it does not.
func TestEdges(t *testing.T) {
	holds := "\"sync\" prio=5 tid=14 Runnable\n  at com.example.Store.sync(Store.java:88)\n  - locked <0x0a01> (a com.example.Store)"
	for name, test := range map[string]struct {
		threads []string
		want    string
	}{
		"the owner is told":                     {[]string{wantsStore + " held by thread 14", holds}, "main: lock com.example.Store held by sync|sync: !"},
		"the owner is told, and is not there":   {[]string{wantsStore + " held by thread 15", holds}, "main: lock com.example.Store held by thread 15, which the dump does not show !"},
		"the owner is found by what it holds":   {[]string{wantsStore, holds}, "main: lock com.example.Store held by sync|sync: !"},
		"nobody holds it":                       {[]string{wantsStore}, "main: lock com.example.Store !"},
		"an unknown lock":                       {[]string{"\"main\" prio=5 tid=1 Blocked\n  at a.B.c(B.java:1)\n  - waiting to lock an unknown object", holds}, "main: lock !"},
		"who waits on a lock has given it up":   {[]string{wantsStore, "\"idle\" prio=5 tid=15 Waiting\n  at java.lang.Object.wait(Native method)\n  - waiting on <0x0a01> (a com.example.Store)\n  at a.B.c(B.java:1)\n  - locked <0x0a01> (a com.example.Store)"}, "main: lock com.example.Store !"},
		"who wants a lock does not hold it":     {[]string{wantsStore, "\"other\" prio=5 tid=15 Blocked\n  at a.B.c(B.java:1)\n  - waiting to lock <0x0a01> (a com.example.Store)\n  - locked <0x0a01> (a com.example.Store)"}, "main: lock com.example.Store !"},
		"its own lock is no edge":               {[]string{wantsStore + " held by thread 1"}, "main: lock com.example.Store !"},
		"the end of a thread with an address":   {[]string{"\"main\" prio=5 tid=1 Waiting\n  at java.lang.Object.wait!(Native method)\n  - waiting on <@addr=0x12c0> (a com.example.Worker)\n  at java.lang.Thread.join(Thread.java:1)", "\"worker\" prio=5 tid=9 Runnable\n  | obj=0x12c0 self=0x1\n  at a.B.c(B.java:1)"}, "main: join worker|worker: !"},
		"the end of a thread that is not told":  {[]string{"\"main\" prio=5 tid=1 Waiting\n  at java.lang.Object.wait(Native method)\n  - waiting on <0x0a05> (a java.lang.Object)\n  at java.lang.Thread.join(Thread.java:1)", holds}, "main: join !"},
		"a signal, from whom is not told":       {[]string{"\"main\" prio=5 tid=1 TimedWaiting\n  at jdk.internal.misc.Unsafe.park(Native method)\n  at java.util.concurrent.locks.LockSupport.parkNanos(LockSupport.java:1)\n  at java.util.concurrent.FutureTask.awaitDone(FutureTask.java:1)", holds}, "main: signal java.util.concurrent.FutureTask.awaitDone !"},
		"a lock of java.util.concurrent":        {[]string{"\"main\" prio=5 tid=1 Waiting\n  at jdk.internal.misc.Unsafe.park(Native method)\n  at java.util.concurrent.locks.LockSupport.park(LockSupport.java:1)\n  at java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(A.java:1)\n  at java.util.concurrent.locks.ReentrantLock$Sync.lock(ReentrantLock.java:1)\n  at java.util.concurrent.LinkedBlockingQueue.take(L.java:1)\n  at java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)"}, "main: lock java.util.concurrent.locks.ReentrantLock !"},
		"a pool without work":                   {[]string{"\"main\" prio=5 tid=1 Waiting\n  at jdk.internal.misc.Unsafe.park(Native method)\n  at java.util.concurrent.LinkedBlockingQueue.take(L.java:1)\n  at java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)"}, "main: idle !"},
		"a call of a proxy that R8 has renamed": {[]string{"\"main\" prio=5 tid=1 Native\n  at android.os.BinderProxy.transactNative(Native method)\n  at android.os.BinderProxy.transact(BinderProxy.java:1)\n  at a.b.c(Unknown Source:4)"}, "main: binder !"},
		"its own lock, which it holds too":      {[]string{wantsStore + " held by thread 1\n  - locked <0x0a01> (a com.example.Store)"}, "main: lock com.example.Store !"},
		"an unknown lock, held by another":      {[]string{"\"main\" prio=5 tid=1 Blocked\n  at a.B.c(B.java:1)\n  - waiting to lock an unknown object", "\"x\" prio=5 tid=2 Native\n  at a.B.c(B.java:1)\n  - locked an unknown object"}, "main: lock !"},
		"the owner of an object, in a join":     {[]string{"\"main\" prio=5 tid=1 WAIT\n  at java.lang.Object.wait(Native Method)\n  - waiting on <0x41b2e6f8> (a java.lang.Object) held by tid=14 (sync)\n  at java.lang.Thread.join(Thread.java:1)", holds}, "main: join !"},
		"the end of itself":                     {[]string{"\"main\" prio=5 tid=1 Waiting\n  | obj=0x12c0\n  at java.lang.Object.wait!(Native method)\n  - waiting on <@addr=0x12c0> (a com.example.Worker)\n  at java.lang.Thread.join(Thread.java:1)"}, "main: join !"},
		"a lock of another kind":                {[]string{"\"main\" prio=5 tid=1 Waiting\n  at jdk.internal.misc.Unsafe.park(Native method)\n  at java.util.concurrent.locks.StampedLock.acquireWrite(S.java:1)"}, "main: lock java.util.concurrent.locks.StampedLock !"},
		"a proxy that is further out":           {[]string{"\"main\" prio=5 tid=1 Native\n  at android.os.BinderProxy.transactNative(Native method)\n  at android.os.BinderProxy.transact(B.java:1)\n  at a.b.c(Unknown Source:4)\n  at a.b.d(Unknown Source:4)\n  at a.IFeed$Stub$Proxy.query(I.java:1)"}, "main: binder !"},
		"it sleeps":                             {[]string{"\"main\" prio=5 tid=1 Sleeping\n  at java.lang.Thread.sleep(Native method)\n  - sleeping on <0x0a01> (a java.lang.Object)\n  at java.lang.Thread.sleep(Thread.java:1)\n  - locked <0x0a01> (a java.lang.Object)", holds}, "main: sleep !"},
		"collecting garbage":                    {[]string{"\"main\" prio=5 tid=1 WaitingForGcToComplete\n  at dalvik.system.VMRuntime.newUnpaddedArray(Native method)"}, "main: gc !"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(said(waits.Of(parse(t, test.threads...), waits.Subject{})), "|"); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// How a thread waits in native code and in the kernel, and which frame shows it.
func TestStanding(t *testing.T) {
	native := func(frames ...string) string {
		text := ""
		for i, f := range frames {
			text += fmt.Sprintf("\n  native: #%02d pc 00000000000012d0  /system/lib64/libx.so (%s+8)", i, f)
		}
		return text
	}
	kernel := func(frames ...string) string {
		return "\n  kernel: " + strings.Join(frames, "+0x8/0x9\n  kernel: ") + "+0x8/0x9"
	}
	const head = "\"main\" prio=5 tid=1 Native\n  | sysTid=4100 nice=0\n  | state=%s schedstat=( 1 2 3 ) utm=1 stm=1 core=0 HZ=100"
	for name, test := range map[string]struct{ letter, stack, kind, what, on string }{
		"storage":                        {"D", kernel("io_schedule", "wait_on_page_bit", "ext4_sync_file", "vfs_fsync_range", "el0_svc"), run.WaitIO, "vfs_fsync_range", "io_schedule"},
		"discard":                        {"D", kernel("io_schedule", "blkdev_issue_discard"), run.WaitIO, "blkdev_issue_discard", "io_schedule"},
		"storage, told by Java":          {"S", "\n  at libcore.io.Linux.fdatasync(Native method)", run.WaitIO, "", "libcore.io.Linux.fdatasync"},
		"a file in the deepest sleep":    {"D", "\n  at libcore.io.Linux.writeBytes(Native method)", run.WaitIO, "", "libcore.io.Linux.writeBytes"},
		"a pipe":                         {"S", "\n  at libcore.io.Linux.writeBytes(Native method)", run.WaitUnknown, "", "libcore.io.Linux.writeBytes"},
		"memory":                         {"D", kernel("io_schedule_timeout", "try_to_free_pages", "__alloc_pages", "f2fs_sync_file"), run.WaitMemory, "try_to_free_pages", "try_to_free_pages"},
		"memory to be freed":             {"R", kernel("shrink_node", "do_try_to_free_pages", "try_to_free_pages"), run.WaitMemory, "try_to_free_pages", "shrink_node"},
		"frozen":                         {"S", kernel("do_freezer_trap", "get_signal"), run.WaitStopped, "do_freezer_trap", "do_freezer_trap"},
		"the looper":                     {"S", native("__epoll_pwait(int)", "android::Looper::pollInner(int)") + "\n  at android.os.MessageQueue.nativePollOnce(Native method)", run.WaitIdle, "", "android.os.MessageQueue.nativePollOnce"},
		"the looper of native code":      {"S", native("__epoll_pwait(int)", "epoll_wait", "android::Looper::pollInner(int)"), run.WaitIdle, "", "android::Looper::pollInner(int)"},
		"a call of native code":          {"S", native("__ioctl", "android::IPCThreadState::waitForResponse(android::Parcel*)", "android::BpBinder::transact(unsigned int)", "android::BpSurfaceComposer::getDisplayInfo(int)"), run.WaitBinder, "android::ISurfaceComposer::getDisplayInfo", "android::BpBinder::transact(unsigned int)"},
		"a call whose proxy is unknown":  {"S", native("__ioctl", "android::IPCThreadState::waitForResponse(android::Parcel*)"), run.WaitBinder, "", "android::IPCThreadState::waitForResponse(android::Parcel*)"},
		"a pool of binder":               {"S", native("__ioctl", "android::IPCThreadState::talkWithDriver(bool)", "android::IPCThreadState::joinThreadPool(bool)"), run.WaitIdle, "", "android::IPCThreadState::joinThreadPool(bool)"},
		"a name as the linker has it":    {"S", native("__ioctl", "_ZN7android14IPCThreadState14talkWithDriverEb", "_ZN7android14IPCThreadState14joinThreadPoolEb"), run.WaitIdle, "", "_ZN7android14IPCThreadState14joinThreadPoolEb"},
		"no name of the linker":          {"S", native("_ZN99999999999999999999a", "_ZN9abc", "poll"), run.WaitPoll, "", "poll"},
		"a pool of binder at work":       {"S", native("pthread_cond_wait", "android::Service::onTransact(int)", "android::IPCThreadState::executeCommand(int)", "android::IPCThreadState::joinThreadPool(bool)"), run.WaitFutex, "", "pthread_cond_wait"},
		"at work, in nothing that tells": {"S", native("work", "android::IPCThreadState::executeCommand(int)", "android::IPCThreadState::joinThreadPool(bool)"), run.WaitUnknown, "", "work"},
		"a native lock":                  {"S", native("syscall", "__futex_wait_ex(void volatile*)", "NonPI::MutexLockWithTimeout(int)", "pthread_mutex_lock"), run.WaitFutex, "", "__futex_wait_ex(void volatile*)"},
		"a futex of the kernel":          {"S", kernel("futex_wait_queue_me", "futex_wait"), run.WaitFutex, "futex_wait", "futex_wait_queue_me"},
		"an answer, by the kernel alone": {"S", kernel("binder_thread_read", "binder_ioctl_write_read"), run.WaitBinder, "", "binder_thread_read"},
		"it runs":                        {"R", native("memcpy"), run.WaitRunning, "", "memcpy"},
		"blocked, for what is not told":  {"D", native("android::ResStringPool::stringAt(unsigned long)"), run.WaitBlocked, "", "android::ResStringPool::stringAt(unsigned long)"},
		"nothing is told":                {"S", native("something"), run.WaitUnknown, "", "something"},
		"back from what it waited for":   {"S", native("syscall", "art::ConditionVariable::WaitHoldingLocks(int)", "art::GoToRunnable(art::Thread*)") + "\n  at java.util.zip.ZipFile.open(Native method)", run.WaitRunning, "", "java.util.zip.ZipFile.open"},
		"back with an answer":            {"S", native("syscall", "art::GoToRunnable(art::Thread*)") + "\n  at android.os.BinderProxy.transactNative(Native method)", run.WaitRunning, "", "android.os.BinderProxy.transactNative"},
		"back with a message":            {"S", native("syscall", "art::GoToRunnable(art::Thread*)") + "\n  at android.os.MessageQueue.nativePollOnce(Native method)", run.WaitIdle, "", "android.os.MessageQueue.nativePollOnce"},
		"back, with no methods":          {"S", native("syscall", "art::GoToRunnable(art::Thread*)"), run.WaitRunning, "", "art::GoToRunnable(art::Thread*)"},
		"a debugger":                     {"S", native("syscall", "openjdkjvmti::ThreadUtil::SuspendCheck(art::Thread*)", "debugMonitorWait"), run.WaitStopped, "", "debugMonitorWait"},
		"garbage":                        {"S", native("syscall", "art::gc::Heap::WaitForGcToComplete(int)"), run.WaitGC, "", "art::gc::Heap::WaitForGcToComplete(int)"},
		"a wait far out does not count":  {"S", native(append(slices.Repeat([]string{"f"}, 30), "nanosleep")...), run.WaitUnknown, "", "f"},
	} {
		t.Run(name, func(t *testing.T) {
			chain := waits.Of(parse(t, fmt.Sprintf(head, test.letter)+test.stack), waits.Subject{})
			if len(chain.Steps) != 1 {
				t.Fatalf("%d steps: %v", len(chain.Steps), chain.Warnings)
			}
			s := chain.Steps[0]
			if on := s.Thread.Frames[s.At].Name; s.Kind != test.kind || s.What != test.what || on != test.on {
				t.Errorf("%s %q on %s, want %s %q on %s", s.Kind, s.What, on, test.kind, test.what, test.on)
			}
		})
	}
}

// A waiting channel classifies a thread only if nothing else is known of it.
func TestWaitingChannels(t *testing.T) {
	for name, test := range map[string]struct{ thread, channel, want string }{
		"storage":                       {`"main" sysTid=9`, "f2fs_wait_on_page_writeback", "io f2fs_wait_on_page_writeback"},
		"a futex":                       {`"main" sysTid=9`, "futex_wait_queue_me", "futex futex_wait_queue_me"},
		"an answer":                     {`"main" sysTid=9`, "binder_wait_for_work", "binder"},
		"a pool of binder":              {`"Binder:9_1" sysTid=9`, "binder_wait_for_work", "idle"},
		"a pool of binder, since 14":    {`"binder:9_1" sysTid=9`, "binder_ioctl_write_read", "idle"},
		"one whose stack says more":     {"\"Binder:9_1\" sysTid=9\n  native: #00 pc 1  /a (work+4)", "binder_wait_for_work", "binder"},
		"one whose methods say more":    {"\"Binder:9_1\" tid=3 Native\n  | sysTid=9\n  at a.b.c(A.java:1)", "binder_wait_for_work", "binder"},
		"the kernel's stack says more":  {"\"main\" sysTid=9\n  kernel: futex_wait+0x1/0x2", "ep_poll", "futex futex_wait"},
		"storage in the kernel's stack": {"\"main\" sysTid=9\n  kernel: io_schedule+0x1/0x2", "shrink_node", "io io_schedule"},
		"it runs":                       {`"main" sysTid=9`, "0", ""},
		"nothing known":                 {`"main" sysTid=9`, "do_something", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := anr.Read(strings.NewReader("----- pid 9 at x -----\n" + test.thread + "\n\n----- end 9 -----\n----- Waiting Channels: pid 9 at x -----\nsysTid=9 " + test.channel + "\n----- end 9 -----\n"))
			if err != nil {
				t.Fatal(err)
			}
			var a run.ANR
			waits.Of(d, waits.Subject{}).Fill(&a)
			if len(a.Threads) != 1 || a.Threads[0].WaitsFor != test.want {
				t.Errorf("%+v, want %s", a.Threads, test.want)
			}
		})
	}
}
