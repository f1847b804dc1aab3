package phone

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/storage"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

const standing = `apkgate-simulated-app/1
package com.example.still
scenario s 40s
  start 30
  1s go 48
fault anr after go at 300ms %s
test com.example.still.MainTest s
`

// standsStill returns a phone with an app that stood still, and the file of its stacks.
func standsStill(t *testing.T, phone, fault string) (p *Phone, file, text string) {
	t.Helper()
	p = newPhone(t, phone, fmt.Sprintf(standing, fault))
	start(p, instrument)
	pass(t, p, 30*time.Second)
	files := p.files.List(storage.Threads)
	if len(files) != 1 {
		t.Fatalf("%s on %s: the files are %v", fault, phone, files)
	}
	file = storage.Threads + "/" + files[0]
	p.files.Root = true
	b, err := p.files.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	p.files.Root = false
	return p, file, string(b)
}

// threadOf returns the section of a dump for one thread of the process with that command line.
func threadOf(t *testing.T, text, process, name string) string {
	t.Helper()
	_, own, ok := strings.Cut(text, "Cmd line: "+process+"\n")
	own, _, _ = strings.Cut(own, "\n----- end ")
	at := strings.Index(own, "\n\""+name+"\"")
	if !ok || at < 0 {
		t.Fatalf("there is no thread %q of %s in %s", name, process, text)
	}
	own, _, _ = strings.Cut(own[at+1:], "\n\n")
	return own
}

// The stacks show the waiter, the thread it waits for, and what that thread does.
func TestStacksOfAStandstill(t *testing.T) {
	t.Parallel()
	const app = "com.example.still"
	for _, c := range []struct{ phone, because, process, thread, has string }{
		{"pixel-7-android-14", "lock Writer", app, "main", "tid=1 Blocked\n… state=S …  at com.example.still.Store.read(Store.java:41)\n  - waiting to lock <0x……> (a com.example.still.Store) held by thread 14\n  at com.example.still.MainActivity.onClick("},
		{"pixel-7-android-14", "lock Writer", app, "Writer", "tid=14 Runnable\n… state=R …  - locked <0x……> (a com.example.still.Store)\n"},
		{"nexus-5-android-4.4.4", "lock Writer", app, "main", "tid=1 MONITOR\n…  - waiting to lock <0x……> (a com.example.still.Store) held by tid=14 (Writer)\n…at dalvik.system.NativeStart.main(Native Method)"},
		{"pixel-3-android-9", "deadlock Filler", app, "main", "(a com.example.still.Cache) held by thread 14\n…  - locked <0x……> (a com.example.still.Store)\n"},
		{"pixel-3-android-9", "deadlock Filler", app, "Filler", "tid=14 Blocked\n…(a com.example.still.Store) held by thread 1\n…  - locked <0x……> (a com.example.still.Cache)\n"},
		{"moto-g5-android-7.0", "disk", app, "main", "tid=1 Native\n… state=D …  kernel: f2fs_issue_flush+0x…  native: #00 pc … /system/lib/libc.so (fsync+8)\n…  at android.database.sqlite."},
		{"galaxy-s21-android-13", "disk", app, "main", "tid=1 Native\n… state=D …| held mutexes=\n  native: #00 pc … /apex/com.android.runtime/lib64/bionic/libc.so (fsync+8) (BuildId: "},
		{"pixel-5-android-11", "work com.example.still.Json.parse", app, "main", "tid=1 Runnable\n… state=R …  at com.example.still.Json.parse(Json.java:42)\n"},
		{"pixel-5-android-11", "idle", app, "main", "tid=1 Native\n… state=S …  at android.os.MessageQueue.nativePollOnce(Native method)\n"},
		{"pixel-5-android-11", "memory", app, "main", "tid=1 Native\n… state=D …"},
		{"nexus-9-android-5.0.0", "binder com.example.peer com.example.IPeer::ask", app, "main", "tid=1 Native\n…(android::IPCThreadState::waitForResponse(…  at android.os.BinderProxy.transact(Native method)\n  at com.example.IPeer$Stub$Proxy.ask("},
		{"nexus-9-android-5.0.0", "binder com.example.peer com.example.IPeer::ask", "com.example.peer", "Binder_1", "TimedWaiting\n…  at com.example.peer.PeerService.ask(…  at com.example.IPeer$Stub.onTransact("},
	} {
		_, _, text := standsStill(t, c.phone, "because "+c.because)
		pattern := strings.NewReplacer("……", "[0-9a-f]{8}", "…", "(?s:.*)").Replace(regexp.QuoteMeta(c.has))
		if got := threadOf(t, text, c.process, c.thread); !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%s on %s: %s of %s is at\n%s\nwant %s", c.because, c.phone, c.thread, c.process, got, c.has)
		}
	}
}

