package phone

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/choreo"
	"github.com/apkgate/apkgate/internal/simlab/logcat"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
)

// Break makes a fault strike now. A fault of the app strikes the one in the
// foreground; without one nothing happens.
func (p *Phone) Break(f simapp.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strike(f, p.state.running[p.state.foreground])
}

// Mend undoes a fault of the phone that lasts.
func (p *Phone) Mend(kind simapp.FaultKind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mend(kind)
}

func (p *Phone) strike(f simapp.Fault, pr *process) {
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
		p.reboot()
	}
	if c := p.connection; c != nil {
		switch f.Kind {
		case simapp.Drop:
			c.Drop()
		case simapp.Hang:
			c.Hang(true)
		case simapp.Offline:
			c.Offline(true)
		}
	}
	if f.For > 0 {
		p.clock.At(p.clock.Now()+f.For, func() { p.mend(f.Kind) })
	}
}

func (p *Phone) mend(kind simapp.FaultKind) {
	switch kind {
	case simapp.NoSpace:
		p.files.Full = false
	case simapp.Garbage:
		p.state.garbage = false
	}
	if c := p.connection; c != nil {
		switch kind {
		case simapp.Hang:
			c.Hang(false)
		case simapp.Offline:
			c.Offline(false)
		}
	}
}

func (p *Phone) strikeApp(f simapp.Fault, pr *process) {
	switch f.Kind {
	case simapp.Crash:
		p.crash(pr)
	case simapp.ANR:
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

// crash ends an app with an uncaught exception, as the system logs it.
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
	p.die(pr)
	if w != nil {
		w.appDied("Process crashed.")
	}
}

// The system calls an app not responding when it has not handled an input event
// for 5 s; by default the fault keeps the UI thread longer.
const (
	anrAfter   = 5 * time.Second
	anrDefault = 6500 * time.Millisecond
)

// freeze keeps the UI thread busy; the app lives on afterwards.
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

// replace gives an app a new process: what the old one rendered is lost, what
// drives the app goes on. A test in a process of its own sees it like this.
func (p *Phone) replace(old *process) {
	w := old.workload
	p.log.System("system", 'I', "ActivityManager", "Process %s (pid %d) has died", old.app.Package, old.PID)
	p.log.Event("am_proc_died", 0, old.PID, old.app.Package)
	p.die(old)
	pr := p.launch(old.app, "restarted")
	pr.draws.Resume(old.draws, p.clock.Now()+old.app.Startup)
	if w != nil {
		w.process, pr.workload = pr, w
	}
}

// bootTakes is how long a phone takes to restart.
const bootTakes = 25 * time.Second

// reboot restarts the phone: connections break, what ran is gone, the log is
// empty, apps and files stay.
func (p *Phone) reboot() {
	for _, pkg := range sortedKeys(p.state.running) {
		pr := p.state.running[pkg]
		p.endDeeds(pr)
		p.closeWindows(pr)
		pr.dead = true
		if pr.workload != nil {
			pr.workload.over = true
		}
		delete(p.state.running, pkg)
	}
	p.state.foreground = ""
	p.home.Show()
	p.log.Clear()
	p.files.Full, p.state.garbage = false, false
	delete(p.state.props, "debug.hwui.profile")
	p.host.DropJobs()
	p.state.boots++
	p.boot()
	p.screen.Restart()
	p.system.Restart(bootTakes)
	p.host.EndAll(255)
	if c := p.connection; c != nil {
		c.Offline(true)
		p.clock.At(p.clock.Now()+bootTakes/2, func() { c.Offline(false) })
	}
}
