package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/rules"
)

// settings are properties that describe how we measured. They explain no outlier, unless a list of
// properties names them.
var settings = []string{"compiled", "recorded"}

// first are the properties that name a rule in preference to others of the same runs.
var preferred = []string{"sdk", "model"}

// half is the largest ratio of the other runs' rate of the label to that of a rule's runs: where
// others are as bad, the rule explains nothing.
const mostElsewhere = 0.5

// checked is a checked run that could be judged.
type checked struct {
	context           map[string]string
	labels, suspected []string // suspected are the labels and the doubts, as doubts
}

// ofBuild returns the rules of the default preset: from the build's own runs, of which some are
// outliers and others normal, and from its runs among the accepted ones, which finds what is new
// about all of them. everywhere says that all are worse, where they are.
func ofBuild(v *gate.Verdict, p gate.Policy) (found []gate.Rule, cut []rules.Cut, everywhere string) {
	all := checkedRuns(p, v.Runs)
	accepted := make([]rules.Row, len(v.Accepted))
	for i, past := range v.Accepted {
		accepted[i] = rules.Row{Context: explaining(p, past.Context), Labels: []string{gate.LabelNormal}, Times: past.Runs}
	}
	var sure, doubted []rules.Row
	suspects := false
	for _, c := range all {
		doubted = append(doubted, rules.Row{Context: c.context, Labels: c.suspected})
		if c.labels[0] == gate.LabelNormal && c.suspected[0] != gate.LabelNormal {
			suspects = true // neither for a rule of outliers nor against it
			continue
		}
		sure = append(sure, rules.Row{Context: c.context, Labels: c.labels})
	}
	options := rules.Options{MinConfidence: p.MinConfidence, Ignore: gate.LabelNormal, MinTogether: 2, MinCount: least(p, len(all), v.Accepted)}
	take := func(rows, beside []rules.Row) {
		more, left := mine(slices.Concat(rows, beside), options)
		for _, r := range more {
			if !slices.ContainsFunc(found, func(f gate.Rule) bool {
				return maps.Equal(f.If, r.If) && (f.Then == r.Then || strings.TrimSuffix(f.Then, gate.LabelWorse) == strings.TrimSuffix(r.Then, gate.LabelSuspect))
			}) {
				found = append(found, r)
			}
		}
		for _, c := range left {
			if !slices.Contains(cut, c) {
				cut = append(cut, c)
			}
		}
	}
	take(sure, nil)
	take(sure, accepted)
	if suspects {
		take(doubted, nil)
		take(doubted, accepted)
	}
	return found, cut, worseEverywhere(all)
}

// least returns the least number of runs of a rule: a share of the checked runs, or of all runs if
// the policy says so.
func least(p gate.Policy, checked int, accepted []gate.Accepted) int {
	if p.SupportOfAll {
		for _, a := range accepted {
			checked += a.Runs
		}
	}
	return max(1, int(math.Ceil(p.MinSupport*float64(checked)-1e-9)))
}

// checkedRuns returns the runs that could be judged: they deviate, may deviate, or don't.
func checkedRuns(p gate.Policy, verdicts []gate.RunVerdict) (out []checked) {
	for _, v := range verdicts {
		c := checked{context: explaining(p, v.Context), labels: v.Labels}
		for _, l := range v.Labels {
			if event, worse := strings.CutSuffix(l, gate.LabelWorse); worse {
				c.suspected = append(c.suspected, event+gate.LabelSuspect)
			}
		}
		for _, d := range v.Deviations {
			if l := d.Event + gate.LabelSuspect; d.Direction == gate.Suspect && d.AfterEffectOf == "" && !slices.Contains(c.suspected, l) {
				c.suspected = append(c.suspected, l)
			}
		}
		judged := v.Verdict != gate.Inconclusive || slices.ContainsFunc(v.Comparisons, func(c gate.Comparison) bool { return c.Screen == gate.Cleared })
		if v.Verdict == gate.Invalid || (!judged && c.suspected == nil && c.labels[0] == gate.LabelNormal) {
			continue
		}
		if c.suspected == nil {
			c.suspected = []string{gate.LabelNormal}
		}
		out = append(out, c)
	}
	return out
}

