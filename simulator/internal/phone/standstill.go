package phone

import (
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/anr"
	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/stacks"
	"github.com/apkgate/apkgate/simulator/internal/storage"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// standsOn is how much longer than the system's timeout a standstill lasts by default.
const standsOn = 1500 * time.Millisecond

// standStill blocks the UI thread of an app for the reason in its file, and makes the system
// report it. The app continues afterwards, as if the user chose to wait.
func (p *Phone) standStill(pr *process, f simapp.Fault) {
	patience := f.Timeout.Patience()
	long := f.For
	switch {
	case f.Because.Why == simapp.NothingUp:
		long = patience + time.Millisecond
	case long == 0:
		long = patience + standsOn
	}
	now, used := p.clock.Now(), p.used(pr)
	pr.draws.Hold(now, long)
	if runs(f.Because.Why) {
		pr.busy = append(pr.busy, choreo.Block{At: now, For: long})
	}
	pr.stood = append(pr.stood, stoodStill{now, long, f.Because})
	if !runs(f.Because.Why) && pr.usage != nil {
		p.power.Stand(pr.usage, f.Because, long)
	}
	if f.Because.Why == simapp.LowMemory {
		p.clock.At(now+patience/2, func() { anr.LowMemory(p.log) })
	}
	stands := &stacks.Standing{Standstill: f.Because, Timeout: f.Timeout, Peers: p.peersOf(f.Because)}
	pr.stands = stands
	p.clock.At(now+long, func() {
		if pr.stands == stands {
			pr.stands = nil
		}
	})
	p.clock.At(now+long+longFrameTold, func() { p.tellLongFrames(pr) })
	p.clock.At(now+patience, func() {
		if !pr.dead {
			p.losesPatience(pr, f, anr.Usage{From: now, To: now + patience, App: p.used(pr) - used, CPUs: p.cpus()})
		}
	})
}

// losesPatience handles the system's timeout for an app.
func (p *Phone) losesPatience(pr *process, f simapp.Fault, u anr.Usage) {
	if f.Timeout == simapp.TestTimeout {
		p.endsTest(pr, f)
		return
	}
	if f.Because.Why == simapp.BusyCPUs {
		u.Hog = p.power.PeerPID(sched.HogProcess)
	}
	p.saysSo(pr, f, u)
}

// endsTest handles an app under instrumentation that handles no input: the system ends the
// instrumentation without reporting an ANR (ActivityManagerService.inputDispatchingTimedOut).
// Other apps are not affected.
func (p *Phone) endsTest(pr *process, f simapp.Fault) {
	if pr.workload != nil {
		e := p.eventOf(pr, f, f.Timeout.Patience())
		pr.workload.appDied("keyDispatchingTimedOut\nINSTRUMENTATION_RESULT: longMsg=" + e.Reason())
	}
}

// eventOf returns the ANR of an app that has not responded for the given time.
func (p *Phone) eventOf(pr *process, f simapp.Fault, waited time.Duration) anr.Event {
	return anr.Event{
		API: p.profile.API, App: pr.app, PID: pr.PID, UID: p.packages.UID(pr.app.Package), Timeout: f.Timeout, Why: f.Because.Why,
		Window: p.windowOf(pr), At: p.clock.Now(), Waited: waited + 3*time.Millisecond, User: p.options.Production, Build: p.state.props["ro.build.fingerprint"],
	}
}

// runs reports whether a UI thread has a CPU during its standstill.
func runs(why string) bool { return why == simapp.OwnWork || why == simapp.NothingUp }

// peersOf returns the processes that answer the calls of a blocked app, by name.
func (p *Phone) peersOf(s simapp.Standstill) map[string]int {
	out := map[string]int{}
	for _, call := range s.Calls {
		out[call.Process] = p.power.PeerPID(call.Process)
	}
	return out
}

// The time for writing the stacks of each other process after those of the app, and then until
// the log.
const (
	dumpsOther = 380 * time.Millisecond
	countsCPUs = 700 * time.Millisecond
)

// late is the delay after which the system dumps an app that is idle by then.
const late = 400 * time.Millisecond

// saysSo reports an app that does not respond like the system: the event at once, then the
// stacks of the app and of the processes that answer it, then the log
// (ProcessErrorStateRecord.appNotResponding).
func (p *Phone) saysSo(pr *process, f simapp.Fault, u anr.Usage) {
	e := p.eventOf(pr, f, u.To-u.From)
	if !e.Reported() {
		return
	}
	p.log.Event("am_anr", e.Fields()...)
	looks := catchTakes
	if f.Because.Why == simapp.NothingUp {
		looks = late
	}
	p.clock.At(e.At+looks-catchTakes, func() {
		if pr.usage != nil && !pr.dead {
			p.power.CatchSignal(pr.usage, catcherFor)
		}
	})
	p.clock.At(e.At+looks, func() {
		text := p.stacksOf(pr, e)
		after := time.Duration(text.others) * dumpsOther
		p.clock.At(p.clock.Now()+after, func() { p.keepStacks(e, text.whole) })
		p.clock.At(p.clock.Now()+after+countsCPUs, func() { p.tellANR(e, u, text.whole) })
	})
}

// used returns the CPU time of a process up to now.
func (p *Phone) used(pr *process) time.Duration {
	if pr.usage == nil {
		return 0
	}
	return p.power.CPU(pr.usage)
}

// cpus returns the phone's number of CPUs.
func (p *Phone) cpus() int { return p.power.Hardware.Little.Count + p.power.Hardware.Big.Count }

// windowOf returns the app's window with the focus, as the input dispatcher names it.
func (p *Phone) windowOf(pr *process) string {
	if l := pr.front(); l != nil {
		return fmt.Sprintf("%x %s", l.Hash, l.Title)
	}
	return "0 " + pr.component()
}

// written is the stacks of several processes.
type written struct {
	whole  string
	others int
}

// stacksOf returns the current stacks for an ANR.
func (p *Phone) stacksOf(pr *process, e anr.Event) written {
	view := p.viewOf(pr)
	if view == nil {
		return written{}
	}
	out := written{whole: e.Header() + e.Dumping(pr.PID) + view.ForSystem()}
	for _, other := range view.Others() {
		out.whole += "\n" + other
		out.others++
	}
	return out
}

// viewOf returns a process for its stacks, nil for one without any.
func (p *Phone) viewOf(pr *process) *stacks.Process {
	if pr.usage == nil || pr.dead {
		return nil
	}
	return &stacks.Process{Account: p.power, Process: pr.usage, Layers: pr.Layers, Draws: pr.draws, Fingerprint: p.state.props["ro.build.fingerprint"], Stands: pr.stands}
}

// keepStacks writes the file of an ANR, which the system can read.
func (p *Phone) keepStacks(e anr.Event, text string) {
	if pr := p.state.running[e.App.Package]; pr != nil && pr.PID == e.PID {
		pr.traces = e.Path()
	}
	if text != "" && p.files.Write(e.Path(), []byte(text), fs.FileMode(e.Mode())) == nil && e.API >= 26 {
		p.log.System("system", 'I', "ActivityManager", "Dumping to %s", e.Path())
	}
}

// exited records the end of a process, with the reason.
func (p *Phone) exited(pr *process, why anr.Reason, text string) {
	if p.profile.API >= 30 && pr.usage != nil {
		p.book.Exited(anr.Exit{Package: pr.app.Package, PID: pr.PID, UID: p.packages.UID(pr.app.Package), At: p.clock.Now(), Reason: why, Text: text, Traces: pr.traces})
	}
}

// dumpTroubles handles dumpsys activity for ANRs and ended processes; false for other
// arguments.
func (c *call) dumpTroubles() (code int, ok bool) {
	switch what := c.Arg(0); {
	case what == "lastanr" && c.profile.API >= 26:
		c.Args = c.Args[1:]
		return c.book.DumpLast(c.Call, func() int { return dumpActivity(c) }), true
	case what == "lastanr-traces" && c.profile.API >= 26:
		var files []string
		for _, name := range c.files.List(storage.Threads) {
			files = append(files, storage.Threads+"/"+name)
		}
		return c.book.DumpTraces(c.Call, anr.Newest(files, c.files.Stat), c.files.ReadAsSystem), true
	case what == "exit-info" && c.profile.API >= 30:
		return c.book.DumpExits(c.Call, c.Arg(1)), true
	}
	return 0, false
}

// debuggerd is debuggerd [-b] PID, for root only (debuggerd.cpp).
func debuggerd(c *call) int {
	pid, err := strconv.Atoi(c.Arg(len(c.Args) - 1))
	switch {
	case err != nil || pid <= 0:
		c.Errorf("usage: debuggerd [-bj] PID\n\n-b, --backtrace    just a backtrace rather than a full tombstone\n-j                 collect java traces\n")
		return 1
	case !c.isRoot():
		c.Errorf("debuggerd: root is required\n")
		return 1
	}
	for _, pkg := range sortedKeys(c.state.running) {
		if pr := c.state.running[pkg]; pr.PID == pid {
			if view := c.viewOf(pr); view != nil {
				c.Printf("%s", view.Backtrace(c.Arg(0) == "-j"))
				return 0
			}
		}
	}
	c.Errorf("debuggerd: no such process %d\n", pid)
	return 1
}

// tellANR logs an ANR, and adds it to the drop box.
func (p *Phone) tellANR(e anr.Event, u anr.Usage, text string) {
	p.log.System("system", 'E', "ActivityManager", "%s", e.Log(u))
	p.book.Anr(e, u, text)
}
