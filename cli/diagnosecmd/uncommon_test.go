package diagnosecmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
)

// reason is the first line of a file of /data/anr since Android 11.
const reason = "Subject: Input dispatching timed out (5f1 com.example.mail/com.example.mail.Inbox (server) is not responding. Waited 5001ms for MotionEvent)\n\n"

// channels is what Android writes for a process whose stacks it could not get.
func channels(pid int, name, function string) string {
	return fmt.Sprintf("libdebuggerd_client: unexpected registration response: 0\n\n----- Waiting Channels: pid %d at 2026-11-20 22:00:01.664895544+0200 -----\nCmd line: %s\n\nsysTid=%d     %s\nsysTid=%d     %s\n\n----- end %d -----\n\n", pid, name, pid, function, pid+1, function, pid)
}

// natives are frames of native code, each a library and a function.
func natives(frames ...string) string {
	var out []string
	for i, f := range frames {
		library, function, _ := strings.Cut(f, " ")
		if function != "" {
			function = " (" + function + "+8)"
		}
		out = append(out, fmt.Sprintf("native: #%02d pc 0000000000012345  %s%s", i, library, function))
	}
	return strings.Join(out, "\n  ")
}

// What a person reads in uncommon dumps: of processes that Android had frozen, that crash, or that
// a debugger stops; of apps that render by themselves; with the name of another process, or without
// the relevant one; as people paste them.
func TestDiagnoseUncommonDumps(t *testing.T) {
	t.Chdir(t.TempDir())
	const (
		libc   = "/apex/com.android.runtime/lib64/bionic/libc.so"
		game   = "/data/app/com.example.mail-1/lib/arm64/libgame.so"
		unity  = "/data/app/com.example.mail-1/lib/arm64/libunity.so"
		pasted = "\"main\" tid=1 Native\n  #00  pc 0x1  /system/lib/libc.so (syscall+28)\n  #01  pc 0x2  /system/lib/libc.so (pthread_cond_wait+32)\nTa procedura synchronizacji blokuje wątek główny, prowadząc do błędu ANR. Więcej informacji\n\n  #02  pc 0x3  /data/app/com.example.mail-1/base.apk\n  at com.example.mail.Engine.pause (Engine.java)\n  at android.os.Looper.loop (Looper.java:288)\n\n\"worker\" tid=12 Waiting\n  at java.lang.Object.wait (Native method)\n"
	)
	main := func(state, kernel string, lines ...string) string {
		return artProcess(500, "com.example.mail", artThread("main", 1, 500, state, kernel, append(lines, onLooper)...))
	}
	sleeping := main("Sleeping", "S", "at java.lang.Thread.sleep(Native method)", "at com.example.mail.Inbox.sort(Inbox.java:12)")
	server := artProcess(1296, "system_server", idleMain(1296))
	for name, c := range map[string]struct{ text, process, kind, subject, sure string }{
		"frozen, by its channels":      {reason + channels(500, "com.example.mail", "do_freezer_trap") + server, "com.example.mail", "anr.stopped", "freezer", "seen"},
		"frozen, by its stack":         {main("Native", "S", "kernel: do_freezer_trap+0x50/0x8c", "kernel: get_signal+0x4c4/0x8a8", epoll, inQueue), "com.example.mail", "anr.stopped", "freezer", "seen"},
		"channels that tell nothing":   {reason + channels(500, "com.example.mail", "futex_wait_queue") + server, "com.example.mail", "anr.lock", "another thread", "possible"},
		"a handler of crashes asleep":  {main("Native", "S", natives(libc+" nanosleep", unity, "[vdso]", libc+" abort", libc+" __fortify_fatal(char const*, ...)", game+" Lock::take()"), "at com.example.mail.Engine.render(Native method)"), "com.example.mail", "anr.stopped", "crash", "seen"},
		"debuggerd at work":            {main("Native", "S", natives(libc+" syscall", "/system/bin/linker64 debuggerd_signal_handler(int, siginfo*, void*)", "[vdso] __kernel_rt_sigreturn", game+" Game::step()"), "at com.example.mail.Engine.step(Native method)"), "com.example.mail", "anr.stopped", "crash", "seen"},
		"asleep in native code":        {main("Native", "S", natives(libc+" nanosleep", game+" Game::wait()"), "at com.example.mail.Engine.step(Native method)"), "com.example.mail", "anr.sleep", "com.example.mail.Engine.step", "seen"},
		"stopped by a debugger of 12+": {strings.Replace(main("Suspended", "S", "at com.example.mail.Inbox.sort(Inbox.java:12)"), "sCount=1 dsCount=0", "sCount=2 ucsCount=1", 1), "com.example.mail", "anr.stopped", "debugger", "seen"},
		"SQLite's file is taken":       {main("Native", "S", natives(libc+" nanosleep", libc+" usleep", "/system/lib64/libsqlite.so", "/system/lib64/libsqlite.so sqlite3_step"), "at android.database.sqlite.SQLiteConnection.nativeExecute(Native method)", "at com.example.mail.Store.save(Store.java:12)"), "com.example.mail", "anr.lock", "SQLite's database", "likely"},
		"a pipe is read":               {main("Native", "S", natives(libc+" read"), "at libcore.io.Linux.readBytes(Native method)", "at java.io.FileInputStream.read(FileInputStream.java:3)", "at com.example.mail.Root.su(Root.java:4)"), "com.example.mail", "anr.unknown", "com.example.mail.Root.su", "possible"},
		"a file is read":               {main("Native", "D", "at libcore.io.Linux.readBytes(Native method)", "at java.io.FileInputStream.read(FileInputStream.java:3)", "at com.example.mail.Store.load(Store.java:4)"), "com.example.mail", "anr.io", "libcore.io.Linux.readBytes", "seen"},
		"called back by the loop":      {main("Native", "R", natives("/data/app/com.example.mail-1/lib/arm64/libapp.so", "/data/app/com.example.mail-1/lib/arm64/libflutter.so fml::MessageLoopImpl::FlushTasks(fml::FlushType)", "/system/lib64/libutils.so android::Looper::pollInner(int)"), inQueue), "com.example.mail", "anr.work", "fml::MessageLoopImpl::FlushTasks(fml::FlushType) (libflutter.so)", "seen"},
		"Flutter's raster thread":      {main("Native", "S", natives(libc+" syscall", libc+" __futex_wait_ex(void volatile*, bool, int, bool, timespec const*)", libc+" pthread_cond_wait", "/data/app/com.example.mail-1/lib/arm64/libflutter.so"), "at io.flutter.embedding.engine.FlutterJNI.nativeSurfaceDestroyed(Native method)"), "com.example.mail", "anr.lock", "io.flutter.embedding.engine.FlutterJNI.nativeSurfaceDestroyed", "possible"},
		"Vulkan":                       {main("Native", "S", natives(libc+" __ioctl", libc+" ioctl", "/vendor/lib64/hw/vulkan.adreno.so", "/system/lib64/libvulkan.so vkWaitForFences", game+" Game::step()"), "at com.example.mail.Engine.step(Native method)"), "com.example.mail", "anr.gpu", "vkWaitForFences", "seen"},
		"a codec is stopped":           {main("Native", "S", natives(libc+" syscall", libc+" pthread_cond_wait", "/system/lib64/libstagefright_foundation.so android::ALooper::awaitResponse(android::sp<android::AReplyToken> const&)", "/system/lib64/libstagefright.so android::MediaCodec::stop()"), "at android.media.MediaCodec.native_stop(Native method)", "at com.example.mail.Player.stop(Player.java:4)"), "com.example.mail", "anr.lock", "com.example.mail.Player.stop", "possible"},
		"a process of the app":         {reason + server + artProcess(501, "com.example.mail:sync", artThread("main", 1, 501, "Sleeping", "S", "at java.lang.Thread.sleep(Native method)", "at com.example.mail.Sync.run(Sync.java:12)", onLooper)), "com.example.mail:sync", "anr.sleep", "com.example.mail.Sync.run", "seen"},
		"a name of its own":            {reason + strings.Replace(sleeping, "com.example.mail\n", "com.example.letters\n", 1) + server, "com.example.letters", "anr.sleep", "com.example.mail.Inbox.sort", "likely"},
		"indented":                     {"    " + strings.ReplaceAll(sleeping, "\n", "\n    "), "com.example.mail", "anr.sleep", "com.example.mail.Inbox.sort", "seen"},
		"with lines of Windows":        {strings.ReplaceAll(sleeping, "\n", "\r\n"), "com.example.mail", "anr.sleep", "com.example.mail.Inbox.sort", "seen"},
		"Play's, with its note":        {pasted, "", "anr.lock", "com.example.mail.Engine.pause", "possible"},
	} {
		write(t, "dump", c.text)
		found := diagnosed(t, "dump")
		if len(found.Causes) != 1 || found.ANRs[0].Process != c.process {
			t.Errorf("%s: %+v", name, found)
			continue
		}
		if got := found.Causes[0]; got.Kind != c.kind || got.Subject.Name != c.subject || string(got.Explains.Sure) != c.sure {
			t.Errorf("%s: %s, %q, %s, want %s, %q, %s", name, got.Kind, got.Subject.Name, got.Explains.Sure, c.kind, c.subject, c.sure)
		}
		text := passes(t, "dump").Stdout
		if !strings.Contains(text, "main thread") {
			t.Errorf("%s: the main thread is not named:\n%s", name, text)
		}
		if strings.Contains(text, "waits for stopped") || strings.Contains(text, `thread ""`) {
			t.Errorf("%s: it is not said in words:\n%s", name, text)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"the app's dump is missing":      {reason + server, "it does not show what did not respond: com.example.mail\nhint: it has the threads of system_server"},
		"the watchdog's thread is not":   {"Subject: Blocked in handler on i/o thread (android.io) for 65s\n\n" + server, "it does not show what did not respond: the thread android.io of system_server"},
		"a crash that Firebase exported": {"# Crashlytics - Stack trace\n# Application: com.example.mail\n# Platform: android\n\nFatal Exception: java.lang.IllegalStateException: no\n       at com.example.mail.Inbox.sort(Inbox.java:12)\n\nmain:\n       at android.os.MessageQueue.next(MessageQueue.java:335)\n", "an exception of Java ended com.example.mail\nhint: it said: java.lang.IllegalStateException: no"},
		"a tombstone's protocol buffer":  {"arch: ARM64\nbuild_fingerprint: \"a\"\npid: 4100\nsignal_info {\n  number: 11\n}\n", "it is the record of a crash"},
	} {
		write(t, "dump", c.text)
		if got := clitest.Run(t, nil, "diagnose", "dump"); got.Status != 2 || got.Stdout != "" || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%s: %d, %q, %q", name, got.Status, got.Stdout, got.Stderr)
		}
	}
}
