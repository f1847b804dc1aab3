package sidebyside

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// eventEffect is the worsening that a pass excludes for an event: there are dozens of them, they
// vary more than a whole run, and the few rounds of compare would almost never exclude less for all
// of them.
const eventEffect = 0.25

// effect returns the worsening that a pass excludes for a cell.
func (s *scenario) effect(p gate.Policy, cell run.Cell) float64 {
	effect := max(p.MinEffect, p.ForCell(cell).MinChange)
	if cell.Event != "" {
		effect = max(effect, eventEffect)
	}
	if s.unit == Iteration {
		effect = max(effect, sessionMinChange)
	}
	return effect
}

// exclude tests samples, on the scale on which they are judged, as gate/rounds tests rounds:
// whether a build that is worse by the effect looks as good as this.
func (t *test) exclude(strata []stat.Pair, estimate float64, scale metric.Scale) {
	margin := rounds.Margin(t.metric, t.Base, t.effect, scale)
	worse := make([]stat.Pair, len(strata))
	for i, p := range strata {
		worse[i].Y = p.Y
		for _, x := range p.X {
			worse[i].X = append(worse[i].X, x+margin)
		}
	}
	ranks := rankTest(worse, false)
	t.missed = ranks.Less
	if t.metric.Direction == metric.HigherIsBetter {
		t.missed = ranks.Greater
	}
	t.below = t.worsening() == 0 || rounds.IsBelow(estimate/margin, t.effect, t.minChange)
}

// undecided reports that the test does not fail, but a worsening by the effect is not excluded
// either. An exact number is never undecided.
func (t *test) undecided() bool {
	if t.alone || t.Direction != gate.None {
		return false
	}
	return !t.below || (t.missed > rounds.PassLevel && !t.metric.Exact)
}

// unitsToExclude estimates how many units of each build in each context would exclude it; 0 where
// mostUnits would not.
func (t *test) unitsToExclude() int {
	if !t.below {
		return 0
	}
	return t.unitsFor(t.missed, rounds.PassLevel)
}

// undecidedTests returns the undecided tests, sorted by how much worse each may be at most.
func (s *scenario) undecidedTests() []*test {
	out := slices.DeleteFunc(slices.Clone(s.tests), func(t *test) bool { return !t.undecided() })
	slices.SortStableFunc(out, func(a, b *test) int { return cmp.Compare(b.atMost(), a.atMost()) })
	return out
}

// atMost returns how much worse it may be by the interval; 0 without an interval.
func (t *test) atMost() float64 {
	if !t.HasInterval() {
		return 0
	}
	return t.worstCase()
}

// describeOpen reports what the values leave undecided, and what would settle it.
func (s *scenario) describeOpen(undecided []*test) (reason, hint string) {
	const listed = 3
	var bounds []string
	units := 0
	for i, t := range undecided {
		if i < listed {
			bounds = append(bounds, t.leftOpen())
		}
		n := t.unitsToExclude()
		if n == 0 || units < 0 {
			units = -1
			continue
		}
		units = max(units, n)
	}
	if more := len(undecided) - listed; more > 0 {
		bounds = append(bounds, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s of each build do not exclude a worsening: %s", s.amount(), strings.Join(bounds, ", ")), s.settle(max(0, units))
}

// leftOpen reports how much worse the test's number may still be.
func (t *test) leftOpen() string {
	name := t.metric.Title
	if t.cell.Event != "" {
		name += " after " + t.cell.Event
	}
	if !t.HasInterval() {
		return fmt.Sprintf("%s has %s and too few values for a bound", name, prose.Count(t.N, "value", "values"))
	}
	return fmt.Sprintf("%s may still be worse by up to %s", name, t.bound())
}