// Since Android 13 the system's file contains the kernel function in which each thread waits.
func TestWaitingChannels(t *testing.T) {
	t.Parallel()
	_, _, text := standsStill(t, "galaxy-s21-android-13", "because disk")
	has(t, text, "\n----- Waiting Channels: pid 4217 at 2026-01-05 ", " -----\nCmd line: com.example.still\n\nsysTid=4218      0\nsysTid=4217      f2fs_issue_flush\nsysTid=4219      do_epoll_wait\n", "      binder_wait_for_work\n", "      futex_wait_queue_me\n", "\n\n----- Waiting Channels: pid 1040 at ")
	if _, _, text = standsStill(t, "pixel-5-android-11", "because disk"); strings.Contains(text, "Waiting Channels") {
		t.Error("Android 11 tells of waiting channels")
	}
}

// When memory is low the low memory killer reports its kill, as an event and in the log.
func TestLowMemoryKillsACachedApp(t *testing.T) {
	t.Parallel()
	for phone, want := range map[string]string{
		"pixel-3-android-9":     "I/lowmemorykiller(  610): Kill 'com.example.cached' (3021), uid 10077, oom_adj 906 to free 51200kB\n",
		"pixel-5-android-11":    "I/lowmemorykiller(  610): Kill 'com.example.cached' (3021), uid 10077, oom_adj 906 to free 51200kB; reason: low watermark is breached and swap is low\n",
		"galaxy-s21-android-13": "I/lowmemorykiller(  610): Kill 'com.example.cached' (3021), uid 10077, oom_score_adj 906 to free 51200kB rss, 10240kB swap; reason: low watermark is breached and swap is low\n",
	} {
		p, _, _ := standsStill(t, phone, "because memory")
		has(t, output(t, p, "logcat -d -v brief"), want)
		has(t, output(t, p, "logcat -d -b events -v brief"), "I/am_low_memory( 1040): ", "I/am_proc_died( 1040): [0,3021,com.example.cached")
	}
	p, _, _ := standsStill(t, "pixel-5-android-11", "because disk")
	if out := output(t, p, "logcat -d -b all"); strings.Contains(out, "lowmemorykiller") || strings.Contains(out, "am_low_memory") {
		t.Errorf("memory is not short: %s", out)
	}
}

// A call through two other processes and back into the app, to a thread that waits for a
// monitor: the section of each process shows the thread that answers.
func TestStacksOfACallThroughProcesses(t *testing.T) {
	t.Parallel()
	_, _, text := standsStill(t, "pixel-7-android-14", "because binder system_server android.app.IActivityManager::getTasks through com.example.peer com.example.IPeer::ask through com.example.still com.example.ICallback::asked through com.example.peer com.example.IPeer::again lock android.bg")
	for _, c := range []struct{ process, thread, calls, answers string }{
		{"com.example.still", "main", "com.example.IPeer$Stub$Proxy.ask(", ""},
		{"com.example.peer", "binder:PID_1", "com.example.ICallback$Stub$Proxy.asked(", "com.example.IPeer$Stub.onTransact("},
		{"com.example.still", "binder:PID_1", "com.example.IPeer$Stub$Proxy.again(", "com.example.ICallback$Stub.onTransact("},
		{"com.example.peer", "binder:PID_2", "android.app.IActivityManager$Stub$Proxy.getTasks(", "com.example.IPeer$Stub.onTransact("},
		{"system_server", "binder:PID_1", "waiting to lock", "android.app.IActivityManager$Stub.onTransact("},
		{"system_server", "android.bg", "(a com.android.server.am.ActivityManagerService)", ""},
	} {
		pid := regexp.MustCompile(`----- pid (\d+) at .*\nCmd line: ` + c.process + "\n").FindStringSubmatch(text)
		if pid == nil {
			t.Fatalf("%s is not there", c.process)
		}
		got := threadOf(t, text, c.process, strings.Replace(c.thread, "PID", pid[1], 1))
		has(t, got, c.calls, c.answers)
	}
	has(t, text, "held by thread 4", "\"android.bg\" prio=5 tid=4 ")
}

