package rendering_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/rendering"
)

// How a call is named, according to both ends.
func TestCallName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ client, server, want string }{
		{"AIDL::java::IFeed::query::client", "AIDL::cpp::IFeed::query::cppServer", "com.example.peer IFeed::query"},
		{"AIDL::java::IFeed::query::client", "something", "com.example.peer IFeed::query"},
		{"something", "AIDL::ndk::IFeed::query::server", "com.example.peer IFeed::query"},
		{"HIDL::IComposer::getDisplays::client", "", "com.example.peer IComposer::getDisplays"},
		{"AIDL::odd", "HIDL::odd", "com.example.peer"},
		{"", "", "com.example.peer"},
	} {
		p := newPhone()
		p.run(0, ui, begun, 1003, asleep)
		if c.client != "" {
			p.slice(ui, c.client, 1002.9, 1013)
		}
		p.call(70, ui, peerBinder, 1003, 1003, 1012)
		if c.server != "" {
			p.slice(peerBinder, c.server, 1004, 1011)
		}
		p.slice(peerBinder, "AIDL::java::ILater::call::server", 1014, 1015) // for somebody else
		p.run(2, peerBinder, 1003, 1012, asleep)
		p.wake(1012, ui, peerBinder)
		p.run(0, ui, 1012, 1013, waiting)
		p.drawnFrom(1013)
		f := only(t, p.read(t))
		got := took(f.Path, func(s rendering.Step) string { return s.Kind + " " + s.What })
		if got[run.WaitBinder+" "+c.want] != 9 {
			t.Errorf("%q, %q: %v", c.client, c.server, got)
		}
	}
}

// A one-way call is no wait, nor is one that was answered before.
func TestCallsWithoutAWait(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1006, asleep)
	p.slice(ui, "input", begun, 1012)
	p.call(60, ui, peerBinder, 1002, 1002, 1003)
	p.event(1005, ui, field.EventBinderTransaction, message(nil).Num(field.BinderTransactionDebugID, 70).Num(field.BinderTransactionToProc, peer).Num(field.BinderTransactionFlags, 1))
	p.event(1005.5, peerBinder, field.EventBinderTransactionReceived, message(nil).Num(field.BinderReceivedDebugID, 70))
	p.wake(1011, ui, worker)
	p.run(3, worker, 1006, 1011, asleep)
	p.run(0, ui, 1011, 1012, waiting)
	p.drawnFrom(1012)
	f := only(t, p.read(t))
	expect(t, "kinds", took(f.Path, func(s rendering.Step) string { return s.Kind + " " + s.What }), map[string]float64{
		"idle ": 1, "running input": 6, "running Choreographer#doFrame 5": 0, "sleep DefaultDispatch": 5, "running traversal": 1, "running draw": 1, "running DrawFrames 5": 3, "gpu ": 2,
	})
}

// A thread that calls another while it answers a call waits for that one, and is waited for.
func TestCallWithinAnAnswer(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.call(60, ui, peerBinder, 1003, 1003, 1018)
	// The peer calls back: the waiting thread answers, and continues to wait.
	p.run(2, peerBinder, 1003, 1005, asleep)
	p.call(70, peerBinder, ui, 1005, 1005, 1007)
	p.wake(1005, ui, peerBinder)
	p.run(0, ui, 1005, 1007, asleep)
	p.wake(1007, peerBinder, ui)
	p.run(2, peerBinder, 1007, 1018, asleep)
	p.wake(1018, ui, peerBinder)
	p.run(0, ui, 1018, 1019, waiting)
	p.drawnFrom(1019)
	f := only(t, p.read(t))
	expect(t, "threads", took(f.Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{
		"main idle": 1, "main running": 7, "binder:200_1 binder": 13, "RenderThread running": 3, "GPU completion gpu": 2,
	})
}

// The owner of a lock is unknown if two threads have the name; the wait is still one for a lock.
func TestLockWithUnknownOwner(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Lock contention on InternTable lock (owner tid: 0)":                                                 "",
		"Lock contention on a monitor lock (owner tid: 9999)":                                                "",
		"monitor contention with owner nobody (7) at void A.b()(A.java:1) waiters=1 blocking from int C.d()": "nobody at void A.b()(A.java:1)",
		"monitor contention with owner twin (7) at void A.b()(A.java:1) waiters=1 blocking from int C.d()":   "twin at void A.b()(A.java:1)",
	} {
		p := newPhone()
		tree := message(nil)
		for _, tid := range []int64{104, 105} {
			tree = tree.In(field.ProcessTreeThreads, message(nil).Num(field.TreeThreadTID, tid).Text(field.TreeThreadName, "twin").Num(field.TreeThreadTGID, ui))
		}
		p.put(message(nil).Num(field.PacketTimestamp, ns(1)).In(field.PacketProcessTree, tree))
		p.run(0, ui, begun, 1003, asleep)
		p.slice(ui, name, 1002.9, 1013)
		p.run(3, 104, 1003, 1012, asleep)
		p.run(0, ui, 1012, 1013, waiting)
		p.drawnFrom(1013)
		f := only(t, p.read(t))
		at := slices.IndexFunc(f.Path, func(s rendering.Step) bool { return s.Kind == run.WaitLock })
		if at < 0 || f.Path[at].What != want || f.Path[at].TID != ui || f.Path[at].Does != run.WaitLock {
			t.Errorf("%s: %+v", name, f.Path)
		}
	}
}

