package diagnosecmd_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
)

// artThread is a thread as ART writes it, with its frames and locks one a line.
func artThread(name string, vm, tid int, state, kernel string, lines ...string) string {
	out := fmt.Sprintf("%q prio=5 tid=%d %s\n  | group=\"main\" sCount=1 dsCount=0 flags=1 obj=0x7%d self=0x9\n  | sysTid=%d nice=0 cgrp=default sched=0/0 handle=0x1\n  | state=%s schedstat=( 1 1 1 ) utm=1 stm=1 core=0 HZ=100\n  | held mutexes=\n", name, vm, state, vm, tid, kernel)
	for _, line := range lines {
		out += "  " + line + "\n"
	}
	return out + "\n"
}

// artProcess is a process as Android dumps it.
func artProcess(pid int, name string, threads ...string) string {
	return fmt.Sprintf("----- pid %d at 2026-11-20 22:00:01 -----\nCmd line: %s\nABI: 'arm64'\n\nDALVIK THREADS (%d):\n%s----- end %d -----\n\n", pid, name, len(threads), strings.Join(threads, ""), pid)
}

// nativeOnly is a process without a runtime.
func nativeOnly(pid int, name string) string {
	return fmt.Sprintf("----- pid %d at 2026-11-20 22:00:01 -----\nCmd line: %s\nABI: 'arm64'\n\n\"%s\" sysTid=%d\n    #00 pc 00000000000a1b2c  /system/lib64/libc.so (__ioctl+4)\n    #01 pc 0000000000012345  /system/lib64/libhwbinder.so (android::hardware::IPCThreadState::joinThreadPool(bool)+128)\n\n----- end %d -----\n\n",
		pid, name, name[max(len(name)-15, 0):], pid, pid)
}

const (
	onLooper = "at android.os.Handler.dispatchMessage(Handler.java:106)\n  at android.os.Looper.loop(Looper.java:223)\n  at android.app.ActivityThread.main(ActivityThread.java:7656)"
	epoll    = "native: #00 pc 00000000000a1b2c  /apex/com.android.runtime/lib64/bionic/libc.so (__epoll_pwait+8)\n  native: #01 pc 0000000000012345  /system/lib64/libutils.so (android::Looper::pollInner(int)+148)\n  native: #02 pc 0000000000012355  /system/lib64/libandroid_runtime.so (android::android_os_MessageQueue_nativePollOnce(_JNIEnv*, _jobject*, long, int)+44)"
	inQueue  = "at android.os.MessageQueue.nativePollOnce(Native method)\n  at android.os.MessageQueue.next(MessageQueue.java:335)\n  at android.os.Looper.loop(Looper.java:183)\n  at android.app.ActivityThread.main(ActivityThread.java:7656)"
	futex    = "native: #00 pc 000000000004c35c  /apex/com.android.runtime/lib64/bionic/libc.so (syscall+28)\n  native: #01 pc 000000000004ff60  /apex/com.android.runtime/lib64/bionic/libc.so (__futex_wait_ex(void volatile*, bool, int, bool, timespec const*)+144)\n  native: #02 pc 00000000000ae2b0  /apex/com.android.runtime/lib64/bionic/libc.so (pthread_cond_wait+80)"
)

func idleMain(pid int) string { return artThread("main", 1, pid, "Native", "S", epoll, inQueue) }

