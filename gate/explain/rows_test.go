package explain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

// judged returns n runs of a context with this verdict.
func judged(n int, verdict gate.Outcome, label string, context ...string) (out []gate.RunVerdict) {
	for i := range n {
		v := gate.RunVerdict{ID: fmt.Sprint(verdict, context, i), Verdict: verdict, Labels: []string{label}, Context: map[string]string{}}
		for k := 0; k < len(context); k += 2 {
			v.Context[context[k]] = context[k+1]
		}
		out = append(out, v)
	}
	return out
}

// rulesOf returns the rules of these runs, without a history.
func rulesOf(p gate.Policy, runs ...[]gate.RunVerdict) string {
	v := gate.Verdict{Runs: slices.Concat(runs...)}
	explain.FindRules(&v, p)
	var out []string
	for _, r := range v.Rules {
		out = append(out, fmt.Sprintf("%v => %s", r.If, r.Then))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// Normal runs of a check count against a rule as the history does; those that can't be judged count
// neither for it nor against it.
func TestNormalRunsCountAgainstARule(t *testing.T) {
	bad, elsewhere := judged(4, gate.Regression, gate.LabelWorse, "sdk", "15"), judged(4, gate.Pass, gate.LabelNormal, "sdk", "14")
	const rule = "map[sdk:15] => Outlier-"
	for name, c := range map[string]struct {
		beside []gate.RunVerdict
		want   string
	}{
		"nothing else":                     {nil, rule},
		"as many that are well":            {judged(4, gate.Pass, gate.LabelNormal, "sdk", "15"), ""},
		"as many that are better":          {judged(4, gate.Improvement, gate.LabelBetter, "sdk", "15"), ""},
		"as many doubts":                   {judged(4, gate.Inconclusive, gate.LabelNormal, "sdk", "15"), rule},
		"as many that broke":               {judged(4, gate.Invalid, gate.LabelNormal, "sdk", "15"), rule},
		"as many doubts with improvements": {judged(4, gate.Inconclusive, gate.LabelBetter, "sdk", "15"), ""},
	} {
		for _, preset := range []string{gate.PresetDefault, gate.PresetDune} {
			if got := rulesOf(gatetest.Policy(t, preset), bad, elsewhere, c.beside); got != c.want {
				t.Errorf("%s, %s: %q, want %q", preset, name, got, c.want)
			}
		}
	}
}

// The least support is a share of the checked runs: a tenth of 40 is four. Four are also enough
// with sixty accepted ones, unless the policy asks for a share of all.
func TestSupportIsAShareOfCheckedRuns(t *testing.T) {
	well := func(n int) []gate.RunVerdict { return judged(n, gate.Pass, gate.LabelNormal, "sdk", "14") }
	bad := func(n int) []gate.RunVerdict { return judged(n, gate.Regression, gate.LabelWorse, "sdk", "15") }
	sixty := gate.Accepted{Context: map[string]string{"sdk": "14"}, Runs: 60}
	for _, preset := range []string{gate.PresetDefault, gate.PresetDune} {
		for name, c := range map[string]struct {
			bad   int
			ofAll bool
			want  int // rules
		}{
			"three of forty": {3, false, 0}, "four of forty": {4, false, 1}, "four of a hundred": {4, true, 0}, "ten of a hundred": {10, true, 1},
		} {
			p := gatetest.Policy(t, preset)
			p.MinSupport, p.SupportOfAll = 0.1, c.ofAll
			v := gate.Verdict{Runs: slices.Concat(bad(c.bad), well(40-c.bad)), Accepted: []gate.Accepted{sixty}}
			explain.FindRules(&v, p)
			if len(v.Rules) != c.want {
				t.Errorf("%s, %s: rules %v, want %d", preset, name, v.Rules, c.want)
			}
		}
	}
}

// Warnings of an earlier search are removed with its rules, and no other warning is.
func TestRuleWarningsAreRemovedWithRules(t *testing.T) {
	v := gate.Verdict{Runs: judged(4, gate.Pass, gate.LabelNormal, "sdk", "15"), Warnings: []run.Warning{
		{Text: "of 1201 rules, the 1000 with the most runs are listed"},
		{Text: "the disk is slow"},
		{Text: "rules of 2 properties and more were not looked for: the runs that are Outlier- have too many combinations (context.rules chooses the properties that rules are made of)"},
	}}
	explain.FindRules(&v, gatetest.Policy(t, gate.PresetDefault))
	if len(v.Warnings) != 1 || v.Warnings[0].Text != "the disk is slow" {
		t.Errorf("warnings %v, want the one of the disk alone", v.Warnings)
	}
}

// Runs with 2,600 properties of two values each have 5,200 items to combine, and the limit is
// 5,000: that is reported once, however often rules were searched.
func TestSkippedSearchIsReportedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	v := gate.Verdict{Runs: slices.Concat(judged(10, gate.Regression, gate.LabelWorse), judged(10, gate.Pass, gate.LabelNormal))}
	for p := range 2600 {
		for i := range v.Runs {
			v.Runs[i].Context[fmt.Sprint("chance", p)] = fmt.Sprint(random.IntN(2))
		}
	}
	explain.FindRules(&v, gatetest.Policy(t, gate.PresetDefault))
	const want = "rules of 2 properties and more were not looked for: the runs that are Outlier- have too many combinations"
	if len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0].Text, want) {
		t.Errorf("warnings %v, want one: %s", v.Warnings, want)
	}
}

// A combination that singles out one run explains nothing else: by default it is no rule. The
// paper's preset has it.
func TestRuleOfSeveralPropertiesNeedsTwoRuns(t *testing.T) {
	well := slices.Concat(judged(5, gate.Pass, gate.LabelNormal, "sdk", "15", "model", "a"), judged(5, gate.Pass, gate.LabelNormal, "sdk", "14", "model", "b"))
	both := "map[model:b sdk:15] => Outlier-"
	for n, want := range map[int]map[string]string{
		1: {gate.PresetDefault: "", gate.PresetDune: both},
		2: {gate.PresetDefault: both, gate.PresetDune: both},
	} {
		for preset, want := range want {
			if got := rulesOf(gatetest.Policy(t, preset), well, judged(n, gate.Regression, gate.LabelWorse, "sdk", "15", "model", "b")); got != want {
				t.Errorf("%s, of %d: %q, want %q", preset, n, got, want)
			}
		}
	}
}
