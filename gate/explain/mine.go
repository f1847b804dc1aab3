// Package explain finds the contexts in which the outliers of a verdict arise, as
// rules such as "of the runs on SDK 15, nine of ten are slow" (paper, section 5.4).
//
// What a rule is and how rules are mined is package rules'; here is which runs count
// as what: a run of which nothing can be said counts neither as an outlier nor as
// normal. It names contexts, and no causes.
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

// MaxRules bounds the rules that a verdict lists.
const MaxRules = 1_000

// FindRules sets the verdict's rules: the contexts in which outliers arise, over the runs
// that were checked with their labels and the accepted ones that they were compared with,
// which are normal (paper, section 5.4). By the default, the build's own runs are mined by
// themselves too, so that a long history does not outweigh them, and what is worse everywhere
// is said once. Runs of which nothing can be said count neither as outliers nor as normal. What was found before, of other labels, is forgotten.
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

// ofPaper are the rules as the paper has them: over the runs that were checked and the
// accepted ones alike.
func ofPaper(v *gate.Verdict, p gate.Policy) (out []gate.Rule, cut []rules.Cut) {
	rows, outliers := checkedRows(p, v.Runs)
	if !outliers {
		return nil, nil
	}
	options := rules.Options{MinConfidence: p.MinConfidence, Ignore: gate.LabelNormal}
	switch {
	case p.SupportOfAll:
		options.MinSupport = p.MinSupport
	default: // forty runs that are bad alike mean the same beside a long history
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

// How the warnings of rules end, by which they are known again.
const (
	tooMany = " (context.rules chooses the properties that rules are made of)"
	listed  = " with the most runs are listed"
)

func ofRules(w run.Warning) bool {
	return strings.HasSuffix(w.Text, tooMany) || strings.HasSuffix(w.Text, listed)
}

// checkedRows are the runs that were checked and of which something is known, and
// whether any of them deviates.
func checkedRows(p gate.Policy, verdicts []gate.RunVerdict) (rows []rules.Row, outliers bool) {
	for _, v := range verdicts {
		if v.Verdict == gate.Invalid || (v.Verdict == gate.Inconclusive && v.Labels[0] == gate.LabelNormal) {
			continue // nobody knows whether it deviates
		}
		rows = append(rows, rules.Row{Context: devctx.Only(v.Context, p.RuleProperties()), Labels: v.Labels})
		outliers = outliers || v.Labels[0] != gate.LabelNormal
	}
	return rows, outliers
}

// mostTelling are the MaxRules rules with the most runs and the fewest properties,
// in their order.
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
