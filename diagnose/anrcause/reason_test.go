package anrcause

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr/signature"
)

// plain returns a phrase as text.
func plain(p diagnose.Phrase) string {
	var out strings.Builder
	for _, part := range p {
		out.WriteString(part.Text + part.Name)
		if part.Amount != nil {
			fmt.Fprintf(&out, "%g%s", part.Amount.Value, part.Amount.Unit)
		}
	}
	return out.String()
}

// thread returns a thread of that kind, with that stack.
func thread(name, kind, waitsFor string, stack ...string) run.ANRThread {
	return run.ANRThread{Name: name, Kind: kind, WaitsFor: waitsFor, Stack: stack}
}

func in(process string, t run.ANRThread) run.ANRThread {
	t.Process = process
	return t
}

func threads(all ...run.ANRThread) run.ANR {
	all[len(all)-1].Critical = true
	return run.ANR{Kind: run.ANRInput, Process: "com.example.mail", Repetition: 1, Event: "open", Threads: all}
}

func with(a run.ANR, features ...string) run.ANR {
	a.Features = features
	return a
}

// loop is the end of a main thread's stack.
var loop = []string{"android.os.Handler.dispatchMessage(Handler.java:106)", "android.os.Looper.loop(Looper.java:288)", "android.app.ActivityThread.main(ActivityThread.java:7872)"}

func onLoop(stack ...string) []string { return append(stack, loop...) }

