package explain_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// upgraded returns forty runs of a lab, all of which are slow on a new SDK.
func upgradedLab() (runs []run.Run) {
	for i := range 40 {
		runs = append(runs, gatetest.Timed(fmt.Sprint("new", i), map[string]string{"sdk": "15", "model": fmt.Sprint("phone", i%8), "manufacturer": "m"}, 20))
	}
	return runs
}

// slowest returns the policy with a budget that they break: the history alone gives no verdict on
// phones that were never measured on that SDK.
func slowest(p gate.Policy) gate.Policy {
	p.Thresholds = []gate.Threshold{{Metric: "frames.duration_ms", Max: new(15.0)}}
	return p
}

// before returns an even history of the same lab on the previous SDK.
func before(n int) (accepted []run.Summary) {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	for i := range n {
		r := gatetest.Timed(fmt.Sprint("old", i), map[string]string{"sdk": "14", "model": fmt.Sprint("phone", i%8), "manufacturer": "m"}, 8+float64(i%8)/10+float64(i%5)/50)
		accepted = append(accepted, run.Summarize(r, p.Centre, metric.Default()))
	}
	return accepted
}

func rulesAgainst(t *testing.T, p gate.Policy, runs []run.Run, accepted []run.Summary) []string {
	t.Helper()
	var subjects []history.Subject
	for _, r := range runs {
		subjects = append(subjects, history.Subject{Run: r, References: accepted})
	}
	var out []string
	for _, r := range history.Check(p, metric.Default(), subjects).Rules {
		out = append(out, fmt.Sprintf("%v => %s in %d", r.If, r.Then, r.Count))
	}
	return out
}

// What forty runs show is not diluted by a longer history; the paper's share of all runs is, where
// it is configured.
func TestRulesWithGrowingHistory(t *testing.T) {
	p := slowest(gatetest.Policy(t, gate.PresetDefault))
	want := rulesAgainst(t, p, upgradedLab(), before(990))
	if !strings.Contains(strings.Join(want, "\n"), "map[sdk:15] => Outlier- in 40") {
		t.Fatalf("against 990 references: %v, want the new SDK", want)
	}
	if got := rulesAgainst(t, p, upgradedLab(), before(10_000)); !reflect.DeepEqual(got, want) {
		t.Errorf("against 10,000 references: %v, want the same as against 990: %v", got, want)
	}
	p.SupportOfAll = true
	if got := rulesAgainst(t, p, upgradedLab(), before(10_000)); len(got) != 0 {
		t.Errorf("40 runs are less than 1 %% of all, and gave %v", got)
	}
}

// scatter gives each run six hundred properties with one of two values, so that no two properties
// divide the runs in the same way.
func scatter(runs []run.Run) {
	random := rand.New(rand.NewPCG(1, 2))
	for p := range 600 {
		for i := range runs {
			runs[i].Context[fmt.Sprint("chance", p)] = fmt.Sprint(random.IntN(2))
		}
	}
}

// A verdict lists the rules that cover most runs, and how many there are.
func TestManyRulesAreCutAndCounted(t *testing.T) {
	runs := upgradedLab()
	scatter(runs)
	var subjects []history.Subject
	for _, r := range runs {
		subjects = append(subjects, history.Subject{Run: r, References: before(100)})
	}
	v := history.Check(slowest(gatetest.Policy(t, gate.PresetDefault)), metric.Default(), subjects)
	if len(v.Rules) != explain.MaxRules || v.RulesTotal != 2*600+1 || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, "the 1000 with the most runs are listed") {
		t.Errorf("%d rules of %d, warnings %v; want %d of 1201 and a warning", len(v.Rules), v.RulesTotal, v.Warnings, explain.MaxRules)
	}
	if fmt.Sprint(v.Rules[0].If) != "map[sdk:15]" {
		t.Errorf("first %v, want the SDK that all have", v.Rules[0])
	}
}

