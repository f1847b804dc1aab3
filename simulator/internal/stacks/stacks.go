// Package stacks formats the stacks of a simulated app's threads, like ART after a SIGQUIT, or
// Dalvik before Android 5. They are a view of the phone's account (package account), of the
// timeline, of the app's current frame, and of the standstill in its file: it computes
// nothing. For the system's own processes it shows what an app waits for in them; their other
// threads are idle.
package stacks

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/pipeline"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// jiffy is the unit of CPU times for HZ = 100.
const jiffy = 10 * time.Millisecond

// Process is the process whose stacks are dumped.
type Process struct {
	*account.Account // its phone's
	*account.Process
	Layers []*timeline.Layer
	Draws  *pipeline.App
	// Fingerprint is the phone's build fingerprint.
	Fingerprint string
	// Stands is the current standstill of the UI thread, nil for none from the app's file.
	Stands *Standing
}

// stack is a thread's state as ART names it, and its frames, innermost first.
type stack struct {
	status string
	frames []string
}

// Dump returns the current stacks of a process's threads.
func (p *Process) Dump() string {
	return p.dump(p.PID, p.App.Package, p.threads())
}

// ForSystem returns the dump that the system receives when it makes a process write its
// stacks.
func (p *Process) ForSystem() string {
	threads := p.threads()
	return p.dump(p.PID, p.App.Package, threads) + p.channels(p.PID, p.App.Package, threads)
}

// threads returns the process's own threads, in a dump's order: the dumping one is first.
func (p *Process) threads() (out []thread) {
	p.Advance()
	order := []int{account.Catcher}
	for place := account.UI; place < account.Catcher; place++ {
		order = append(order, place)
	}
	for _, place := range order {
		drawn := place == account.Render && p.Profile.API < renderThreadSince // by the UI thread
		if t := p.Threads[place]; t != nil && !drawn {
			out = append(out, p.thread(place, t))
		}
	}
	for n, t := range p.Named() {
		out = append(out, p.named(account.Catcher+2+n, t))
	}
	return out
}

// named returns the dump of a thread that the app's file names.
func (p *Process) named(vm int, n account.Named) thread {
	last, state := p.lastRun(n.TID)
	delayed, turns := n.Delayed()
	out := thread{name: n.Name, group: "main", vm: vm, tid: n.TID, state: state, core: int(last.CPU), ran: n.Ran(), delayed: delayed, turns: turns}
	switch {
	case state == 'R':
		out.status, out.frames = "Runnable", worker()
	case state == 'D':
		out.status, out.frames = "Native", join(p.writes(n.TID, p.App.Package+".Store.write"), worker())
	default:
		out.status, out.frames = "Waiting", takes()
	}
	if s := p.Stands; s != nil && s.Thread == n.Name && s.Why != simapp.SlowPeer {
		p.standHolder(&out)
	}
	return out
}

// thread returns the dump of one thread.
func (p *Process) thread(place int, t *sched.Thread) thread {
	last, state := p.lastRun(t.TID)
	var s stack
	if state == 'R' {
		s = p.runs(place)
	} else {
		s = p.sleeps(place)
	}
	delayed, turns := t.Delayed()
	out := thread{
		name: t.Name, group: "main", vm: place + 1, tid: t.TID, state: state, core: int(last.CPU),
		ran: t.Ran(), delayed: delayed, turns: turns,
	}
	switch place {
	case account.UI:
		out.name, out.nice = "main", -10
	case account.Catcher, account.Heap:
		out.daemon, out.group = true, "system"
	case account.Render:
		out.daemon, out.nice = true, -10
	}
	if place == account.Heap && p.Profile.API < renderThreadSince {
		out.name = "GC"
	}
	out.status, out.frames = s.status, s.frames
	p.stand(place, &out)
	return out
}

// lastRun returns a thread's latest remembered run, and its current state: R if it has a CPU
// or waits for one, D if it waits for storage.
func (p *Process) lastRun(tid int32) (r timeline.Run, state byte) {
	for i := len(p.Timeline.Runs) - 1; i >= 0; i-- {
		r = p.Timeline.Runs[i]
		switch {
		case r.TID != tid:
		case r.State == timeline.GoesOn && r.To == p.Clock.Now() || r.State == 'R':
			return r, 'R'
		case r.State == 'D':
			return r, 'D'
		default:
			return r, 'S'
		}
	}
	return timeline.Run{}, 'S'
}

// runs returns the stack of a running thread.
func (p *Process) runs(place int) stack {
	now := p.Clock.Now()
	does := power.Slice{Method: power.System, Kind: power.Service}
	p.Work(p.Process).Slices(now-1, now, func(s power.Slice) {
		if s.Thread == place {
			does = s
		}
	})
	if place != account.UI && !isWorker(place) {
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
			s.frames = append(s.frames, at(method.Name, 42))
		}
	}
	switch {
	case place != account.UI:
		s.frames = append(s.frames, worker()...)
	case does.Kind == power.Frame:
		if len(s.frames) == 0 {
			s.frames = []string{at("android.view.View.draw", 23889)}
		}
		s.frames = append(s.frames, p.drawn()...)
	default:
		if len(s.frames) == 0 {
			s.frames = []string{fmt.Sprintf("at %s.onClick(Simulated.java:42)", p.App.ActivityClass())}
		}
		s.frames = append(s.frames, p.handled(true)...)
	}
	return s
}

// nativeOr returns the state of a running thread without Java frames on top: Runnable for the
// runtime's own threads, Native for others.
func nativeOr(place int) string {
	if place == account.Catcher || place == account.Heap {
		return "Runnable"
	}
	return "Native"
}

// sleeps returns the stack of a waiting thread.
func (p *Process) sleeps(place int) stack {
	switch {
	case place == account.UI:
		return p.uiWaits()
	case place == account.Catcher:
		return stack{"Runnable", nil}
	case place == account.Heap:
		return stack{"WaitingForTaskProcessor", heapWaits}
	case place == account.Render:
		return stack{"Native", p.renderWaits(p.Threads[place].TID)}
	case place >= account.Binders:
		return stack{"Native", p.pooled(p.Threads[place].TID)}
	}
	return stack{"Waiting", takes()}
}

// uiWaits returns the stack of a sleeping UI thread: it waits for the render thread, for the
// answer to a call, or for a message.
func (p *Process) uiWaits() stack {
	class := "android.graphics.HardwareRenderer"
	if p.Profile.API < 29 {
		class = "android.view.ThreadedRenderer"
	}
	switch {
	case p.waitsFor(int32(p.PID)) != 0:
		return stack{"Native", join([]string{"at android.os.BinderProxy.transactNative(Native method)", at("android.os.BinderProxy.transact", 584)}, p.handled(true))}
	case p.syncs():
		return stack{"Native", join([]string{"at " + class + ".nSyncAndDrawFrame(Native method)", at(class+".syncAndDrawFrame", 500)}, p.drawn())}
	}
	return stack{"Native", p.idle(p.loop())}
}

// syncs reports whether a process's UI thread waits for its render thread.
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
