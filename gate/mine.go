package gate

import (
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/rules"
)

// rulesOf mines the contexts in which outliers arise, over the runs that were
// checked with their labels and the history, which is normal (paper, section 5.4).
// Runs of which nothing can be said count neither as outliers nor as normal.
func rulesOf(p Policy, verdicts []RunVerdict, history census) []Rule {
	rows := make([]rules.Row, 0, len(verdicts)+len(history.distinct))
	normal := make([]int, len(history.distinct))
	for _, n := range history.context {
		normal[n]++
	}
	anyOutlier := false
	checked := map[string]bool{}
	for _, v := range verdicts {
		if n, known := history.context[v.ID]; known && !checked[v.ID] {
			normal[n]-- // it counts by what it is found to be
		}
		checked[v.ID] = true
		if v.Verdict == Invalid || (v.Verdict == Inconclusive && v.Labels[0] == LabelNormal) {
			continue // nobody knows whether it deviates
		}
		rows = append(rows, rules.Row{Context: devctx.Only(v.Context, p.Use), Labels: v.Labels})
		anyOutlier = anyOutlier || v.Labels[0] != LabelNormal
	}
	if !anyOutlier {
		return []Rule{}
	}
	for i, context := range history.distinct {
		if normal[i] == 0 {
			continue
		}
		rows = append(rows, rules.Row{Context: context, Labels: []string{LabelNormal}, Times: normal[i]})
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
