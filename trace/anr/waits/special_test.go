package waits_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// Calls of Android's own hand-written proxies until Android 7, and of large interfaces, are matched
// with their servers.
func TestOfFindsTheServerOfACall(t *testing.T) {
	for name, c := range map[string]struct{ call, answer, want string }{
		"by hand": {"android.app.ActivityManagerProxy.getTasks(ActivityManagerNative.java:1)", "  at android.app.ActivityManagerNative.onTransact(ActivityManagerNative.java:2)\n",
			"main: binder android.app.ActivityManager::getTasks (system_server, likely)|system_server Binder_1: !"},
		"AIDL": {"android.app.IActivityManager$Stub$Proxy.getTasks(IActivityManager.java:1)", "  at android.app.IActivityManager$Stub.onTransact(IActivityManager.java:2)\n",
			"main: binder android.app.IActivityManager::getTasks (system_server, likely)|system_server Binder_1: !"},
		"AIDL of many methods": {"android.app.IActivityManager$Stub$Proxy.getTasks(IActivityManager.java:1)", "  at android.app.IActivityManager$Stub.onTransact$getTasks$(IActivityManager.java:3)\n  at android.app.IActivityManager$Stub.onTransact(IActivityManager.java:2)\n",
			"main: binder android.app.IActivityManager::getTasks (system_server, likely)|system_server Binder_1: !"},
		"another method": {"android.app.IActivityManager$Stub$Proxy.getServices(IActivityManager.java:1)", "  at android.app.IActivityManager$Stub.onTransact(IActivityManager.java:2)\n",
			"main: binder android.app.IActivityManager::getServices !"},
	} {
		text := "----- pid 9 at x -----\nCmd line: com.example\n\"main\" prio=5 tid=1 Native\n  at android.os.BinderProxy.transactNative(Native method)\n  at android.os.BinderProxy.transact(BinderProxy.java:5)\n  at " + c.call + "\n\n----- end 9 -----\n" +
			"----- pid 3 at x -----\nCmd line: system_server\n\"Binder_1\" prio=5 tid=8 Runnable\n  at com.android.server.am.ActivityManagerService.getTasks(ActivityManagerService.java:7)\n" + c.answer + "\n----- end 3 -----\n"
		d, err := anr.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(said(waits.Of(d, waits.Subject{})), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A worker that waits in its task is not idle, though its loop is further out.
func TestOfWorkerWaitingInItsTask(t *testing.T) {
	loop := "  at kotlinx.coroutines.scheduling.CoroutineScheduler.runSafely(C.kt:1)\n  at kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.run(C.kt:2)\n"
	for own, want := range map[string]string{"": "worker: idle !", "  at com.example.Task.run(Task.java:1)\n": "worker: signal com.example.Task.run !"} {
		d, err := anr.Read(strings.NewReader("\"worker\" prio=5 tid=1 TimedWaiting\n  at sun.misc.Unsafe.park(Native method)\n  at java.util.concurrent.locks.LockSupport.parkNanos(LockSupport.java:1)\n" + own + loop))
		if err != nil {
			t.Fatal(err)
		}
		if got := said(waits.Of(d, waits.Subject{})); !slices.Equal(got, []string{want}) {
			t.Errorf("with %q: %q, want %q", own, got, want)
		}
	}
}