// A request that another thread sent, or this one at another time, is not what it waits for.
func TestRequestsOfOthers(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, blocked)
	p.event(1002, ui, field.EventBlockRqIssue, message(nil).Num(field.BlockRqIssueDev, 8<<20))
	p.event(1004, worker, field.EventBlockRqIssue, message(nil).Num(field.BlockRqIssueDev, 8<<20))
	p.event(1012.5, ui, field.EventBlockRqIssue, message(nil).Num(field.BlockRqIssueDev, 8<<20))
	p.wake(1012, ui, worker)
	p.run(0, ui, 1012, 1013, waiting)
	p.drawnFrom(1013)
	f := only(t, p.read(t))
	expect(t, "kinds", took(f.Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 8, run.WaitBlocked: 9, run.WaitGPU: 2})
}

// Work that a thread passes on while it is idle comes from where it was created; a thread of
// another process passes none on.
func TestPathOverHandedWork(t *testing.T) {
	t.Parallel()
	for by, want := range map[int64]map[string]float64{
		worker: {"main idle": 1, "main running": 2, "DefaultDispatch running": 7, "RenderThread running": 4},
		rival:  {"RenderThread idle": 10, "RenderThread running": 4},
	} {
		p := newPhone()
		p.run(0, ui, begun, 1003, asleep)
		p.slice(ui, "Choreographer#doFrame 5", begun, 1003)
		p.wake(1003, worker, ui)
		p.run(3, worker, 1003, 1010, asleep)
		p.run(3, rival, 1010, 1010.1, asleep)
		p.wake(1010, render, by)
		p.run(1, render, 990, 991, asleep)
		p.run(1, render, 1010, 1014, asleep)
		p.slice(render, "DrawFrames 5", 1010, 1014)
		p.shown(5, vsync, due, begun, 1014, noJank, 1)
		f := only(t, p.read(t))
		expect(t, "threads", took(f.Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), want)
	}
}

// A step's frequency is the mean over its time on its CPU.
func TestStepFrequency(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.clock(900, 0, 1_000_000)
	p.clock(1003, 0, 2_000_000) // 2 ms of 1, 3 of 2, 1 of 4 GHz, as the main thread runs in all
	p.clock(1006, 0, 4_000_000)
	p.clock(1500, 0, 1_000_000)
	p.clock(900, 1, 700_000)
	p.run(0, ui, begun, 1007, waiting)
	p.slice(ui, "Choreographer#doFrame 5", begun, 1007)
	p.wake(1007, render, ui)
	p.run(1, render, 1007, 1010, asleep)
	p.slice(render, "DrawFrames 5", 1007, 1010)
	p.shown(5, vsync, due, begun, 1010, noJank, 1)
	f := only(t, p.read(t))
	khz := map[string]int32{}
	for _, s := range f.Path {
		if s.Does == run.WaitRunning {
			khz[s.Thread] = s.KHz
		}
	}
	if khz["main"] != 2_000_000 || khz["RenderThread"] != 700_000 {
		t.Errorf("%v", khz)
	}
}

// A thread that sleeps for long though the vsync has come is not idle, whether or not a slice
// explains it.
func TestLongSleepIsNotIdle(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, 998, 999, asleep)
	p.run(3, worker, 998, 1700, asleep)
	p.wake(1700, ui, worker)
	p.run(0, ui, 1700, 1702, asleep)
	p.slice(ui, "Choreographer#doFrame 5", 1700, 1702)
	p.wake(1702, render, ui)
	p.run(1, render, 1702, 1705, asleep)
	p.slice(render, "DrawFrames 5", 1702, 1705)
	p.shown(5, vsync, due, 1700, 1705, appLate, 2)
	f := only(t, p.read(t))
	expect(t, "kinds", took(f.Path, func(s rendering.Step) string { return s.Kind + " " + s.What }), map[string]float64{
		"sleep DefaultDispatch": 700, "running Choreographer#doFrame 5": 2, "running DrawFrames 5": 3,
	})
}

