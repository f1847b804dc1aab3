package layout

import (
	"cmp"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/wording"
)

// finding is one metric of one event that deviates in the same direction in one or more runs: it is
// reported once.
type finding struct {
	cell
	Metric    metric.Metric
	Direction gate.Direction
	// AfterEffectOf names the event of which this is only an after-effect.
	AfterEffectOf string
	Hits          []hit     // the runs that deviate, in the verdict's order
	Compared      int       // number of runs in which the cell was compared
	AfterEffects  []finding // the after-effects of this finding
	scenarios     bool      // the verdict is on several scenarios, so that a place needs both names
	rank          int       // best rank among a run's deviations; 0 is the gravest
}

// cell identifies a finding, together with its direction.
type cell struct{ Scenario, Event, MetricName string }

// key identifies a cell in a page.
func (c cell) key() string { return c.Scenario + "\x00" + c.Event + "\x00" + c.MetricName }

// hit is the comparison of one run.
type hit struct {
	Run        *gate.RunVerdict
	Comparison gate.Comparison
}

// findings groups the deviations of all runs by event, metric and direction, separately for those
// that break a limit. Causes come before their after-effects, which are nested in them; worse
// before suspect before better; then the event that changed most, see worstFirst.
func findings(v gate.Verdict, catalogue *metric.Catalogue) []finding {
	return grouped(v, catalogue, func(r gate.RunVerdict) []gate.Comparison { return r.Deviations })
}

// grouped groups the given comparisons of each run in that way.
func grouped(v gate.Verdict, catalogue *metric.Catalogue, of func(gate.RunVerdict) []gate.Comparison) []finding {
	type key struct {
		cell
		direction gate.Direction
		after     string
		limit     bool // breaks a limit: the others' numbers are within it, or have another
	}
	compared := comparedRuns(v)
	scenarios := severalScenarios(v)
	byKey := map[key]*finding{}
	var order []*finding
	for i := range v.Runs {
		r := &v.Runs[i]
		for rank, c := range of(*r) {
			k := key{cell{r.Scenario, c.Event, c.Metric}, c.Direction, c.AfterEffectOf, c.Limit != nil}
			f := byKey[k]
			if f == nil {
				m, _ := catalogue.Lookup(c.Metric)
				f = &finding{cell: k.cell, Metric: m, Direction: c.Direction, AfterEffectOf: c.AfterEffectOf, scenarios: scenarios, rank: rank}
				byKey[k] = f
				order = append(order, f)
			}
			f.Hits = append(f.Hits, hit{r, c})
			f.rank = min(f.rank, rank)
		}
	}
	out := make([]finding, len(order))
	for i, f := range order {
		f.Compared = max(compared[f.cell], len(f.Hits))
		out[i] = *f
	}
	slices.SortStableFunc(out, func(a, b finding) int { return a.compare(b, catalogue) })
	out = foldAfterEffects(out)
	worstFirst(out)
	return out
}

// worstFirst moves the places that changed most to the front of those of the same gravity, with
// their findings in the order that they have: a reader wants to know which event got worst, and not
// the milder number of the whole run.
func worstFirst(all []finding) {
	type place struct {
		scenario, event string
		direction       gate.Direction
	}
	of := func(f finding) place { return place{f.Scenario, f.Event, f.Direction} }
	change := map[place]float64{}
	for _, f := range all {
		if _, known := change[of(f)]; !known || f.newANR() > 0 {
			change[of(f)] = f.severity()
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(
			cmp.Compare(b.Direction.Gravity(), a.Direction.Gravity()),
			cmp.Compare(b.broken(), a.broken()),
			cmp.Compare(change[of(b)], change[of(a)]),
			cmp.Compare(b.newANR(), a.newANR()),
		)
	})
}

// newANR returns 1 for an app that does not respond where it always did, which is graver than any
// time that became longer with it, and 0 for all else.
func (f finding) newANR() int {
	if f.MetricName == "anr.count" && f.severity() >= newSeverity {
		return 1
	}
	return 0
}

// newSeverity is the severity of what was never there before, such as an ANR: more than that of
// anything that became longer.
const newSeverity = 100

// severity returns how much a finding changed, on the scale of logarithms, on which twice as much
// and half as much are equally far: the mean over the runs in which it was compared, of which those
// that don't deviate count as unchanged.
func (f finding) severity() float64 {
	sum := 0.0
	for _, h := range f.Hits {
		sum += severityOf(f.Metric, inTurns(h.Comparison))
	}
	return sum / float64(max(f.Compared, len(f.Hits), 1))
}

func severityOf(m metric.Metric, c gate.Comparison) float64 {
	switch {
	case m.Signed: // a margin, which passes through zero: in frames of a display with 60 Hz
		return math.Log1p(math.Abs(c.Value-c.Expected) / (1000.0 / 60))
	case c.Expected <= 0 && c.Value <= 0:
		return 0
	case c.Expected <= 0 || c.Value <= 0:
		return newSeverity
	}
	return math.Abs(math.Log(c.Value / c.Expected))
}

