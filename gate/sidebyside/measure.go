package sidebyside

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// together is the context of a test over all contexts.
const together = -1

// test is one test: of a cell in one context, or in all together.
type test struct {
	Difference
	cell      run.Cell
	context   int // index among the strata, or together
	alone     bool
	metric    metric.Metric
	policy    gate.CellPolicy
	minChange float64 // the least change that matters
	surely    float64 // the least change that decides
	effect    float64 // the worsening that a pass excludes
	missed    float64 // chance that a build that is worse by the effect looks as good
	below     bool    // whether the estimate lies below what would fail
	ranks     stat.RankTest
	// leastApart is the smallest chance that the test could reach if no two of its values were
	// equal.
	leastApart float64
	number     float64 // the largest factor by which the correction multiplies PRaw
	perBuild   int     // values of each build in a context, on average
	contexts   int     // number of contexts of the values
	paired     bool
	Direction  gate.Direction
	enough     int
}

// chooseCells lists the cells that both builds have and the policy judges.
func (s *scenario) chooseCells(c *comparing) {
	s.order = map[string]int{"": -1}
	has := [2]map[run.Cell]bool{{}, {}}
	events := [2]map[string]bool{{}, {}}
	for _, st := range s.strata {
		for _, runs := range [][]run.Run{st.base, st.head} {
			for _, r := range runs {
				for _, event := range run.EventOrder(r) {
					if _, known := s.order[event]; !known {
						s.order[event] = len(s.order)
					}
				}
			}
		}
		for side, units := range [][]unit{st.baseUnits, st.headUnits} {
			for _, u := range units {
				for cell := range u.cells {
					has[side][cell], events[side][cell.Event] = true, true
				}
			}
		}
	}
	all := anyOf(has[1]) // separates details from what they detail
	for cell := range has[1] {
		if has[0][cell] && c.policy.Judged(cell, all, c.catalogue) {
			s.cells = append(s.cells, cell)
		}
	}
	slices.SortFunc(s.cells, func(a, b run.Cell) int {
		return cmp.Or(cmp.Compare(s.order[a.Event], s.order[b.Event]), cmp.Compare(a.Event, b.Event), c.catalogue.Compare(a.Metric, b.Metric))
	})
	for _, event := range slices.Sorted(maps.Keys(s.order)) {
		if events[0][event] != events[1][event] {
			c.warn("scenario %q: event %q was measured for only one build, and is left out", s.name, event)
		}
	}
}

// anyOf returns a summary that has the cells.
func anyOf(cells map[run.Cell]bool) run.Summary {
	values := make(map[run.Cell]float64, len(cells))
	for cell := range cells {
		values[cell] = 0
	}
	return run.Summary{Cells: run.CellsOf(values)}
}

// makeTests tests each cell in each context, and in all together where there are several.
func (s *scenario) makeTests(c *comparing) {
	for _, cell := range s.cells {
		m, _ := c.catalogue.Lookup(cell.Metric)
		var all []stat.Pair
		for i, st := range s.strata {
			pairs := st.pairs(cell, m, s.paired())
			if len(pairs) == 0 {
				s.noteIncomparable(st, cell, m)
				continue
			}
			all = append(all, pairs...)
			if len(s.strata) > 1 {
				t := s.test(c, cell, m, pairs, s.unit == Round)
				t.context, t.alone, t.Values = i, true, s.valuesOf(pairs)
				if s.unit == Iteration { // one session may be that far off: a doubt at most
					t.minChange, t.surely = t.surely, math.Inf(1)
				}
				if t.ranks.Least <= c.policy.Alpha {
					s.tests = append(s.tests, t)
				}
			}
		}
		if len(all) == 0 {
			continue // each context has it of one build only
		}
		t := s.test(c, cell, m, all, s.paired())
		if t.context = together; len(s.strata) == 1 {
			t.Values = s.valuesOf(all)
		}
		s.tests = append(s.tests, t)
	}
	s.warnIncomparable(c)
}

// valuesOf returns the values of rounds; nil where the units are none.
func (s *scenario) valuesOf(pairs []stat.Pair) (out [][2]float64) {
	if s.unit != Round {
		return nil
	}
	for _, p := range pairs {
		for i := range p.X[:min(len(p.X), MaxValues-len(out))] {
			out = append(out, [2]float64{p.X[i], p.Y[i]})
		}
	}
	return out
}