// TestReasons finds the reason of dumps as Android writes them: the critical thread counts,
// whatever the threads do that wait for it.
func TestReasons(t *testing.T) {
	main := func(kind, waitsFor string) run.ANRThread {
		return thread("main", kind, waitsFor, onLoop("com.example.mail.Inbox.open(Inbox.java:12)")...)
	}
	worker := func(kind string, stack ...string) run.ANRThread {
		return thread("sync", kind, "", append(stack, "com.example.mail.Store.write(Store.java:90)", "java.lang.Thread.run(Thread.java:1012)")...)
	}
	lock := main(run.WaitLock, "lock com.example.mail.Store held by sync")
	for name, test := range map[string]struct {
		anr           run.ANR
		kind, subject string
		sure          diagnose.Sure
	}{
		"a lock":                  {threads(lock, worker(run.WaitSleep, "java.lang.Thread.sleep(Native method)")), LockKind, "com.example.mail.Store", diagnose.Seen},
		"a lock of somebody":      {threads(main(run.WaitLock, "lock com.example.mail.Store held by 12, which the dump does not show")), LockKind, "com.example.mail.Store", diagnose.Likely},
		"a join":                  {threads(main(run.WaitJoin, "join sync"), worker(run.WaitRunning)), LockKind, "sync", diagnose.Seen},
		"a latch":                 {threads(thread("main", run.WaitSignal, "signal", onLoop("java.lang.Object.wait(Native method)", "com.example.mail.Once.await(Once.java:3)")...)), LockKind, "com.example.mail.Once.await", diagnose.Possible},
		"the disk by its kind":    {threads(lock, worker(run.WaitIO)), IOKind, "disk", diagnose.Seen},
		"fsync in Java":           {threads(lock, worker("", "java.io.FileDescriptor.sync(Native method)")), IOKind, "java.io.FileDescriptor.sync", diagnose.Likely},
		"fsync in the kernel":     {threads(worker("", "kernel: __arm64_sys_fsync+0x1c/0x28", "java.io.FileDescriptor.sync(Native method)")), IOKind, "java.io.FileDescriptor.sync", diagnose.Seen},
		"a database":              {threads(worker(run.WaitUnknown, "android.database.sqlite.SQLiteConnection.nativeExecuteForCursorWindow(Native method)")), IOKind, "android.database.sqlite.SQLiteConnection.nativeExecuteForCursorWindow", diagnose.Likely},
		"preferences":             {threads(thread("main", run.WaitSignal, "signal", "java.lang.Object.wait(Native method)", "android.app.SharedPreferencesImpl.awaitLoadedLocked(SharedPreferencesImpl.java:270)")), IOKind, "android.app.SharedPreferencesImpl.awaitLoadedLocked", diagnose.Likely},
		"a file that is busy":     {threads(worker(run.WaitRunning, "java.io.FileOutputStream.write(FileOutputStream.java:3)")), WorkKind, "com.example.mail.Store.write", diagnose.Seen},
		"the network":             {threads(main(run.WaitSignal, "signal"), worker(run.WaitPoll, "java.net.SocketInputStream.socketRead0(Native method)")), IOKind, "network", diagnose.Likely},
		"the collector":           {with(threads(lock, worker(run.WaitGC)), signature.HeapFull), MemoryKind, "memory", diagnose.Seen},
		"a collector by state":    {threads(run.ANRThread{Name: "main", State: "WaitingForGcToComplete", Stack: loop}), MemoryKind, "memory", diagnose.Likely},
		"a collector by stack":    {threads(worker("", "native: #02 pc 1  /apex/libart.so (art::gc::Heap::WaitForGcToComplete(art::gc::GcCause, art::Thread*)+12)")), MemoryKind, "memory", diagnose.Likely},
		"pages, as told":          {threads(thread("main", run.WaitMemory, "memory try_to_free_pages", onLoop("com.example.mail.Theme.icon(Theme.java:1)")...)), MemoryKind, "memory", diagnose.Likely},
		"pages of a short phone":  {with(threads(thread("main", run.WaitIO, "io folio_wait_bit_common", onLoop("com.example.mail.Theme.icon(Theme.java:1)")...)), signature.MemoryLow), MemoryKind, "memory", diagnose.Likely},
		"pages of another":        {threads(thread("main", run.WaitIO, "io folio_wait_bit_common", onLoop("com.example.mail.Theme.icon(Theme.java:1)")...)), IOKind, "disk", diagnose.Seen},
		"pages of a file":         {with(threads(thread("main", run.WaitIO, "io folio_wait_bit_common", "java.io.RandomAccessFile.read(Native method)")), signature.MemoryLow), IOKind, "java.io.RandomAccessFile.read", diagnose.Seen},
		"pages":                   {with(threads(worker(run.WaitIO, "kernel: do_swap_page+0x1/0x2")), signature.MemoryLow), MemoryKind, "memory", diagnose.Seen},
		"others' work":            {with(threads(main(run.WaitRunnable, "runnable")), signature.CPUHigh, signature.AppCPULow), CPUKind, "CPU", diagnose.Seen},
		"others' work, perhaps":   {with(threads(main(run.WaitRunning, "")), signature.CPUHigh), CPUKind, "CPU", diagnose.Likely},
		"its own work":            {with(threads(main(run.WaitRunning, "")), signature.CPUHigh, signature.AppCPUHigh), WorkKind, "com.example.mail.Inbox.open", diagnose.Seen},
		"work in native code":     {threads(thread("main", run.WaitRunning, "", "native: pc 00000000000b7710  /data/app/lib/libimage.so (decode(int)+84) (BuildId: 12ab)")), WorkKind, "decode(int) (libimage.so)", diagnose.Seen},
		"work on a quiet phone":   {with(threads(main(run.WaitRunning, "")), signature.CPULow), WorkKind, "com.example.mail.Inbox.open", diagnose.Seen},
		"sleep":                   {threads(thread("main", run.WaitSleep, "sleep", onLoop("java.lang.Thread.sleep(Native method)", "com.example.mail.Inbox.retry(Inbox.java:12)")...)), SleepKind, "com.example.mail.Inbox.retry", diagnose.Seen},
		"work, not told how":      {threads(main("", "")), WorkKind, "com.example.mail.Inbox.open", diagnose.Likely},
		"nothing any more":        {threads(thread("main", run.WaitIdle, "idle", "android.os.MessageQueue.nativePollOnce(Native method)", "android.os.MessageQueue.next(MessageQueue.java:335)")), IdleKind, "main", diagnose.Seen},
		"nothing, by its stack":   {threads(thread("main", "", "", "native: #00 pc 1  /system/lib64/libc.so (__epoll_pwait+8)", "android.os.MessageQueue.nativePollOnce(Native method)")), IdleKind, "main", diagnose.Seen},
		"another process":         {threads(main(run.WaitBinder, "binder com.example.feed.IFeed::query (com.example.feed)"), in("com.example.feed", worker(run.WaitSleep, "java.lang.Thread.sleep(Native method)"))), BinderKind, "com.example.feed com.example.feed.IFeed::query", diagnose.Seen},
		"a likely process":        {threads(main(run.WaitBinder, "binder IFeed::query (com.example.feed, likely)"), in("com.example.feed", worker(run.WaitSleep))), BinderKind, "com.example.feed IFeed::query", diagnose.Likely},
		"a process's number":      {threads(main(run.WaitBinder, "binder IFeed::query (process 55)")), BinderKind, "IFeed::query", diagnose.Seen},
		"a thread's number":       {threads(main(run.WaitBinder, "binder IFeed::query (thread 77 of com.example.feed)")), BinderKind, "com.example.feed IFeed::query", diagnose.Seen},
		"only numbers":            {threads(main(run.WaitBinder, "binder (thread 77 of process 55)")), BinderKind, "binder", diagnose.Seen},
		"nobody's answer":         {threads(main(run.WaitBinder, "binder")), BinderKind, "binder", diagnose.Likely},
		"another's disk":          {threads(main(run.WaitBinder, "binder IFeed::query (com.example.feed)"), in("com.example.feed", worker(run.WaitIO))), IOKind, "disk", diagnose.Seen},
		"another's lock":          {threads(main(run.WaitBinder, "binder A::b (system_server)"), in("system_server", thread("Binder:1_2", run.WaitLock, "lock W held by android.display", "w.W.a(W.java:1)")), in("system_server", worker(run.WaitRunning))), BinderKind, "system_server A::b", diagnose.Seen},
		"a debugger":              {threads(thread("main", run.WaitStopped, "stopped", onLoop("com.example.mail.Inbox.open(Inbox.java:12)")...)), StoppedKind, "a debugger or a signal", diagnose.Seen},
		"a wait for a debugger":   {threads(thread("main", run.WaitStopped, "stopped debugger", onLoop("java.lang.Thread.sleep(Native method)", "android.os.Debug.waitForDebugger(Debug.java:1)")...)), StoppedKind, "debugger", diagnose.Seen},
		"the driver":              {threads(thread("main", run.WaitGPU, "gpu glDrawArrays", onLoop("com.example.mail.Map.draw(Map.java:12)")...)), GPUKind, "glDrawArrays", diagnose.Seen},
		"the driver, nameless":    {threads(main(run.WaitFutex, "futex RenderThread"), thread("RenderThread", run.WaitGPU, "gpu")), GPUKind, "the graphics driver", diagnose.Seen},
		"native code, how?":       {threads(thread("main", run.WaitUnknown, "unknown", "native: pc 00000000000b7710  /data/app/lib/libimage.so (decode(int)+84) (BuildId: 12ab)")), UnknownKind, "decode(int) (libimage.so)", diagnose.Possible},
		"called by the looper":    {threads(thread("main", run.WaitUnknown, "unknown", "native: pc 1  /data/app/lib/libimage.so (decode+84)", "android.os.MessageQueue.nativePollOnce(Native method)")), UnknownKind, "decode (libimage.so)", diagnose.Possible},
		"Android's own Java":      {threads(thread("main", run.WaitRunning, "", "org.apache.harmony.xml.dom.NodeListImpl.item(NodeListImpl.java:55)", "com.example.mail.Feed.read(Feed.java:44)")), WorkKind, "com.example.mail.Feed.read", diagnose.Seen},
		"an event":                {threads(main(run.WaitPoll, "poll")), UnknownKind, "com.example.mail.Inbox.open", diagnose.Possible},
		"a pipe in a stream":      {threads(thread("main", run.WaitPoll, "poll", "libcore.io.Linux.readBytes(Native method)", "java.io.FileInputStream.read(FileInputStream.java:1)", "com.example.mail.Shell.run(Shell.java:1)")), UnknownKind, "com.example.mail.Shell.run", diagnose.Possible},
		"another process's words": {threads(worker(run.WaitUnknown, "libcore.io.Linux.readBytes(Native method)", "java.io.FileInputStream.read(FileInputStream.java:1)", "java.lang.UNIXProcess$ProcessPipeInputStream.drainInputStream(UNIXProcess.java:1)")), UnknownKind, "com.example.mail.Store.write", diagnose.Possible},
		"a channel alone":         {threads(run.ANRThread{Name: "main", Kind: run.WaitFutex, WaitsFor: "futex"}), LockKind, "another thread", diagnose.Possible},
		"asleep near a file":      {threads(thread("main", run.WaitSleep, "sleep", "java.lang.Thread.sleep(Native method)", "com.example.mail.Slow.read(Slow.java:1)", "java.io.FileInputStream.read(FileInputStream.java:1)")), SleepKind, "com.example.mail.Slow.read", diagnose.Seen},
		"asleep over a socket":    {threads(thread("main", run.WaitSleep, "sleep", "java.lang.Thread.sleep(Native method)", "com.example.mail.Slow.read(Slow.java:1)", "okhttp3.RealCall.execute(RealCall.java:1)")), SleepKind, "com.example.mail.Slow.read", diagnose.Seen},
		"trimming":                {threads(main(run.WaitLock, "lock W held by Binder"), thread("Binder", run.WaitBinder, "binder android.os.IVold::fstrim", "android.os.BinderProxy.transactNative(Native method)")), IOKind, "discards", diagnose.Seen},
		"in the kernel":           {threads(thread("main", run.WaitBlocked, "blocked", loop...)), IOKind, "disk", diagnose.Possible},
		"in the kernel, a file":   {threads(thread("main", run.WaitBlocked, "blocked", "java.io.RandomAccessFile.read(Native method)")), IOKind, "java.io.RandomAccessFile.read", diagnose.Likely},
		"in the kernel, at disk":  {threads(thread("main", run.WaitBlocked, "blocked", "kernel: submit_bio+0x1/0x2", "a.B.c(B.java:1)")), IOKind, "disk", diagnose.Seen},
		"a peer that is shown":    {threads(main(run.WaitBinder, "binder IFeed::query"), in("com.example.feed", worker(run.WaitRunning))), BinderKind, "com.example.feed IFeed::query", diagnose.Seen},
		"a lock without a name":   {threads(main(run.WaitLock, "lock held by sync"), worker(run.WaitRunning)), LockKind, "a lock", diagnose.Seen},
		"in the kernel, low":      {with(threads(thread("main", run.WaitBlocked, "blocked", loop...)), signature.MemoryLow), MemoryKind, "memory", diagnose.Likely},
		"no threads":              {run.ANR{Kind: run.ANRBroadcast}, UnknownKind, "broadcast", diagnose.Possible},
		"no stack":                {threads(run.ANRThread{Name: "main", Kind: run.WaitUnknown}), UnknownKind, "input", diagnose.Possible},
	} {
		r := reasonOf(test.anr)
		if r.kind != test.kind || r.subject != test.subject || r.sure != test.sure || len(r.why) == 0 {
			t.Errorf("%s: %s, %q, %s (%s), want %s, %q, %s", name, r.kind, r.subject, r.sure, plain(r.why), test.kind, test.subject, test.sure)
		}
	}
	dead := threads(lock, thread("sync", run.WaitLock, "lock Inbox held by main", "com.example.mail.Store.write(Store.java:90)"))
	dead.Cycle = true
	if r := reasonOf(dead); r.kind != DeadlockKind || r.subject != "main, sync" || r.sure != diagnose.Seen {
		t.Errorf("a deadlock: %+v", r)
	}
	dead.Threads[0].WaitsFor = "binder IFeed::query (com.example.feed, likely)"
	if r := reasonOf(dead); r.kind != DeadlockKind || r.sure != diagnose.Likely {
		t.Errorf("a deadlock by what is likely: %+v", r)
	}
	for _, asleep := range []run.ANR{
		threads(thread("main", run.WaitSleep, "sleep", "com.example.mail.Inbox.retry(Inbox.java:12)")),
		threads(thread("main", "", "", "java.lang.Thread.sleep(Native method)", "com.example.mail.Inbox.retry(Inbox.java:12)")),
	} {
		if r := reasonOf(asleep); plain(r.why) != "slept in com.example.mail.Inbox.retry" {
			t.Errorf("a thread that sleeps: %q", plain(r.why))
		}
	}
	if r := reasonOf(threads(thread("main", run.WaitBlocked, "blocked", loop...))); !strings.HasPrefix(plain(r.why), "was in the kernel") {
		t.Errorf("a thread that can't be woken: %q", plain(r.why))
	}
	if r := reasonOf(threads(lock, worker(run.WaitIO))); plain(r.why) != "waited for the disk" {
		t.Errorf("a thread that waits for the disk: %q", plain(r.why))
	}
	joins := thread("sync", run.WaitJoin, "join index", "java.lang.Thread.join(Thread.java:1)")
	index := thread("index", run.WaitRunning, "", "com.example.mail.Search.build(Search.java:7)")
	if r := reasonOf(threads(lock, joins, index)); r.subject != "index" || plain(r.why) != "had not ended" {
		t.Errorf("a thread that the holder of a lock joins: %q, %q", r.subject, plain(r.why))
	}
	if r := reasonOf(threads(joins)); r.kind != LockKind || r.sure != diagnose.Possible || !strings.HasPrefix(plain(r.why), "waited for another thread to end") {
		t.Errorf("a join of nobody who is shown: %+v", r)
	}
	wants := thread("sync", run.WaitLock, "lock Inbox held by thread 12, which the dump does not show", "com.example.mail.Inbox.refresh(Inbox.java:31)")
	if r := reasonOf(threads(lock, wants)); r.subject != "Inbox" || r.sure != diagnose.Likely || !strings.HasSuffix(plain(r.why), "the dump does not show which thread held it") {
		t.Errorf("a thread that holds a lock and wants one: %+v", r)
	}
	amplified := reasonOf(threads(lock, worker(run.WaitIO, "kernel: f2fs_wait_discard_bios+0x1/0x2", "kernel: f2fs_sync_fs+0x1/0x2")))
	if !strings.Contains(plain(amplified.why), "write amplification") {
		t.Errorf("behind discards: %q", plain(amplified.why))
	}
}

