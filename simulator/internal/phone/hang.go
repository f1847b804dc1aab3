package phone

import (
	"context"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/anr"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/logcat"
	"github.com/apkgate/apkgate/simulator/internal/stacks"
)

// The watchdog's timeout while one of the system's locks is held, and how long the system then
// takes until its services are up again (Watchdog.java, DEFAULT_TIMEOUT).
const (
	watchdogFor = time.Minute
	systemTakes = 12 * time.Second
)

// freezeSystem stops the system from answering, as when its activity manager's lock is held
// (which `am hang` does): all commands that need it wait. adb, the log and the kernel are not
// affected. Finally the watchdog kills the system.
func (p *Phone) freezeSystem() {
	p.state.frozen = true
	starts := p.state.starts
	held := func() bool { return p.state.frozen && starts == p.state.starts }
	w := anr.Watchdog{API: p.profile.API, Long: watchdogFor}
	p.clock.At(p.clock.Now()+watchdogFor/2, func() {
		if w.At = p.clock.Now(); held() && w.API >= 31 { // half of the timeout: Watchdog.java, pre_watchdog
			w.Keep(p.book, "pre_watchdog", p.state.props["ro.build.fingerprint"], p.systemStacks())
		}
	})
	p.clock.At(p.clock.Now()+watchdogFor, func() {
		if w.At = p.clock.Now(); held() {
			p.watchdogKills(w)
		}
	})
}

// watchdogKills makes the watchdog report the block, keep the stacks, and kill the system.
func (p *Phone) watchdogKills(w anr.Watchdog) {
	text := p.systemStacks()
	e := anr.Event{API: w.API, At: w.At}
	_ = p.files.Write(e.Path(), []byte(text), fs.FileMode(e.Mode()))
	w.Keep(p.book, "watchdog", p.state.props["ro.build.fingerprint"], text)
	w.Kills(p.log)
	p.restartSystem()
	for _, step := range []struct {
		name string
		in   time.Duration
	}{{"start", 1}, {"preload_start", 2}, {"system_run", 4}, {"pms_start", 5}, {"ams_ready", 9}, {"enable_screen", 12}} {
		at := w.At + step.in*systemTakes/12
		p.clock.At(at, func() { w.Starts(p.log, step.name, at) })
	}
}

// systemStacks returns the stacks of the system process while its lock is held.
func (p *Phone) systemStacks() string {
	view := stacks.Process{Account: p.power, Process: &account.Process{App: &systemUI, PID: logcat.SystemPID}, Fingerprint: p.state.props["ro.build.fingerprint"]}
	return view.Locked()
}

// thawSystem resumes the system.
func (p *Phone) thawSystem() {
	p.state.frozen = false
	held := p.state.held
	p.state.held = nil
	for _, do := range held {
		p.clock.At(p.clock.Now(), do)
	}
}

// restartSystem kills the system and all apps, and restarts them: the kernel, adb and the log
// continue, and sys.boot_completed stays as it is.
func (p *Phone) restartSystem() {
	held := p.state.held
	var tests []*workload
	for _, pkg := range sortedKeys(p.state.running) {
		if w := p.state.running[pkg].workload; w != nil {
			tests = append(tests, w)
		}
	}
	p.endAll()
	for _, w := range tests { // Instrument.java
		w.printf("INSTRUMENTATION_ABORTED: System has crashed.\n")
		w.then(1)
	}
	p.state.starts++
	p.state.systemSince = p.clock.Now()
	p.system.RestartServices(systemTakes)
	p.boot()
	p.screen.Restart()
	for _, do := range held { // the services are gone
		p.clock.At(p.clock.Now(), do)
	}
}

// ownDumps are the dumps by others than the system: a service with a process of its own, and
// the service manager.
var ownDumps = []string{"sensorservice", "-l"}

// answered runs a command that needs the system: now, or once the system answers.
func (c *call) answered(name string, run func(), then func(code int)) {
	switch {
	case !c.state.frozen:
		run()
	case c.AtOnce():
		then(1)
	default:
		done := false
		if shell := c.Shell; !c.state.late[shell] {
			c.state.late[shell] = true
			c.OnEnd(func() { delete(c.state.late, shell) })
		}
		c.state.held = append(c.state.held, func() {
			if !done && !c.Ended() {
				done = true
				c.answered(name, run, then)
			}
		})
		if name == "dumpsys" && c.profile.API >= 26 { // it has a timeout of its own
			out, service, longest := c.Out, serviceOf(name, c.Args), dumpFor
			if seconds, err := strconv.Atoi(c.Arg(1)); c.Arg(0) == "-t" && err == nil {
				longest = time.Duration(seconds) * time.Second
			}
			c.clock.At(c.clock.Now()+longest, func() {
				if !done && !c.Ended() {
					done = true
					gaveUp(out, service, longest)
					then(0)
				}
			})
		}
	}
}

// stalled reports whether a fault keeps the phone from answering.
func (p *Phone) stalled() bool {
	return p.state.hung || p.state.dripping || p.state.frozen || len(p.state.late) > 0
}

// Patience returns the clock for timeouts of the phone's clients. While a fault keeps the
// phone from answering, the phone's time passes on it, quickly: an hour of silence does not
// take an hour. Otherwise it stands still, since a delay caused by a busy computer says
// nothing about the phone.
func (p *Phone) Patience() device.Clock {
	if p.options.Rate > 0 {
		return clock.Host()
	}
	return patience{p}
}

// waiting is the state of that clock.
type waiting struct {
	sync.Mutex
	passed time.Duration
	last   time.Time // of the last read
}

// hurry is the factor by which time passes faster for a phone that does not answer. hurryStep
// limits how much of this computer's time counts between two reads, since a busy computer
// reads late.
const (
	hurry     = 20
	hurryStep = time.Millisecond
)

type patience struct{ phone *Phone }

// Now advances the phone's clock while the phone is stalled: nothing else may.
func (c patience) Now() time.Duration {
	p := c.phone
	p.waiting.Lock()
	defer p.waiting.Unlock()
	now := time.Now()
	passed := min(now.Sub(p.waiting.last), hurryStep) * hurry
	p.waiting.last = now
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled() && passed > 0 {
		p.clock.Advance(passed)
		p.host.TakeFinished()
		p.waiting.passed += passed
	}
	return p.waiting.passed
}

// Sleep waits for the clock.
func (c patience) Sleep(ctx context.Context, d time.Duration) error {
	const look = time.Millisecond
	for until := c.Now() + d; c.Now() < until; {
		if err := clock.SleepReal(ctx, look); err != nil {
			return err
		}
	}
	return ctx.Err()
}