// A dump of one process: whatever its main thread waits for is reported as that, and what is
// unknown is not.
func TestDiagnoseWaitsOfAMainThread(t *testing.T) {
	t.Chdir(t.TempDir())
	const driver = "native: #03 pc 0000000000123456  /vendor/lib64/egl/libGLESv2_adreno.so\n  native: #04 pc 0000000000123456  /vendor/lib64/egl/libGLESv2_adreno.so (glDrawArrays+64)"
	for name, c := range map[string]struct {
		threads       []string
		kind, subject string
		sure          string
	}{
		"the driver below glDrawArrays": {[]string{artThread("main", 1, 500, "Native", "S", futex, driver, "at android.view.GLES20Canvas.nDrawDisplayList(Native method)", "at android.view.GLES20Canvas.drawDisplayList(GLES20Canvas.java:420)", "at android.view.HardwareRenderer$GlRenderer.draw(HardwareRenderer.java:1646)", onLooper)},
			"anr.gpu", "glDrawArrays", "seen"},
		"a futex of the kernel in a method that draws": {[]string{artThread("main", 1, 500, "Native", "S", "kernel: futex_wait_queue_me+0xcc/0x158", "at android.view.GLES20Canvas.nDrawDisplayList(Native method)", "at android.view.GLES20Canvas.drawDisplayList(GLES20Canvas.java:420)", onLooper)},
			"anr.gpu", "GLES20Canvas.nDrawDisplayList", "seen"},
		"the render thread, which waits for the driver": {[]string{
			artThread("main", 1, 500, "Native", "S", futex, "native: #03 pc 0000000000123456  /system/lib64/libhwui.so (android::uirenderer::renderthread::DrawFrameTask::postAndWait()+168)", "at android.view.ThreadedRenderer.nSyncAndDrawFrame(Native method)", "at android.view.ThreadedRenderer.draw(ThreadedRenderer.java:823)", onLooper),
			artThread("RenderThread", 18, 520, "Native", "S", futex, "native: #03 pc 0000000000123456  /vendor/lib64/egl/libGLES_mali.so (eglSwapBuffers+1160)")},
			"anr.gpu", "eglSwapBuffers", "seen"},
		"the driver of Android 4": {[]string{artThread("main", 1, 500, "NATIVE", "S", "#00  pc 0000e3f8  /system/lib/libc.so (__futex_syscall3+8)", "#01  pc 000132cc  /system/lib/libc.so (__pthread_cond_timedwait_relative+48)", "#02  pc 0001332c  /system/lib/libc.so (__pthread_cond_timedwait+60)", "#03  pc 00048c5c  /system/vendor/lib/egl/libGLESv2_vendor.so", "#04  pc 0003f1a0  /system/vendor/lib/egl/libGLESv2_vendor.so (glDrawArrays+220)", "#05  pc 0001d3a4  /system/lib/libhwui.so (android::uirenderer::OpenGLRenderer::drawLayer(android::uirenderer::Layer*, float, float)+40)", "at android.view.GLES20Canvas.nDrawDisplayList(Native Method)", "at android.view.GLES20Canvas.drawDisplayList(GLES20Canvas.java:420)", onLooper)},
			"anr.gpu", "glDrawArrays", "seen"},
		"the driver, without names": {[]string{artThread("main", 1, 500, "Native", "S", "#00 pc 0000e3f8  /system/lib/libc.so", "#01 pc 00048c5c  /system/vendor/lib/egl/libGLESv2_vendor.so", "#02 pc 0001d3a4  /system/lib/libhwui.so", "at android.view.GLES20Canvas.nDrawDisplayList(Native Method)", onLooper)},
			"anr.gpu", "the graphics driver", "seen"},
		"a driver that runs": {[]string{artThread("main", 1, 500, "Native", "R", "#00 pc 00048c5c  /system/vendor/lib/egl/libGLESv2_vendor.so (glLinkProgram+220)", "at android.opengl.GLES20.glLinkProgram(Native Method)", "at com.example.mail.Map.shader(Map.java:3)", onLooper)},
			"anr.work", "com.example.mail.Map.shader", "seen"},
		"a native method that draws, and no more": {[]string{artThread("main", 1, 500, "Native", "S", "at android.view.GLES20Canvas.nDrawDisplayList(Native Method)", "at android.view.GLES20Canvas.drawDisplayList(GLES20Canvas.java:420)", onLooper)},
			"anr.unknown", "android.view.GLES20Canvas.nDrawDisplayList", "possible"},
		"a library of the app, asleep": {[]string{artThread("main", 1, 500, "Native", "S", "native: #00 pc 0000000000001234  /data/app/lib/arm64/libmail.so (decode+84)", "at com.example.mail.Image.decode(Native method)", onLooper)},
			"anr.unknown", "com.example.mail.Image.decode", "possible"},
		"Debug.waitForDebugger": {[]string{artThread("main", 1, 500, "Sleeping", "S", "at java.lang.Thread.sleep(Native method)", "- sleeping on <0x0d3a2f0a> (a java.lang.Object)", "at java.lang.Thread.sleep(Thread.java:442)", "at android.os.Debug.waitForDebugger(Debug.java:1012)", "at android.app.ActivityThread.handleBindApplication(ActivityThread.java:6591)", onLooper)},
			"anr.stopped", "debugger", "seen"},
		"a breakpoint": {[]string{strings.Replace(artThread("main", 1, 500, "Suspended", "S", "at com.example.mail.Inbox.open(Inbox.java:12)", onLooper), "dsCount=0", "dsCount=1", 1)},
			"anr.stopped", "debugger", "seen"},
		"the message queue":                   {[]string{idleMain(500)}, "anr.idle", "main", "seen"},
		"the message queue, which is leaving": {[]string{artThread("main", 1, 500, "Suspended", "S", inQueue)}, "anr.idle", "main", "seen"},
		"the queue, at its clock":             {[]string{artThread("main", 1, 500, "Native", "S", "at android.os.SystemClock.uptimeMillis(Native method)", "at android.os.MessageQueue.next(MessageQueue.java:148)", "at android.os.Looper.loop(Looper.java:183)", "at com.android.server.ServerThread.initAndLoop(SystemServer.java:1118)")}, "anr.idle", "main", "seen"},
		"a queue of Dalvik's":                 {[]string{"\"main\" prio=5 tid=1 NATIVE\n  | group=\"main\" sCount=1 dsCount=0 obj=0x4 self=0x4\n  | sysTid=500 nice=0 sched=0/0 cgrp=apps handle=1\n  | state=S schedstat=( 0 0 0 ) utm=1 stm=1 core=0\n  at android.os.MessageQueue.nativePollOnce(Native Method)\n  at android.os.MessageQueue.next(MessageQueue.java:138)\n  at android.os.Looper.loop(Looper.java:123)\n  at com.android.server.ServerThread.initAndLoop(SystemServer.java:1118)\n  at dalvik.system.NativeStart.main(Native Method)\n\n"}, "anr.idle", "main", "seen"},
		"called back by the looper": {[]string{artThread("main", 1, 500, "Native", "S", futex, "native: #03 pc 0000000000123456  /data/app/lib/arm64/libgame.so (onSensor+12)\n  native: #04 pc 0000000000012345  /system/lib64/libutils.so (android::Looper::pollInner(int)+448)", inQueue)},
			"anr.lock", "onSensor (libgame.so)", "possible"},
		"a handler for idle times": {[]string{artThread("main", 1, 500, "Runnable", "R", "at com.example.mail.Warm.queueIdle(Warm.java:8)", "at android.os.MessageQueue.next(MessageQueue.java:396)", "at android.os.Looper.loop(Looper.java:183)")},
			"anr.work", "com.example.mail.Warm.queueIdle", "seen"},
		"its own work": {[]string{artThread("main", 1, 500, "Runnable", "R", "at com.example.mail.Inbox.sort(Inbox.java:12)", onLooper)},
			"anr.work", "com.example.mail.Inbox.sort", "seen"},
		"sleep": {[]string{artThread("main", 1, 500, "Sleeping", "S", "at java.lang.Thread.sleep(Native method)", "at com.example.mail.Inbox.retry(Inbox.java:12)", onLooper)},
			"anr.sleep", "com.example.mail.Inbox.retry", "seen"},
		"a lock of nobody who is shown": {[]string{artThread("main", 1, 500, "Blocked", "S", "at com.example.mail.Inbox.sort(Inbox.java:12)", "- waiting to lock <0x0d3a2f0a> (a com.example.mail.Store) held by thread 31", onLooper)},
			"anr.lock", "com.example.mail.Store", "likely"},
		"storage, in the kernel": {[]string{artThread("main", 1, 500, "Native", "D", "kernel: io_schedule+0x1c/0x30", "kernel: f2fs_wait_on_page_writeback+0x8c/0x150", "kernel: f2fs_do_sync_file+0x1/0x2", "at libcore.io.Linux.fsync(Native method)", "at com.example.mail.Store.write(Store.java:90)", onLooper)},
			"anr.io", "libcore.io.Linux.fsync", "seen"},
		"a call that nobody answers": {[]string{artThread("main", 1, 500, "Native", "S", "at android.os.BinderProxy.transactNative(Native method)", "at android.os.BinderProxy.transact(BinderProxy.java:540)", "at android.app.IActivityManager$Stub$Proxy.getTasks(IActivityManager.java:4000)", "at com.example.mail.Inbox.sort(Inbox.java:12)", onLooper)},
			"anr.binder", "android.app.IActivityManager::getTasks", "likely"},
	} {
		write(t, "dump", artProcess(500, "com.example.mail", c.threads...))
		found := diagnosed(t, "dump")
		if len(found.Causes) != 1 || found.ANRs[0].Process != "com.example.mail" {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		if got := found.Causes[0]; got.Kind != c.kind || got.Subject.Name != c.subject || string(got.Explains.Sure) != c.sure {
			t.Errorf("%s: %s, %q, %s, want %s, %q, %s", name, got.Kind, got.Subject.Name, got.Explains.Sure, c.kind, c.subject, c.sure)
		}
	}
}

// monitors are the threads of a process whose main thread and worker wait for each other.
func monitors(pid int) []string {
	return []string{
		artThread("main", 1, pid, "Blocked", "S", "at com.example.mail.Inbox.open(Inbox.java:12)", "- waiting to lock <0x0a> (a com.example.mail.Store) held by thread 12", "- locked <0x0b> (a com.example.mail.Inbox)", onLooper),
		artThread("worker", 12, pid+12, "Blocked", "S", "at com.example.mail.Store.flush(Store.java:7)", "- waiting to lock <0x0b> (a com.example.mail.Inbox) held by thread 1", "- locked <0x0a> (a com.example.mail.Store)", "at java.lang.Thread.run(Thread.java:1012)"),
	}
}

// calling is a main thread that waits for an answer, and answering a thread that gives one while it
// waits for another answer itself.
func calling(pid int, own, method string) string {
	return artThread("main", 1, pid, "Native", "S", "at android.os.BinderProxy.transactNative(Native method)", "at android.os.BinderProxy.transact(BinderProxy.java:540)", "at "+own+"$Stub$Proxy."+method+"(I.java:40)", "at com.example.Caller.run(Caller.java:1)", onLooper)
}

func answering(pid, tid int, own, method, other, wants string) string {
	return artThread(fmt.Sprintf("Binder:%d_1", pid), 8, tid, "Blocked", "S", "at com.example.Impl."+method+"(Impl.java:9)", "- waiting to lock <0x0"+other+"> (a com.example.Impl) held by thread "+wants, "at "+own+"$Stub.onTransact$"+method+"$(I.java:99)", "at "+own+"$Stub.onTransact(I.java:12)", "at android.os.Binder.execTransact(Binder.java:731)")
}

const dumpstate = "========================================================\n== dumpstate: 2026-11-20 22:00:05\n========================================================\n\n"

// sections are those of a bug report.
func sections(log, now, last string) string {
	out := dumpstate + "------ SYSTEM PROPERTIES (getprop) ------\n[ro.build.type]: [user]\n\n------ DROPBOX SYSTEM APP CRASHES (/data/system/dropbox) ------\nProcess: com.example.other\nPackage: com.example.other v1\nSubject: an app that crashed\n\n" +
		"------ SYSTEM LOG (logcat) ------\n" + strings.Repeat("11-20 21:59:59.000  1000  1296  1532 I ActivityManager: something that fills the log, as logs do\n", 2000) + log + "\n"
	if now != "" {
		out += "------ VM TRACES JUST NOW (/data/anr/dumptrace_a: 2026-11-20 22:00:04) ------\n\n" + now + "------ 1.2s was the duration of 'VM TRACES JUST NOW' ------\n"
	}
	if last != "" {
		out += "------ VM TRACES AT LAST ANR (/data/anr/anr_a: 2026-11-20 22:00:03) ------\n\n" + last
	}
	return out + "\n------ BINDER FAILED TRANSACTION LOG ------\nnone\n========================================================\n== dumpstate: done (id 1)\n========================================================\n"
}

// Bug reports, and dumps of all processes: cycles of waits are found, and no process is reported as
// unresponsive unless the file names it.
func TestDiagnoseDumpsOfManyProcesses(t *testing.T) {
	t.Chdir(t.TempDir())
	const hal, audio = "/vendor/bin/hw/android.hardware.audio@2.0-service", "/system/bin/audioserver"
	others := nativeOnly(300, hal) + nativeOnly(310, audio) + artProcess(1296, "system_server", idleMain(1296))
	cycle := artProcess(4000, "com.example.one", calling(4000, "com.example.ITwo", "ask"), answering(4000, 4008, "com.example.IOne", "tell", "1", "1")) +
		artProcess(5000, "com.example.two", calling(5000, "com.example.IOne", "tell"), answering(5000, 5008, "com.example.ITwo", "ask", "2", "1"))
	busy := artProcess(6000, "com.example.busy", artThread("main", 1, 6000, "Runnable", "R", "at com.example.busy.Work.go(Work.java:1)", onLooper))
	idle := artProcess(6001, "com.example.idle", idleMain(6001))
	for name, c := range map[string]struct {
		text string
		want []string
		lack string
	}{
		"all processes": {others + busy + idle, []string{"Not known: the file does not say which process did not respond, and --package names the one to explain", "Main threads that were not idle", "com.example.busy com.example.busy.Work.go(Work.java:1)"}, "did not respond:"},
		"a cycle of monitors among all": {others + busy + artProcess(4000, "com.example.mail", monitors(4000)...), []string{
			"Deadlock: the threads main and worker of com.example.mail wait for each other", "--package names the one to explain",
			"main, worker of com.example.mail wait for each other, for ever", "Main threads that were not idle"}, "did not respond:"},
		"a cycle of monitors in a bug report":           {sections("", others+artProcess(4000, "com.example.mail", monitors(4000)...), ""), []string{"Deadlock: the threads main and worker of com.example.mail wait for each other"}, "did not respond:"},
		"a cycle through binder in a bug report":        {sections("", others+cycle, ""), []string{"Deadlock: the threads main, Binder:5000_1, main and Binder:4000_1 of com.example.one and com.example.two wait for each other", "very likely"}, "did not respond:"},
		"both in one":                                   {sections("", others+cycle+artProcess(4100, "com.example.mail", monitors(4100)...), ""), []string{"wait for each other; and 1 more deadlock", "main, worker of com.example.mail wait for each other"}, "did not respond:"},
		"two times of one process":                      {sections("", artProcess(4000, "com.example.mail", monitors(4000)[0], artThread("worker", 12, 4012, "Runnable", "R", "at a.b.c(A.java:1)"))+others, artProcess(4000, "com.example.mail", artThread("main", 1, 4000, "Runnable", "R", "at a.b.c(A.java:1)"), monitors(4000)[1])+others), []string{"Not known"}, "Deadlock"},
		"the last ANR by the log":                       {sections("11-20 22:00:01.123  1000  1296  1532 I am_anr  : [0,6000,com.example.busy,8961,Input dispatching timed out (Waited 5001ms)]\n", others+idle, busy+idle), []string{"Not responding: the main thread of com.example.busy in com.example.busy.Work.go(Work.java:1); Input dispatching timed out (Waited 5001ms)"}, "place in the file"},
		"the last ANR by the order of Android":          {sections("", others+idle, busy+artProcess(1296, "system_server", idleMain(1296))+idle), []string{"the main thread of com.example.busy in com.example.busy.Work.go(Work.java:1) (assumed to be this process by its place in the file)", "The file does not say which process did not respond"}, "Not known"},
		"a log of another ANR than the last file":       {sections("11-20 22:00:01.123  1000  1296  1532 I am_anr  : [0,77,com.example.gone,8961,Input dispatching timed out]\n", others+idle, others+busy), []string{"Not known"}, "com.example.gone"},
		"a log of another ANR, an order that shows one": {sections("11-20 22:00:01.123  1000  1296  1532 I am_anr  : [0,77,com.example.gone,8961,Input dispatching timed out]\n", others+idle, busy+artProcess(1296, "system_server", idleMain(1296))), []string{"Not responding: the main thread of com.example.busy", "place in the file"}, "Input dispatching"},
		"a head that names it":                          {"Process: com.example.busy\nPID: 6000\nSubject: Input dispatching timed out\n\n" + others + busy, []string{"Not responding: the main thread of com.example.busy in com.example.busy.Work.go(Work.java:1); Input dispatching timed out"}, "place in the file"},
		"a subject before the dumps":                    {"Subject: Input dispatching timed out\n\n" + busy + idle, []string{"the main thread of com.example.busy in com.example.busy.Work.go"}, "place in the file"},
	} {
		write(t, "dump", c.text)
		got := passes(t, "dump").Stdout
		says(t, name, got, c.want...)
		if strings.Contains(strings.Join(strings.Fields(got), " "), c.lack) {
			t.Errorf("%s: %q is in it:\n%s", name, c.lack, got)
		}
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{"main_entry.txt": "bugreport-phone.txt", "bugreport-phone.txt": sections("", others+artProcess(4000, "com.example.mail", monitors(4000)...), ""), "FS/data/anr/a": "a", "version.txt": "2.0"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, "report.zip", packed.String())
	says(t, "a packed bug report", passes(t, "report.zip").Stdout, "Deadlock: the threads main and worker of com.example.mail wait for each other")
	write(t, "dump", others+busy+idle)
	if found := diagnosed(t, "dump"); !found.ProcessUnknown || found.ByPlace || found.Package != "" || found.Form != "android" || len(found.ANRs)+len(found.Causes) != 0 || len(found.MainThreads) != 1 || found.MainThreads[0].Process != "com.example.busy" || found.MainThreads[0].Kind != "untold" {
		t.Errorf("as JSON it is %+v", found)
	}
	says(t, "a package", passes(t, "dump", "--package", "com.example.busy").Stdout, "Not responding: the main thread of com.example.busy in com.example.busy.Work.go(Work.java:1)")
	clitest.Refuses(t, clitest.Run(t, nil, "diagnose", "dump", "--package", "com.example.none"), "no main thread of com.example.none")
}

// A file that is no ANR is rejected, with what it is.
func TestDiagnoseRejectsOtherDumps(t *testing.T) {
	t.Chdir(t.TempDir())
	const stars = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\n"
	const tombstone = stars + "Build fingerprint: 'example/lab/phone:13/A/1:user/release-keys'\npid: 4100, tid: 4123, name: RenderThread  >>> com.example.mail <<<\nsignal 6 (SIGABRT), code -1 (SI_QUEUE), fault addr --------\nAbort message: 'Check failed: surface'\n\nbacktrace:\n      #00 pc 00000000000512ac  /system/lib64/libc.so (abort+164)\n"
	for name, c := range map[string]struct{ text, want string }{
		"a tombstone":       {tombstone, "it is the record of a crash, and not of something that did not respond: signal 6 (SIGABRT) ended com.example.mail in its thread RenderThread\nhint: it said: Check failed: surface"},
		"xCrash's of Java":  {stars + "Tombstone maker: 'xCrash 3.0.0'\nCrash type: 'java'\npid: 4100, tid: 4100, name: main  >>> com.example.mail <<<\n\njava stacktrace:\njava.lang.IllegalStateException: no\n", "an exception of Java ended com.example.mail in its thread main"},
		"Crashpad's":        {"MDMP\x93\xa7\x00\x00" + strings.Repeat("\x00", 400), "it is a minidump, as Crashpad and Breakpad write it"},
		"a heap":            {"JAVA PROFILE 1.0.3\x00" + strings.Repeat("\x00", 400), "it is a dump of the Java heap (hprof)"},
		"a core":            {"\x7fELF\x02\x01" + strings.Repeat("\x00", 400), "it is a program or a core dump in ELF"},
		"cut before it all": {"----- pid 4100 at 2026-11-20 22:00:01 -----\nCmd line: com.example.mail\nABI: 'arm64'\n", "it does not show what did not respond: the main thread of com.example.mail: it is cut off"},
	} {
		write(t, "dump", c.text)
		got := clitest.Run(t, nil, "diagnose", "dump")
		if got.Status != 2 || got.Stdout != "" || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%s: %d, %q, %q", name, got.Status, got.Stdout, got.Stderr)
		}
	}
}

// The origin of a dump is named, if it is not Android itself.
func TestDiagnoseNamesTheForm(t *testing.T) {
	t.Chdir(t.TempDir())
	const stars = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\n"
	main := artThread("main", 1, 4100, "Runnable", "R", "at com.example.mail.Inbox.sort(Inbox.java:12)", onLooper)
	for name, c := range map[string]struct{ text, want string }{
		"a log of xCrash":                 {stars + "Tombstone maker: 'xCrash 3.0.0'\nCrash type: 'anr'\npid: 4100  >>> com.example.mail <<<\n\n--- --- ---\nCmd line: com.example.mail\n\nDALVIK THREADS (1):\n" + main + "+++ +++ +++ +++ +++ +++ +++ +++\n\nlogcat:\n", "the main thread of com.example.mail in com.example.mail.Inbox.sort"},
		"an export of Firebase":           {"# Crashlytics - Stack trace\n# Application: com.example.mail\n\nmain (runnable):tid=1 systid=4100 \n       at com.example.mail.Inbox.sort(Inbox.java:12)\n", "the main thread of com.example.mail in com.example.mail.Inbox.sort"},
		"an export of Google Play":        {"\"main\" tid=1 Runnable\n  at com.example.mail.Inbox.sort (Inbox.java:12)\n", "the main thread in com.example.mail.Inbox.sort"},
		"native stacks of debuggerd":      {nativeOnly(300, "/system/bin/audioserver"), "the main thread of /system/bin/audioserver was idle when its stack was written"},
		"read as a bug report":            {sections("", "", artProcess(4100, "com.example.mail", main)), "the main thread of com.example.mail in com.example.mail.Inbox.sort"},
		"org.lower, which stays as it is": {artProcess(4100, "org.lower", main), "Not responding: the main thread of org.lower"},
	} {
		write(t, "dump", c.text)
		want, _, exact := strings.Cut(name, ",")
		got := passes(t, "dump", "--html", "page.html").Stdout
		says(t, name, got, c.want, want)
		if strings.Contains(got, "whole run") || !exact && !strings.Contains(got, "Dump ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
