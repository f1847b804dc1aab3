package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
)

// Deviations returns the flagged comparisons, gravest first.
func Deviations(all []Comparison) []Comparison {
	out := []Comparison{}
	for _, c := range all {
		if c.Direction != None {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, graver)
	return out
}

// standard is the catalogue that says how the changes of a metric are weighted.
var standard = metric.Default()

// Size returns how large a change is, on one scale for all metrics: as a share of a mean that
// matters as much (see Worsening). A tail that is 30 % longer counts less than a mean that is 20 %
// longer.
func Size(name string, from, shift, share float64) float64 {
	m, _ := standard.Lookup(name)
	if m.Odds || m.Span > 0 {
		return math.Abs(Worsening(m, from, shift, share))
	}
	return math.Abs(share)
}

// graver compares deviations: regressions first, causes before after-effects, the surer doubt
// before the less sure one, and the larger change before the smaller.
func graver(a, b Comparison) int {
	after := func(c Comparison) int { return min(len(c.AfterEffectOf), 1) }
	doubt := func(c Comparison) float64 {
		if c.Direction != Suspect {
			return 0
		}
		if c.Rounds != nil {
			return c.Rounds.P
		}
		return c.P
	}
	size := func(c Comparison) float64 {
		if c.Rounds != nil {
			return Size(c.Metric, c.Rounds.Base, c.Rounds.Shift, c.Rounds.Change)
		}
		return Size(c.Metric, c.Expected, c.Value-c.Expected, c.Change)
	}
	return cmp.Or(
		cmp.Compare(b.Direction.Gravity(), a.Direction.Gravity()),
		cmp.Compare(after(a), after(b)),
		cmp.Compare(doubt(a), doubt(b)),
		cmp.Compare(size(b), size(a)),
	)
}

// Labels returns the class labels of a run: those of the whole run first, then those of the events
// in their order. After-effects have none.
func Labels(all []Comparison) []string {
	var out []string
	for _, c := range all {
		label := c.Event + LabelWorse
		switch {
		case c.Direction == ToImprovement:
			label = c.Event + LabelBetter
		case c.Direction != ToRegression || c.AfterEffectOf != "":
			continue
		}
		if !slices.Contains(out, label) {
			out = append(out, label)
		}
	}
	if out == nil {
		return []string{LabelNormal}
	}
	return out
}

// Describe returns a sentence on a deviation: what changed, by how much, and how sure that is.
// level is the confidence of its interval.
func Describe(c Comparison, m metric.Metric, level float64) string {
	var b strings.Builder
	b.WriteString(m.Title)
	if c.Event != "" {
		fmt.Fprintf(&b, " after %s", c.Event)
	}
	if c.Rounds != nil && c.Limit == nil {
		return b.String() + c.Rounds.describe(m)
	}
	if c.Limit != nil {
		fmt.Fprintf(&b, ": %s, beyond the limit of %s", m.Format(c.Value), m.Format(*c.Limit))
		return b.String()
	}
	var sure []string
	if c.N > 0 {
		value, expected := m.Beside(c.Value, c.Expected)
		fmt.Fprintf(&b, ": %s where %s was expected", value, expected)
		if m.Signed || c.Change != 0 {
			sure = append(sure, FormatShift(m, c.Expected, c.Value-c.Expected, c.Change))
		}
	} else {
		fmt.Fprintf(&b, ": %s", m.Format(c.Value))
	}
	if c.Low != nil && c.High != nil {
		sure = append(sure, fmt.Sprintf("%.0f %% interval %s to %s", 100*level,
			FormatShift(m, c.Expected, *c.Low*c.Expected, *c.Low), FormatShift(m, c.Expected, *c.High*c.Expected, *c.High)))
	}
	if c.P < 1 {
		sure = append(sure, PValue(c.P))
	}
	if len(sure) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(sure, ", "))
	}
	return b.String()
}

// describe returns how far the head build lies above the base build.
func (r RoundsComparison) describe(m metric.Metric) string {
	sure := []string{FormatShift(m, r.Base, r.Shift, r.Change)}
	if r.ShiftLow != nil && r.ShiftHigh != nil && r.ChangeLow != nil && r.ChangeHigh != nil {
		sure = append(sure, fmt.Sprintf("between %s and %s", FormatShift(m, r.Base, *r.ShiftLow, *r.ChangeLow), FormatShift(m, r.Base, *r.ShiftHigh, *r.ChangeHigh)))
	}
	if r.P < 1 {
		sure = append(sure, PValue(r.P))
	}
	head, base := m.Beside(r.Estimate(), r.Base)
	return fmt.Sprintf(": %s where the base build has %s in %s (%s)", head, base, prose.Count(r.Rounds, "round", "rounds"), strings.Join(sure, ", "))
}
