package stacks

import (
	"fmt"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/simapp"
)

const systemServer = "system_server"

// The numbers of the system processes' threads in their virtual machines.
const (
	ownerThere = 4 // the thread that holds a monitor there
	firstNamed = ownerThere + 1
)

// Others returns the stacks of the system's processes that are dumped after an app that does
// not respond: system_server, and the processes that answer the app's calls.
func (p *Process) Others() (out []string) {
	pids := map[string]int{}
	if p.Stands != nil {
		maps.Copy(pids, p.Stands.Peers)
	}
	delete(pids, p.App.Package)
	delete(pids, systemServer)
	out = append(out, p.peer(logcat.SystemPID, systemServer))
	for _, name := range slices.Sorted(maps.Keys(pids)) {
		out = append(out, p.peer(pids[name], name))
	}
	return out
}

// Locked returns the stacks of the system process while a thread that answers a call holds the
// activity manager's lock and waits for the disk: the watchdog's thread waits for the lock,
// and so does another call.
func (p *Process) Locked() string {
	const class = "com.android.server.am.ActivityManagerService"
	call := simapp.Peer{Process: systemServer, Interface: "android.app.IActivityManager", Method: "broadcastIntent"}
	base := int32(logcat.SystemPID)
	one := func(name string, vm int, tid int32, status string, frames []string) thread {
		return thread{name: name, group: "main", vm: vm, tid: tid, nice: -2, status: status, state: 'S', frames: frames}
	}
	holder, wants := one(p.BinderName(base, 0), ownerThere, base+20, "Native", nil), "- waiting to lock "+p.monitor(class)+fmt.Sprintf(" held by thread %d", ownerThere)
	holder.state = 'D'
	holder.frames = join(p.writes(holder.tid, class+".persist"), []string{at(class+".broadcastIntent", 1210), "- locked " + p.monitor(class)}, p.answers(call))
	fg := one("android.fg", firstNamed, base+35, "Blocked", join([]string{
		at(class+".monitor", 21070), wants, at("com.android.server.Watchdog$HandlerChecker.run", 209), at("android.os.Handler.handleCallback", 938), at("android.os.Handler.dispatchMessage", 102),
	}, handlerThread()))
	call.Method = "getTasks"
	waits := one(p.BinderName(base, 1), firstNamed+1, base+21, "Blocked", join([]string{at(class+".getTasks", 940), wants}, p.answers(call)))
	return p.dump(logcat.SystemPID, systemServer, []thread{one("main", 1, base, "Native", p.idle(p.loop())), fg, holder, waits})
}

// named are threads that the system process always has.
var named = []string{"android.ui", "android.io", "android.display", "ActivityManager", "PackageManager"}

// peer returns the stacks of one of the system's processes.
func (p *Process) peer(pid int, process string) string {
	base := int32(pid)
	one := func(name string, vm int, tid int32, status string, frames []string) thread {
		return thread{name: name, group: "main", vm: vm, tid: tid, nice: -2, status: status, state: 'S', frames: frames}
	}
	threads := []thread{one("Signal Catcher", 2, base+6, "Runnable", nil), one("main", 1, base, "Native", p.idle(p.loop()))}
	threads[0].daemon, threads[0].group, threads[0].state = true, "system", 'R'
	next := firstNamed
	if process == systemServer {
		for _, name := range named {
			threads = append(threads, one(name, next, base+30+int32(next), "Native", p.idle(handlerThread())))
			next++
		}
	}
	first := base + 1
	if process == systemServer {
		first = base + 20
	}
	for n := range int32(max(2, p.answersThere(process))) {
		t := one(p.BinderName(base, n), next, first+n, "Native", p.pooled(first+n))
		if p.Stands != nil {
			p.answer(&t)
		}
		threads = append(threads, t)
		next++
	}
	if s := p.Stands; s != nil && s.There == simapp.HeldLock && s.Calls[len(s.Calls)-1].Process == process {
		class := service(s.Calls[len(s.Calls)-1])
		threads = append(threads, one(s.Thread, ownerThere, base+29, "TimedWaiting", join([]string{
			"at java.lang.Object.wait(Native method)", "- waiting on " + p.monitor(class+"$Work"), at(class+"$Work.await", 51), "- locked " + p.monitor(class+"$Work"),
			at(class+".update", 210), "- locked " + p.monitor(class), at(class+"$Updater.run", 64), at("android.os.Handler.handleCallback", 938), at("android.os.Handler.dispatchMessage", 102),
		}, handlerThread())))
	}
	return p.dump(pid, process, threads) + p.channels(pid, process, threads)
}

// answersThere returns how many threads of a process answer calls of the app.
func (p *Process) answersThere(process string) (n int) {
	if p.Stands == nil {
		return 0
	}
	for _, call := range p.Stands.Calls {
		if call.Process == process {
			n++
		}
	}
	return n
}