// Since Android 8 each ANR has a file, for the system only; before that all share one that is
// world-readable.
func TestPermissionsOfANRStacks(t *testing.T) {
	t.Parallel()
	for phone, c := range map[string]struct {
		name string
		mode fs.FileMode
	}{
		"nexus-5-android-4.4.4": {`^/data/anr/traces\.txt$`, 0o666}, "moto-g5-android-7.0": {`^/data/anr/traces\.txt$`, 0o666},
		"pixel-2-android-8.1.0": {`^/data/anr/anr_2026-01-05-\d\d-\d\d-\d\d-\d{3}$`, 0o600}, "pixel-7-android-14": {`^/data/anr/anr_2026-01-05-\d\d-\d\d-\d\d-\d{3}$`, 0o600},
	} {
		p, file, _ := standsStill(t, phone, "because idle")
		if info, err := p.files.Stat(file); err != nil || info.Mode() != c.mode || !regexp.MustCompile(c.name).MatchString(file) {
			t.Errorf("%s: %s, %v, %v", phone, file, info.Mode(), err)
		}
		out, errs, code := run(t, p, "cat "+file)
		if readable := c.mode == 0o666; readable != (code == 0 && strings.Contains(out, "Cmd line: com.example.still")) {
			t.Errorf("%s: cat says %d, %s", phone, code, errs)
		} else if !readable {
			has(t, errs, "Permission denied")
		}
	}
}

// The log has the reason in the wording of the version, and the CPU usage.
func TestLogOfAStandstill(t *testing.T) {
	t.Parallel()
	const broadcast = "Broadcast of Intent { act=com.example.still.action.SYNC flg=0x10000010 pkg=com.example.still cmp=com.example.still/.SyncReceiver }"
	for _, c := range []struct {
		phone, fault string
		want         []string
	}{
		{"optimus-l3-android-4.1.1", "because idle", []string{"[4217,com.example.still,550026948,keyDispatchingTimedOut]", "Reason: keyDispatchingTimedOut", "CPU usage from 5000ms to 0ms ago:\n"}},
		{"nexus-9-android-5.0.0", "because idle", []string{"[0,4217,com.example.still,550026948,Input dispatching timed out (Waiting to send non-key event because", "Wait queue head age: 5003.0ms.)]"}},
		{"pixel-7-android-14", "because idle", []string{"ANR in com.example.still (com.example.still/.MainActivity)\n", "com.example.still.MainActivity (server) is not responding. Waited 5003ms for MotionEvent(action=DOWN))\n", "Parent: com.example.still/.MainActivity\n", "ErrorId: ", "Output from /proc/pressure/io"}},
		{"pixel-3-android-9", "kind broadcast because disk", []string{broadcast + "]\n", "ANR in com.example.still\n", "/f2fs_flush-254:5: 0% user + 3.1% kernel", "% TOTAL: ", " + 38% iowait"}},
		{"pixel-7-android-14", "kind broadcast because idle", []string{broadcast + ", waited 10003ms]\n"}},
		{"pixel-7-android-14", "kind service because memory", []string{"executing service com.example.still/.SyncService, waited 20003ms", "/kswapd0: 0% user + 80% kernel"}},
		{"pixel-5-android-11", "kind service because memory", []string{"executing service com.example.still/.SyncService]", "some avg10=71.42", "Load: 24.6 / 1.4 / 0.9\n"}},
		{"pixel-7-android-14", "kind provider because idle", []string{"ContentProvider not responding]", "Load: 2.1 / 1.4 / 0.9\n"}},
		{"pixel-7-android-14", "kind job because idle", []string{"No response to onStartJob]"}},
		{"pixel-7-android-14", "kind start because idle", []string{" 4217:com.example.still/u0a", "to complete startup]"}},
	} {
		p, _, _ := standsStill(t, c.phone, c.fault)
		out := output(t, p, "logcat -d -b events -v brief") + output(t, p, "logcat -d -b system -v raw")
		has(t, out, append(c.want, "I/am_anr")...)
	}
}

