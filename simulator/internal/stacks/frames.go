package stacks

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Frames are in ART's format, without the indent: "at …" for Java, "native: …" and "kernel: …"
// below it, and "- …" for a lock of the previous frame.

// library returns the path of a system library for the Android version and the machine.
func (p *Process) library(name string) string {
	dir := "lib"
	if strings.Contains(p.Profile.ABI, "64") {
		dir = "lib64"
	}
	switch {
	case name == "libc.so" && p.Profile.API >= 29:
		return "/apex/com.android.runtime/" + dir + "/bionic/libc.so"
	case name == "libart.so" && p.Profile.API >= 31:
		return "/apex/com.android.art/" + dir + "/libart.so"
	}
	return "/system/" + dir + "/" + name
}

// buildIDs is the API level from which on frames contain the build IDs of their libraries.
const buildIDs = 30

// native formats native frames, innermost first: pairs of a library and a function, "libc.so",
// "__ioctl+8".
func (p *Process) native(pairs ...string) (out []string) {
	digits := 8
	if strings.Contains(p.Profile.ABI, "64") {
		digits = 16
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		line := fmt.Sprintf("native: #%02d pc %0*x  %s (%s)", i/2, digits, 0x20000+hash(pairs[i+1])%0x90000, p.library(pairs[i]), pairs[i+1])
		if p.Profile.API >= buildIDs {
			line += fmt.Sprintf(" (BuildId: %08x%08x%08x%08x)", hash(pairs[i]), hash(pairs[i]+"1"), hash(pairs[i]+"2"), hash(pairs[i]+"3"))
		}
		out = append(out, line)
	}
	return out
}

// kernelUntil and kernelClosed are the API levels below which a process may read its threads'
// kernel stacks, and below which ART still tries to.
const (
	kernelUntil  = 26
	kernelClosed = 30
)

// kernel formats the kernel frames, as far as the Android version shows them.
func (p *Process) kernel(tid int32, functions ...string) (out []string) {
	switch {
	case p.Profile.API < renderThreadSince || p.Profile.API >= kernelClosed: // Dalvik has none
	case p.Profile.API >= kernelUntil:
		out = append(out, fmt.Sprintf("kernel: (couldn't read /proc/self/task/%d/stack)", tid))
	default:
		for _, f := range functions {
			out = append(out, fmt.Sprintf("kernel: %s+0x%x/0x%x", f, 0x10+hash(f)%0x200, 0x220+hash(f)%0x400))
		}
	}
	return out
}

// renderThreadSince is the API level of the first Android version with ART, and with a render
// thread.
const renderThreadSince = 21

// join concatenates pieces of a stack, innermost first.
func join(pieces ...[]string) (out []string) {
	for _, piece := range pieces {
		out = append(out, piece...)
	}
	return out
}

// at formats a Java frame: "at com.example.Feed.bind(Feed.java:42)".
func at(method string, line int) string {
	return fmt.Sprintf("at %s(%s:%d)", method, sourceOf(method), line)
}

// loop returns the callers of a UI thread's messages, from the looper on.
func (p *Process) loop() []string {
	api := p.Profile.API
	looper := []string{at("android.os.Looper.loop", 135+api)}
	if api >= 31 {
		looper = []string{at("android.os.Looper.loopOnce", 201), at("android.os.Looper.loop", 288)}
	}
	out := append(looper, at("android.app.ActivityThread.main", 4800+100*api))
	switch {
	case api >= 28:
		return append(out, "at java.lang.reflect.Method.invoke(Native method)", at("com.android.internal.os.RuntimeInit$MethodAndArgsCaller.run", 493), at("com.android.internal.os.ZygoteInit.main", 858))
	case api < renderThreadSince:
		return append(out, "at java.lang.reflect.Method.invokeNative(Native method)", at("java.lang.reflect.Method.invoke", 511),
			at("com.android.internal.os.ZygoteInit$MethodAndArgsCaller.run", 793), at("com.android.internal.os.ZygoteInit.main", 560), "at dalvik.system.NativeStart.main(Native method)")
	}
	return append(out, "at java.lang.reflect.Method.invoke!(Native method)", at("com.android.internal.os.ZygoteInit$MethodAndArgsCaller.run", 886), at("com.android.internal.os.ZygoteInit.main", 766))
}

// handled returns the callers of a message that a UI thread handles: a callback, or one of the
// activity thread's.
func (p *Process) handled(callback bool) []string {
	dispatch := at("android.os.Handler.dispatchMessage", 102)
	if callback {
		return join([]string{at("android.os.Handler.handleCallback", 938), dispatch}, p.loop())
	}
	return join([]string{at("android.app.ActivityThread$H.handleMessage", 2200), dispatch}, p.loop())
}

