package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// steady is a history of n runs whose frame times waver by a few per cent.
func steady(n int, context map[string]string, ms float64, events ...string) []run.Run {
	var out []run.Run
	for i := range n {
		waver := 1 + 0.02*float64(i%3-1)
		var buckets []run.Bucket
		for _, e := range events {
			buckets = append(buckets, run.Bucket{Name: e, Metrics: map[string]float64{"frames.duration_ms": ms * waver}})
		}
		r := oneRun(fmt.Sprint("h", context["model"], i), map[string]float64{"frames.duration_ms": ms * waver}, buckets...)
		out = append(out, withContext(r, context))
	}
	return out
}

func timed(id string, context map[string]string, ms float64) run.Run {
	return withContext(oneRun(id, map[string]float64{"frames.duration_ms": ms}), context)
}

func TestOutcomes(t *testing.T) {
	phone := map[string]string{"model": "a"}
	other := map[string]string{"model": "b"}
	partial := timed("new", phone, 8)
	partial.Status = run.Partial
	for name, c := range map[string]struct {
		now     run.Run
		history []run.Run
		want    Outcome
		reason  string
	}{
		"same":                           {timed("new", phone, 8.1), steady(10, phone, 8), Pass, "a worsening would have been seen"},
		"slower":                         {timed("new", phone, 12), steady(10, phone, 8), Regression, "+50 %"},
		"faster":                         {timed("new", phone, 5), steady(10, phone, 8), Improvement, "time per frame"},
		"no history":                     {timed("new", phone, 8), nil, Inconclusive, "no accepted run"},
		"too little history":             {timed("new", phone, 8), steady(3, phone, 8), Inconclusive, "3 accepted runs of this scenario, and 5 are needed"},
		"slower, too little history":     {timed("new", phone, 12), steady(2, phone, 8), Inconclusive, "perhaps worse"},
		"not whole":                      {partial, steady(10, phone, 8), Invalid, `"partial"`},
		"the device mix":                 {timed("new", other, 13.8), slices.Concat(steady(10, phone, 8), steady(10, other, 13.6)), Pass, ""},
		"slower than its own kind":       {timed("new", phone, 13), slices.Concat(steady(10, phone, 8), steady(10, other, 13.6)), Regression, "+6"},
		"few of its own, many of others": {timed("new", phone, 13), slices.Concat(steady(2, phone, 8), steady(10, other, 13.6)), Regression, "+6"},
		"a phone never seen":             {timed("new", other, 9.2), steady(10, phone, 8), Pass, ""},
		"nothing in common":              {oneRun("new", map[string]float64{"startup.ttid_ms": 900}), steady(10, nil, 8), Inconclusive, "nothing is in the 10 accepted runs"},
		"too small to matter":            {timed("new", phone, 8.3), steady(30, phone, 8), Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := checkOne(policy(t, PresetDefault), c.now, c.history...)
			if v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: %q\nwant %s and %q in the reason", v.Verdict, v.Reason, c.want, c.reason)
			}
		})
	}
}

func TestTheGravestOfSeveralRuns(t *testing.T) {
	phone := map[string]string{"model": "a"}
	p := policy(t, PresetDefault)
	refs := summaries(p, steady(10, phone, 8)...)
	v := Check(p, metric.Default(), []Subject{
		{Run: timed("fine", phone, 8), References: refs},
		{Run: timed("slow", phone, 16), References: refs},
		{Run: timed("new", phone, 8)},
	})
	var each []Outcome
	for _, r := range v.Runs {
		each = append(each, r.Verdict)
	}
	if want := []Outcome{Pass, Regression, Inconclusive}; v.Verdict != Regression || !slices.Equal(each, want) {
		t.Errorf("%s of %v, want regression of %v", v.Verdict, each, want)
	}
}

