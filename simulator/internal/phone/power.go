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

// sensors are what the phone shows of its power.
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

// Charge is told what the emulator's console has the battery be.
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

// Truth is what the phone really drew between two instants of its clock.
type Truth = account.Truth

// Truth tells what the phone drew between two instants, neither later than now
// nor more than two hours ago.
func (p *Phone) Truth(from, to time.Duration) Truth {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.power.Truth(from, to)
}

// beginDeeds opens the account of a process.
func (p *Phone) beginDeeds(pr *process) {
	if pr.app == &systemUI {
		return
	}
	pr.deeds = &account.Deeds{App: pr.app, UID: p.packages.UID(pr.app.Package), PID: pr.PID}
	if a := p.packages.Apps[pr.app.Package]; a != nil {
		pr.deeds.Compiled = a.CompiledAhead()
	}
	pr.deeds.Drawing = func(from, to time.Duration) []sched.Item { return p.drawing(pr, from, to) }
	p.power.Begin(pr.deeds, p.state.processes)
}

// drawing is the work of a process's frames and of its UI thread, as account.Deeds wants
// it.
func (p *Phone) drawing(pr *process, from, to time.Duration) (out []sched.Item) {
	add := func(items ...sched.Item) {
		for _, it := range items {
			if it.From >= from && it.From < to {
				out = append(out, it)
			}
		}
	}
	cast := p.power.Cast(pr.deeds)
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
		add(sched.Item{Thread: cast.UI, Woken: b.At, From: b.At, To: b.At + b.For, Kind: power.Block, Method: jank, Section: section})
	}
	for _, c := range p.collections(pr, from, to) {
		add(sched.Item{
			Thread: pr.deeds.Threads[account.Heap], Woken: c.From, From: c.From, To: c.To,
			Kind: power.Service, Method: power.System, Background: true, Section: "Background concurrent copying GC", Category: "dalvik",
		})
	}
	return out
}

// endDeeds closes the account of a process that ended.
func (p *Phone) endDeeds(pr *process) {
	if pr.deeds == nil || pr.dead {
		return
	}
	p.power.End(pr.deeds)
	p.host.TellJobs(pr.PID)
}

// answer has the system's threads pass an event on, and the process take it.
func (p *Phone) answer(pr *process, e simapp.Event) {
	if pr.deeds != nil {
		p.power.Touch(pr.deeds, e.Opens && e.Life == 0)
	}
}

// spend does what the app's file says of power after an event.
func (p *Phone) spend(pr *process, e simapp.Event) {
	if pr.deeds == nil {
		return
	}
	p.power.Happen(pr.deeds, e.Name, p.state.network)
	for _, s := range pr.app.Power.ScreenOff {
		if s.After == e.Name {
			p.screen.Turn(false)
			p.clock.At(p.clock.Now()+s.For, func() { p.screen.Turn(true) })
		}
	}
}

// composed are the frames of the display that SurfaceFlinger began to compose from one
// time until before another.
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

// What is left of the noise of sessions where the clocks are held, and how much longer work
// takes where the CPUs have something else to do.
const (
	heldNoise  = 0.3
	busyFactor = 1.7
)

// clockFactor is what all work costs on clocks that are held, and beside a busy system.
func (p *Phone) clockFactor() float64 {
	factor := 1.0
	if p.system.Fixed {
		factor = p.options.FixedPerformance
	}
	if p.system.Busy() {
		factor *= busyFactor
	}
	return factor
}

// heatFactor is what all work costs on a CPU whose speed is held down for heat.
func (p *Phone) heatFactor() float64 {
	if p.isHot() {
		return 1.6
	}
	return 1
}
