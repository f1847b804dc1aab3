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

// standsOn is for how much longer than the system is patient an app stands still by default.
const standsOn = 1500 * time.Millisecond

// standStill keeps the UI thread of an app for the reason that its file gives, and has the
// system say so. The app lives on, as if somebody waited.
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
	if !runs(f.Because.Why) && pr.deeds != nil {
		p.power.Stand(pr.deeds, f.Because, long)
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

// losesPatience is what the system does where it has waited long enough for an app.
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

// endsTest is what the system does where an app under instrumentation takes no input: it ends
// that, and says nothing of an ANR (ActivityManagerService.inputDispatchingTimedOut). Another
// app is let be.
func (p *Phone) endsTest(pr *process, f simapp.Fault) {
	if pr.workload != nil {
		e := p.eventOf(pr, f, f.Timeout.Patience())
		pr.workload.appDied("keyDispatchingTimedOut\nINSTRUMENTATION_RESULT: longMsg=" + e.Reason())
	}
}

// eventOf is an app that does not respond now, after so long.
func (p *Phone) eventOf(pr *process, f simapp.Fault, waited time.Duration) anr.Event {
	return anr.Event{
		API: p.profile.API, App: pr.app, PID: pr.PID, UID: p.packages.UID(pr.app.Package), Timeout: f.Timeout, Why: f.Because.Why,
		Window: p.windowOf(pr), At: p.clock.Now(), Waited: waited + 3*time.Millisecond, User: p.options.Production, Build: p.state.props["ro.build.fingerprint"],
	}
}

// runs reports whether a UI thread has a CPU while it stands still.
func runs(why string) bool { return why == simapp.OwnWork || why == simapp.NothingUp }

// peersOf are the processes that answer the calls of an app that stands still, by name.
func (p *Phone) peersOf(s simapp.Standstill) map[string]int {
	out := map[string]int{}
	for _, call := range s.Calls {
		out[call.Process] = p.power.PeerPID(call.Process)
	}
	return out
}

// After an app has written its stacks it takes so long for each other process, and then
// until the log has it.
const (
	dumpsOther = 380 * time.Millisecond
	countsCPUs = 700 * time.Millisecond
)

// late is how long after it has noticed the system looks at an app where that has nothing
// to do any more by then.
const late = 400 * time.Millisecond

// saysSo is what the system does where an app does not respond: the event at once, then the
// stacks of the app, its own and those of who answers the app, then the log
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
		if pr.deeds != nil && !pr.dead {
			p.power.CatchSignal(pr.deeds, catcherFor)
		}
	})
	p.clock.At(e.At+looks, func() {
		text := p.stacksOf(pr, e)
		after := time.Duration(text.others) * dumpsOther
		p.clock.At(p.clock.Now()+after, func() { p.keepStacks(e, text.whole) })
		p.clock.At(p.clock.Now()+after+countsCPUs, func() { p.tellANR(e, u, text.whole) })
	})
}

// used is the CPU time of a process up to now.
func (p *Phone) used(pr *process) time.Duration {
	if pr.deeds == nil {
		return 0
	}
	return p.power.CPU(pr.deeds)
}

// cpus is how many the phone has.
func (p *Phone) cpus() int { return p.power.Hardware.Little.Count + p.power.Hardware.Big.Count }

// windowOf is the window of an app with the focus, as the input dispatcher names it.
func (p *Phone) windowOf(pr *process) string {
	if l := pr.front(); l != nil {
		return fmt.Sprintf("%x %s", l.Hash, l.Title)
	}
	return "0 " + pr.component()
}

// written are the stacks of several processes.
type written struct {
	whole  string
	others int
}

// stacksOf are the stacks that belong to an ANR, now.
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

// viewOf is a process as its stacks show it, nil of one that has none.
func (p *Phone) viewOf(pr *process) *stacks.Process {
	if pr.deeds == nil || pr.dead {
		return nil
	}
	return &stacks.Process{Account: p.power, Deeds: pr.deeds, Layers: pr.Layers, Draws: pr.draws, Fingerprint: p.state.props["ro.build.fingerprint"], Stands: pr.stands}
}

// keepStacks writes the file of an ANR, whose reader is the system.
func (p *Phone) keepStacks(e anr.Event, text string) {
	if pr := p.state.running[e.App.Package]; pr != nil && pr.PID == e.PID {
		pr.traces = e.Path()
	}
	if text != "" && p.files.Write(e.Path(), []byte(text), fs.FileMode(e.Mode())) == nil && e.API >= 26 {
		p.log.System("system", 'I', "ActivityManager", "Dumping to %s", e.Path())
	}
}

// exited keeps the end of a process, and why.
func (p *Phone) exited(pr *process, why anr.Reason, text string) {
	if p.profile.API >= 30 && pr.deeds != nil {
		p.book.Exited(anr.Exit{Package: pr.app.Package, PID: pr.PID, UID: p.packages.UID(pr.app.Package), At: p.clock.Now(), Reason: why, Text: text, Traces: pr.traces})
	}
}

// dumpTroubles is what dumpsys activity says of ANRs and of processes that ended; false of
// another question.
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

// debuggerd is debuggerd [-b] PID, which is root's (debuggerd.cpp).
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

// tellANR writes what the log has of it, and puts it into the drop box.
func (p *Phone) tellANR(e anr.Event, u anr.Usage, text string) {
	p.log.System("system", 'E', "ActivityManager", "%s", e.Log(u))
	p.book.Anr(e, u, text)
}