// Rules follow the present labels: rules and warnings found for earlier labels are removed, and
// everything else stays.
func TestRulesFollowTheLabels(t *testing.T) {
	runs := upgradedLab()
	scatter(runs)
	p := slowest(gatetest.Policy(t, gate.PresetDefault))
	var subjects []history.Subject
	for _, r := range runs {
		subjects = append(subjects, history.Subject{Run: r, References: before(100)})
	}
	first := history.Check(p, metric.Default(), subjects)
	first.Warnings = append(first.Warnings, run.Warning{Text: "the disk is slow"})
	again := first
	explain.FindRules(&again, p)
	if !reflect.DeepEqual(again.Rules, first.Rules) || again.RulesTotal != first.RulesTotal || len(again.Warnings) != 2 {
		t.Errorf("of the same labels %d rules of %d, warnings %v; want what was found before", len(again.Rules), again.RulesTotal, again.Warnings)
	}
	again.Runs = slices.Clone(first.Runs)
	for i := range again.Runs {
		again.Runs[i].Verdict, again.Runs[i].Labels = gate.Pass, []string{gate.LabelNormal}
	}
	explain.FindRules(&again, p)
	if len(again.Rules) != 0 || again.RulesTotal != 0 || len(again.Warnings) != 1 || again.Warnings[0].Text != "the disk is slow" {
		t.Errorf("where all pass: %d rules of %d, warnings %v", len(again.Rules), again.RulesTotal, again.Warnings)
	}
	if len(first.Rules) != explain.MaxRules || len(first.Warnings) != 2 {
		t.Errorf("the verdict that it was taken from has %d rules, warnings %v", len(first.Rules), first.Warnings)
	}
}

func TestRulesNameTheContext(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDune)
	var accepted []run.Run
	for i := range 40 {
		context := map[string]string{"sdk": []string{"4.3", "4.4"}[i%2], "model": fmt.Sprint("m", i%7)}
		accepted = append(accepted, gatetest.In(gatetest.Run(fmt.Sprint(i), gatetest.Frames(450+float64(i%5), 0.95, 8)), context))
	}
	refs := gatetest.Summaries(p, accepted...)
	var subjects []history.Subject
	for i := range 5 {
		r := gatetest.In(gatetest.Run(fmt.Sprint("new", i), gatetest.Frames(100, 0.3, 90)), map[string]string{"sdk": "5.0", "model": fmt.Sprint("m", i)})
		subjects = append(subjects, history.Subject{Run: r, References: refs})
	}
	v := history.Check(p, metric.Default(), subjects)
	if len(v.Rules) != 1 {
		t.Fatalf("rules %+v, want the one of sdk 5.0", v.Rules)
	}
	if r := v.Rules[0]; r.If["sdk"] != "5.0" || len(r.If) != 1 || r.Then != "Outlier-" || r.Count != 5 || r.Confidence != 1 {
		t.Errorf("%+v, want {sdk 5.0} => Outlier- in 5 runs", r)
	}
}

// Four phones are worse, and the fifth may be: its doubt is no counter-example. That all are worse
// is reported once, in place of rules.
func TestWorseEverywhereIsReportedOnce(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	var subjects []history.Subject
	for i, n := range []int{10, 10, 10, 10, 2} {
		context := map[string]string{"model": fmt.Sprint("m", i), "sdk": "5.0"}
		subjects = append(subjects, history.Subject{Run: gatetest.Timed(fmt.Sprint("new", i), context, 16), References: gatetest.Summaries(p, gatetest.Steady(n, context, 8)...)})
	}
	v := history.Check(p, metric.Default(), subjects)
	if v.Runs[0].Verdict != gate.Regression || v.Runs[4].Verdict != gate.Inconclusive {
		t.Fatalf("the phones are %s … %s, want regression … inconclusive", v.Runs[0].Verdict, v.Runs[4].Verdict)
	}
	if want := "All 5 runs are worse, in each of 5 contexts; 1 of them perhaps."; v.Everywhere != want || len(v.Rules) != 0 {
		t.Errorf("%q, rules %+v; want %q and no rules", v.Everywhere, v.Rules, want)
	}
	v = history.Check(p, metric.Default(), subjects[:1])
	if v.Everywhere != "" {
		t.Errorf("of one phone: %q", v.Everywhere)
	}
}
