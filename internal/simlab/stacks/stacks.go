// Package stacks writes the stacks of a simulated app's threads, as ART does where a
// process gets SIGQUIT. They are a view of the phone's books (package account), of what
// happened and of what the app is drawing: it works nothing out.
package stacks

import (
	"fmt"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/account"
	"github.com/apkgate/apkgate/internal/simlab/clock"
	"github.com/apkgate/apkgate/internal/simlab/pipeline"
	"github.com/apkgate/apkgate/internal/simlab/power"
	"github.com/apkgate/apkgate/internal/simlab/sched"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
	"github.com/apkgate/apkgate/internal/simlab/timeline"
)

// jiffy is the unit of CPU times, HZ is 100.
const jiffy = 10 * time.Millisecond

// Process is whose stacks they are.
type Process struct {
	*account.Account // its phone's
	*account.Deeds
	Layers []*timeline.Layer
	Draws  *pipeline.App
}

// stack is what a thread is at: its state as ART names it, and its frames, the innermost
// first.
type stack struct {
	status string
	frames []string
}

// Dump is the stacks of a process's threads now, as ART writes them
// (ThreadList::DumpForSigQuit, Thread::DumpState).
func (p *Process) Dump() string {
	now := p.Clock.Now()
	p.Advance()
	var blocks []string
	for _, place := range stackOrder() {
		if t := p.Threads[place]; t != nil {
			blocks = append(blocks, p.threadState(place, t))
		}
	}
	return fmt.Sprintf("----- pid %d at %s -----\nCmd line: %s\nBuild type: optimized\n\nDALVIK THREADS (%d):\n%s\n----- end %d -----\n",
		p.PID, clock.Wall(now).Format("2006-01-02 15:04:05.000000000-0700"), p.App.Package, len(blocks), strings.Join(blocks, ""), p.PID)
}

// stackOrder is the order of threads in a dump: the one that writes it is first.
func stackOrder() []int {
	order := []int{account.Catcher}
	for place := account.UI; place < account.Catcher; place++ {
		order = append(order, place)
	}
	return order
}

// threadState is what a dump says of one thread.
func (p *Process) threadState(place int, t *sched.Thread) string {
	last, state := p.lastRun(t.TID)
	var s stack
	if state == 'R' {
		s = p.runs(place)
	} else {
		s = p.sleeps(place)
	}
	name, kind, group, shared := t.Name, "", "main", ""
	switch place {
	case account.UI:
		name = "main"
	case account.Catcher, account.Heap:
		kind, group = "daemon ", "system"
	case account.Render:
		kind = "daemon "
	}
	if s.status == "Runnable" {
		shared = ` "mutator lock"(shared held)`
	}
	delayed, turns := t.Delayed()
	ticks := int64(t.Ran() / jiffy)
	user := ticks * 4 / 5
	return fmt.Sprintf("\"%s\" %sprio=5 tid=%d %s\n  | group=\"%s\" sCount=%d dsCount=0 flags=0 obj=0x%08x self=0x%010x\n"+
		"  | sysTid=%d nice=-10 cgrp=top-app sched=0/0 handle=0x%010x\n"+
		"  | state=%c schedstat=( %d %d %d ) utm=%d stm=%d core=%d HZ=100\n  | held mutexes=%s\n%s\n",
		name, kind, place+1, s.status, group, suspended(s.status), 0x72000000+t.TID*120, 0x7400000000+int64(t.TID)*0x1000,
		t.TID, 0x7500000000+int64(t.TID)*0x1000,
		state, t.Ran().Nanoseconds(), delayed.Nanoseconds(), turns, user, ticks-user, last.CPU, shared, s.text())
}

// suspended is how often a thread is suspended for the dump: not where it writes itself.
func suspended(status string) int {
	if status == "Runnable" {
		return 0
	}
	return 1
}

func (s stack) text() string {
	var b strings.Builder
	managed := false
	for _, frame := range s.frames {
		managed = managed || strings.HasPrefix(frame, "at ")
		b.WriteString("  " + frame + "\n")
	}
	if !managed {
		b.WriteString("  (no managed stack frames)\n")
	}
	return b.String()
}

// lastRun is the newest run of a thread that is remembered, and the state in which the
// thread is by now: R where it has a CPU or waits for one.
func (p *Process) lastRun(tid int32) (r timeline.Run, state byte) {
	for i := len(p.Timeline.Runs) - 1; i >= 0; i-- {
		r = p.Timeline.Runs[i]
		switch {
		case r.TID != tid:
		case r.State == timeline.GoesOn && r.To == p.Clock.Now() || r.State == 'R':
			return r, 'R'
		default:
			return r, 'S'
		}
	}
	return timeline.Run{}, 'S'
}

// runs is the stack of a thread that runs.
func (p *Process) runs(place int) stack {
	now := p.Clock.Now()
	does := power.Slice{Method: power.System, Kind: power.Service}
	p.Work(p.Deeds).Slices(now-1, now, func(s power.Slice) {
		if s.Thread == place {
			does = s
		}
	})
	if place != account.UI && (place < account.Pool || place >= account.Binders) {
		return stack{nativeOr(place), p.sleeps(place).frames}
	}
	s := stack{status: "Runnable"}
	if does.Method >= 0 {
		for i, m := range p.App.Power.Chain(does.Method) {
			method := p.App.Power.Methods[m]
			if method.Kind == simapp.Native {
				s.frames = append(s.frames, fmt.Sprintf("native: #%02d pc 00000000000b3a10  /data/app/%s-1/lib/arm64/libapp.so (%s+64)", i, p.App.Package, method.Name))
				if i == 0 {
					s.status = "Native"
				}
				continue
			}
			s.frames = append(s.frames, "at "+method.Name+"("+sourceOf(method.Name)+":42)")
		}
	}
	switch {
	case place != account.UI:
		s.frames = append(s.frames, workerFrames...)
	case does.Kind == power.Frame:
		if len(s.frames) == 0 {
			s.frames = []string{"at android.view.View.draw(View.java:23889)"}
		}
		s.frames = append(append(s.frames, frameFrames...), loopFrames...)
	default:
		if len(s.frames) == 0 {
			s.frames = []string{"at " + p.App.ActivityClass() + ".onClick(Simulated.java:42)"}
		}
		s.frames = append(s.frames, loopFrames...)
	}
	return s
}