// severalScenarios reports whether the runs are of more than one scenario.
func severalScenarios(v gate.Verdict) bool {
	return slices.ContainsFunc(v.Runs, func(r gate.RunVerdict) bool { return r.Scenario != v.Runs[0].Scenario })
}

// comparedRuns counts for each cell the runs in which it was compared.
func comparedRuns(v gate.Verdict) map[cell]int {
	out := map[cell]int{}
	for _, r := range v.Runs {
		for _, c := range r.Comparisons {
			out[cell{r.Scenario, c.Event, c.Metric}]++
		}
	}
	for _, u := range v.Unlisted {
		out[cell{u.Scenario, u.Event, u.Metric}] += u.Runs
	}
	return out
}

func (f finding) compare(g finding, catalogue *metric.Catalogue) int {
	return cmp.Or(
		cmp.Compare(g.Direction.Gravity(), f.Direction.Gravity()),
		cmp.Compare(g.broken(), f.broken()), // a limit is beyond doubt
		cmp.Compare(len(g.Hits), len(f.Hits)),
		cmp.Compare(min(len(f.Event), 1), min(len(g.Event), 1)), // the whole run first
		cmp.Compare(f.rank, g.rank),
		catalogue.Compare(f.MetricName, g.MetricName),
		cmp.Compare(f.Scenario, g.Scenario),
		cmp.Compare(f.Event, g.Event),
		cmp.Compare(f.AfterEffectOf, g.AfterEffectOf),
	)
}

// broken returns how many limits of the policy the finding breaks: 1 or 0.
func (f finding) broken() int {
	if len(f.Hits) > 0 && f.beyondLimit() {
		return 1
	}
	return 0
}

// foldAfterEffects moves each after-effect under its cause; one whose cause is not among the
// findings stays where it is.
func foldAfterEffects(all []finding) []finding {
	type place struct {
		scenario, event string
		direction       gate.Direction
	}
	causes := map[place]int{}
	var out, effects []finding
	for _, f := range all {
		if f.AfterEffectOf != "" {
			effects = append(effects, f)
			continue
		}
		p := place{f.Scenario, f.Event, f.Direction}
		if _, known := causes[p]; !known {
			causes[p] = len(out)
		}
		out = append(out, f)
	}
	for _, f := range effects {
		if i, ok := causes[place{f.Scenario, f.AfterEffectOf, f.Direction}]; ok {
			out[i].AfterEffects = append(out[i].AfterEffects, f)
			continue
		}
		out = append(out, f)
	}
	return out
}

// with returns the findings of one direction.
func with(all []finding, d gate.Direction) []finding {
	var out []finding
	for _, f := range all {
		if f.Direction == d {
			out = append(out, f)
		}
	}
	return out
}

// firsts reports, for findings as returned by flat, which are the first of their place and
// direction: one row per event is enough at first.
func firsts(fs []finding) []bool {
	type place struct {
		scenario, event, after string
		direction              gate.Direction
	}
	seen := map[place]bool{}
	out := make([]bool, len(fs))
	for i, f := range fs {
		p := place{f.Scenario, f.Event, f.AfterEffectOf, f.Direction}
		out[i] = f.Event == "" || !seen[p]
		seen[p] = true
	}
	return out
}

// short splits findings into the first of each place and direction, and the rest.
func short(fs []finding) (first, rest []finding) {
	is := firsts(fs)
	for i, f := range fs {
		if is[i] {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	return first, rest
}

// flat returns the findings, each followed by its after-effects.
func flat(all []finding) []finding {
	var out []finding
	for _, f := range all {
		out = append(append(out, f), f.AfterEffects...)
	}
	return out
}

// middle returns the comparison of the run with the median change, of two the smaller one: the
// numbers of one run, so that they agree with each other. Its P is the largest of all runs. Where
// both builds were measured alternately, the numbers are those of the rounds.
func (f finding) middle() gate.Comparison {
	byChange := make([]gate.Comparison, len(f.Hits))
	for i, h := range f.Hits {
		byChange[i] = inTurns(h.Comparison)
	}
	slices.SortStableFunc(byChange, func(a, b gate.Comparison) int {
		return cmp.Compare(math.Abs(a.Change), math.Abs(b.Change))
	})
	middle := byChange[(len(byChange)-1)/2]
	for _, c := range byChange {
		middle.P = max(middle.P, c.P)
		middle.Enough = max(middle.Enough, c.Enough)
		middle.Together = max(middle.Together, c.Together)
	}
	return middle
}

// numbers returns the expected value, "–" where there is none, and the run's value.
func numbers(m metric.Metric, c gate.Comparison) (expected, value string) {
	if c.N == 0 {
		return "–", wording.Value(m, c.Value)
	}
	value, expected = wording.Beside(m, c.Value, c.Expected)
	return expected, value
}

// hasInterval reports whether the change has an interval.
func hasInterval(c gate.Comparison) bool { return c.Low != nil && c.High != nil }
