package gate

import (
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/rules"
)

// rulesOf mines the contexts in which outliers arise, over the runs that were
// checked with their labels and the history, which is normal (paper, section 5.4).
// Runs of which nothing can be said count neither as outliers nor as normal.
func rulesOf(p Policy, subjects []Subject, verdicts []RunVerdict) []Rule {
	rows := make([]rules.Row, 0, len(subjects))
	checked := map[string]bool{}
	anyOutlier := false
	for i, v := range verdicts {
		checked[subjects[i].Run.ID] = true
		if v.Verdict == Invalid || (v.Verdict == Inconclusive && v.Labels[0] == LabelNormal) {
			continue // nobody knows whether it deviates
		}
		rows = append(rows, rules.Row{Context: devctx.Only(v.Context, p.Use), Labels: v.Labels})
		anyOutlier = anyOutlier || v.Labels[0] != LabelNormal
	}
	if !anyOutlier {
		return []Rule{}
	}
	for _, s := range subjects {
		for _, r := range s.References {
			if checked[r.ID] {
				continue
			}
			checked[r.ID] = true
			rows = append(rows, rules.Row{Context: devctx.Only(r.Context, p.Use), Labels: []string{LabelNormal}})
		}
	}
	options := rules.Options{MinSupport: p.MinSupport, MinConfidence: p.MinConfidence, Ignore: LabelNormal}
	if p.Preset != PresetDune {
		options.MinTogether = 2
	}
	out := []Rule{}
	for _, r := range rules.Mine(rows, options) {
		rule := Rule{If: map[string]string{}, Then: r.Then, Support: r.Support, Confidence: r.Confidence, Lift: r.Lift, Count: r.Count}
		for _, item := range r.If {
			rule.If[item.Property] = item.Value
		}
		out = append(out, rule)
	}
	return out
}
