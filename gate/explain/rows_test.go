package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/gate/gatetest"
)

// judged are n runs of a context that were found to be so.
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

// rulesOf are the rules of these runs, against no history.
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

// Runs of a check that are well speak against a rule as the history does; those of which
// nothing can be said speak neither for it nor against it.
func TestRunsThatAreWellSpeakAgainstARule(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
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
		if got := rulesOf(p, bad, elsewhere, c.beside); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The least support is a share of the checked runs: of 40, a tenth are four.
func TestSupportIsAShareOfTheCheckedRuns(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.MinSupport = 0.1
	well := func(n int) []gate.RunVerdict { return judged(n, gate.Pass, gate.LabelNormal, "sdk", "14") }
	bad := func(n int) []gate.RunVerdict { return judged(n, gate.Regression, gate.LabelWorse, "sdk", "15") }
	if got := rulesOf(p, bad(3), well(37)); got != "" {
		t.Errorf("three of forty: %q, want no rule", got)
	}
	if got := rulesOf(p, bad(4), well(36)); got == "" {
		t.Error("four of forty: no rule")
	}
}

// A combination that singles out one run tells of nothing else: by default it is no rule.
// The paper's preset has it.
func TestARuleOfSeveralPropertiesNeedsTwoRuns(t *testing.T) {
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