// drawn returns the callers of code that draws a frame.
func (p *Process) drawn() []string {
	return join([]string{
		at("android.view.ViewRootImpl.performDraw", 4643), at("android.view.ViewRootImpl.performTraversals", 3822),
		at("android.view.Choreographer.doFrame", 882),
	}, p.handled(true))
}

// idle returns the stack of a thread that waits for a message, with the given callers: for a
// UI thread its loop.
func (p *Process) idle(from []string) []string {
	return join(p.kernel(int32(p.PID), "sys_epoll_wait", "SyS_epoll_pwait"),
		p.native("libc.so", "__epoll_pwait+8", "libutils.so", "android::Looper::pollInner(int)+184", "libutils.so", "android::Looper::pollOnce(int, int*, int*, void**)+112",
			"libandroid_runtime.so", "android::android_os_MessageQueue_nativePollOnce(_JNIEnv*, _jobject*, long, int)+44"),
		[]string{"at android.os.MessageQueue.nativePollOnce(Native method)", at("android.os.MessageQueue.next", 335)}, from)
}

// handlerThread returns the callers of a message handler thread other than the UI thread.
func handlerThread() []string {
	return []string{at("android.os.Looper.loop", 223), at("android.os.HandlerThread.run", 67)}
}

// worker returns the callers of a pool thread's code.
func worker() []string {
	return []string{
		at("java.util.concurrent.ThreadPoolExecutor.runWorker", 1156), at("java.util.concurrent.ThreadPoolExecutor$Worker.run", 651),
		at("java.lang.Thread.run", 1012),
	}
}

// asks returns the stack of a thread that waits for the answer to a binder call.
func (p *Process) asks(tid int32, call simapp.Peer) []string {
	transact := []string{"at android.os.BinderProxy.transactNative(Native method)", at("android.os.BinderProxy.transact", 584)}
	if p.Profile.API < 23 {
		transact = []string{"at android.os.BinderProxy.transact(Native method)"}
	}
	return join(p.kernel(tid, "binder_thread_read", "binder_ioctl_write_read", "binder_ioctl", "do_vfs_ioctl", "SyS_ioctl"),
		p.native("libc.so", "__ioctl+8", "libc.so", "ioctl+156", "libbinder.so", "android::IPCThreadState::talkWithDriver(bool)+296",
			"libbinder.so", "android::IPCThreadState::waitForResponse(android::Parcel*, int*)+64", "libbinder.so", "android::IPCThreadState::transact(int, unsigned int, android::Parcel const&, android::Parcel*, unsigned int)+180",
			"libbinder.so", "android::BpBinder::transact(unsigned int, android::Parcel const&, android::Parcel*, unsigned int)+156", "libandroid_runtime.so", "android_os_BinderProxy_transact(_JNIEnv*, _jobject*, int, _jobject*, _jobject*, int)+148"),
		transact, []string{at(call.Interface+"$Stub$Proxy."+call.Method, 300+int(hash(call.Method)%4000))})
}

// answers returns the callers of code that answers a call.
func (p *Process) answers(call simapp.Peer) []string {
	out := []string{at(call.Interface+"$Stub.onTransact", 200+int(hash(call.Method)%4000))}
	if p.Profile.API >= 29 {
		return append(out, at("android.os.Binder.execTransactInternal", 1280), at("android.os.Binder.execTransact", 1244))
	}
	return append(out, at("android.os.Binder.execTransact", 453))
}

// pooled returns the stack of a thread that waits for a call.
func (p *Process) pooled(tid int32) []string {
	return join(p.kernel(tid, "binder_thread_read", "binder_ioctl_write_read", "binder_ioctl", "do_vfs_ioctl", "SyS_ioctl"),
		p.native("libc.so", "__ioctl+8", "libc.so", "ioctl+156", "libbinder.so", "android::IPCThreadState::joinThreadPool(bool)+348",
			"libbinder.so", "android::PoolThread::threadLoop()+24", "libutils.so", "android::Thread::_threadLoop(void*)+584"))
}

