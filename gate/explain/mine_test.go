package explain_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// upgraded are forty runs of a lab, all of which are slow on a new SDK.
func upgraded() (runs []run.Run) {
	for i := range 40 {
		runs = append(runs, gatetest.Timed(fmt.Sprint("new", i), map[string]string{"sdk": "15", "model": fmt.Sprint("phone", i%8), "manufacturer": "m"}, 20))
	}
	return runs
}

// before is an even history of the same lab on the SDK before.
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

// What forty runs say doesn't fade beside a longer history; the paper's share of
// all runs does, where it is asked for.
func TestRulesDoNotVanishAsTheHistoryGrows(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	want := rulesAgainst(t, p, upgraded(), before(990))
	if !strings.Contains(strings.Join(want, "\n"), "map[sdk:15] => Outlier- in 40") {
		t.Fatalf("against 990 references: %v, want the new SDK", want)
	}
	if got := rulesAgainst(t, p, upgraded(), before(10_000)); !reflect.DeepEqual(got, want) {
		t.Errorf("against 10,000 references: %v, want the same as against 990: %v", got, want)
	}
	p.SupportOfAll = true
	if got := rulesAgainst(t, p, upgraded(), before(10_000)); len(got) != 0 {
		t.Errorf("40 runs are less than 1 %% of all, and gave %v", got)
	}
}

// A verdict lists the rules that speak of most runs, and how many there are.
func TestManyRulesAreCutAndCounted(t *testing.T) {
	runs := upgraded()
	for i := range runs {
		for p := range 60 {
			runs[i].Context[fmt.Sprint("serial", p)] = fmt.Sprint(i)
		}
	}
	var subjects []history.Subject
	for _, r := range runs {
		subjects = append(subjects, history.Subject{Run: r, References: before(100)})
	}
	v := history.Check(gatetest.Policy(t, gate.PresetDefault), metric.Default(), subjects)
	if len(v.Rules) != explain.MaxRules || v.RulesTotal < 40*60 || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, "the 1000 with the most runs are listed") {
		t.Errorf("%d rules of %d, warnings %v; want %d of at least 2400 and a warning", len(v.Rules), v.RulesTotal, v.Warnings, explain.MaxRules)
	}
	if fmt.Sprint(v.Rules[0].If) != "map[sdk:15]" {
		t.Errorf("first %v, want the SDK that all have", v.Rules[0])
	}
}
