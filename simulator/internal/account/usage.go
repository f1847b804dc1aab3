package account

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/power"
)

// batteryStats is when the platform's statistics count: on battery, since the last reset.
type batteryStats struct {
	reset time.Duration
	spans []Uncharged
	open  bool // the last span has not ended
	bias  float64
}

// Uncharged is a span in which the battery service reported no charger.
type Uncharged struct{ From, To time.Duration }

// ResetStats resets the platform's statistics.
func (a *Account) ResetStats() {
	st := &a.stats
	if st.bias == 0 { // the error of the platform's own estimates on this phone
		st.bias = 0.8 + 0.35*a.Random("platform").Float64()
	}
	st.reset, st.spans, st.open = a.Clock.Now(), nil, false
	if a.OnBattery() {
		st.spans, st.open = []Uncharged{{From: a.Clock.Now()}}, true
	}
}

// countOnBattery handles a change in what the battery service reports.
func (a *Account) countOnBattery(was bool) {
	st, is := &a.stats, a.OnBattery()
	switch {
	case was == is:
	case is && len(st.spans) < maxChanges:
		st.spans, st.open = append(st.spans, Uncharged{From: a.Clock.Now()}), true
	case st.open:
		st.spans[len(st.spans)-1].To, st.open = a.Clock.Now(), false
	}
}

// counted returns the spans on battery, up to now.
func (a *Account) counted() []Uncharged {
	out := slices.Clone(a.stats.spans)
	if a.stats.open {
		out[len(out)-1].To = a.Clock.Now()
	}
	return out
}

// Usage is the platform's statistics of the whole phone, on battery since the reset.
type Usage struct {
	Reset                      time.Duration
	Spans                      []Uncharged
	Battery, ScreenOff, Locked time.Duration
	All                        power.Sum
	Apps                       []*AppUsage // by UID
	DischargedMAh              float64     // the truth
}

// AppUsage is the statistics of one app.
type AppUsage struct {
	UID        int
	Package    string
	CPU        time.Duration
	RX, TX     map[string]int64 // bytes by network: wifi, mobile
	Locks      map[string]*Held
	Sensors    map[int]*Held // by handle
	Locked     time.Duration // with any wakelock
	Joules     power.Sum
	Foreground time.Duration
}

// Held is the total time for which a wakelock was held or a sensor was on, and how often.
type Held struct {
	For   time.Duration
	Count int
}

// Usage returns the apps' usage on battery.
func (a *Account) Usage() Usage {
	a.Settle()
	u := Usage{Reset: a.stats.reset, Spans: a.counted(), All: power.Sum{}}
	u.Apps = a.appUsage(u.Spans)
	cell := a.Hardware.Battery
	for _, span := range u.Spans {
		u.Battery += span.To - span.From
		u.ScreenOff += a.screenOff(span.From, span.To)
		u.All.Add(a.Joules(span.From, span.To))
		u.DischargedMAh += max(0, cell.ChargeMAh(a.batteryJ(span.From))-cell.ChargeMAh(a.batteryJ(span.To)))
	}
	for _, app := range u.Apps {
		u.Locked += app.Locked
	}
	return u
}

func (a *Account) appUsage(spans []Uncharged) []*AppUsage {
	byUID := map[int]*AppUsage{}
	var out []*AppUsage
	for _, d := range a.processes {
		u := byUID[d.UID]
		if u == nil {
			u = &AppUsage{UID: d.UID, Package: d.App.Package, RX: map[string]int64{}, TX: map[string]int64{},
				Locks: map[string]*Held{}, Sensors: map[int]*Held{}, Joules: power.Sum{}}
			byUID[d.UID], out = u, append(out, u)
		}
		for _, span := range spans {
			if d.Lives(span.From, span.To) {
				u.add(a, d, span)
			}
		}
	}
	slices.SortFunc(out, func(a, b *AppUsage) int { return a.UID - b.UID })
	return out
}

func (u *AppUsage) add(a *Account, d *Process, span Uncharged) {
	u.CPU += a.Work(d).CPU(span.From, span.To)
	u.Joules.Add(d.joules(a, span.From, span.To))
	end := span.To
	if d.ended > 0 {
		end = min(end, d.ended)
	}
	u.Foreground += max(0, end-max(span.From, d.began))
	for _, t := range d.traffic {
		if share := fraction(t.from, t.to, span); share > 0 {
			kind := "mobile"
			if t.network == "wifi" {
				kind = "wifi"
			}
			u.RX[kind] += int64(float64(t.rx) * share)
			u.TX[kind] += int64(float64(t.tx) * share)
		}
	}
	for _, r := range d.sensors {
		if on := power.Overlap(r.from, r.to, span.From, span.To); on > 0 {
			hold(u.Sensors, r.handle, on)
		}
	}
	for _, l := range d.held() {
		held, _ := a.lockTime(l, span)
		u.Locked += held
	}
	for _, l := range d.locks {
		if held, any := a.lockTime(l, span); any {
			hold(u.Locks, l.name, held)
		}
	}
}

// hold adds a duration to the entry of a name.
func hold[K comparable](list map[K]*Held, name K, long time.Duration) {
	if list[name] == nil {
		list[name] = &Held{}
	}
	list[name].For += long
	list[name].Count++
}

// lockTime returns how long a wakelock was held in a span, and whether it was held at all:
// since Android 5 only time with the screen off counts.
func (a *Account) lockTime(l lock, span Uncharged) (held time.Duration, any bool) {
	from, to := max(l.from, span.From), min(l.to, span.To)
	switch {
	case from >= to:
		return 0, false
	case a.Profile.API >= 21:
		return a.screenOff(from, to), true
	}
	return to - from, true
}

// fraction returns the share of an interval that lies in a span.
func fraction(from, to time.Duration, span Uncharged) float64 {
	if to <= from {
		return 0
	}
	return power.Overlap(from, to, span.From, span.To).Seconds() / (to - from).Seconds()
}

// MAh returns the platform's estimate of a charge: it uses the battery's nominal voltage, and
// its power profile is inexact.
func (a *Account) MAh(joules float64) float64 {
	const nominalV = 3.85
	return a.stats.bias * joules / nominalV / 3.6
}