// Android 10 and 11 offer only sched_wakeup. It is in the name of the waker, unless that is another
// CPU's interrupt: then of the thread running on the CPU that is to run the woken thread.
func TestWakerByWakeupsAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		cpu, target int
		waker       int64
		want        string // who was slept for, and on whose thread the path goes on
	}{
		{"on its own CPU, for another", 3, 0, worker, "DefaultDispatch sleep DefaultDispatch"},
		{"a thread of the app, on the CPU that it is for", 0, 0, worker, "DefaultDispatch sleep DefaultDispatch"},
		{"a thread of another app, on its own CPU", 3, 0, rivalWorker, "crunch sleep com.example.rival: crunch"},
		{"whoever was interrupted", 0, 0, rivalWorker, "main sleep "},
		{"nobody ran there", 0, 0, 0, "main sleep "},
	} {
		p := newPhone()
		p.run(0, ui, begun, 1003, asleep)
		p.slice(ui, "input", begun, 1013)
		if c.waker != 0 {
			p.run(3, c.waker, 1003, 1012, asleep)
		}
		p.queue(1011, c.cpu, c.target, ui, c.waker)
		p.run(0, ui, 1012, 1013, waiting)
		p.drawnFrom(1013)
		p.events = slices.DeleteFunc(p.events, func(e event) bool { return e.kind == field.EventSchedWaking })
		p.queue(begun, 0, 0, ui, 0)
		p.queue(1015, 0, 1, render, ui)
		trace := p.read(t)
		got := took(only(t, trace).Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind + " " + s.What })
		if got[c.want] != 8 || trace.Wakers != run.WakersWakeup {
			t.Errorf("%s, by %q: %v", c.name, trace.Wakers, got)
		}
	}
}