// Before Android 14 a slow job or a slow start is not reported.
func TestUnreportedTimeouts(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"job", "start"} {
		p := newPhone(t, "galaxy-s21-android-13", fmt.Sprintf(standing, "kind "+kind))
		start(p, instrument)
		pass(t, p, 30*time.Second)
		if out := output(t, p, "logcat -d -b events -b system"); strings.Contains(out, "anr") || strings.Contains(out, "ANR") || len(p.files.List(storage.Threads)) > 0 {
			t.Errorf("%s: %s", kind, out)
		}
	}
}

// What a non-root shell gets of an ANR from the system's services, by version: the stacks from
// the drop box, with its header; from the activity manager the app at fault, and since Android
// 8 the newest file, which the shell itself may not read.
func TestServicesReportAnANR(t *testing.T) {
	t.Parallel()
	const lock = "because lock Writer"
	for _, phone := range []string{"nexus-5-android-4.4.4", "pixel-3-android-9", "pixel-7-android-14"} {
		p, file, text := standsStill(t, phone, lock)
		box := output(t, p, "dumpsys dropbox --print data_app_anr")
		has(t, box, "Drop box contents: 1 entries\n", "Searching for: data_app_anr\n", " data_app_anr (compressed text, ", "Process: com.example.still\n", "\nSubject: ", " TOTAL: ", "Store.read(Store.java:41)")
		if got := strings.Contains(box, "ErrorId: "); got != (p.profile.API >= 33) {
			t.Errorf("%s: the drop box says %.800s", phone, box)
		}
		if short := output(t, p, "dumpsys dropbox"); strings.Contains(short, "Store.read") {
			t.Errorf("%s: without --print the drop box says %s", phone, short)
		}
		has(t, output(t, p, "dumpsys dropbox data_app_crash"), "(No entries found.)")
		last := output(t, p, "dumpsys activity lastanr-traces")
		if p.profile.API < 26 {
			if strings.Contains(last, "TRACES") {
				t.Errorf("%s: %s", phone, last)
			}
			continue
		}
		has(t, last, "ACTIVITY MANAGER LAST ANR TRACES (dumpsys activity lastanr-traces)\nFile: "+strings.TrimPrefix(file, storage.Threads+"/")+"\n\n", strings.TrimSpace(text))
		has(t, output(t, p, "dumpsys activity lastanr"), "  Application at fault: com.example.still/.MainActivity\n  Reason: Input dispatching timed out (", "\n\nACTIVITY MANAGER ACTIVITIES")
	}
	p := newPhone(t, "pixel-7-android-14", still)
	has(t, output(t, p, "dumpsys activity lastanr"), "<no ANR has occurred since boot>")
	has(t, output(t, p, "dumpsys activity lastanr-traces"), "<no ANR has occurred since boot>")
	has(t, output(t, p, "dumpsys dropbox"), "Drop box contents: 0 entries", "(No entries found.)", "Usage: dumpsys dropbox")
}

// A timeout of a broadcast is not kept as the activity manager's last ANR.
func TestLastANROnlyForInput(t *testing.T) {
	t.Parallel()
	p, _, _ := standsStill(t, "pixel-7-android-14", "kind broadcast because idle")
	has(t, output(t, p, "dumpsys activity lastanr"), "<no ANR has occurred since boot>")
	has(t, output(t, p, "dumpsys dropbox --print data_app_anr 1999-12-31"), "(No entries found.)")
	has(t, output(t, p, "dumpsys dropbox --print"), "Foreground: Yes\nErrorId: ", "\nSubject: Broadcast of Intent {")
}

