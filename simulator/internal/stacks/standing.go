package stacks

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Standing is the standstill of a UI thread.
type Standing struct {
	simapp.Standstill
	Timeout simapp.Timeout
	// Peers are the processes that answer its calls, by name.
	Peers map[string]int
}

// monitor formats a monitor of the app: its class and its address in dumps.
func (p *Process) monitor(class string) string {
	return fmt.Sprintf("<0x%08x> (a %s)", 0x01000000+hash(fmt.Sprint(p.PID, class))%0x0e000000, class)
}

// stand sets the stack of an app's thread during a standstill.
func (p *Process) stand(place int, t *thread) {
	switch {
	case p.Stands == nil:
	case place == account.UI:
		p.standUI(t)
	case place >= account.Binders && place < account.Catcher:
		p.answer(t)
	}
}

// standUI sets the stack of the UI thread.
func (p *Process) standUI(t *thread) {
	s, pkg, entry := p.Stands, p.App.Package, p.entry(p.Stands.Timeout)
	switch s.Why {
	case simapp.HeldLock:
		t.status = "Blocked"
		t.frames = join([]string{at(pkg+".Store.read", 41), p.wanted(pkg+".Store", p.holder())}, entry)
	case simapp.Deadlock:
		t.status = "Blocked"
		t.frames = join([]string{at(pkg+".Cache.evict", 64), p.wanted(pkg+".Cache", p.holder()), at(pkg+".Store.trim", 97), "- locked " + p.monitor(pkg+".Store")}, entry)
	case simapp.SlowPeer:
		t.status, t.frames = "Native", join(p.asks(t.tid, s.Calls[0]), []string{at(pkg+".Remote."+s.Calls[0].Method, 22)}, entry)
	case simapp.SlowDisk:
		t.status, t.frames = "Native", join(p.writes(t.tid, pkg+".Store.write"), entry)
	case simapp.LowMemory:
		t.status = "Native"
		t.frames = join(p.reclaims(t.tid), []string{at(pkg+".Theme.icon", 15)}, entry)
	case simapp.BusyCPUs, simapp.OwnWork:
		t.status, t.frames = "Runnable", entry
		if s.Method != "" {
			t.frames = join([]string{at(s.Method, 42)}, entry)
		}
	}
}

// standHolder sets the stack of the thread that holds the lock.
func (p *Process) standHolder(t *thread) {
	pkg := p.App.Package
	switch p.Stands.Why {
	case simapp.HeldLock:
		t.status = "Runnable"
		t.frames = join([]string{at(pkg+".Store.rebuild", 88), "- locked " + p.monitor(pkg+".Store"), at(pkg+".Store$Writer.run", 120)}, worker())
	case simapp.Deadlock:
		t.status = "Blocked"
		t.frames = join([]string{at(pkg+".Store.size", 71), p.wanted(pkg+".Store", account.UI+1), at(pkg+".Cache.fill", 33), "- locked " + p.monitor(pkg+".Cache"), at(pkg+".Cache$Filler.run", 18)}, worker())
	}
}

// wanted formats the line for a monitor that another thread of the process holds.
func (p *Process) wanted(class string, holder int) string {
	return fmt.Sprintf("- waiting to lock %s held by thread %d", p.monitor(class), holder)
}

// holder returns the number of the thread that holds the lock.
func (p *Process) holder() int {
	for n, t := range p.Named() {
		if t.Name == p.Stands.Thread {
			return account.Catcher + 2 + n
		}
	}
	return 0
}

// asked returns the threads that answer the UI thread's calls, each with the index of the call
// in the file.
func (p *Process) asked() map[int32]int {
	out, tid := map[int32]int{}, int32(p.PID)
	for i := range p.Stands.Calls {
		if tid = p.waitsFor(tid); tid == 0 {
			break
		}
		out[tid] = i
	}
	return out
}

// waitsFor returns the thread whose answer another one waits for, 0 for none.
func (p *Process) waitsFor(tid int32) int32 {
	for i := len(p.Timeline.Transactions) - 1; i >= 0; i-- {
		switch one := p.Timeline.Transactions[i]; {
		case one.Reply && one.To == tid:
			return 0
		case one.From == tid && !one.OneWay && !one.Reply:
			return one.To
		}
	}
	return 0
}

// answer sets the stack of a thread that answers one of the calls.
func (p *Process) answer(t *thread) {
	i, ok := p.asked()[t.tid]
	if !ok {
		return
	}
	calls := p.Stands.Calls
	call, class := calls[i], service(calls[i])
	own := []string{at(class+"."+call.Method, 900+int(hash(call.Method)%900))}
	switch {
	case i+1 < len(calls):
		t.status, t.frames = "Native", join(p.asks(t.tid, calls[i+1]), own, p.answers(call))
	case p.Stands.There == simapp.HeldLock:
		t.status, t.frames = "Blocked", join(own, []string{p.wanted(class, ownerThere)}, p.answers(call))
	case p.Stands.There == simapp.SlowDisk:
		t.status, t.state, t.frames = "Native", 'D', join(p.writes(t.tid, class+".persist"), own, p.answers(call))
	default:
		t.status = "TimedWaiting"
		t.frames = join([]string{"at java.lang.Object.wait(Native method)", "- waiting on " + p.monitor(class+"$Request"), at(class+"$Request.await", 77), "- locked " + p.monitor(class+"$Request")}, own, p.answers(call))
	}
}

// service returns the class that answers a call: the activity manager's own name, or one
// derived from the interface.
func service(call simapp.Peer) string {
	name := call.Interface[strings.LastIndexByte(call.Interface, '.')+1:]
	name = strings.TrimPrefix(name, "I")
	if !strings.HasSuffix(name, "Service") && !strings.HasSuffix(name, "Manager") {
		name += "Service"
	}
	if call.Process != systemServer {
		return call.Process + "." + name
	}
	known := map[string]string{
		"ActivityManager": "com.android.server.am.ActivityManagerService", "PackageManager": "com.android.server.pm.PackageManagerService",
		"WindowManager": "com.android.server.wm.WindowManagerService",
	}
	return cmp.Or(known[name], "com.android.server."+strings.TrimSuffix(name, "Service")+"Service")
}