// A trace without wake-ups leaves open what a thread slept for, with a warning; the render thread
// still has its frame from the main thread.
func TestWakersUnknown(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.slice(ui, "input", begun, 1013)
	p.run(3, worker, 1003, 1012, asleep)
	p.run(0, ui, 1012, 1013, waiting)
	p.drawnFrom(1013)
	p.events = slices.DeleteFunc(p.events, func(e event) bool { return e.kind == field.EventSchedWaking })
	trace := p.read(t)
	expect(t, "threads", took(only(t, trace).Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{
		"main idle": 1, "main running": 5, "main sleep": 9, "RenderThread running": 3, "GPU completion gpu": 2,
	})
	if trace.Wakers != run.WakersNone || len(trace.Warnings) != 1 || !strings.Contains(trace.Warnings[0].Text, "wake-ups were not recorded") {
		t.Errorf("by %q: %+v", trace.Wakers, trace.Warnings)
	}
}

// TestWakerOfASleepingRenderThreadUnknown: if the state of the render thread before its
// part is unknown, the frame came from the main thread.
func TestWakerOfASleepingRenderThreadUnknown(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1013, waiting)
	p.run(1, render, 990, 991, asleep)
	p.drawnFrom(1013)
	p.events = slices.DeleteFunc(p.events, func(e event) bool { return e.kind == field.EventSchedWaking })
	expect(t, "threads", took(only(t, p.read(t)).Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{
		"main idle": 1, "main running": 14, "RenderThread running": 3, "GPU completion gpu": 2,
	})
}

// TestCallWithoutAReceiver: a call whose other end is not in the trace is named after the process
// that it was sent to; a reply to a call from before the trace is ignored.
func TestCallWithoutAReceiver(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.event(1001.5, peerBinder, field.EventBinderTransaction, message(nil).Num(field.BinderTransactionDebugID, 60).Num(field.BinderTransactionToProc, ui).Num(field.BinderTransactionReply, 1))
	p.event(1001.6, ui, field.EventBinderTransactionReceived, message(nil).Num(field.BinderReceivedDebugID, 60))
	p.run(0, ui, begun, 1003, asleep)
	p.event(1003, ui, field.EventBinderTransaction, message(nil).Num(field.BinderTransactionDebugID, 70).Num(field.BinderTransactionToProc, far))
	p.run(0, ui, 1012, 1013, waiting)
	p.drawnFrom(1013)
	got := took(only(t, p.read(t)).Path, func(s rendering.Step) string { return s.Kind + " " + s.What })
	if got["binder com.example.far"] != 9 {
		t.Errorf("%v, want 9 ms of a call of com.example.far", got)
	}
}

// TestCallNamedByItsFirstSlice: of several slices of the answering thread, the first that names
// an interface names the call: its own calls are nested in that.
func TestCallNamedByItsFirstSlice(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.call(70, ui, peerBinder, 1003, 1003, 1012)
	p.slice(peerBinder, "binder transaction", 1003.2, 1003.4)
	p.slice(peerBinder, "AIDL::cpp::IFeed::query::cppServer", 1004, 1011)
	p.slice(peerBinder, "AIDL::cpp::IStore::load::cppClient", 1011.2, 1011.4)
	p.run(2, peerBinder, 1003, 1012, asleep)
	p.wake(1012, ui, peerBinder)
	p.run(0, ui, 1012, 1013, waiting)
	p.drawnFrom(1013)
	got := took(only(t, p.read(t)).Path, func(s rendering.Step) string { return s.Kind + " " + s.What })
	if got["binder com.example.peer IFeed::query"] != 9 {
		t.Errorf("%v", got)
	}
}

// TestCallAnsweredWithinAnother: the reply to a call that a thread makes while it waits for another
// ends only the inner one; a sleep after both is no call.
func TestCallAnsweredWithinAnother(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.run(0, ui, begun, 1003, asleep)
	p.slice(ui, "input", begun, 1025)
	p.call(60, ui, peerBinder, 1003, 1003, 1015)
	p.run(2, peerBinder, 1003, 1005, asleep)
	p.call(70, peerBinder, ui, 1005, 1005, 1012) // the peer calls back
	p.wake(1005, ui, peerBinder)
	p.run(0, ui, 1005, 1007, asleep)
	p.call(80, ui, farBinder, 1007, 1007, 1011) // and calls another one for that
	p.run(3, farBinder, 1007, 1011, asleep)
	p.wake(1011, ui, farBinder)
	p.run(0, ui, 1011, 1012, asleep)
	p.wake(1012, peerBinder, ui)
	p.run(2, peerBinder, 1012, 1015, asleep)
	p.wake(1015, ui, peerBinder)
	p.run(0, ui, 1015, 1016, asleep)
	p.run(4, worker, 1016, 1024, asleep)
	p.wake(1024, ui, worker)
	p.run(0, ui, 1024, 1025, waiting)
	p.drawnFrom(1025)
	expect(t, "threads", took(only(t, p.read(t)).Path, func(s rendering.Step) string { return s.Thread + " " + s.Kind }), map[string]float64{
		"main idle": 1, "main running": 9, "binder:200_1 binder": 5, "binder:500_1 binder": 4, "DefaultDispatch sleep": 8, "RenderThread running": 3, "GPU completion gpu": 2,
	})
}

// TestLockWithinALock: the innermost slice states the lock owner, and a thread's id takes
// precedence over its name, which others may have too.
func TestLockWithinALock(t *testing.T) {
	t.Parallel()
	p := newPhone()
	tree := message(nil)
	for _, tid := range []int64{104, 105} {
		tree = tree.In(field.ProcessTreeThreads, message(nil).Num(field.TreeThreadTID, tid).Text(field.TreeThreadName, "twin").Num(field.TreeThreadTGID, ui))
	}
	p.put(message(nil).Num(field.PacketTimestamp, ns(1)).In(field.PacketProcessTree, tree))
	p.run(0, ui, begun, 1003, asleep)
	p.slice(ui, "monitor contention with owner DefaultDispatch (7) at void A.b()(A.java:1) waiters=1 blocking from int C.d()", 1001.9, 1013)
	p.slice(ui, "Lock contention on a monitor lock (owner tid: 102)", 1002.8, 1012.9)
	p.slice(ui, "Lock contention on a monitor lock (owner tid: 105)", 1002.9, 1012.8)
	p.run(3, 105, 990, 1012, asleep)
	p.wake(1012, ui, 105)
	p.run(0, ui, 1012, 1013, waiting)
	p.drawnFrom(1013)
	f := only(t, p.read(t))
	at := slices.IndexFunc(f.Path, func(s rendering.Step) bool { return s.Kind == run.WaitLock })
	if at < 0 || f.Path[at].TID != 105 || f.Path[at].What != "DefaultDispatch at void A.b()(A.java:1)" {
		t.Errorf("%+v, want a wait for thread 105, which is called as ART calls it", f.Path)
	}
}

// TestFileThatIsWritten: a thread waits for storage until its file is written out, and not after
// that; the end of a write begun before the trace is ignored.
func TestFileThatIsWritten(t *testing.T) {
	t.Parallel()
	p := newPhone()
	p.event(990, ui, field.EventF2fsSyncFileExit, nil)
	p.run(0, ui, begun, 1003, asleep)
	p.event(1002, ui, field.EventF2fsSyncFileEnter, nil)
	p.wake(1009, ui, rival)
	p.run(0, ui, 1009, 1011, asleep)
	p.event(1010, ui, field.EventF2fsSyncFileExit, nil)
	p.slice(ui, "input", 1010.5, 1020)
	p.run(3, worker, 1011, 1019, asleep)
	p.wake(1019, ui, worker)
	p.run(0, ui, 1019, 1020, waiting)
	p.drawnFrom(1020)
	expect(t, "kinds", took(only(t, p.read(t)).Path, kind), map[string]float64{run.WaitIdle: 1, run.WaitRunning: 10, run.WaitIO: 6, run.WaitSleep: 8, run.WaitGPU: 2})
}
