package phone

import (
	"cmp"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/anr"
	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/home"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Break triggers a fault now. A fault of the app applies to the foreground app; without one
// nothing happens.
func (p *Phone) Break(f simapp.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strike(f, p.state.running[p.state.foreground])
}

// Mend ends a persistent fault of the phone.
func (p *Phone) Mend(kind simapp.FaultKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mend(kind)
}

func (p *Phone) strike(f simapp.Fault, pr *process) {
	if p.options.Struck != nil {
		p.options.Struck(f, p.clock.Now())
	}
	switch f.Kind {
	case simapp.Crash, simapp.ANR, simapp.Stuck, simapp.Lost:
		if pr != nil && !pr.dead {
			p.strikeApp(f, pr)
		}
		return
	case simapp.NoSpace:
		p.files.Full = true
	case simapp.Garbage:
		p.state.garbage = true
	case simapp.Reboot:
		p.reboot(cmp.Or(f.For, bootTakes))
	case simapp.NoBoot:
		p.system.Boot.Never = true
		p.reboot(bootTakes)
	case simapp.Freeze:
		p.freezeSystem()
	case simapp.Die:
		p.perish()
	case simapp.Dialog:
		p.interfaceHangs()
	}
	p.strikeConnection(f.Kind)
	if f.For > 0 {
		p.clock.At(p.clock.Now()+f.For, func() { p.mend(f.Kind) })
	}
}

// Dripping connections: the number of bytes, and the interval.
const (
	drop      = 16
	dropEvery = 500 * time.Millisecond
)

func (p *Phone) strikeConnection(kind simapp.FaultKind) {
	c := p.connection
	if c == nil {
		return
	}
	switch kind {
	case simapp.Drop:
		c.Drop()
	case simapp.Hang:
		p.state.hung = true
		c.Hang(true)
	case simapp.Offline:
		c.Offline(true)
	case simapp.Refuse:
		c.Refuse(true)
	case simapp.Drip:
		p.state.dripping = true
		c.Drip(drop, p.nextDrop)
	case simapp.Die:
		c.Refuse(true)
		c.Drop()
	}
}

// nextDrop returns a channel that is closed when the next bytes may pass.
func (p *Phone) nextDrop() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	falls := make(chan struct{})
	p.clock.At(p.clock.Now()+dropEvery, func() { close(falls) })
	return falls
}

// perish ends the phone like a virtual one whose process exits.
func (p *Phone) perish() {
	select {
	case <-p.died:
	default:
		close(p.died)
	}
}

// Died returns a channel that is closed when the phone has died.
func (p *Phone) Died() <-chan struct{} { return p.died }

func (p *Phone) mend(kind simapp.FaultKind) {
	switch kind {
	case simapp.NoSpace:
		p.files.Full = false
	case simapp.Garbage:
		p.state.garbage = false
	case simapp.Freeze:
		p.thawSystem()
	}
	if c := p.connection; c != nil {
		switch kind {
		case simapp.Hang:
			p.state.hung = false
			c.Hang(false)
		case simapp.Offline:
			c.Offline(false)
		case simapp.Refuse:
			c.Refuse(false)
		case simapp.Drip:
			p.state.dripping = false
			c.Drip(0, nil)
		}
	}
}

func (p *Phone) strikeApp(f simapp.Fault, pr *process) {
	switch f.Kind {
	case simapp.Crash:
		p.crash(pr)
	case simapp.ANR:
		if f.Explained() {
			p.standStill(pr, f)
			return
		}
		p.freeze(pr, f.For)
	case simapp.Stuck:
		pr.draws.Stop(p.clock.Now())
		if w := pr.workload; w != nil {
			w.stuck = true
		}
	case simapp.Lost:
		p.replace(pr)
	}
}

// crash ends an app with an uncaught exception, logged as the system does.
func (p *Phone) crash(pr *process) {
	const exception, message = "java.lang.IllegalStateException", "simulated crash"
	buffer := "crash"
	if p.profile.API < 21 {
		buffer = "main"
	}
	trace := fmt.Sprintf("FATAL EXCEPTION: main\nProcess: %s, PID: %d\n%s: %s\n\tat %s.onClick(Simulated.java:42)\n\tat android.os.Looper.loop(Looper.java:193)",
		pr.app.Package, pr.PID, exception, message, pr.app.ActivityClass())
	p.log.Add(logcat.Entry{Buffer: buffer, PID: pr.PID, Priority: 'E', Tag: "AndroidRuntime", Text: trace})
	p.log.Event("am_crash", pr.PID, 0, pr.app.Package, 550026948, exception, message, "Simulated.java", 42)
	p.log.System("system", 'W', "ActivityManager", "  Force finishing activity %s", pr.app.Component())
	w := pr.workload
	p.log.System("system", 'I', "ActivityManager", "Process %s (pid %d) has died", pr.app.Package, pr.PID)
	p.log.Event("am_proc_died", 0, pr.PID, pr.app.Package)
	p.exited(pr, anr.Crashed, "crash")
	p.dropProfiling(pr, true)
	p.die(pr)
	if w != nil {
		w.appDied("Process crashed.")
	}
}