// Since Android 11 the system keeps the reasons of processes' exits, newest first, with the
// stacks of one that had not responded.
func TestExitInfo(t *testing.T) {
	t.Parallel()
	p, file, _ := standsStill(t, "pixel-5-android-11", "because idle")
	output(t, p, "am force-stop com.example.still")
	start(p, instrument)
	pass(t, p, 2*time.Second)
	p.Break(simapp.Fault{Kind: simapp.Crash})
	out := output(t, p, "dumpsys activity exit-info com.example.still")
	has(t, out, "  package: com.example.still\n    Historical Process Exit for uid=10120\n        ApplicationExitInfo #0:\n",
		"pid=4234 realUid=10120", " reason=4 (APP CRASH(EXCEPTION)) ", " trace=null\n        ApplicationExitInfo #1:\n",
		"reason=10 (USER REQUESTED) subreason=21 (FORCE STOP) status=0\n", " trace=/data/system/procexitstore/"+strings.TrimPrefix(file, storage.Threads+"/")+".gz\n")
	if out := output(t, p, "dumpsys activity exit-info com.example.other"); strings.Contains(out, "package:") {
		t.Errorf("of another app it says %s", out)
	}
	old, _, _ := standsStill(t, "nord-android-10", "because idle")
	if out := output(t, old, "dumpsys activity exit-info"); strings.Contains(out, "EXIT INFO") {
		t.Errorf("Android 10 says %s", out)
	}
}

// debuggerd works for root only.
func TestDebuggerd(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", still)
	start(p, instrument)
	pass(t, p, 2*time.Second)
	pid := strings.TrimSpace(output(t, p, "pidof com.example.still"))
	if _, errs, code := run(t, p, "debuggerd -b "+pid); code != 1 || errs != "debuggerd: root is required\n" {
		t.Errorf("%d, %s", code, errs)
	}
	p.files.Root = true
	out := output(t, p, "debuggerd -b "+pid)
	has(t, out, "----- pid "+pid+" at ", "\"main\" sysTid="+pid+"\n", "    #00 pc 0", "/bionic/libc.so (__epoll_pwait+8)", "----- end "+pid+" -----")
	if strings.Contains(out, "  at ") {
		t.Errorf("frames of Java are in it: %s", out)
	}
	has(t, output(t, p, "debuggerd -j "+pid), "DALVIK THREADS (")
	if _, errs, code := run(t, p, "debuggerd 9"); code != 1 || !strings.Contains(errs, "9") {
		t.Errorf("of a process that is not there: %d, %s", code, errs)
	}
}

// A system whose lock is held for a minute is killed by its watchdog, which reports it in the
// log, as an event and in the drop box, with stacks in /data/anr.
func TestWatchdogEndsTheSystem(t *testing.T) {
	t.Parallel()
	for _, phone := range []string{"nexus-9-android-5.0.0", "galaxy-s21-android-13"} {
		p := newPhone(t, phone, still)
		pass(t, p, time.Second)
		p.Break(simapp.Fault{Kind: simapp.Freeze})
		pass(t, p, 59*time.Second)
		if out := output(t, p, "logcat -d -b all"); strings.Contains(strings.ToLower(out), "watchdog") {
			t.Errorf("%s: before its time: %s", phone, out)
		}
		pass(t, p, 14*time.Second)
		long := ""
		if p.profile.API >= 33 {
			long = " for 60s"
		}
		blocked := "Blocked in monitor com.android.server.am.ActivityManagerService on foreground thread (android.fg)" + long
		has(t, output(t, p, "logcat -d -b events -v brief"), "I/watchdog( 1040): "+blocked+"\n", "I/boot_progress_system_run( 1040): ", "I/boot_progress_enable_screen(")
		has(t, output(t, p, "logcat -d -b system -v brief"), "W/Watchdog( 1040): *** WATCHDOG KILLING SYSTEM PROCESS: "+blocked+"\n", "ActivityManagerService.monitor(", "*** GOODBYE!")
		has(t, output(t, p, "logcat -d -b main -v brief"), "I/Process ( 1040): Sending signal. PID: 1040 SIG: 9")
		box := output(t, p, "dumpsys dropbox --print system_server_watchdog")
		has(t, box, "Subject: "+blocked, "(a com.android.server.am.ActivityManagerService) held by thread 4", "- locked <", "(fsync+8)")
		if pre := output(t, p, "dumpsys dropbox system_server_pre_watchdog"); strings.Contains(pre, "(No entries") != (p.profile.API < 31) {
			t.Errorf("%s: halfway the drop box got %s", phone, pre)
		}
		if len(p.files.List(storage.Threads)) != 1 {
			t.Errorf("%s: the files are %v", phone, p.files.List(storage.Threads))
		}
	}
}

