// Package explain finds the contexts in which the outliers of a verdict arise, as rules such as "of
// the runs on SDK 15, nine of ten are slow" (paper, section 5.4).
//
// Package rules defines rules and mines them; explain decides which runs count as what. A run that
// can't be judged counts neither as an outlier nor as normal. It names contexts, not causes.
package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/rules"
	"github.com/apkgate/apkgate/run"
)

// MaxRules limits the rules that a verdict lists.
const MaxRules = 1_000

// FindRules sets the verdict's rules: the contexts in which outliers arise, over the checked runs
// with their labels and the accepted runs that they were compared with, which are normal (paper,
// section 5.4). The default preset also mines the build's own runs by themselves, so that a long
// history does not outweigh them, and reports once that all contexts are worse. Runs that can't be
// judged count neither as outliers nor as normal. Rules found earlier are discarded.
func FindRules(v *gate.Verdict, p gate.Policy) {
	v.Rules, v.RulesTotal = []gate.Rule{}, 0
	v.Warnings = slices.DeleteFunc(slices.Clone(v.Warnings), ofRules)
	var found []gate.Rule
	var cut []rules.Cut
	if v.Everywhere = ""; p.Preset == gate.PresetDune {
		found, cut = ofPaper(v, p)
	} else {
		found, cut, v.Everywhere = ofBuild(v, p)
	}
	for _, c := range cut {
		v.Warnings = append(v.Warnings, run.Warning{Text: fmt.Sprintf(
			"rules of %d properties and more were not looked for: the runs that are %s have too many combinations%s", c.Items, c.Then, tooMany)})
	}
	if len(found) > MaxRules {
		v.RulesTotal = len(found)
		v.Warnings = append(v.Warnings, run.Warning{Text: fmt.Sprintf("of %d rules, the %d%s", len(found), MaxRules, listed)})
		found = mostTelling(found)
	}
	v.Rules = append(v.Rules, found...)
}

// ofPaper finds rules as the paper does: over the checked runs and the accepted ones alike.
func ofPaper(v *gate.Verdict, p gate.Policy) (out []gate.Rule, cut []rules.Cut) {
	rows, outliers := checkedRows(p, v.Runs)
	if !outliers {
		return nil, nil
	}
	options := rules.Options{MinConfidence: p.MinConfidence, Ignore: gate.LabelNormal}
	switch {
	case p.SupportOfAll:
		options.MinSupport = p.MinSupport
	default: // forty runs that are bad alike mean the same however long the history is
		options.MinCount = max(1, int(math.Ceil(p.MinSupport*float64(len(rows))-1e-9)))
	}
	for _, past := range v.Accepted {
		rows = append(rows, rules.Row{Context: past.Context, Labels: []string{gate.LabelNormal}, Times: past.Runs})
	}
	found, cut := rules.Mine(rows, options)
	for _, r := range found {
		rule := gate.Rule{If: map[string]string{}, Then: r.Then, Support: r.Support, Confidence: r.Confidence, Lift: r.Lift, Count: r.Count}
		for _, item := range r.If {
			rule.If[item.Property] = item.Value
		}
		out = append(out, rule)
	}
	return out, cut
}

// How warnings about rules end, by which they are recognized.
const (
	tooMany = " (context.rules chooses the properties that rules are made of)"
	listed  = " with the most runs are listed"
)

func ofRules(w run.Warning) bool {
	return strings.HasSuffix(w.Text, tooMany) || strings.HasSuffix(w.Text, listed)
}

// checkedRows returns the checked runs that could be judged, and whether any of them deviates.
func checkedRows(p gate.Policy, verdicts []gate.RunVerdict) (rows []rules.Row, outliers bool) {
	for _, v := range verdicts {
		if v.Verdict == gate.Invalid || (v.Verdict == gate.Inconclusive && v.Labels[0] == gate.LabelNormal) {
			continue // unknown whether it deviates
		}
		rows = append(rows, rules.Row{Context: devctx.Only(v.Context, p.RuleProperties()), Labels: v.Labels})
		outliers = outliers || v.Labels[0] != gate.LabelNormal
	}
	return rows, outliers
}

// mostTelling returns the MaxRules rules with the most runs and the fewest properties, in their
// order.
func mostTelling(found []gate.Rule) []gate.Rule {
	places := make([]int, len(found))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Or(cmp.Compare(found[b].Count, found[a].Count), cmp.Compare(len(found[a].If), len(found[b].If)))
	})
	places = places[:MaxRules]
	slices.Sort(places)
	out := make([]gate.Rule, MaxRules)
	for i, place := range places {
		out[i] = found[place]
	}
	return out
}
