package sidebyside

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// conclude returns the scenario's part of the verdict.
func (s *scenario) conclude(c *comparing) Scenario {
	out := Scenario{Scenario: s.name, Unit: s.unit, Contexts: []Context{}, Comparisons: []Comparison{}}
	for _, st := range s.strata {
		out.Contexts = append(out.Contexts, Context{Context: st.context, Base: len(st.baseUnits), Head: len(st.headUnits)})
	}
	for _, cell := range s.cells {
		if comparison, ok := s.comparison(cell); ok {
			out.Comparisons = append(out.Comparisons, comparison)
		}
	}
	s.decide(c, &out)
	return out
}

// comparison combines the tests of a cell over all contexts and in each alone.
func (s *scenario) comparison(cell run.Cell) (out Comparison, ok bool) {
	var undecided *test
	for _, t := range s.tests {
		switch {
		case t.cell != cell:
			continue
		case t.alone:
			out.Contexts = append(out.Contexts, ContextDifference{Context: t.context, Direction: t.Direction, Difference: t.Difference})
		default:
			ok = true
			out.Event, out.Metric, out.Difference, out.Together = cell.Event, cell.Metric, t.Difference, t.Direction
		}
		if t.Direction.Gravity() > out.Direction.Gravity() {
			out.Direction = t.Direction
		}
		out.Enough = max(out.Enough, t.enough)
		if t.undecided() {
			undecided = t
		}
	}
	switch {
	case undecided != nil && out.Direction != gate.ToRegression && out.Direction != gate.Suspect:
		out.Open, out.Enough = true, undecided.unitsToExclude()
	case out.Direction != gate.Suspect:
		out.Enough = 0
	}
	if cell.Event != "" && out.Direction == gate.None && !out.Open {
		out.Values = nil
		for i := range out.Contexts {
			out.Contexts[i].Values = nil
		}
	}
	return out, ok
}

// Deviations returns the flagged comparisons, gravest first, and among equals the largest change
// first.
func (s Scenario) Deviations() []Comparison {
	var out []Comparison
	for _, d := range s.Comparisons {
		if d.Direction != gate.None {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b Comparison) int {
		return cmp.Or(cmp.Compare(b.Direction.Gravity(), a.Direction.Gravity()),
			cmp.Compare(b.size(), a.size()))
	})
	return out
}

// size returns the size of the change that the direction is based on.
func (d Comparison) size() float64 {
	shift := d.Shown()
	return gate.Size(d.Metric, shift.Base, shift.Shift, shift.Change)
}

// Shown returns the shift that the direction is based on: that of all contexts together, or where
// only some show it by themselves, the largest of these.
func (d Comparison) Shown() Difference {
	_, shift := d.shownIn()
	return shift
}

// ShownIn returns the index, among the scenario's contexts, of the one that the direction is based
// on; -1 where it is based on all together.
func (d Comparison) ShownIn() int {
	in, _ := d.shownIn()
	return in
}

func (d Comparison) shownIn() (in int, shift Difference) {
	in, shift = together, d.Difference
	if d.restsOnAll() {
		return in, shift
	}
	for _, x := range d.Contexts {
		if x.Direction == d.Direction && (in == together || math.Abs(x.Change) > math.Abs(shift.Change)) {
			in, shift = x.Context, x.Difference
		}
	}
	return in, shift
}

func (d Comparison) restsOnAll() bool { return d.Together == d.Direction || len(d.Contexts) == 0 }

