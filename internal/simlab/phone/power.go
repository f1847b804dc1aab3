package phone

import (
	"time"

	"github.com/apkgate/apkgate/internal/simlab/account"
	"github.com/apkgate/apkgate/internal/simlab/power"
	"github.com/apkgate/apkgate/internal/simlab/profile"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
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
	p.userActivity()
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
	pr.deeds = &account.Deeds{App: pr.app, UID: p.uidOf(pr.app.Package), PID: pr.PID, UI: pr.spans}
	if a := p.state.apps[pr.app.Package]; a != nil {
		pr.deeds.Compiled = compiledAhead(a.filter)
	}
	p.power.Begin(pr.deeds, p.state.windows)
}

// spans are the times in which the frames and the other work of the process's UI
// thread keep a CPU busy, now and to come.
func (pr *process) spans() (out []power.Span) {
	for _, f := range pr.Frames {
		out = append(out, power.Span{From: f.Input, To: f.Completed, Kind: power.Frame, Method: power.Mixed})
	}
	jank := pr.app.Power.JankMethod()
	if jank < 0 {
		jank = power.Mixed
	}
	for _, b := range pr.busy {
		out = append(out, power.Span{From: b.At, To: b.At + b.For, Kind: power.Block, Method: jank})
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

// spend does what the app's file says of power after an event.
func (p *Phone) spend(pr *process, e simapp.Event) {
	if pr.deeds == nil {
		return
	}
	p.power.Happen(pr.deeds, e.Name, p.state.network)
	for _, s := range pr.app.Power.ScreenOff {
		if s.After == e.Name {
			p.setScreen(false)
			p.clock.At(p.clock.Now()+s.For, func() { p.setScreen(true) })
		}
	}
}
