package account

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// peer is a process that is not an app: one that apps call, or one that competes for the CPUs.
type peer struct {
	pid    int32
	answer *sched.Pool
	hogs   []*sched.Thread
}

// Process and thread ids for the contents of app files.
const (
	peers       = 20_000
	perPeer     = 40
	peerThreads = 4 // answer calls
	hogsFrom    = 10
	named       = 26_000
	perApp      = 40
	apps        = 100
)

// peer returns the process with a name, which has existed since boot.
func (a *Account) peer(name string) *peer {
	if p := a.peers[name]; p != nil {
		return p
	}
	p := &peer{pid: peers + int32(len(a.peers))*perPeer, answer: &sched.Pool{}}
	a.peers[name] = p
	a.scheduler.Thread(timeline.Thread{PID: p.pid, TID: p.pid, Process: name, Name: timeline.Comm(path.Base(name))}, nil)
	for n := range int32(peerThreads) {
		p.answer.Threads = append(p.answer.Threads, a.scheduler.Thread(timeline.Thread{PID: p.pid, TID: p.pid + 1 + n, Process: name, Name: a.BinderName(p.pid, n)}, nil))
	}
	return p
}

// answering returns the threads of a process that answer calls.
func (a *Account) answering(process string) *sched.Pool {
	switch process {
	case "system_server":
		return a.Binder.System
	case "/system/bin/surfaceflinger":
		return a.Binder.Flinger
	}
	return a.peer(process).answer
}

// hogs returns the threads of a process that competes for the CPUs: one for each CPU.
func (a *Account) hogs(process string) []*sched.Thread {
	p := a.peer(process)
	for n := len(p.hogs); n < a.Hardware.Little.Count+a.Hardware.Big.Count; n++ {
		p.hogs = append(p.hogs, a.scheduler.Thread(timeline.Thread{PID: p.pid, TID: p.pid + hogsFrom + int32(n), Process: process, Name: fmt.Sprintf("worker-%d", n+1)}, nil))
	}
	return p.hogs
}

// fence is the name of the thread that waits for the GPU.
const fence = "GPU completion"

// beginNamed starts the threads that its app's file names.
func (a *Account) beginNamed(d *Process) {
	d.named = map[string]*sched.Thread{}
	for _, c := range d.App.Causes {
		switch {
		case c.Kind == simapp.Lock:
			a.nameThread(d, c.Name)
		case c.Kind == simapp.GPU && a.Profile.API >= renderThreadSince:
			a.nameThread(d, fence)
		}
	}
}

// renderThreadSince is the API level from which on a render thread draws instead of the UI
// thread.
const renderThreadSince = 21

func (a *Account) nameThread(d *Process, name string) {
	n := len(d.named)
	if d.named[name] != nil || n == perApp {
		return
	}
	place := places + n
	d.named[name] = a.scheduler.Thread(timeline.Thread{
		PID: int32(d.PID), TID: int32(named + d.PID%apps*perApp + n), Process: d.App.Package, Name: timeline.Comm(name), Began: a.Clock.Now(),
	}, func(r sched.Run) { d.work.Add(workOf(r, place)) })
}

// workOf converts a run to the process's work.
func workOf(r sched.Run, place int) power.Run {
	return power.Run{From: r.From, To: r.To, Thread: place, CPU: int(r.CPU), Part: r.Part, Step: r.Step, Kind: r.Kind, Method: r.Method, Share: r.Share}
}

// Cast returns the threads that take part in the frames of a process.
func (a *Account) Cast(d *Process) *sched.Cast {
	c := &sched.Cast{
		UI: d.Threads[UI], Render: d.Threads[Render], Vsync: a.Vsync, Heap: d.Threads[Heap], Fence: d.named[fence],
		Binder: &a.Binder, AIDL: a.Profile.API >= 31, Peer: a.answering, Hogs: a.hogs,
		Owner: func(name string) *sched.Thread {
			if t := d.named[name]; t != nil {
				return t
			}
			return d.Threads[Heap]
		},
	}
	if a.Profile.API < renderThreadSince {
		c.Render = c.UI
	}
	return c
}

// Stand makes the UI thread of a process stop for a duration from now on, for a reason.
func (a *Account) Stand(d *Process, why simapp.Standstill, long time.Duration) {
	if why.Thread != "" && why.Why != simapp.SlowPeer {
		a.nameThread(d, why.Thread)
	}
	c := a.Cast(d)
	c.Peer = func(process string) *sched.Pool {
		if process == d.App.Package {
			return d.binder
		}
		return a.answering(process)
	}
	now := a.Clock.Now()
	for _, it := range c.Stands(why, now+stands, now+long) {
		a.ask(d, it)
	}
}

// stands is the delay before a UI thread stops.
const stands = 100 * time.Microsecond

// PeerPID returns the id of a process that an app calls.
func (a *Account) PeerPID(process string) int {
	return int(a.answering(process).Threads[0].PID)
}

// Named is a thread of a process that its app's file names.
type Named struct {
	Name string // in full, as in Java
	*sched.Thread
}

// Named returns the named threads of a process, in the order in which they started.
func (d *Process) Named() (out []Named) {
	for name, t := range d.named {
		out = append(out, Named{name, t})
	}
	slices.SortFunc(out, func(a, b Named) int { return cmp.Compare(a.TID, b.TID) })
	return out
}