// decide sets the scenario's verdict with its reason and hint.
func (s *scenario) decide(c *comparing, out *Scenario) {
	deviations := out.Deviations()
	gravest := gate.None
	if len(deviations) > 0 {
		gravest = deviations[0].Direction
	}
	undecided := s.undecidedTests()
	switch {
	case gravest == gate.ToRegression:
		out.Verdict, out.Reason = gate.Regression, c.describe(*out, deviations[0])
	case len(s.lost) > 0:
		out.Verdict, out.Reason = gate.Invalid, s.describeLost()
		out.Hint = "fix what ended it, and measure again"
	case len(s.strata) == 0:
		out.Verdict = gate.Inconclusive
		out.Reason = "no context has complete runs of both builds"
		out.Hint = "measure both on the same devices: apkgate compare does"
		if s.unlike != "" {
			out.Reason, out.Hint = out.Reason+s.unlike, "build and measure both in the same way"
		}
	case len(out.Comparisons) == 0:
		out.Verdict = gate.Inconclusive
		out.Reason = "both builds have no metric in common that this policy judges"
		out.Hint = "see gate.metrics in apkgate.yml"
		if len(s.incomparable) > 0 {
			out.Reason, out.Hint = s.incomparable[0].describe(c.catalogue), s.incomparable[0].hint()
		}
	case gravest == gate.Suspect:
		out.Verdict, out.Reason = gate.Inconclusive, "perhaps worse: "+c.describe(*out, deviations[0])
		out.Hint = s.settle(deviations[0].Enough)
	case len(s.absent) > 0:
		out.Verdict, out.Reason = gate.Inconclusive, fmt.Sprintf("%s %s measured for the base build but not for the head build", strings.Join(s.absent, ", "), prose.Plural(len(s.absent), "was", "were"))
		out.Hint = "find out why, and measure again; leave a metric that the head build need not have out of gate.metrics in apkgate.yml"
	case s.lackedFrames != "":
		out.Verdict, out.Reason = gate.Inconclusive, s.lackedFrames
		out.Hint = "check whether the measurement was cut short; if the head build is meant to draw less, name frames.count in gate.metrics to see how sure that is"
	case s.tooFew(c.policy):
		out.Verdict = gate.Inconclusive
		out.Reason = fmt.Sprintf("%s of each build are too few to prove a change in %d %s", s.amount(), len(out.Comparisons), prose.Plural(len(out.Comparisons), "comparison", "comparisons"))
		out.Hint = s.settle(s.leastUnits(c.policy))
	case len(undecided) > 0:
		out.Verdict = gate.Inconclusive
		out.Reason, out.Hint = s.describeOpen(undecided)
	case gravest == gate.ToImprovement:
		out.Verdict, out.Reason = gate.Improvement, c.describe(*out, deviations[0])+s.uncompared(c)
	default:
		out.Verdict, out.Reason = gate.Pass, s.describePass(*out)+s.uncompared(c)
	}
	if s.lackedFrames != "" && out.Reason != s.lackedFrames {
		c.warn("scenario %q: %s", s.name, s.lackedFrames)
	}
}

// describeLost reports what happened to incomplete runs: the head's first, as a change may have
// broken the head.
func (s *scenario) describeLost() string {
	const listed = 3
	told := slices.Clone(s.lost)
	slices.Reverse(told)
	text := strings.Join(told[:min(len(told), listed)], "; ")
	if more := len(told) - listed; more > 0 {
		text += fmt.Sprintf("; and %d more %s", more, prose.Plural(more, "run", "runs"))
	}
	return text
}

// tooFew reports that no test of the scenario had enough values to prove anything.
func (s *scenario) tooFew(p gate.Policy) bool {
	return !slices.ContainsFunc(s.tests, func(t *test) bool { return !t.tooFew(p) })
}

// leastUnits returns the least number of units of each build at which a test could prove something.
func (s *scenario) leastUnits(p gate.Policy) int {
	n := 0
	for _, t := range s.tests {
		for k := 1; k <= mostUnits; k++ {
			if leastOf(k*t.contexts, t.paired) <= p.Alpha/max(t.number, float64(len(s.tests))) {
				n = max(n, k)
				break
			}
		}
	}
	return n
}

func (s *scenario) amount() string {
	least := math.MaxInt
	for _, st := range s.strata {
		least = min(least, len(st.baseUnits), len(st.headUnits))
	}
	return fmt.Sprintf("%d %s", least, prose.Plural(least, string(s.unit), string(s.unit)+"s"))
}