// explaining returns the properties of a context that rules may use.
func explaining(p gate.Policy, context map[string]string) map[string]string {
	use := p.RuleProperties()
	out := maps.Clone(devctx.Only(context, use))
	if use == nil {
		for _, name := range settings {
			delete(out, name)
		}
	}
	return out
}

// mine returns the informative rules over the rows: properties of the same rows count as one, and
// other rows have the label less often.
func mine(rows []rules.Row, options rules.Options) (out []gate.Rule, cut []rules.Cut) {
	rows, same := once(rows)
	found, cut := rules.Mine(rows, options)
	for _, r := range found {
		all, having := float64(r.Count)/r.Support, float64(r.Count)/r.Confidence
		others := r.Confidence/r.Lift*all - float64(r.Count)
		if all-having < 0.5 || others/(all-having) > mostElsewhere*r.Confidence {
			continue
		}
		rule := gate.Rule{If: map[string]string{}, Then: r.Then, Support: r.Support, Confidence: r.Confidence, Lift: r.Lift, Count: r.Count}
		for _, item := range r.If {
			rule.If[item.Property] = item.Value
			for _, other := range same[item] {
				if rule.Same == nil {
					rule.Same = map[string]string{}
				}
				rule.Same[other.Property] = other.Value
			}
		}
		out = append(out, rule)
	}
	return out, cut
}

// once keeps one of the items that have exactly the same rows; same are the others.
func once(rows []rules.Row) (out []rules.Row, same map[rules.Item][]rules.Item) {
	places := map[rules.Item][]byte{} // rows of the item
	for i, row := range rows {
		for p, v := range row.Context {
			item := rules.Item{Property: p, Value: v}
			places[item] = fmt.Appendf(places[item], "%d ", i)
		}
	}
	byPlaces := map[string][]rules.Item{}
	for item, at := range places {
		byPlaces[string(at)] = append(byPlaces[string(at)], item)
	}
	same, away := map[rules.Item][]rules.Item{}, map[rules.Item]bool{}
	for _, items := range byPlaces {
		slices.SortFunc(items, inOrder)
		same[items[0]] = items[1:]
		for _, item := range items[1:] {
			away[item] = true
		}
	}
	for _, row := range rows {
		context := maps.Clone(row.Context)
		maps.DeleteFunc(context, func(p, v string) bool { return away[rules.Item{Property: p, Value: v}] })
		out = append(out, rules.Row{Context: context, Labels: row.Labels, Times: row.Times})
	}
	return out, same
}

// inOrder sorts the properties that name a rule first.
func inOrder(a, b rules.Item) int {
	rank := func(i rules.Item) int {
		if at := slices.Index(preferred, i.Property); at >= 0 {
			return at
		}
		return len(preferred)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Property, b.Property))
}

// worseEverywhere reports in a sentence that all runs are worse, where there are several contexts
// and no run is normal.
func worseEverywhere(all []checked) string {
	distinct, perhaps := map[string]bool{}, 0
	for _, c := range all {
		distinct[devctx.Key(c.context)] = true
		switch {
		case slices.ContainsFunc(c.labels, func(l string) bool { return strings.HasSuffix(l, gate.LabelWorse) }):
		case c.suspected[0] != gate.LabelNormal:
			perhaps++
		default:
			return ""
		}
	}
	text := fmt.Sprintf("All %d runs are worse, in each of %s", len(all), prose.Count(len(distinct), "context", "contexts"))
	switch {
	case len(distinct) < 2 || perhaps == len(all):
		return ""
	case perhaps > 0:
		text += fmt.Sprintf("; %d of them perhaps", perhaps)
	}
	return text + "."
}
