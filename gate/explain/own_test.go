package explain_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Eighty phones have a history each, half of them on Android 16, where this build is slow: that is
// the rule, whatever the history has of Android 16 and however long it is.
func TestOnlyOneAndroidIsWorse(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	var accepted, now []run.Run
	for i := range 80 {
		sdk, api, ms := "15", "35", 8.0
		if i >= 40 {
			sdk, api, ms = "16", "36", 16
		}
		context := map[string]string{"model": fmt.Sprint("phone", i%40), "sdk": sdk, "api": api, "recorded": "perfetto", "compiled": "speed"}
		for n := range 8 {
			accepted = append(accepted, gatetest.Timed(fmt.Sprint("old", i, "-", n), context, 8+float64(n%4)/50))
		}
		now = append(now, gatetest.Timed(fmt.Sprint("new", i), context, ms))
	}
	refs := gatetest.Summaries(p, accepted...)
	var subjects []history.Subject
	for _, r := range now {
		subjects = append(subjects, history.Subject{Run: r, References: refs})
	}
	v := history.Check(p, metric.Default(), subjects)
	if len(v.Rules) != 1 || v.Everywhere != "" {
		t.Fatalf("rules %+v, everywhere %q; want the one of Android 16", v.Rules, v.Everywhere)
	}
	r := v.Rules[0]
	if !maps.Equal(r.If, map[string]string{"sdk": "16"}) || !maps.Equal(r.Same, map[string]string{"api": "36"}) || r.Then != gate.LabelWorse || r.Count != 40 || r.Confidence != 1 || r.Lift != 2 {
		t.Errorf("%+v, want all 40 of 40 on Android 16, whose API says the same", r)
	}
}

// verdictOf returns a verdict with one run for each context: worse (w), perhaps worse (s), perhaps
// worse after a tap (a), better (b), normal (n), partly cleared (c) or unknown (u).
func verdictOf(of string, context func(i int) map[string]string, accepted ...gate.Accepted) *gate.Verdict {
	v := &gate.Verdict{Accepted: accepted}
	for i, kind := range of {
		r := gate.RunVerdict{Context: context(i), Verdict: gate.Pass, Labels: []string{gate.LabelNormal}}
		switch kind {
		case 'w':
			r.Verdict, r.Labels = gate.Regression, []string{gate.LabelWorse}
		case 's':
			r.Verdict, r.Deviations = gate.Inconclusive, []gate.Comparison{{Direction: gate.Suspect}}
		case 'a':
			r.Verdict, r.Deviations = gate.Inconclusive, []gate.Comparison{{Direction: gate.Suspect}, {Event: "tap", Direction: gate.Suspect, AfterEffectOf: "start"}}
		case 'b':
			r.Verdict, r.Labels, r.Deviations = gate.Improvement, []string{gate.LabelBetter}, []gate.Comparison{{Direction: gate.ToImprovement}}
		case 'c':
			r.Verdict, r.Comparisons = gate.Inconclusive, []gate.Comparison{{Screen: gate.Open}, {Screen: gate.Cleared}}
		case 'u':
			r.Verdict, r.Comparisons = gate.Inconclusive, []gate.Comparison{{Screen: gate.Open}}
		}
		v.Runs = append(v.Runs, r)
	}
	return v
}

// Which rules follow from the build's own runs, and which don't.
func TestRulesOfOwnRuns(t *testing.T) {
	half := func(name string) func(i int) map[string]string {
		return func(i int) map[string]string { return map[string]string{name: fmt.Sprint(i / 4), "cpu": "arm"} }
	}
	history := gate.Accepted{Context: map[string]string{"sdk": "0", "cpu": "arm"}, Runs: 100}
	for name, c := range map[string]struct {
		of       string
		context  func(i int) map[string]string
		accepted []gate.Accepted
		want     string
	}{
		"one half":                           {"nnnnwwww", half("sdk"), nil, "[map[sdk:1] Outlier- 4]"},
		"one half, perhaps":                  {"nnnnssss", half("sdk"), nil, "[map[sdk:1] Suspect- 4]"},
		"one half, some perhaps":             {"nnnnwwss", half("sdk"), nil, "[map[sdk:1] Outlier- 2]"},
		"one half, perhaps, with a tap":      {"nnnnaaaa", half("sdk"), nil, "[map[sdk:1] Suspect- 4]"},
		"a half of which some is cleared":    {"ccccwwww", half("sdk"), nil, "[map[sdk:1] Outlier- 4]"},
		"a half of which nothing is known":   {"uuuuwwww", half("sdk"), nil, "[]"},
		"the same beside accepted runs":      {"uuuuwwww", half("sdk"), []gate.Accepted{history}, "[map[sdk:1] Outlier- 4]"},
		"nearly as many of the other half":   {"wwwnwwww", half("sdk"), nil, "[]"},
		"nothing is worse":                   {"nnnnnnnn", half("sdk"), []gate.Accepted{history}, "[]"},
		"by how it was recorded":             {"nnnnwwww", half("recorded"), nil, "[]"},
		"by how it was compiled":             {"nnnnwwww", half("compiled"), nil, "[]"},
		"all are worse, and none was before": {"wwwwwwww", half("sdk"), []gate.Accepted{{Context: map[string]string{"sdk": "9", "cpu": "arm"}, Runs: 100}}, "[map[sdk:0] Outlier- 4 map[sdk:1] Outlier- 4]"},
	} {
		v := verdictOf(c.of, c.context, c.accepted...)
		explain.FindRules(v, gatetest.Policy(t, gate.PresetDefault))
		var got []string
		for _, r := range v.Rules {
			got = append(got, fmt.Sprintf("%v %s %d", r.If, r.Then, r.Count))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// Better is neither worse nor perhaps worse: if some runs are better, the runs are not worse
// everywhere.
func TestBetterIsNotWorseEverywhere(t *testing.T) {
	context := func(i int) map[string]string { return map[string]string{"model": fmt.Sprint(i)} }
	for of, want := range map[string]string{
		"wwww": "All 4 runs are worse, in each of 4 contexts.",
		"wwss": "All 4 runs are worse, in each of 4 contexts; 2 of them perhaps.",
		"wwbb": "",
		"wwnn": "",
		"ssss": "",
	} {
		v := verdictOf(of, context)
		explain.FindRules(v, gatetest.Policy(t, gate.PresetDefault))
		if v.Everywhere != want {
			t.Errorf("%s: %q, want %q", of, v.Everywhere, want)
		}
	}
}

// Runs of the history count once each, whatever was compared with them, and those that are checked
// themselves don't count as accepted ones.
func TestCensusCountsRunsOnce(t *testing.T) {
	ran := func(id, sdk string) run.Summary { return run.Summary{ID: id, Context: map[string]string{"sdk": sdk}} }
	census := explain.NewCensus(nil)
	census.Count([]run.Summary{ran("a", "14"), ran("b", "14"), ran("c", "15")})
	census.Count([]run.Summary{ran("b", "14"), ran("c", "15"), ran("d", "16")})
	got := map[string]int{}
	for _, a := range census.Accepted([]gate.RunVerdict{{ID: "a"}, {ID: "a"}, {ID: "d"}, {ID: "new"}}) {
		got[a.Context["sdk"]] = a.Runs
	}
	if want := map[string]int{"14": 1, "15": 1}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