func (s *scenario) settle(n int) string {
	switch {
	case s.unit == Iteration:
		return "compare the builds in rounds (apkgate compare), or by runs of several sessions"
	case n == 0:
		return "measure more rounds, or on a calmer device"
	}
	where := ""
	if len(s.strata) > 1 {
		where = " on each device"
	}
	return fmt.Sprintf("about %d %s of each build%s would settle it", n, prose.Plural(n, string(s.unit), string(s.unit)+"s"), where)
}

// describe returns a sentence on a deviation: what, where, how much, how sure.
func (c *comparing) describe(s Scenario, d Comparison) string {
	m, _ := c.catalogue.Lookup(d.Metric)
	shift, in := d.Shown(), d.ShownIn()
	var b strings.Builder
	b.WriteString(m.Title)
	if d.Event != "" {
		fmt.Fprintf(&b, " after %s", d.Event)
	}
	if in != together {
		fmt.Fprintf(&b, " on %s", devctx.Title(s.Contexts[in].Context))
	}
	if shift.Limit != nil {
		fmt.Fprintf(&b, ": %s, beyond the limit of %s", m.Format(shift.Head), m.Format(*shift.Limit))
		return b.String()
	}
	by := func(amount, share float64) string { return gate.FormatShift(m, shift.Base, amount, share) }
	head, base := m.Beside(shift.Estimate(), shift.Base)
	fmt.Fprintf(&b, ": %s where the base has %s (%s)", head, base, by(shift.Shift, shift.Change))
	var sure []string
	if shift.HasInterval() {
		sure = append(sure, fmt.Sprintf("%.0f %% interval %s to %s", 100*c.verdict.Level, by(*shift.ShiftLow, *shift.ChangeLow), by(*shift.ShiftHigh, *shift.ChangeHigh)))
	}
	if shift.P < 1 {
		sure = append(sure, gate.PValue(shift.P))
	}
	if len(sure) > 0 {
		b.WriteString("; " + strings.Join(sure, ", "))
	}
	return b.String()
}

// describePass reports what a pass is worth: how much worse the whole run may still be by the
// intervals.
func (s *scenario) describePass(out Scenario) string {
	var bounds []string
	for _, t := range s.tests {
		if t.alone || t.cell.Event != "" || !t.HasInterval() {
			continue
		}
		bounds = append(bounds, fmt.Sprintf("%s (%s)", t.bound(), t.metric.Title))
	}
	n := len(out.Comparisons)
	reason := fmt.Sprintf("nothing got worse in %d %s", n, prose.Plural(n, "comparison", "comparisons"))
	if len(bounds) == 0 {
		return reason
	}
	return reason + "; by the intervals the whole run is worse by at most " + strings.Join(bounds, ", ")
}

// bound reports by how much the test's number is worse at most, by its interval.
func (t *test) bound() string {
	worst := max(0, *t.ShiftHigh)
	if t.metric.Direction == metric.HigherIsBetter {
		worst = max(0, -*t.ShiftLow)
	}
	switch {
	case t.metric.Signed:
		return t.metric.Format(worst)
	case t.metric.Ratio:
		return fmt.Sprintf("%.1f points", 100*worst)
	}
	return fmt.Sprintf("%.1f %%", 100*max(0, t.worstCase()))
}

// conclude sets the verdict over all scenarios: the gravest of theirs.
func (c *comparing) conclude() {
	v := c.verdict
	for _, s := range v.Scenarios {
		if worse := gate.Graver(v.Verdict, s.Verdict); worse != v.Verdict || v.Reason == "" {
			v.Verdict, v.Reason, v.Hint = worse, s.Reason, s.Hint
			if len(v.Scenarios) > 1 {
				v.Reason = s.Scenario + ": " + s.Reason
			}
		}
	}
	if len(v.Scenarios) == 0 {
		v.Verdict, v.Reason = gate.Inconclusive, "there is nothing to compare"
	}
}