func TestARunIsNotItsOwnHistory(t *testing.T) {
	history := steady(10, nil, 8)
	v := checkOne(policy(t, PresetDefault), history[3], history...)
	if v.ReferenceTotal != 9 || slices.ContainsFunc(v.Reference, func(r Reference) bool { return r.ID == history[3].ID }) {
		t.Errorf("%d references, want the 9 others: %v", v.ReferenceTotal, v.Reference)
	}
}

// Runs made side by side share the heat of their session, and prove nothing to
// each other.
func TestRunsOfItsSessionAreNoHistory(t *testing.T) {
	history := steady(10, nil, 8)
	for i := range history[:6] {
		history[i].Session = "night"
	}
	now := timed("new", nil, 8)
	for session, want := range map[string]int{"night": 4, "morning": 10, "": 10} {
		now.Session = session
		if v := checkOne(policy(t, PresetDefault), now, history...); v.ReferenceTotal != want {
			t.Errorf("a run of session %q has %d references, want %d", session, v.ReferenceTotal, want)
		}
	}
	now.Session = "night"
	v := checkOne(policy(t, PresetDefault), now, history[:6]...)
	if v.Verdict != Inconclusive || !strings.Contains(v.Reason, "to compare with, but of this run's own session") || strings.Contains(v.Hint, "accept") {
		t.Errorf("beside accepted runs of its own session: %s: %s", v.Verdict, v.Reason)
	}
}

// A phone is the same phone when its battery has waned by a step.
func TestTheBatteryMakesNoOtherPhone(t *testing.T) {
	history := steady(12, map[string]string{"model": "a", "battery": "80-100%"}, 8)
	for _, level := range []string{"80-100%", "50-79%", ""} {
		now := timed("new", map[string]string{"model": "a", "battery": level}, 8*1.18)
		if v := checkOne(policy(t, PresetDefault), now, history...); v.Verdict != Regression {
			t.Errorf("18 %% slower with a battery of %q: %s: %s", level, v.Verdict, v.Reason)
		}
	}
}

func TestAnotherToolsNumbersAreNoHistory(t *testing.T) {
	v := checkOne(policy(t, PresetDefault), timed("new", nil, 16), steady(10, map[string]string{"measured_by": "macrobenchmark"}, 8)...)
	if v.Verdict != Inconclusive || v.ReferenceTotal != 0 {
		t.Errorf("%s from %d references, want inconclusive from none", v.Verdict, v.ReferenceTotal)
	}
}

func TestOneBadRunOnceAcceptedDoesNotBlind(t *testing.T) {
	history := append(steady(12, nil, 8), timed("bad", nil, 80))
	if v := checkOne(policy(t, PresetDefault), timed("new", nil, 12), history...); v.Verdict != Regression {
		t.Errorf("%s, want regression: %s", v.Verdict, v.Reason)
	}
}

func TestAfterEffects(t *testing.T) {
	history := steady(10, nil, 8, "E6", "E7", "E8", "E9")
	now := timed("new", nil, 12)
	for name, ms := range map[string]float64{"E6": 8, "E7": 24, "E8": 12, "E9": 8} {
		now.Iterations[0].Events = append(now.Iterations[0].Events, run.Bucket{Name: name, Metrics: map[string]float64{"frames.duration_ms": ms}})
	}
	slices.SortFunc(now.Iterations[0].Events, func(a, b run.Bucket) int { return strings.Compare(a.Name, b.Name) })
	v := checkOne(policy(t, PresetDefault), now, history...)
	if want := []string{"Outlier-", "E7Outlier-"}; !slices.Equal(v.Labels, want) {
		t.Errorf("labels %q, want %q", v.Labels, want)
	}
	for _, d := range v.Deviations {
		if (d.Event == "E8") != (d.AfterEffectOf == "E7") {
			t.Errorf("%s is an after-effect of %q", d.Event, d.AfterEffectOf)
		}
	}
}