// A system that resumes in time is not killed.
func TestWatchdogSparesASystemThatResumes(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "galaxy-s21-android-13", still)
	p.Break(simapp.Fault{Kind: simapp.Freeze, For: 20 * time.Second})
	pass(t, p, 90*time.Second)
	if out := output(t, p, "dumpsys dropbox"); !strings.Contains(out, "0 entries") {
		t.Errorf("the drop box has %s", out)
	}
}

// Before Android 8 a process writes its stacks itself, appended to the existing ones.
func TestStacksAreAppendedBeforeAndroid8(t *testing.T) {
	t.Parallel()
	for phone, tag := range map[string]string{"nexus-5-android-4.4.4": "I/dalvikvm", "moto-g5-android-7.0": "I/art"} {
		p := newPhone(t, phone, strings.Replace(still, "package", "debuggable\npackage", 1))
		start(p, instrument)
		pass(t, p, 2*time.Second)
		for range 2 {
			output(t, p, "run-as com.example.still kill -3 4217")
			pass(t, p, time.Second)
		}
		if text := output(t, p, "cat /data/anr/traces.txt"); strings.Count(text, "Cmd line: com.example.still\n") != 2 {
			t.Errorf("%s: the file has %s", phone, text)
		}
		has(t, output(t, p, "logcat -d -b main -v brief"), tag, "Wrote stack traces to '/data/anr/traces.txt'")
	}
}

