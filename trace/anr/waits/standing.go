package waits

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// near is how many frames of a stack, from the innermost, classify a thread: those further out are
// its callers.
const near = 24

// standing classifies a thread by its own part of the dump.
func standing(t *anr.Thread) Step {
	if s, decided := byDebugger(t); decided {
		return s
	}
	if s, decided := byCrash(t); decided {
		return s
	}
	if s, decided := byKernel(t, decisive); decided {
		return s
	}
	if loops(t) && t.State != "Blocked" && t.State != "MONITOR" && polls(t) {
		return Step{Kind: run.WaitIdle, At: firstOf(t, anr.Java, -1)}
	}
	if s, decided := byState(t); decided {
		return s
	}
	if s, decided := byDriver(t); decided {
		return s
	}
	if s, decided := byMethod(t); decided {
		return s
	}
	if s, decided := byFunction(t); decided {
		return s
	}
	if s, decided := byKernel(t, general); decided {
		return s
	}
	kind := run.WaitUnknown
	switch {
	case t.Kernel == "R" || t.Channel == "0":
		kind = run.WaitRunning
	case t.Kernel == "D":
		kind = run.WaitBlocked
	}
	return Step{Kind: kind, At: innermost(t)}
}

// innermost returns the index of the first frame, -1 if there is none.
func innermost(t *anr.Thread) int { return min(len(t.Frames), 1) - 1 }

// byState classifies a thread by the runtime's state, Dalvik's or ART's
// (art/runtime/thread_state.h, dalvik/vm/Thread.h).
func byState(t *anr.Thread) (Step, bool) {
	kind := states[t.State]
	switch {
	case kind == run.WaitLock:
		s := Step{Kind: kind, At: innermost(t)}
		if l := wantedOf(t); l != nil {
			s.What = l.Class
			s.At = max(min(l.Frame, len(t.Frames)-1), -1)
		}
		return s, true
	case kind == run.WaitRunning:
		return Step{Kind: kind, At: firstOf(t, anr.Java, innermost(t))}, true
	case kind == run.WaitSleep:
		return Step{Kind: kind, At: called(t, "java.lang.Thread.sleep", "java.lang.VMThread.sleep")}, true
	case kind != "":
		return Step{Kind: kind, At: innermost(t)}, true
	}
	return Step{}, false
}

var states = map[string]string{
	"Blocked": run.WaitLock, "MONITOR": run.WaitLock, "WaitingForLockInflation": run.WaitLock,
	"Runnable": run.WaitRunning, "RUNNABLE": run.WaitRunning,
	// The dump itself stops running threads.
	"Suspended": run.WaitRunning, "SUSPENDED": run.WaitRunning,
	"Sleeping":               run.WaitSleep,
	"WaitingForGcToComplete": run.WaitGC, "WaitingPerformingGc": run.WaitGC, "WaitingForGcThreadFlip": run.WaitGC,
	"WaitingWeakGcRootRead":     run.WaitGC,
	"WaitingInMainDebuggerLoop": run.WaitIdle, "WaitingInMainSignalCatcherLoop": run.WaitIdle, "WaitingForTaskProcessor": run.WaitIdle,
}

// firstOf returns the index of the first frame of a kind, or otherwise if there is none.
func firstOf(t *anr.Thread, kind string, otherwise int) int {
	if i := slices.IndexFunc(t.Frames, func(f anr.Frame) bool { return f.Kind == kind }); i >= 0 {
		return i
	}
	return otherwise
}

// called returns the index of the first frame of one of the methods, -1 if there is none.
func called(t *anr.Thread, methods ...string) int {
	return slices.IndexFunc(t.Frames[:min(len(t.Frames), near)], func(f anr.Frame) bool { return slices.Contains(methods, f.Name) })
}

// byMethod classifies a thread by its Java methods: in native code by the innermost one alone;
// where the runtime reports a wait, by those that led to it.
func byMethod(t *anr.Thread) (Step, bool) {
	first := firstOf(t, anr.Java, -1)
	if first < 0 {
		return Step{}, false
	}
	waiting := t.State == "Waiting" || t.State == "TimedWaiting" || t.State == "WAIT" || t.State == "TIMED_WAIT"
	if !waiting {
		name := t.Frames[first].Name
		kind, known := natives[name]
		if name == "android.os.MessageQueue.nativePollOnce" && !polls(t) {
			return Step{}, false // called back from there
		}
		switch {
		case known:
		case t.Kernel == "D" && isFile(name):
			kind, known = run.WaitIO, true
		case t.Kernel == "S" && (name == "libcore.io.Linux.readBytes" || name == "libcore.io.Posix.readBytes"):
			kind, known = run.WaitPoll, true // an uninterruptible sleep is a wait for storage
		}
		s := Step{Kind: kind, At: first}
		if kind != run.WaitIdle && returns(t) {
			s.Kind, known = run.WaitRunning, true
		} else if kind == run.WaitBinder {
			s.What = interfaceOf(t, first)
		}
		return s, known
	}
	own := false // it waits in code that it was given to run
	for i := first; i < min(len(t.Frames), first+near); i++ {
		s := Step{Kind: waiters.of(t.Frames[i].Name), At: i}
		if s.Kind == run.WaitIdle && own {
			break
		}
		own = own || s.Kind == "" && runtime.of(t.Frames[i].Name) == ""
		if s.Kind == run.WaitLock {
			s.What = lockClass(t.Frames[i].Name)
		}
		if s.Kind != "" {
			return s, true
		}
	}
	return Step{Kind: run.WaitSignal, At: first, What: waiter(t, first)}, true
}

