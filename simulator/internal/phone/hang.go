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

// How long the system's watchdog looks on while one of its locks is held, and how long
// the system then takes until its services are there again (Watchdog.java,
// DEFAULT_TIMEOUT).
const (
	watchdogFor = time.Minute
	systemTakes = 12 * time.Second
)

// freezeSystem has the system answer nothing any more, as when its activity manager's
// lock is held (`am hang` does that): what asks it waits. adb, the log and the kernel
// know nothing of it. The watchdog ends the system in the end.
func (p *Phone) freezeSystem() {
	p.state.frozen = true
	starts := p.state.starts
	held := func() bool { return p.state.frozen && starts == p.state.starts }
	w := anr.Watchdog{API: p.profile.API, Long: watchdogFor}
	p.clock.At(p.clock.Now()+watchdogFor/2, func() {
		if w.At = p.clock.Now(); held() && w.API >= 31 { // halfway: Watchdog.java, pre_watchdog
			w.Keep(p.book, "pre_watchdog", p.state.props["ro.build.fingerprint"], p.systemStacks())
		}
	})
	p.clock.At(p.clock.Now()+watchdogFor, func() {
		if w.At = p.clock.Now(); held() {
			p.watchdogKills(w)
		}
	})
}

// watchdogKills has the watchdog say what is blocked, keep the stacks, and end the system.
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

// systemStacks are those of the system's own process while its lock is held.
func (p *Phone) systemStacks() string {
	view := stacks.Process{Account: p.power, Deeds: &account.Deeds{App: &systemUI, PID: logcat.SystemPID}, Fingerprint: p.state.props["ro.build.fingerprint"]}
	return view.Locked()
}

// thawSystem has it go on where it was.
func (p *Phone) thawSystem() {
	p.state.frozen = false
	held := p.state.held
	p.state.held = nil
	for _, do := range held {
		p.clock.At(p.clock.Now(), do)
	}
}

// restartSystem ends the system and all apps, and starts them again: the kernel, adb and
// the log go on, and sys.boot_completed stays as it is.
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
	for _, do := range held { // they find no service
		p.clock.At(p.clock.Now(), do)
	}
}

// ownDumps are what dumpsys asks of others: of a service with a process of its own, and
// of the service manager.
var ownDumps = []string{"sensorservice", "-l"}

// answered does what asks the system: now, or once it answers.
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
		if name == "dumpsys" && c.profile.API >= 26 { // it gives up by itself
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

// stalled reports whether a fault keeps the phone from answering who waits for it.
func (p *Phone) stalled() bool {
	return p.state.hung || p.state.dripping || p.state.frozen || len(p.state.late) > 0
}

// Patience is the clock by which who waits for an answer of the phone waits. While a
// fault keeps the phone from answering, the phone's time passes on it, and quickly: an
// hour of silence takes no hour. While nothing does, it stands still, since how long a
// busy computer takes to answer for a phone says nothing of the phone.
func (p *Phone) Patience() device.Clock {
	if p.options.Rate > 0 {
		return clock.Host()
	}
	return patience{p}
}

// waiting is what passed on that clock.
type waiting struct {
	sync.Mutex
	passed time.Duration
	last   time.Time // when it was looked at
}

// hurry is how much faster than this computer's time passes for a phone that does not
// answer, and hurryStep bounds what passes between two looks, in this computer's: one
// that is busy looks late.
const (
	hurry     = 20
	hurryStep = time.Millisecond
)

type patience struct{ phone *Phone }

// Now moves the phone's clock while the phone is stalled: nothing else may.
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