func (s *scenario) test(c *comparing, cell run.Cell, m metric.Metric, strata []stat.Pair, paired bool) *test {
	t := &test{cell: cell, metric: m, policy: c.policy.ForCell(cell), Direction: gate.None, paired: paired}
	t.minChange, t.surely = t.policy.MinChange, t.policy.MinChange
	t.effect = s.effect(c.policy, cell)
	if s.unit == Iteration {
		t.minChange, t.surely = max(t.minChange, gate.SuspectChange), max(t.minChange, sessionMinChange)
		if m.Signed { // the error of a session is unknown
			t.surely = math.Inf(1)
		}
	}
	t.measure(strata, c.policy.Alpha)
	t.PRaw, t.P = min(t.ranks.Less, t.ranks.Greater), 1
	if t.metric.Direction != metric.Neutral {
		t.Limit = t.policy.Broken(t.Head)
	}
	return t
}

// measure computes the shift: of paired values as gate/rounds does, of samples on the log scale
// where the metric's noise is multiplicative and every value is positive.
func (t *test) measure(strata []stat.Pair, alpha float64) {
	var base, head []float64
	for _, p := range strata {
		base, head = append(base, p.X...), append(head, p.Y...)
	}
	t.N = len(base)
	if !t.paired {
		t.N += len(head)
	}
	t.contexts, t.perBuild = len(strata), max(1, min(len(base), len(head))/len(strata))
	t.Effect, t.leastApart = stat.CliffsDelta(strata), leastApart(strata, t.paired)
	if t.paired {
		x := rounds.PairedOf(t.metric, base, head)
		t.ranks = x.Test()
		t.adopt(x.Result(rounds.Ends{Better: alpha / 2, Worse: alpha / 2}))
		t.missed, t.below = x.Excludes(t.effect), x.Below(t.effect, t.minChange)
		return
	}
	t.Base, t.Head = rounds.Centre(base, t.metric.Mean), rounds.Centre(head, t.metric.Mean)
	scale := t.metric.ScaleOf(min(slices.Min(base), slices.Min(head)))
	strata = onScale(t.metric, scale, strata)
	t.ranks = rankTest(strata, false)
	if t.metric.Mean { // for rare events: the middle shift is zero
		t.fill(stat.Shift{Estimate: t.Head - t.Base, Low: math.Inf(-1), High: math.Inf(1)}, scale)
		t.exclude(strata, t.Shift, scale)
		return
	}
	s := stat.SampleShift(strata, alpha)
	t.fill(s, scale)
	t.exclude(strata, s.Estimate, scale)
}

// adopt takes the result of rounds. With the same level for both ends, the interval has both ends
// or none.
func (t *test) adopt(x gate.RoundsComparison) {
	t.Base, t.Head, t.Shift, t.Change = x.Base, x.Head, x.Shift, x.Change
	t.ShiftLow, t.ShiftHigh, t.ChangeLow, t.ChangeHigh = x.ShiftLow, x.ShiftHigh, x.ChangeLow, x.ChangeHigh
}

func onScale(m metric.Metric, scale metric.Scale, strata []stat.Pair) []stat.Pair {
	all := func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = m.On(scale, v)
		}
		return out
	}
	out := make([]stat.Pair, len(strata))
	for i, p := range strata {
		out[i] = stat.Pair{X: all(p.X), Y: all(p.Y)}
	}
	return out
}

// fill sets the shift in the metric's unit and as a share of the base.
func (t *test) fill(s stat.Shift, scale metric.Scale) {
	t.Shift, t.Change = gate.Change(t.metric, t.Base, s.Estimate, scale)
	if math.IsInf(s.Low, 0) || math.IsInf(s.High, 0) {
		return
	}
	ends := func(x float64) (shift, change *float64) {
		a, b := gate.Change(t.metric, t.Base, x, scale)
		return &a, &b
	}
	t.ShiftLow, t.ChangeLow = ends(s.Low)
	t.ShiftHigh, t.ChangeHigh = ends(s.High)
}