// writes returns the stack of a thread that waits for storage.
func (p *Process) writes(tid int32, why string) []string {
	return join(p.kernel(tid, "f2fs_issue_flush", "f2fs_do_sync_file", "f2fs_sync_file", "vfs_fsync_range", "SyS_fsync"),
		p.native("libc.so", "fsync+8", "libsqlite.so", "sqlite3PagerSync+140", "libsqlite.so", "sqlite3VdbeHalt+1264", "libsqlite.so", "sqlite3_step+492",
			"libandroid_runtime.so", "android::nativeExecuteForChangedRowCount(_JNIEnv*, _jclass*, long, long)+20"),
		[]string{
			"at android.database.sqlite.SQLiteConnection.nativeExecuteForChangedRowCount(Native method)",
			at("android.database.sqlite.SQLiteConnection.executeForChangedRowCount", 732), at("android.database.sqlite.SQLiteSession.executeForChangedRowCount", 754),
			at("android.database.sqlite.SQLiteStatement.executeUpdateDelete", 64), at("android.database.sqlite.SQLiteDatabase.update", 1573), at(why, 118),
		})
}

// reclaims returns the stack of a thread that waits for memory.
func (p *Process) reclaims(tid int32) []string {
	return join(p.kernel(tid, "shrink_inactive_list", "try_to_free_pages", "__alloc_pages_nodemask", "filemap_fault", "handle_mm_fault", "do_page_fault"),
		p.native("libandroidfw.so", "android::ResStringPool::stringAt(unsigned long, unsigned long*) const+56", "libandroidfw.so", "android::AssetManager2::GetResource(unsigned int, bool, unsigned short, android::Res_value*, android::ResTable_config*, unsigned int*) const+212",
			"libandroid_runtime.so", "android::NativeGetResourceValue(_JNIEnv*, _jclass*, long, int, short, _jobject*, unsigned char)+104"),
		[]string{
			"at android.content.res.AssetManager.nativeGetResourceValue(Native method)", at("android.content.res.AssetManager.getResourceValue", 701),
			at("android.content.res.ResourcesImpl.getValueForDensity", 261), at("android.content.res.Resources.getDrawableForDensity", 993), at("android.content.res.Resources.getDrawable", 948),
		})
}

// entry returns the callers of the app's own code on a UI thread, by what the system waits
// for.
func (p *Process) entry(waited simapp.Timeout) []string {
	pkg := p.App.Package
	switch waited {
	case simapp.BroadcastTimeout:
		return join([]string{at(pkg+".SyncReceiver.onReceive", 31), at("android.app.ActivityThread.handleReceiver", 4325)}, p.handled(false))
	case simapp.ServiceTimeout:
		return join([]string{at(pkg+".SyncService.onStartCommand", 58), at("android.app.ActivityThread.handleServiceArgs", 4762)}, p.handled(false))
	case simapp.JobTimeout:
		return join([]string{
			at(pkg+".SyncJob.onStartJob", 27), at("android.app.job.JobService$1.onStartJob", 103), at("android.app.job.JobServiceEngine$JobHandler.handleMessage", 195),
			at("android.os.Handler.dispatchMessage", 102),
		}, p.loop())
	case simapp.StartTimeout:
		return join([]string{
			at(pkg+".App.onCreate", 19), at("android.app.Instrumentation.callApplicationOnCreate", 1316), at("android.app.ActivityThread.handleBindApplication", 6998),
		}, p.handled(false))
	}
	return join([]string{at(p.App.ActivityClass()+".onClick", 42), at("android.view.View.performClick", 7570), at("android.view.View$PerformClick.run", 29300)}, p.handled(true))
}

// sourceOf returns the file of a method's class: Feed.java for com.example.Feed$1.bind.
func sourceOf(method string) string {
	class := method[:max(0, strings.LastIndexByte(method, '.'))]
	class, _, _ = strings.Cut(class[strings.LastIndexByte(class, '.')+1:], "$")
	return class + ".java"
}

// heapWaits is the stack of an idle garbage collector thread.
var heapWaits = []string{
	"at dalvik.system.VMRuntime.runHeapTasks(Native method)", at("java.lang.Daemons$HeapTaskDaemon.runInternal", 609),
	at("java.lang.Daemons$Daemon.run", 140), at("java.lang.Thread.run", 1012),
}

// renderWaits returns the stack of an idle render thread.
func (p *Process) renderWaits(tid int32) []string {
	return join(p.kernel(tid, "ep_poll", "SyS_epoll_pwait"),
		p.native("libc.so", "__epoll_pwait+8", "libutils.so", "android::Looper::pollInner(int)+184", "libhwui.so", "android::uirenderer::renderthread::RenderThread::threadLoop()+220"))
}

// takes returns the stack of a pool thread that waits for work.
func takes() []string {
	return join([]string{
		"at java.lang.Object.wait(Native method)", at("java.util.concurrent.LinkedBlockingQueue.take", 435),
		at("java.util.concurrent.ThreadPoolExecutor.getTask", 1092),
	}, worker())
}

// isWorker reports whether an index is that of a pool thread.
func isWorker(place int) bool { return place >= account.Pool && place < account.Binders }