func TestTelling(t *testing.T) {
	for want, stack := range map[string][]string{
		"":                                     {"- locked <0x1> (a b.C)", "(no managed stack frames)"},
		"native: pc 1  /a.so (b)":              {"native: pc 1  /a.so (b)", "kernel: c+0x1/0x2"},
		"java.lang.Object.wait(Native method)": {"native: pc 1  /a.so (b)", "java.lang.Object.wait(Native method)", "java.lang.Thread.run(Thread.java:1)"},
		"com.android.server.am.Adjuster.compute(Adjuster.java:1)": {"java.util.HashMap.get(HashMap.java:1)", "com.android.server.am.Adjuster.compute(Adjuster.java:1)", "android.view.View.draw(View.java:1)"},
		"com.example.Own.call(Own.java:1)":                        {"android.view.View.draw(View.java:1)", "com.example.Own.call(Own.java:1)", "com.example.Other.call(Other.java:1)"},
	} {
		if got := telling(stack); got != want {
			t.Errorf("of %q it is %q, want %q", stack, got, want)
		}
	}
}

// What a thread did further out is no reason.
func TestOnlyNearFramesCount(t *testing.T) {
	var stack []string
	for i := range near {
		stack = append(stack, fmt.Sprintf("com.example.mail.Deep.f%d(Deep.java:1)", i))
	}
	a := threads(thread("main", "", "", append(stack, "java.io.FileDescriptor.sync(Native method)")...))
	if r := reasonOf(a); r.kind != WorkKind {
		t.Errorf("with a dozen methods within: %+v", r)
	}
	a = threads(thread("main", "", "", append(stack[1:], "java.io.FileDescriptor.sync(Native method)")...))
	if r := reasonOf(a); r.kind != IOKind {
		t.Errorf("with eleven methods within: %+v", r)
	}
}