// The system reports an app as not responding when it has not handled an input event for 5 s;
// by default the fault blocks the UI thread for longer.
const (
	anrAfter   = 5 * time.Second
	anrDefault = 6500 * time.Millisecond
)

// freeze keeps the UI thread busy; afterwards the app continues.
func (p *Phone) freeze(pr *process, long time.Duration) {
	if long == 0 {
		long = anrDefault
	}
	pr.draws.Hold(p.clock.Now(), long)
	pr.busy = append(pr.busy, choreo.Block{At: p.clock.Now(), For: long})
	p.clock.At(p.clock.Now()+long+longFrameTold, func() { p.tellLongFrames(pr) })
	if long < anrAfter {
		return
	}
	p.clock.At(p.clock.Now()+anrAfter, func() {
		if !pr.dead {
			p.notResponding(pr)
		}
	})
}

// notResponding logs an ANR.
func (p *Phone) notResponding(pr *process) {
	reason := fmt.Sprintf("Input dispatching timed out (%s, Waiting because the focused window has not finished processing the input events that were previously delivered to it.)", pr.component())
	p.log.Event("am_anr", 0, pr.PID, pr.app.Package, 550026948, reason)
	p.log.System("system", 'E', "ActivityManager", "ANR in %s (%s)\nPID: %d\nReason: %s\nLoad: 2.1 / 1.4 / 0.9",
		pr.app.Package, pr.app.Component(), pr.PID, reason)
}

// interfaceHangs makes System UI stop responding: its dialog takes the focus.
func (p *Phone) interfaceHangs() {
	const reason = "Input dispatching timed out (NotificationShade)"
	p.log.Event("am_anr", 0, home.SystemUIPID, systemUI.Package, -1342177272, reason)
	p.log.System("system", 'E', "ActivityManager", "ANR in %s\nPID: %d\nReason: %s", systemUI.Package, home.SystemUIPID, reason)
	p.system.Show(systemUI.Package, false)
}

// replace gives an app a new process: the old one's frames are lost, and the app's workload
// continues. This is how a test in a process of its own sees it.
func (p *Phone) replace(old *process) {
	w := old.workload
	p.log.System("system", 'I', "ActivityManager", "Process %s (pid %d) has died", old.app.Package, old.PID)
	p.log.Event("am_proc_died", 0, old.PID, old.app.Package)
	p.exited(old, anr.Killed, "")
	p.die(old)
	pr := p.launch(old.app, "restarted")
	pr.draws.Resume(old.draws, p.clock.Now()+old.app.Startup)
	if w != nil {
		w.process, pr.workload = pr, w
	}
}

// bootTakes is how long a restart takes.
const bootTakes = 25 * time.Second

// reboot restarts the phone: connections break, processes and the log are lost, apps and files
// stay. adb is available again after half of the time.
func (p *Phone) reboot(takes time.Duration) {
	p.endAll()
	p.log.Clear()
	p.files.Full, p.state.garbage = false, false
	delete(p.state.props, "debug.hwui.profile")
	p.host.DropJobs()
	p.link.Restart()
	p.state.su = 0
	p.state.boots++
	p.state.starts = 1
	p.state.systemSince = p.clock.Now()
	p.boot()
	p.screen.Restart()
	p.system.Restart(takes)
	p.host.EndAll(255)
	if c := p.connection; c != nil {
		c.Offline(true)
		p.clock.At(p.clock.Now()+takes/2, func() { c.Offline(false) })
	}
}

// endAll ends everything that the system runs, and the commands that wait for it.
func (p *Phone) endAll() {
	p.state.frozen, p.state.held = false, nil
	p.book.Forget()
	for _, pkg := range sortedKeys(p.state.running) {
		pr := p.state.running[pkg]
		p.closeAccount(pr)
		p.closeWindows(pr)
		pr.dead = true
		if pr.workload != nil {
			pr.workload.over = true
		}
		delete(p.state.running, pkg)
	}
	p.state.foreground = ""
	p.home.Show()
}
