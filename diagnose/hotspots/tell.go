package hotspots

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
)

// Limits on the words.
const (
	openMethods = 5  // in sentences
	detailed    = 20 // runs with tables and figures: no report has room for more
)

// teller describes the change of one run.
type teller struct {
	Change
	Deviates bool // the verdict flagged joules, watts or CPU time
	Awake    bool // it flagged wakelocks
	findings []diagnose.Finding
}

// Tell explains changes, most important first, and returns them in that order. flagged returns the
// findings of the verdict on a change's run.
func Tell(changes []Change, catalogue *metric.Catalogue, flagged func(Change) []diagnose.Finding) ([]Change, []diagnose.Explanation) {
	all := make([]teller, len(changes))
	for i, c := range changes {
		all[i] = newTeller(c, catalogue, flagged(c))
	}
	slices.SortStableFunc(all, func(a, b teller) int { return cmp.Compare(b.weight(), a.weight()) })
	sorted, out := make([]Change, len(all)), make([]diagnose.Explanation, len(all))
	for i, t := range all {
		sorted[i] = t.Change
		out[i] = diagnose.Explanation{
			Family: Family, Run: t.Run, Scenario: t.Scenario, Device: t.Device, Open: t.matters(), Weight: t.weight(),
			Fact: t.fact(), Lead: t.lead(all), Lines: t.lines(all), Doubts: t.doubts(), Asides: t.asides(), Causes: t.causes(),
		}
		if i < detailed {
			out[i].Tables, out[i].Pictures = t.tables(), t.pictures()
		}
	}
	return sorted, out
}

// newTeller keeps the findings that energy may explain, those of the whole run first, then by
// metric.
func newTeller(c Change, catalogue *metric.Catalogue, flagged []diagnose.Finding) teller {
	t := teller{Change: c}
	for _, f := range flagged {
		joules, awake := ofEnergy(catalogue, f.Metric), isLock(f.Metric)
		if f.Direction != gate.None && (joules || awake) {
			t.findings = append(t.findings, f)
			t.Deviates, t.Awake = t.Deviates || joules, t.Awake || awake
		}
	}
	slices.SortStableFunc(t.findings, func(a, b diagnose.Finding) int {
		return cmp.Or(cmp.Compare(min(len(a.Event), 1), min(len(b.Event), 1)), catalogue.Compare(a.Metric, b.Metric))
	})
	return t
}

// ofEnergy reports whether methods or parts of the device may explain a metric's change.
func ofEnergy(catalogue *metric.Catalogue, name string) bool {
	m, _ := catalogue.Lookup(name)
	return m.Within == metric.EnergyFrom || name == "cpu.time_ms"
}

// matters reports whether the run's energy deserves more than a line.
func (t teller) matters() bool {
	return t.Deviates || t.Awake || slices.ContainsFunc(t.Wakelocks, func(w Wakelock) bool { return w.Worse })
}

// weight orders runs: those that matter first, of these those with a known cause, then by the size
// of the change.
func (t teller) weight() float64 {
	w := math.Abs(t.Total.ChangeJ()) / max(t.Total.BaseJ, t.Total.HeadJ, 1e-9)
	if t.Total.BaseJ == 0 || t.Total.HeadJ == 0 {
		w = 0
	}
	if t.Deviates {
		w += 4
	}
	if t.matters() {
		w += 2
	}
	if len(t.lead(nil)) > 0 {
		w++
	}
	return w
}

// methodsMatter reports whether the sampled methods make up a fifth or more of the whole change, as
// far as that is known.
func (t teller) methodsMatter() bool {
	if t.Methods == nil || !t.Methods.HasBase() {
		return false
	}
	net, total := t.Methods.Energy.ChangeJ(), t.Total.ChangeJ()
	return t.Total.BaseJ == 0 || t.Total.HeadJ == 0 || net*total > 0 && math.Abs(net) >= math.Abs(total)/5
}

// unexplained reports whether the energy changed, but not in the sampled methods.
func (t teller) unexplained() bool {
	return t.Deviates && t.Methods != nil && t.Methods.HasBase() && !t.methodsMatter()
}

// part returns the part of the device that makes up at least half of the change.
func (t teller) part() (Component, bool) {
	change := t.Total.ChangeJ()
	if !t.Deviates || !t.HasBase() || t.Total.BaseJ == 0 || t.Total.HeadJ == 0 {
		return Component{}, false
	}
	for _, p := range t.Components { // those that changed most come first
		if p.ChangeJ()*change > 0 && math.Abs(p.ChangeJ()) >= math.Abs(change)/2 {
			return p, true
		}
	}
	return Component{}, false
}

// The least difference of traffic that is reported: bytes, and a factor.
const (
	moreBytes = 100_000
	moreTimes = 1.5
)

// trafficMatters reports whether the traffic changed in the direction of the energy.
func (t teller) trafficMatters() bool {
	if !t.Deviates || !t.HasBase() || t.Traffic == nil {
		return false
	}
	base, head := t.Traffic.BaseBytes, t.Traffic.HeadBytes
	less, more := min(base, head), max(base, head)
	return (head-base)*t.Total.ChangeJ() > 0 && more-less >= moreBytes && more >= moreTimes*less
}

// released returns the wakelocks that are held clearly less while the screen is off, where the
// verdict flagged wakelocks.
func (t teller) released() []Wakelock {
	var out []Wakelock
	for _, w := range t.Wakelocks {
		if t.Awake && w.HeadScreenOffMS <= 0.9*w.BaseScreenOffMS-DrainMS && len(out) < openMethods {
			out = append(out, w)
		}
	}
	return out
}
