package phone

import (
	"fmt"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/choreo"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/system"
)

// nativeSince are the API levels in which Java programs became native.
var nativeSince = map[string]int{"am": 24, "pm": 26, "settings": 26, "wm": 26, "input": 30, "svc": 31}

// takes returns the duration of a command, apart from what it waits for: a Java program starts
// a virtual machine (app_process), a native one calls a service over binder.
func (p *Phone) takes(name string, args []string) time.Duration {
	native, both := nativeSince[name]
	switch {
	case name == "am" && len(args) > 0 && args[0] == "instrument", name == "monkey", both && p.profile.API < native:
		return p.about(200*time.Millisecond, 500*time.Millisecond)
	case both, name == "cmd":
		return p.about(15*time.Millisecond, 40*time.Millisecond)
	case name == "dumpsys":
		return p.about(25*time.Millisecond, 60*time.Millisecond)
	case name == "perfetto", name == "simpleperf", name == "logcat":
		return p.about(8*time.Millisecond, 25*time.Millisecond)
	}
	return 0 // the minimum of any command
}

// about returns a duration between those of a fast and a slow phone, with a random deviation
// of about 15 %.
func (p *Phone) about(fast, slow time.Duration) time.Duration {
	const fastest, slowest = 0.7, 1.3
	p.state.asked++
	share := (min(max(p.profile.Speed, fastest), slowest) - fastest) / (slowest - fastest)
	d := fast + time.Duration(share*float64(slow-fast))
	return d + time.Duration(float64(d)*0.15*(2*p.random("cost", p.state.asked).Float64()-1))
}

// serviceOf returns the system service that a program uses, "" for none.
func serviceOf(name string, args []string) string {
	first := ""
	if name == "dumpsys" && len(args) > 2 && args[0] == "-t" {
		args = args[2:]
	}
	if len(args) > 0 {
		first = args[0]
	}
	switch name {
	case "pm":
		return "package"
	case "am", "monkey":
		return "activity"
	case "wm":
		return "window"
	case "svc":
		return map[string]string{"power": "power", "wifi": "wifi"}[first]
	case "settings", "input":
		return name
	case "cmd", "dumpsys":
		return first
	}
	return ""
}

// costly returns a command that takes time, and may be called before the services are up.
func (p *Phone) costly(name string, cmd shell.Command) shell.Command {
	run := cmd.Run
	cmd.Run = func(c *shell.Call, then func(code int)) {
		wait := func(do func()) { do() }
		if service := serviceOf(name, c.Args); service != "" && !slices.Contains(ownDumps, service) {
			wait = func(do func()) { (&call{p, c}).answered(name, do, then) }
		}
		wait(func() { p.take(name, c, run, then) })
	}
	return cmd
}

// take runs a command after its duration.
func (p *Phone) take(name string, c *shell.Call, run func(*shell.Call, func(int)), then func(code int)) {
	if c.AtOnce() {
		run(c, then)
		return
	}
	p.clock.Spend(p.takes(name, c.Args), func() {
		service := serviceOf(name, c.Args)
		switch {
		case c.Ended():
		case service != "" && !p.system.Serves():
			since, native := nativeSince[name]
			then(system.Unserved(c, name, service, name == "cmd" || native && p.profile.API >= since))
		default:
			run(c, then)
		}
	})
}

// dumpTakes returns how long a process takes to dump its frames, and for how much of that it
// can't draw. Since Android 6 each number of each row is written separately on the render
// thread, as fast as its reader; before, a table of 128 rows is printed under a lock that
// drawing needs (HardwareRenderer.dumpGfxInfo, DrawProfiler::dumpData).
func (p *Phone) dumpTakes(pr *process) (takes, stalls time.Duration) {
	const busy = 30 * time.Millisecond
	takes = p.about(35*time.Millisecond, 150*time.Millisecond)
	if pr.draws.Busy(p.clock.Now()) {
		takes += busy
	}
	switch {
	case p.profile.API >= 23:
		return takes, takes
	case p.profile.API >= 21:
		return takes, p.about(4*time.Millisecond, 12*time.Millisecond)
	}
	return takes, p.about(8*time.Millisecond, 30*time.Millisecond)
}

// writes is the share of a dump in which the writing thread is busy; otherwise it waits for
// its reader.
const writes = 0.2

// dumpFrames makes the processes of a package dump their frames. Each does so on its render
// thread, which draws nothing until then, after its earlier work
// (RenderProxy::dumpProfileInfo).
func (c *call) dumpFrames(tell func(), then func()) {
	if c.AtOnce() {
		tell()
		then()
		return
	}
	now := c.clock.Now()
	from, takes := now, time.Duration(0)
	for _, pkg := range sortedKeys(c.state.running) {
		pr := c.state.running[pkg]
		if pr.front() == nil || !slices.Contains([]string{"", "framestats", "reset", pkg, fmt.Sprint(pr.PID)}, c.Arg(0)) {
			continue
		}
		own, stalls := c.dumpTakes(pr)
		begins := pr.draws.Stall(now, stalls)
		pr.told = append(pr.told, choreo.Block{At: begins, For: time.Duration(writes * float64(stalls))})
		from = max(from, begins)
		takes = max(takes, own)
		c.state.stalled += stalls
	}
	c.clock.Spend(from-now, func() {
		tell()
		c.clock.Spend(takes, then)
	})
}

// addUp makes the system sum the pages of a process (smaps): it holds the lock of the
// process's memory, so that a thread that maps memory waits, as the UI thread does
// occasionally.
func (c *call) addUp(tell func(), then func()) {
	pr := c.state.running[c.Arg(0)]
	if c.AtOnce() || pr == nil {
		tell()
		then()
		return
	}
	held := c.about(12*time.Millisecond, 45*time.Millisecond)
	pr.draws.Hold(c.clock.Now(), held)
	c.state.stalled += held
	c.clock.Spend(c.about(90*time.Millisecond, 350*time.Millisecond), func() {
		tell()
		then()
	})
}

// lingers returns how long an instrumentation takes to end after its test's last step.
func (w *workload) lingers() time.Duration {
	const most = 400 * time.Millisecond
	return time.Duration(w.phone.random("lingers", w.phone.state.played).Float64() * float64(most))
}

// Stalled returns for how long apps could not draw because of dumps of their frames, since the
// phone was created.
func (p *Phone) Stalled() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.stalled
}
