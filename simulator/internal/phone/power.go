package phone

import (
	"sort"
	"time"

	"github.com/apkgate/apkgate/simulator/console"
	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/internal/sched"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// sensors returns the phone's power sensors.
func (p *Phone) sensors() profile.Sensors {
	s := p.profile.Sensors
	if o := p.options.Sensors; o != nil {
		s = *o
	}
	if p.options.Powered != "" {
		s.Powered = p.options.Powered
	}
	return s
}

// SetPowered plugs a charger in, or out: "usb", "ac", "wireless", "battery".
func (p *Phone) SetPowered(from string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.power.SetPowered(from)
	p.screen.UserActivity()
}

// Charge applies the battery set by the emulator's console.
func (p *Phone) Charge(b console.Battery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := "battery"
	if b.AC {
		from = "ac"
	}
	if from != p.power.SuppliedFrom() {
		p.power.SetPowered(from)
		p.screen.UserActivity()
	}
	p.power.SetLevel(b.Capacity)
}

// Truth is the phone's true energy between two instants of its clock.
type Truth = account.Truth

// Truth returns the phone's true energy between two instants, neither later than now nor more
// than two hours ago.
func (p *Phone) Truth(from, to time.Duration) Truth {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.power.Truth(from, to)
}

// openAccount opens the account of a process.
func (p *Phone) openAccount(pr *process) {
	if pr.app == &systemUI {
		return
	}
	pr.usage = &account.Process{App: pr.app, UID: p.packages.UID(pr.app.Package), PID: pr.PID}
	if a := p.packages.Apps[pr.app.Package]; a != nil {
		pr.usage.Compiled = a.CompiledAhead()
	}
	pr.usage.Waiting = func(from, to time.Duration) []account.Wait { return p.asleep(pr, from, to) }
	pr.usage.Drawing = func(from, to time.Duration) []sched.Item { return p.drawing(pr, from, to) }
	p.power.Begin(pr.usage, p.state.processes)
}

// asleep returns in which methods the UI thread of a process waits, for account.Process.
func (p *Phone) asleep(pr *process, from, to time.Duration) (out []account.Wait) {
	for _, b := range pr.busy {
		if b.Event == "" || b.Task != nil || b.At+b.For <= from || b.At >= to {
			continue
		}
		eachRun(pr, b, pr.app.CallsAfter(b.Event, p.context()), func(method int, waits bool, from, to time.Duration) {
			if waits {
				out = append(out, account.Wait{Method: method, From: from, To: to})
			}
		})
	}
	return out
}

// drawing returns the work of a process's frames and of its UI thread, for account.Process.
func (p *Phone) drawing(pr *process, from, to time.Duration) (out []sched.Item) {
	add := func(items ...sched.Item) {
		for _, it := range items {
			if it.From >= from && it.From < to {
				out = append(out, it)
			}
		}
	}
	cast := p.power.Cast(pr.usage)
	frame := func(f *timeline.Frame) { add(cast.Frame(f)...) }
	p.advance()
	for _, l := range timeline.WithSurfaces(pr.Layers) {
		first := sort.Search(len(l.Frames), func(i int) bool { return l.Frames[i].Drawn() > from })
		for i := first; i < len(l.Frames); i++ {
			frame(&l.Frames[i])
		}
	}
	if f := pr.draws.Begun(); f != nil {
		frame(f)
	}
	jank, section := pr.app.Power.JankMethod(), ""
	if jank >= 0 {
		section = pr.app.Power.Methods[jank].Name
	} else {
		jank = power.Mixed
	}
	for _, b := range pr.told {
		add(sched.Item{Thread: cast.Render, Woken: b.At, From: b.At, To: b.At + b.For, Kind: power.Other, Method: power.System})
	}
	for _, b := range pr.busy {
		if b.Task != nil {
			add(sched.Item{Thread: cast.UI, Woken: b.At, From: b.At, To: b.At + b.For, Kind: power.Other, Method: power.Mixed})
			continue
		}
		if b.Event != "" {
			eachRun(pr, b, pr.app.CallsAfter(b.Event, p.context()), func(method int, waits bool, from, to time.Duration) {
				if !waits {
					add(sched.Item{Thread: cast.UI, Woken: from, From: from, To: to, Kind: power.Block, Method: method})
				}
			})
			continue
		}
		add(sched.Item{Thread: cast.UI, Woken: b.At, From: b.At, To: b.At + b.For, Kind: power.Block, Method: jank, Section: section})
	}
	for _, c := range p.collections(pr, from, to) {
		add(sched.Item{
			Thread: pr.usage.Threads[account.Heap], Woken: c.From, From: c.From, To: c.To,
			Kind: power.Service, Method: power.System, Background: true, Section: "Background concurrent copying GC", Category: "dalvik",
		})
	}
	return out
}

// closeAccount closes the account of an ended process.
func (p *Phone) closeAccount(pr *process) {
	if pr.usage == nil || pr.dead {
		return
	}
	p.power.End(pr.usage)
	p.host.TellJobs(pr.PID)
}

// answer makes the system's threads deliver an event, and the process handle it.
func (p *Phone) answer(pr *process, e simapp.Event) {
	if pr.usage != nil {
		p.power.Touch(pr.usage, e.Opens && e.Life == 0)
	}
}

// spend applies the power section of the app's file for an event.
func (p *Phone) spend(pr *process, e simapp.Event) {
	if pr.usage == nil {
		return
	}
	p.power.Happen(pr.usage, e.Name, p.state.network)
	for _, s := range pr.app.Power.ScreenOff {
		if s.After == e.Name {
			p.screen.Turn(false)
			p.clock.At(p.clock.Now()+s.For, func() { p.screen.Turn(true) })
		}
	}
}

// composed returns the display frames that SurfaceFlinger began to compose from one time until
// before another.
func (p *Phone) composed(from, to time.Duration) (out []timeline.DisplayFrame) {
	all := p.recorded().Displays
	first := sort.Search(len(all), func(i int) bool { return all[i].Actual.From >= from })
	for _, f := range all[first:] {
		if f.Actual.From >= to {
			break
		}
		out = append(out, f)
	}
	return out
}

// isHot reports whether heat slows the phone down.
func (p *Phone) isHot() bool { return p.clock.Now() < clock.Boot+p.options.HotFor }

// The remaining session noise in the fixed performance mode, and the slowdown of work on busy
// CPUs.
const (
	heldNoise  = 0.3
	busyFactor = 1.7
)

// clockFactor returns the factor on all work due to the fixed performance mode, a busy system and
// loads.
func (p *Phone) clockFactor() float64 {
	factor := 1.0
	if p.system.Fixed {
		factor = p.options.FixedPerformance
	}
	if p.system.Busy() {
		factor *= busyFactor
	}
	return factor * p.load.slows()
}

// heatFactor returns the factor on all work on a CPU that is throttled by heat.
func (p *Phone) heatFactor() float64 {
	if p.isHot() {
		return 1.6
	}
	return 1
}