func TestThresholds(t *testing.T) {
	limit, large, any := 7.5, 0.6, 0.0
	history := steady(10, nil, 8, "E1", "E2")
	const ms = "frames.duration_ms"
	for name, c := range map[string]struct {
		thresholds []Threshold
		slower     float64
		want       []string
	}{
		"none":                               {nil, 1.5, []string{"Outlier-", "E1Outlier-", "E2Outlier-"}},
		"budget broken whatever the history": {[]Threshold{{Metric: ms, Max: &limit}}, 1, []string{"Outlier-"}},
		"ignored":                            {[]Threshold{{Metric: ms, Ignore: true}}, 1.5, []string{"E1Outlier-", "E2Outlier-"}},
		"large changes only":                 {[]Threshold{{Metric: ms, MinChange: &large}}, 1.5, []string{"E1Outlier-", "E2Outlier-"}},
		"of one event":                       {[]Threshold{{Metric: ms, Event: "E1", MinChange: &large}}, 1.5, []string{"Outlier-", "E2Outlier-"}},
		"of all":                             {[]Threshold{{Metric: ms, Event: "*", MinChange: &large}}, 1.5, []string{"N"}},
		"the one that names the event wins":  {[]Threshold{{Metric: ms, Event: "E1", MinChange: &any}, {Metric: ms, Event: "*", Ignore: true}}, 1.5, []string{"E1Outlier-"}},
	} {
		p := policy(t, PresetDefault)
		p.Thresholds = c.thresholds
		now := timed("new", nil, 8*c.slower)
		for _, e := range []string{"E1", "E2"} {
			now.Iterations[0].Events = append(now.Iterations[0].Events, run.Bucket{Name: e, Metrics: map[string]float64{ms: 8 * c.slower}})
		}
		if v := checkOne(p, now, history...); !slices.Equal(v.Labels, c.want) {
			t.Errorf("%s: labels %q, want %q", name, v.Labels, c.want)
		}
	}
}

func TestDetailsAreJudgedWhereTheirSummaryIsAbsent(t *testing.T) {
	p := policy(t, PresetDefault)
	p95 := func(id string, ms float64, more ...string) run.Run {
		m := map[string]float64{"frames.duration_ms.p95": ms}
		for _, name := range more {
			m[name] = 8
		}
		return oneRun(id, m)
	}
	var alone, beside []run.Run
	for i := range 8 {
		alone = append(alone, p95(fmt.Sprint(i), 10+float64(i%3)/10))
		beside = append(beside, p95(fmt.Sprint(i), 10+float64(i%3)/10, "frames.duration_ms"))
	}
	if v := checkOne(p, p95("new", 20), alone...); v.Verdict != Regression {
		t.Errorf("alone: %s, want regression", v.Verdict)
	}
	if v := checkOne(p, p95("new", 20, "frames.duration_ms"), beside...); v.Verdict != Pass {
		t.Errorf("beside its summary: %s, want pass", v.Verdict)
	}
	limit := 15.0
	p.Thresholds = []Threshold{{Metric: "frames.duration_ms.p95", Max: &limit}}
	if v := checkOne(p, p95("new", 20, "frames.duration_ms"), beside...); v.Verdict != Regression {
		t.Errorf("with a budget: %s, want regression", v.Verdict)
	}
	p.Thresholds, p.Metrics = nil, []string{"frames.duration_ms.p95"}
	if v := checkOne(p, p95("new", 20, "frames.duration_ms"), beside...); v.Verdict != Regression {
		t.Errorf("asked for: %s, want regression", v.Verdict)
	}
}

func TestAMissingEventIsSaid(t *testing.T) {
	v := checkOne(policy(t, PresetDefault), timed("new", nil, 8), steady(10, nil, 8, "checkout")...)
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, `"checkout"`) {
		t.Errorf("warnings %v, want one of the event checkout", v.Warnings)
	}
}