// nativeOr is the state of a thread that runs and has no frames of Java on top: the
// runtime's own thread is Runnable, others are in their native code.
func nativeOr(place int) string {
	if place == account.Catcher || place == account.Heap {
		return "Runnable"
	}
	return "Native"
}

// sourceOf is the file of a method's class: Feed.java of com.example.Feed$1.bind.
func sourceOf(method string) string {
	class := method[:max(0, strings.LastIndexByte(method, '.'))]
	class, _, _ = strings.Cut(class[strings.LastIndexByte(class, '.')+1:], "$")
	return class + ".java"
}

// sleeps is the stack of a thread that waits.
func (p *Process) sleeps(place int) stack {
	switch {
	case place == account.UI:
		return p.uiWaits()
	case place == account.Catcher:
		return stack{"Runnable", nil}
	case place == account.Heap:
		return stack{"WaitingForTaskProcessor", []string{
			"at dalvik.system.VMRuntime.runHeapTasks(Native method)", "at java.lang.Daemons$HeapTaskDaemon.runInternal(Daemons.java:609)",
			"at java.lang.Daemons$Daemon.run(Daemons.java:140)", "at java.lang.Thread.run(Thread.java:1012)",
		}}
	case place == account.Render:
		return stack{"Native", []string{
			"native: #00 pc 00000000000a33b8  /apex/com.android.runtime/lib64/bionic/libc.so (__epoll_pwait+8)",
			"native: #01 pc 000000000057c4c0  /system/lib64/libhwui.so (android::uirenderer::renderthread::RenderThread::threadLoop()+220)",
		}}
	case place >= account.Binders:
		return stack{"Native", []string{
			"native: #00 pc 00000000000a23d8  /apex/com.android.runtime/lib64/bionic/libc.so (__ioctl+8)",
			"native: #01 pc 0000000000058b9c  /system/lib64/libbinder.so (android::IPCThreadState::joinThreadPool(bool)+348)",
		}}
	}
	return stack{"Waiting", append([]string{
		"at java.lang.Object.wait(Native method)", "at java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:435)",
		"at java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1092)",
	}, workerFrames...)}
}

// uiWaits is the stack of a UI thread that sleeps: it waits for the render thread, for the
// answer to a call, or for a message.
func (p *Process) uiWaits() stack {
	frames := append([]string{"at android.os.MessageQueue.nativePollOnce(Native method)", "at android.os.MessageQueue.next(MessageQueue.java:335)"}, loopFrames[2:]...)
	class := "android.graphics.HardwareRenderer"
	if p.Profile.API < 29 {
		class = "android.view.ThreadedRenderer"
	}
	switch {
	case p.calls(int32(p.PID)):
		frames = append([]string{"at android.os.BinderProxy.transactNative(Native method)", "at android.os.BinderProxy.transact(BinderProxy.java:584)"}, loopFrames...)
	case p.syncs():
		frames = append(append([]string{"at " + class + ".nSyncAndDrawFrame(Native method)", "at " + class + ".syncAndDrawFrame(HardwareRenderer.java:500)"}, frameFrames...), loopFrames...)
	}
	return stack{"Native", frames}
}

// calls reports whether a thread waits for an answer.
func (p *Process) calls(tid int32) bool {
	for i := len(p.Timeline.Transactions) - 1; i >= 0; i-- {
		switch one := p.Timeline.Transactions[i]; {
		case one.Reply && one.To == tid:
			return false
		case one.From == tid && !one.OneWay && !one.Reply:
			return true
		}
	}
	return false
}

// syncs reports whether the UI thread of a process waits for its render thread.
func (p *Process) syncs() bool {
	now := p.Clock.Now()
	waits := func(f *timeline.Frame) bool { return f.Kind == timeline.Whole && f.SyncQueued <= now && now < f.Issue }
	if f := p.Draws.Begun(); f != nil && waits(f) {
		return true
	}
	for _, l := range p.Layers {
		if n := len(l.Frames); n > 0 && waits(&l.Frames[n-1]) {
			return true
		}
	}
	return false
}

// What threads come from.
var (
	loopFrames = []string{
		"at android.os.Handler.handleCallback(Handler.java:958)", "at android.os.Handler.dispatchMessage(Handler.java:99)",
		"at android.os.Looper.loop(Looper.java:294)", "at android.app.ActivityThread.main(ActivityThread.java:8177)",
		"at java.lang.reflect.Method.invoke(Native method)", "at com.android.internal.os.ZygoteInit.main(ZygoteInit.java:971)",
	}
	frameFrames = []string{
		"at android.view.ViewRootImpl.performDraw(ViewRootImpl.java:4643)", "at android.view.ViewRootImpl.performTraversals(ViewRootImpl.java:3822)",
		"at android.view.Choreographer.doFrame(Choreographer.java:882)",
	}
	workerFrames = []string{
		"at java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1156)", "at java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:651)",
		"at java.lang.Thread.run(Thread.java:1012)",
	}
)
