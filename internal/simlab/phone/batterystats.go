package phone

import (
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/simlab/power"
)

// batteryStats is when the platform counts: on battery, since the last reset.
type batteryStats struct {
	reset time.Duration
	spans []onBattery
	open  bool // the last span goes on
	bias  float64
}

// onBattery is a time in which the battery service believed in no charger.
type onBattery struct{ from, to time.Duration }

// resetStats begins the statistics anew.
func (p *Phone) resetStats() {
	st := &p.state.power.stats
	if st.bias == 0 { // how far the platform's own estimates are off on this phone
		st.bias = 0.8 + 0.35*p.random("platform").Float64()
	}
	st.reset, st.spans, st.open = p.clock.Now(), nil, false
	if p.onBattery() {
		st.spans, st.open = []onBattery{{from: p.clock.Now()}}, true
	}
}

// countOnBattery notes that the battery service changed its mind.
func (p *Phone) countOnBattery(was bool) {
	st, is := &p.state.power.stats, p.onBattery()
	switch {
	case was == is:
	case is && len(st.spans) < maxChanges:
		st.spans, st.open = append(st.spans, onBattery{from: p.clock.Now()}), true
	case st.open:
		st.spans[len(st.spans)-1].to, st.open = p.clock.Now(), false
	}
}

// counted are the times on battery, up to now.
func (p *Phone) counted() []onBattery {
	st := p.state.power.stats
	out := slices.Clone(st.spans)
	if st.open {
		out[len(out)-1].to = p.clock.Now()
	}
	return out
}

// uidStats are the statistics of one app.
type uidStats struct {
	uid        int
	pkg        string
	cpu        time.Duration
	rx, tx     map[string]int64 // by network: wifi, mobile
	locks      map[string]*heldLock
	sensors    map[int]*heldLock // by handle
	locked     time.Duration     // with any of them
	joules     power.Sum
	foreground time.Duration
}

// heldLock is a wakelock of the statistics, or a sensor.
type heldLock struct {
	held  time.Duration
	count int
}

// stats adds up what the apps did on battery.
func (p *Phone) stats() []*uidStats {
	byUID := map[int]*uidStats{}
	for _, d := range p.state.power.deeds {
		u := byUID[d.uid]
		if u == nil {
			u = &uidStats{uid: d.uid, pkg: d.app.Package, rx: map[string]int64{}, tx: map[string]int64{}, locks: map[string]*heldLock{}, sensors: map[int]*heldLock{}, joules: power.Sum{}}
			byUID[d.uid] = u
		}
		for _, span := range p.counted() {
			if d.lives(span.from, span.to) {
				u.add(p, d, span)
			}
		}
	}
	var out []*uidStats
	for _, u := range byUID {
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b *uidStats) int { return a.uid - b.uid })
	return out
}

func (u *uidStats) add(p *Phone, d *deeds, span onBattery) {
	u.cpu += d.workNow(p).CPU(span.from, span.to)
	u.joules.Add(d.joules(p, span.from, span.to))
	end := span.to
	if d.ended > 0 {
		end = min(end, d.ended)
	}
	u.foreground += max(0, end-max(span.from, d.began))
	for _, t := range d.traffic {
		if share := fraction(t.from, t.to, span); share > 0 {
			kind := "mobile"
			if t.network == "wifi" {
				kind = "wifi"
			}
			u.rx[kind] += int64(float64(t.rx) * share)
			u.tx[kind] += int64(float64(t.tx) * share)
		}
	}
	for _, r := range d.sensors {
		on := power.Overlap(r.from, r.to, span.from, span.to)
		if on <= 0 {
			continue
		}
		if u.sensors[r.handle] == nil {
			u.sensors[r.handle] = &heldLock{}
		}
		u.sensors[r.handle].held += on
		u.sensors[r.handle].count++
	}
	for _, l := range d.held() {
		held, _ := p.lockTime(l, span)
		u.locked += held
	}
	for _, l := range d.locks {
		held, any := p.lockTime(l, span)
		if !any {
			continue
		}
		if u.locks[l.name] == nil {
			u.locks[l.name] = &heldLock{}
		}
		u.locks[l.name].held += held
		u.locks[l.name].count++
	}
}

// lockTime is how long of a span a wakelock was held, and whether it was: since
// Android 5 that is counted on the clock of the screen being off.
func (p *Phone) lockTime(l lock, span onBattery) (held time.Duration, any bool) {
	from, to := max(l.from, span.from), min(l.to, span.to)
	switch {
	case from >= to:
		return 0, false
	case p.profile.API >= 21:
		return p.screenOff(from, to), true
	}
	return to - from, true
}

// fraction is the share of an interval that lies in a span.
func fraction(from, to time.Duration, span onBattery) float64 {
	if to <= from {
		return 0
	}
	return power.Overlap(from, to, span.from, span.to).Seconds() / (to - from).Seconds()
}

// dumpBatteryStats is dumpsys batterystats [--reset|-c|--checkin|--enable …|--charged].
func dumpBatteryStats(c *call) int {
	c.settle()
	switch a := c.Arg(0); {
	case a == "--reset":
		c.resetStats()
		c.Printf("Battery stats and history reset.\n")
	case a == "--write":
		c.Printf("Battery stats written.\n")
	case a == "--enable" || a == "--disable":
		c.Printf("%s: %s\n", map[string]string{"--enable": "Enabled", "--disable": "Disabled"}[a], c.Arg(1))
	case a == "-c" && c.profile.API >= 21, a == "--checkin":
		c.checkin()
	case a == "" || a == "--charged" || !strings.HasPrefix(a, "-"):
		c.statsText()
	default:
		c.Printf("Unknown option: %s\nBattery stats (batterystats) dump options:\n  [--checkin] [--history] [--charged] [-c] [--reset] [--write]\n", a)
	}
	return 0
}

// mAh is the charge that the platform believes some energy to be: it knows the
// battery's nominal voltage, and its profile is off.
func (p *Phone) mAh(joules float64) float64 {
	const nominalV = 3.85
	return p.state.power.stats.bias * joules / nominalV / 3.6
}

// sums are the statistics of the whole phone.
type sums struct {
	battery, screenOff, locked time.Duration
	all                        power.Sum
	apps                       []*uidStats
	discharged                 float64 // mAh, in truth
}

func (p *Phone) sums() sums {
	s := sums{all: power.Sum{}, apps: p.stats()}
	cell := p.state.power.hardware.Battery
	for _, span := range p.counted() {
		s.battery += span.to - span.from
		s.screenOff += p.screenOff(span.from, span.to)
		s.all.Add(p.joules(span.from, span.to))
		s.discharged += max(0, cell.ChargeMAh(p.batteryJ(span.from))-cell.ChargeMAh(p.batteryJ(span.to)))
	}
	for _, u := range s.apps {
		s.locked += u.locked
	}
	return s
}