func TestWhatHasNoHistoryIsSaid(t *testing.T) {
	now := oneRun("new", map[string]float64{"frames.duration_ms": 8, "startup.ttid_ms": 900})
	v := checkOne(policy(t, PresetDefault), now, steady(10, nil, 8)...)
	want := "no accepted run that this one is compared with has startup.ttid_ms"
	if v.Verdict != Pass || !strings.Contains(v.Reason, "in 1 comparison;") || len(v.Warnings) != 1 || v.Warnings[0].Text != want {
		t.Errorf("%s: %s; warnings %v; want a pass in 1 comparison, and %q", v.Verdict, v.Reason, v.Warnings, want)
	}
}

func TestOneANRInTenRepetitionsIsSeen(t *testing.T) {
	var history []run.Run
	for i := range 20 {
		history = append(history, oneRun(fmt.Sprint(i), map[string]float64{"anr.count": 0}))
	}
	now := oneRun("new", map[string]float64{"anr.count": 1})
	for range 9 {
		now.Iterations = append(now.Iterations, run.Iteration{Metrics: map[string]float64{"anr.count": 0}})
	}
	if v := checkOne(policy(t, PresetDefault), now, history...); v.Verdict != Regression {
		t.Errorf("%s: %s, want regression", v.Verdict, v.Reason)
	}
}

func TestRulesNameTheContext(t *testing.T) {
	p := policy(t, PresetDune)
	var history []run.Run
	for i := range 40 {
		context := map[string]string{"sdk": []string{"4.3", "4.4"}[i%2], "model": fmt.Sprint("m", i%7)}
		history = append(history, withContext(oneRun(fmt.Sprint(i), frames(450+float64(i%5), 0.95, 8)), context))
	}
	refs := summaries(p, history...)
	var subjects []Subject
	for i := range 5 {
		r := withContext(oneRun(fmt.Sprint("new", i), frames(100, 0.3, 90)), map[string]string{"sdk": "5.0", "model": fmt.Sprint("m", i)})
		subjects = append(subjects, Subject{Run: r, References: refs})
	}
	v := Check(p, metric.Default(), subjects)
	if len(v.Rules) != 1 {
		t.Fatalf("rules %+v, want the one of sdk 5.0", v.Rules)
	}
	if r := v.Rules[0]; r.If["sdk"] != "5.0" || len(r.If) != 1 || r.Then != "Outlier-" || r.Count != 5 || r.Confidence != 1 {
		t.Errorf("%+v, want {sdk 5.0} => Outlier- in 5 runs", r)
	}
}

// Four phones are worse, and the fifth may be: its doubt is neither for a rule
// nor against it. 42 accepted runs are normal, 10 of each of four and 2 of the fifth.
func TestADoubtIsNoCounterExampleToARule(t *testing.T) {
	p := policy(t, PresetDefault)
	p.MinConfidence = 0
	var subjects []Subject
	for i, n := range []int{10, 10, 10, 10, 2} {
		context := map[string]string{"model": fmt.Sprint("m", i), "sdk": "5.0"}
		subjects = append(subjects, Subject{Run: timed(fmt.Sprint("new", i), context, 16), References: summaries(p, steady(n, context, 8)...)})
	}
	v := Check(p, metric.Default(), subjects)
	if v.Runs[0].Verdict != Regression || v.Runs[4].Verdict != Inconclusive {
		t.Fatalf("the phones are %s … %s, want regression … inconclusive", v.Runs[0].Verdict, v.Runs[4].Verdict)
	}
	at := slices.IndexFunc(v.Rules, func(r Rule) bool { return len(r.If) == 1 && r.If["sdk"] == "5.0" })
	if at < 0 {
		t.Fatalf("no rule of sdk 5.0: %+v", v.Rules)
	}
	if r := v.Rules[at]; r.Count != 4 || math.Abs(r.Confidence-4.0/46) > 1e-9 {
		t.Errorf("%+v, want 4 runs of 46", r)
	}
}