// returns reports whether a thread is returning from a native method: its wait is over, and it
// continues when the runtime, stopped by the dump, lets it.
func returns(t *anr.Thread) bool {
	return slices.ContainsFunc(t.Frames[:min(len(t.Frames), near)], func(f anr.Frame) bool { return f.Kind == anr.Native && bare(f.Name) == "art::GoToRunnable" })
}

// natives maps native methods to what a thread in them waits for.
var natives = map[string]string{
	"android.os.MessageQueue.nativePollOnce":           run.WaitIdle,
	"android.os.BinderProxy.transactNative":            run.WaitBinder,
	"android.os.BinderProxy.transact":                  run.WaitBinder, // before Android 6
	"android.os.HwRemoteBinder.transact":               run.WaitBinder,
	"java.lang.Thread.sleep":                           run.WaitSleep,
	"libcore.io.Linux.fsync":                           run.WaitIO,
	"libcore.io.Linux.fdatasync":                       run.WaitIO,
	"libcore.io.Posix.fsync":                           run.WaitIO,
	"libcore.io.Posix.fdatasync":                       run.WaitIO,
	"java.io.FileDescriptor.sync":                      run.WaitIO,
	"sun.nio.ch.FileDispatcherImpl.force0":             run.WaitIO,
	"libcore.io.Linux.poll":                            run.WaitPoll,
	"libcore.io.Posix.poll":                            run.WaitPoll,
	"libcore.io.Linux.accept":                          run.WaitPoll,
	"libcore.io.Linux.connect":                         run.WaitPoll,
	"libcore.io.Linux.recvfromBytes":                   run.WaitPoll,
	"libcore.io.Posix.accept":                          run.WaitPoll,
	"libcore.io.Posix.connect":                         run.WaitPoll,
	"libcore.io.Posix.recvfromBytes":                   run.WaitPoll,
	"java.net.SocketInputStream.socketRead0":           run.WaitPoll,
	"android.net.LocalSocketImpl.readba_native":        run.WaitPoll,
	"android.net.LocalSocketImpl.accept":               run.WaitPoll,
	"android.os.UEventObserver.nativeWaitForNextEvent": run.WaitIdle,
	"android.os.FileObserver$ObserverThread.observe":   run.WaitIdle,
	"dalvik.system.VMRuntime.runHeapTasks":             run.WaitIdle,
}

// isFile reports whether a native method works on files: in uninterruptible sleep it waits for
// storage, whereas a read of a pipe is interruptible.
func isFile(method string) bool {
	return strings.HasPrefix(method, "libcore.io.Linux.") || strings.HasPrefix(method, "libcore.io.Posix.") ||
		strings.HasPrefix(method, "android.database.sqlite.SQLiteConnection.native") || strings.HasPrefix(method, "java.io.UnixFileSystem.") ||
		strings.HasPrefix(method, "android.os.FileUtils.")
}

// rules map prefixes of names to what a thread waits for in them.
type rules []struct{ kind, begins string }

func (r rules) of(name string) string {
	for _, rule := range r {
		if strings.HasPrefix(name, rule.begins) {
			return rule.kind
		}
	}
	return ""
}

// waiters are methods that lead to a wait; the innermost one states for what.
var waiters = rules{
	{run.WaitJoin, "java.lang.Thread.join"},
	{run.WaitSleep, "java.lang.Thread.sleep"},
	{run.WaitSleep, "java.lang.VMThread.sleep"},
	{run.WaitLock, "java.util.concurrent.locks.ReentrantLock"},
	{run.WaitLock, "java.util.concurrent.locks.ReentrantReadWriteLock"},
	{run.WaitLock, "java.util.concurrent.locks.StampedLock."},
	{run.WaitLock, "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireQueued"},
	{run.WaitIdle, "java.util.concurrent.ThreadPoolExecutor.getTask"},
	{run.WaitIdle, "java.util.concurrent.ForkJoinPool.awaitWork"},
	{run.WaitIdle, "java.util.concurrent.ForkJoinPool.runWorker"},
	{run.WaitIdle, "kotlinx.coroutines.scheduling.CoroutineScheduler$Worker."},
	{run.WaitIdle, "java.lang.ref.ReferenceQueue.remove"},
	{run.WaitIdle, "java.lang.Daemons$"},
	{run.WaitIdle, "java.util.TimerThread.mainLoop"},
	{run.WaitIdle, "java.util.Timer$TimerImpl.run"},
	{run.WaitIdle, "android.os.MessageQueue.next"},
}

// runtime begins the methods that an idle thread's own loop consists of.
var runtime = rules{
	{run.WaitIdle, "java."}, {run.WaitIdle, "sun.misc."}, {run.WaitIdle, "jdk.internal."}, {run.WaitIdle, "kotlinx.coroutines."}, {run.WaitIdle, "android.os."},
}

// lockClass returns the class of a lock for one of its methods or of a nested class.
func lockClass(method string) string {
	class, _, _ := strings.Cut(method, "$")
	if class == method {
		class, _, _ = cutLast(method, ".")
	}
	return class
}

// waiter returns the method that waits for another thread, skipping those that only show how.
func waiter(t *anr.Thread, first int) string {
	for _, f := range t.Frames[first:min(len(t.Frames), first+near)] {
		if f.Kind == anr.Java && plumbing.of(f.Name) == "" {
			return f.Name
		}
	}
	return ""
}

// plumbing is methods that show how a thread waits, not for what.
var plumbing = rules{
	{run.WaitSignal, "java.lang.Object.wait"},
	{run.WaitSignal, "java.lang.Thread.parkFor"},
	{run.WaitSignal, "sun.misc.Unsafe.park"},
	{run.WaitSignal, "jdk.internal.misc.Unsafe.park"},
	{run.WaitSignal, "java.util.concurrent.locks."},
}
