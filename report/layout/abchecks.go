package layout

import (
	"cmp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// abCounts reports how much a comparison of two builds measured: "12 rounds on Pixel 7".
func abCounts(v sidebyside.Verdict) string {
	var parts []string
	for _, s := range v.Scenarios {
		parts = append(parts, abMeasured(s, len(v.Scenarios) > 1))
	}
	return prose.Few(parts, 3)
}

// abChecks returns what each scenario came to on each device, the gravest first. A change that only
// all devices show together is theirs.
func abChecks(in ComparisonInput) []document.Check {
	var out []document.Check
	several := len(in.Verdict.Scenarios) > 1
	for _, s := range in.Verdict.Scenarios {
		var own []document.Check
		for i := range s.Contexts {
			own = append(own, in.checkOf(s, i))
		}
		if d := s.Deviations(); len(d) > 0 && !slices.ContainsFunc(own, func(c document.Check) bool { return c.Outcome == document.Outcome(s.Verdict) }) {
			all := in.checked(s, "all "+prose.Count(len(s.Contexts), "device", "devices")+" together", &d[0], d[0].Direction, d[0].Shown())
			own = append([]document.Check{all}, own...)
		}
		if len(s.Contexts) == 0 {
			own = []document.Check{{Outcome: document.Outcome(s.Verdict), Title: "nothing in common", Text: wording.Sentence(s.Reason)}}
		}
		for _, c := range own {
			if several {
				c.Title = wording.Brief(s.Scenario) + " on " + c.Title
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b document.Check) int { return b.Outcome.Gravity() - a.Outcome.Gravity() })
	return out
}

// checkOf returns what a scenario came to in one of its contexts.
func (in ComparisonInput) checkOf(s sidebyside.Scenario, context int) document.Check {
	var worst *sidebyside.Comparison
	direction, shift := gate.None, sidebyside.Difference{}
	size := 0.0
	for i, d := range s.Comparisons {
		here, by := d.Direction, d.Difference
		if len(d.Contexts) > 0 {
			at := slices.IndexFunc(d.Contexts, func(x sidebyside.ContextDifference) bool { return x.Context == context })
			if at < 0 {
				continue
			}
			here, by = d.Contexts[at].Direction, d.Contexts[at].Difference
		}
		if here == gate.None {
			continue
		}
		if n := gate.Size(d.Metric, by.Base, by.Shift, by.Change); worst == nil || here.Gravity() > direction.Gravity() || here == direction && n > size {
			worst, direction, shift, size = &s.Comparisons[i], here, by, n
		}
	}
	return in.checked(s, deviceOf(s.Contexts[context].Context), worst, direction, shift)
}

// checked returns a check whose worst comparison is given, nil for none.
func (in ComparisonInput) checked(s sidebyside.Scenario, title string, worst *sidebyside.Comparison, direction gate.Direction, shift sidebyside.Difference) document.Check {
	c := document.Check{Outcome: document.Pass, Title: title}
	if worst == nil {
		if s.Verdict == gate.Inconclusive || s.Verdict == gate.Invalid {
			c.Outcome = document.Outcome(s.Verdict)
		}
		return c
	}
	c.Outcome = map[gate.Direction]document.Outcome{
		gate.ToRegression: document.Regression, gate.ToImprovement: document.Improvement, gate.Suspect: document.Inconclusive,
	}[direction]
	m, _ := in.Catalogue.Lookup(worst.Metric)
	amount, share := shift.Shift, shift.Change
	if shift.Limit != nil {
		amount, share = overLimit(m, shift)
	}
	c.Text = strings.TrimSpace(prose.Clip(wording.Event(worst.Event), 80) + ": " + wording.Brief(m.Title) + " " + wording.Shift(m, amount, share))
	return c
}

// deviceOf names a device by its context: "Google Pixel 7 (Android 14)".
func deviceOf(context map[string]string) string {
	return cmp.Or(device(gate.RunVerdict{Context: context}), prose.Clip(wording.Context(context), 60), "the device")
}