// During a standstill, a dump of stacks and a trace of the same time agree on each thread's
// state: also if it waits for storage, is kept from the CPUs, or works for the waiter.
func TestStacksOfAStandstillAgreeWithTheTrace(t *testing.T) {
	t.Parallel()
	for because, want := range map[string]string{
		"lock Writer":     "S main, R Writer",
		"deadlock Filler": "S main, S Filler",
		"disk":            "D main",
		"cpu":             "R main",
		"binder com.example.peer com.example.IPeer::ask through com.example.still com.example.IBack::ask": "S main, S Binder",
	} {
		p := newPhone(t, "pixel-5-android-11", fmt.Sprintf(standing, "because "+because))
		pid := strings.TrimSpace(output(t, p, "echo '"+kernelConfig+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
		begun := p.clock.Now()
		start(p, instrument)
		seen := map[string]bool{}
		var texts []string
		for p.clock.Now() < begun+6*time.Second {
			pass(t, p, 470*time.Millisecond)
			p.mu.Lock()
			if pr := p.state.running["com.example.still"]; pr != nil && pr.stands != nil {
				texts = append(texts, p.viewOf(pr).Dump())
			}
			p.mu.Unlock()
		}
		pass(t, p, 2*time.Second)
		r := readKernel(t, p, pid, begun)
		for _, text := range texts {
			when, all := readStacks(t, text)
			for tid, d := range all {
				state, core, _ := tracedAt(r, tid, when+clock.Slept)
				if state == "" { // it has not run yet
					continue
				}
				if (state == "R") != (d.state == "R") || state == "R" && core != d.core {
					t.Errorf("%s: %v: %s is %s on CPU %d in the dump, %s on %d in the trace", because, when, d.name, d.state, d.core, state, core)
				}
				name, _, _ := strings.Cut(d.name, ":")
				seen[d.state+" "+name] = true
			}
		}
		for _, one := range strings.Split(want, ", ") {
			if !seen[one] {
				t.Errorf("%s: no thread is %s: %v", because, one, seen)
			}
		}
	}
}

// The cause in the app's file is found in the stacks of an app that stood still.
func TestWaitChainsOfStandstills(t *testing.T) {
	t.Parallel()
	const asked = "com.example.peer com.example.IPeer::ask"
	for because, want := range map[string]string{
		"lock Writer":                      "main lock -> Writer running",
		"deadlock Filler":                  "main lock -> Filler lock -> main",
		"disk":                             "main io",
		"idle":                             "main idle",
		"cpu":                              "main running",
		"work com.example.Json.parse":      "main running",
		"binder " + asked:                  "main binder -> com.example.peer signal",
		"binder " + asked + " disk":        "main binder -> com.example.peer io",
		"binder " + asked + " lock keeper": "main binder -> com.example.peer lock -> keeper signal",
		"binder system_server a.ISys::x through " + asked + " through com.example.still a.IBack::y through com.example.peer a.IAgain::z lock android.bg": "main binder -> com.example.peer binder -> com.example.still binder -> com.example.peer binder -> system_server lock -> android.bg signal",
	} {
		for _, phone := range []string{"nexus-5-android-4.4.4", "nexus-5x-android-6.0.0", "pixel-3-android-9", "pixel-7-android-14"} {
			_, _, text := standsStill(t, phone, "because "+because)
			d, err := anr.Read(strings.NewReader(text))
			if err != nil || len(d.Warnings) > 0 {
				t.Fatalf("%s on %s: %v, %v", because, phone, err, d.Warnings)
			}
			c := waits.Of(d, waits.Subject{Process: "com.example.still", PID: 4217})
			var got []string
			for _, s := range c.Steps {
				name := s.Thread.Name
				if strings.Contains(strings.ToLower(name), "binder") {
					name = s.Process.Name
				}
				got = append(got, name+" "+s.Kind)
			}
			if c.Cycle >= 0 {
				got = append(got, c.Steps[c.Cycle].Thread.Name)
			}
			if chain := strings.Join(got, " -> "); chain != want {
				t.Errorf("%s on %s: %s, want %s", because, phone, chain, want)
			}
		}
	}
}

// The kernel lists unanswered calls, for root only.
func TestUnansweredBinderCalls(t *testing.T) {
	t.Parallel()
	for phone, file := range map[string]string{"pixel-3-android-9": "/sys/kernel/debug/binder/transactions", "pixel-7-android-14": "/dev/binderfs/binder_logs/transactions"} {
		p := newPhone(t, phone, fmt.Sprintf(standing, "because binder com.example.peer com.example.IPeer::ask through com.example.still com.example.IBack::ask"))
		start(p, instrument)
		pass(t, p, 3*time.Second)
		if _, errs, code := run(t, p, "cat "+file); code != 1 || !strings.Contains(errs, "Permission denied") {
			t.Errorf("%s: %d, %s", phone, code, errs)
		}
		p.files.Root = true
		text := output(t, p, "cat "+file)
		d, err := anr.Read(strings.NewReader(text))
		if err != nil || len(d.Binder) != 4 {
			t.Fatalf("%s: %+v, %v of %s", phone, d.Binder, err, text)
		}
		first, second := d.Binder[0], d.Binder[2]
		if first.FromPID != 4217 || first.FromTID != 4217 || first.ToPID != 4217 || first.ToTID != second.FromTID || second.FromPID != 4217 || second.ToPID == 4217 {
			t.Errorf("%s: %+v", phone, d.Binder)
		}
		pass(t, p, 10*time.Second)
		if text := output(t, p, "cat "+file); strings.Contains(text, "outgoing") {
			t.Errorf("%s: after all was answered it has %s", phone, text)
		}
	}
}

// An app under instrumentation that handles no input is not reported as not responding: after
// a minute its instrumentation ends.
func TestInputTimeoutUnderInstrumentation(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "pixel-7-android-14", strings.Replace(fmt.Sprintf(standing, "kind test because disk"), "s 40s", "s 90s", 1))
	s := start(p, instrument)
	pass(t, p, 40*time.Second)
	select {
	case code := <-s.done:
		t.Fatalf("before its time it ends with %d: %s", code, s.out.String())
	default:
	}
	finish(t, p, s)
	has(t, s.out.String(), "INSTRUMENTATION_RESULT: shortMsg=keyDispatchingTimedOut\nINSTRUMENTATION_RESULT: longMsg=Input dispatching timed out (", "is not responding. Waited 60003ms for MotionEvent(action=DOWN))\nINSTRUMENTATION_CODE: 0\n")
	if out := output(t, p, "logcat -d -b all"); strings.Contains(out, "am_anr") || strings.Contains(out, "ANR in") {
		t.Errorf("the log says %s", out)
	}
	if files := p.files.List(storage.Threads); len(files) > 0 {
		t.Errorf("there are %v", files)
	}
}
