package phone

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
	"github.com/apkgate/apkgate/internal/simlab/simapp"
)

// deeds are what one process did that costs power. They outlive it.
type deeds struct {
	process *process
	app     *simapp.App
	uid     int
	pid     int
	// compiled says that the package was compiled ahead of time by then.
	compiled bool
	began    time.Duration
	ended    time.Duration // 0 while it lives
	seed     uint64
	factor   float64
	extra    []power.Span // work beside the frames
	loads    []power.Load // parts that it kept on
	locks    []lock
	sensors  []registration
	traffic  []traffic

	work   *power.Work // its CPU time, as of workAt
	workAt time.Duration
}

// lock is a wakelock that was held.
type lock struct {
	name     string
	from, to time.Duration
}

// traffic is what came and went over the network.
type traffic struct {
	from, to time.Duration
	network  string
	rx, tx   int64
}

// beginDeeds opens the account of a process.
func (p *Phone) beginDeeds(pr *process) {
	if pr.app == &systemUI {
		return
	}
	p.forget()
	session := p.random("power session", pr.app.Package).NormFloat64()
	r := p.random("power repetition", pr.app.Package, pr.app.Version, pr.app.Build, p.state.windows)
	pr.deeds = &deeds{process: pr, app: pr.app, uid: p.uidOf(pr.app.Package), pid: pr.PID, began: p.clock.Now(), seed: r.Uint64(),
		factor: math.Exp(p.profile.Noise/2*session + 0.012*r.NormFloat64())}
	if a := p.state.apps[pr.app.Package]; a != nil {
		pr.deeds.compiled = compiledAhead(a.filter)
	}
	p.state.power.deeds = append(p.state.power.deeds, pr.deeds)
}

// endDeeds closes the account of a process that ended.
func (p *Phone) endDeeds(pr *process) {
	d := pr.deeds
	if d == nil || d.ended > 0 {
		return
	}
	now := p.clock.Now()
	d.workNow(p)
	d.ended = now
	for i := range d.locks {
		d.locks[i].to = min(d.locks[i].to, now)
	}
	for i := range d.sensors {
		d.sensors[i].to = min(d.sensors[i].to, now)
	}
	for i := range d.loads {
		d.loads[i].To = min(d.loads[i].To, now)
	}
	d.process, d.extra = nil, nil
	p.host.TellJobs(pr.PID)
}

// workNow is the process's CPU time up to now, or to its end.
func (d *deeds) workNow(p *Phone) *power.Work {
	now := p.clock.Now()
	if d.ended > 0 || d.work != nil && d.workAt == now {
		return d.work
	}
	var spans []power.Span
	add := func(from, to time.Duration, kind power.Kind, method int) {
		if from < now {
			spans = append(spans, power.Span{From: from, To: min(to, now), Kind: kind, Method: method})
		}
	}
	for _, f := range d.process.Frames {
		add(f.Input, f.Completed, power.Frame, power.Mixed)
	}
	jank := d.app.Power.JankMethod()
	if jank < 0 {
		jank = power.Mixed
	}
	for _, b := range d.process.busy {
		add(b.At, b.At+b.For, power.Block, jank)
	}
	for _, s := range d.extra {
		add(s.From, s.To, s.Kind, s.Method)
	}
	w := &power.Work{Hardware: p.state.power.hardware, Seed: d.seed, Factor: d.factor}
	for _, m := range d.app.Power.Methods {
		w.Methods = append(w.Methods, power.Method{Share: m.Share, Hunger: m.Power})
	}
	w.Run(spans)
	d.work, d.workAt = w, now
	return w
}

// lives reports whether the process lived at some time between two instants.
func (d *deeds) lives(from, to time.Duration) bool {
	return d.began < to && (d.ended == 0 || d.ended > from)
}

// joules is what the process burnt between two instants, by part.
func (d *deeds) joules(p *Phone, from, to time.Duration) power.Sum {
	out := d.workNow(p).Joules(from, to)
	for _, l := range d.loads {
		if j := l.Joules(from, to); j > 0 {
			out[l.Part] += j
		}
	}
	for _, r := range d.sensors {
		if on := power.Overlap(r.from, r.to, from, to); on > 0 {
			out[power.Sensors] += r.watts * on.Seconds()
		}
	}
	awake := p.state.power.hardware.AwakeW - p.state.power.hardware.AsleepW
	for _, l := range d.held() {
		if off := p.screenOff(max(l.from, from), min(l.to, to)); off > 0 {
			out[power.Awake] += awake * off.Seconds()
		}
	}
	return out
}

// held are the times in which the process held any wakelock at all: two at once
// keep the system no more awake than one.
func (d *deeds) held() (out []lock) {
	locks := slices.Clone(d.locks)
	slices.SortStableFunc(locks, func(a, b lock) int { return cmp.Compare(a.from, b.from) })
	for _, l := range locks {
		if n := len(out); n > 0 && l.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, l.to)
			continue
		}
		out = append(out, l)
	}
	return out
}
