package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func checkOne(p gate.Policy, r run.Run, accepted ...run.Run) gate.RunVerdict {
	return Check(p, metric.Default(), []Subject{{Run: r, References: gatetest.Summaries(p, accepted...)}}).Runs[0]
}

func TestOutcomes(t *testing.T) {
	phone := map[string]string{"model": "a"}
	other := map[string]string{"model": "b"}
	partial := gatetest.Timed("new", phone, 8)
	partial.Status = run.Partial
	for name, c := range map[string]struct {
		now     run.Run
		history []run.Run
		want    gate.Outcome
		reason  string
	}{
		"same":                           {gatetest.Timed("new", phone, 8.1), gatetest.Steady(10, phone, 8), gate.Pass, "a worsening would have been seen"},
		"slower":                         {gatetest.Timed("new", phone, 12), gatetest.Steady(10, phone, 8), gate.Regression, "+50 %"},
		"faster":                         {gatetest.Timed("new", phone, 5), gatetest.Steady(10, phone, 8), gate.Improvement, "time per frame"},
		"no history":                     {gatetest.Timed("new", phone, 8), nil, gate.Inconclusive, "no accepted run"},
		"too little history":             {gatetest.Timed("new", phone, 8), gatetest.Steady(3, phone, 8), gate.Inconclusive, "3 accepted runs in this context, and 5 are needed"},
		"slower, too little history":     {gatetest.Timed("new", phone, 12), gatetest.Steady(2, phone, 8), gate.Inconclusive, "perhaps worse"},
		"not whole":                      {partial, gatetest.Steady(10, phone, 8), gate.Invalid, `"partial"`},
		"the device mix":                 {gatetest.Timed("new", other, 13.8), slices.Concat(gatetest.Steady(10, phone, 8), gatetest.Steady(10, other, 13.6)), gate.Pass, ""},
		"slower than its own kind":       {gatetest.Timed("new", phone, 13), slices.Concat(gatetest.Steady(10, phone, 8), gatetest.Steady(10, other, 13.6)), gate.Regression, "+6"},
		"few of its own, many of others": {gatetest.Timed("new", phone, 13), slices.Concat(gatetest.Steady(2, phone, 8), gatetest.Steady(10, other, 13.6)), gate.Inconclusive, "perhaps worse: time per frame: 13.00 ms where 7.92 ms was expected (+64 %"},
		"a phone never seen":             {gatetest.Timed("new", other, 9.2), gatetest.Steady(10, phone, 8), gate.Inconclusive, "no accepted run of this context yet"},
		"nothing in common":              {gatetest.Run("new", map[string]float64{"startup.ttid_ms": 900}), gatetest.Steady(10, nil, 8), gate.Inconclusive, "no metric of this run is in the 10 accepted runs"},
		"too small to matter":            {gatetest.Timed("new", phone, 8.3), gatetest.Steady(30, phone, 8), gate.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := checkOne(gatetest.Policy(t, gate.PresetDefault), c.now, c.history...)
			if v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: %q\nwant %s and %q in the reason", v.Verdict, v.Reason, c.want, c.reason)
			}
		})
	}
}

func TestGravestOfSeveralRuns(t *testing.T) {
	phone := map[string]string{"model": "a"}
	p := gatetest.Policy(t, gate.PresetDefault)
	refs := gatetest.Summaries(p, gatetest.Steady(10, phone, 8)...)
	v := Check(p, metric.Default(), []Subject{
		{Run: gatetest.Timed("fine", phone, 8), References: refs},
		{Run: gatetest.Timed("slow", phone, 16), References: refs},
		{Run: gatetest.Timed("new", phone, 8)},
	})
	var each []gate.Outcome
	for _, r := range v.Runs {
		each = append(each, r.Verdict)
	}
	if want := []gate.Outcome{gate.Pass, gate.Regression, gate.Inconclusive}; v.Verdict != gate.Regression || !slices.Equal(each, want) {
		t.Errorf("%s of %v, want regression of %v", v.Verdict, each, want)
	}
}

func TestRunIsNotItsOwnHistory(t *testing.T) {
	history := gatetest.Steady(10, nil, 8)
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), history[3], history...)
	if v.ReferenceTotal != 9 || slices.ContainsFunc(v.Reference, func(r gate.Reference) bool { return r.ID == history[3].ID }) {
		t.Errorf("%d references, want the 9 others: %v", v.ReferenceTotal, v.Reference)
	}
}

// Runs made side by side share the conditions of their session, and are no evidence for each other.
func TestRunsOfItsSessionAreNoHistory(t *testing.T) {
	history := gatetest.Steady(10, nil, 8)
	for i := range history[:6] {
		history[i].Session = "night"
	}
	now := gatetest.Timed("new", nil, 8)
	for session, want := range map[string]int{"night": 4, "morning": 10, "": 10} {
		now.Session = session
		if v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...); v.ReferenceTotal != want {
			t.Errorf("a run of session %q has %d references, want %d", session, v.ReferenceTotal, want)
		}
	}
	now.Session = "night"
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history[:6]...)
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, "to compare with, except those of this run's own session") || strings.Contains(v.Hint, "accept") {
		t.Errorf("beside accepted runs of its own session: %s: %s", v.Verdict, v.Reason)
	}
	v = checkOne(gatetest.Policy(t, gate.PresetDefault), history[0], history[0])
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, "there is no accepted run of") || strings.Contains(v.Reason, "session") {
		t.Errorf("beside itself alone: %s: %s", v.Verdict, v.Reason)
	}
}

// A phone stays the same context when its battery's health falls by a step.
func TestBatteryHealthKeepsTheContext(t *testing.T) {
	history := gatetest.Steady(12, map[string]string{"model": "a", "battery": "80-100%"}, 8)
	for _, level := range []string{"80-100%", "50-79%", ""} {
		now := gatetest.Timed("new", map[string]string{"model": "a", "battery": level}, 8*1.4)
		if v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...); v.Verdict != gate.Regression {
			t.Errorf("40 %% slower with a battery of %q: %s: %s", level, v.Verdict, v.Reason)
		}
	}
}

func TestOtherToolsAreNoHistory(t *testing.T) {
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Timed("new", nil, 16), gatetest.Steady(10, map[string]string{"measured_by": "macrobenchmark"}, 8)...)
	if v.Verdict != gate.Inconclusive || v.ReferenceTotal != 0 {
		t.Errorf("%s from %d references, want inconclusive from none", v.Verdict, v.ReferenceTotal)
	}
}

func TestOneBadAcceptedRunDoesNotBlind(t *testing.T) {
	history := append(gatetest.Steady(12, nil, 8), gatetest.Timed("bad", nil, 80))
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Timed("new", nil, 12), history...); v.Verdict != gate.Regression {
		t.Errorf("%s, want regression: %s", v.Verdict, v.Reason)
	}
}

func TestAfterEffects(t *testing.T) {
	history := gatetest.Steady(10, nil, 8, "E6", "E7", "E8", "E9")
	now := gatetest.Timed("new", nil, 12)
	for name, ms := range map[string]float64{"E6": 8, "E7": 24, "E8": 12, "E9": 8} {
		now.Iterations[0].Events = append(now.Iterations[0].Events, run.Bucket{Name: name, Metrics: map[string]float64{"frames.duration_ms": ms}})
	}
	slices.SortFunc(now.Iterations[0].Events, func(a, b run.Bucket) int { return strings.Compare(a.Name, b.Name) })
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...)
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
	history := gatetest.Steady(10, nil, 8, "E1", "E2")
	const ms = "frames.duration_ms"
	for name, c := range map[string]struct {
		thresholds []gate.Threshold
		slower     float64
		want       []string
	}{
		"none":                               {nil, 1.5, []string{"Outlier-", "E1Outlier-", "E2Outlier-"}},
		"budget broken whatever the history": {[]gate.Threshold{{Metric: ms, Max: &limit}}, 1, []string{"Outlier-"}},
		"ignored":                            {[]gate.Threshold{{Metric: ms, Ignore: true}}, 1.5, []string{"E1Outlier-", "E2Outlier-"}},
		"large changes only":                 {[]gate.Threshold{{Metric: ms, MinChange: &large}}, 1.5, []string{"E1Outlier-", "E2Outlier-"}},
		"of one event":                       {[]gate.Threshold{{Metric: ms, Event: "E1", MinChange: &large}}, 1.5, []string{"Outlier-", "E2Outlier-"}},
		"of all":                             {[]gate.Threshold{{Metric: ms, Event: "*", MinChange: &large}}, 1.5, []string{"N"}},
		"the one that names the event wins":  {[]gate.Threshold{{Metric: ms, Event: "E1", MinChange: &any}, {Metric: ms, Event: "*", Ignore: true}}, 1.5, []string{"E1Outlier-"}},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		p.Thresholds = c.thresholds
		now := gatetest.Timed("new", nil, 8*c.slower)
		for _, e := range []string{"E1", "E2"} {
			now.Iterations[0].Events = append(now.Iterations[0].Events, run.Bucket{Name: e, Metrics: map[string]float64{ms: 8 * c.slower}})
		}
		if v := checkOne(p, now, history...); !slices.Equal(v.Labels, c.want) {
			t.Errorf("%s: labels %q, want %q", name, v.Labels, c.want)
		}
	}
}

func TestDetailsJudgedWithoutSummary(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	const detail, tail = "frames.duration_ms.p90", "frames.duration_ms.p95"
	of := func(id, name string, ms float64, more ...string) run.Run {
		m := map[string]float64{name: ms}
		for _, name := range more {
			m[name] = 8
		}
		return gatetest.Run(id, m)
	}
	var alone, beside, tails []run.Run
	for i := range 8 {
		alone = append(alone, of(fmt.Sprint(i), detail, 10+float64(i%3)/10))
		beside = append(beside, of(fmt.Sprint(i), detail, 10+float64(i%3)/10, "frames.duration_ms"))
		tails = append(tails, of(fmt.Sprint(i), tail, 10+float64(i%3)/10, "frames.duration_ms"))
	}
	// The tail that decides is judged as well as its summary.
	if v := checkOne(p, of("new", tail, 20, "frames.duration_ms"), tails...); v.Verdict != gate.Regression {
		t.Errorf("the 95th percentile beside the mean: %s, want regression", v.Verdict)
	}
	if v := checkOne(p, of("new", detail, 20), alone...); v.Verdict != gate.Regression {
		t.Errorf("alone: %s, want regression", v.Verdict)
	}
	if v := checkOne(p, of("new", detail, 20, "frames.duration_ms"), beside...); v.Verdict != gate.Pass {
		t.Errorf("beside its summary: %s, want pass", v.Verdict)
	}
	limit := 15.0
	p.Thresholds = []gate.Threshold{{Metric: detail, Max: &limit}}
	if v := checkOne(p, of("new", detail, 20, "frames.duration_ms"), beside...); v.Verdict != gate.Regression {
		t.Errorf("with a budget: %s, want regression", v.Verdict)
	}
	p.Thresholds, p.Metrics = nil, []string{detail}
	if v := checkOne(p, of("new", detail, 20, "frames.duration_ms"), beside...); v.Verdict != gate.Regression {
		t.Errorf("asked for: %s, want regression", v.Verdict)
	}
}

func TestMissingEventIsReported(t *testing.T) {
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Timed("new", nil, 8), gatetest.Steady(10, nil, 8, "checkout")...)
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, `"checkout"`) {
		t.Errorf("warnings %v, want one of the event checkout", v.Warnings)
	}
}

func TestNoHistoryIsReported(t *testing.T) {
	now := gatetest.Run("new", map[string]float64{"frames.duration_ms": 8, "startup.ttid_ms": 900})
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, gatetest.Steady(10, nil, 8)...)
	want := "no accepted run that this one is compared with has startup.ttid_ms"
	if v.Verdict != gate.Inconclusive || v.Reason != "time to initial display has no comparable history" || len(v.Warnings) != 1 || v.Warnings[0].Text != want {
		t.Errorf("%s: %s; warnings %v; want a doubt, and %q", v.Verdict, v.Reason, v.Warnings, want)
	}
}

// One ANR where there was none neither proves a regression nor passes; one in each repetition
// proves it.
func TestFirstANRs(t *testing.T) {
	var history []run.Run
	for i := range 20 {
		history = append(history, gatetest.Run(fmt.Sprint(i), map[string]float64{"anr.count": 0}))
	}
	for anrs, want := range map[int]gate.Outcome{0: gate.Pass, 1: gate.Inconclusive, 10: gate.Regression} {
		now := gatetest.Run("new", nil)
		now.Iterations = nil
		for i := range 10 {
			count := 0.0
			if i < anrs {
				count = 1
			}
			now.Iterations = append(now.Iterations, run.Iteration{Metrics: map[string]float64{"anr.count": count}})
		}
		if v := checkOne(gatetest.Policy(t, gate.PresetDefault), now, history...); v.Verdict != want {
			t.Errorf("%d in ten repetitions: %s: %s, want %s", anrs, v.Verdict, v.Reason, want)
		}
	}
}

// A metric that the runs declare is judged with the caller's catalogue, which lacks it; one with an
// invalid declaration is a doubt.
func TestDeclaredMetricsAreJudged(t *testing.T) {
	declared := func(r run.Run, better string) run.Run {
		r.Declared = []run.Declared{{Name: "search.hits", Unit: "hits", Better: better}}
		return r
	}
	history := gatetest.On("a", "search.hits", 100, 101, 102, 100, 99, 98, 100)
	p := gatetest.Policy(t, gate.PresetDefault)
	v := checkOne(p, declared(gatetest.Nearly("a", "search.hits", 50), "higher"), history...)
	if v.Verdict != gate.Regression {
		t.Errorf("half of the hits: %s: %s", v.Verdict, v.Reason)
	}
	v = checkOne(p, declared(gatetest.Nearly("a", "search.hits", 50), "sideways"), history...)
	told := slices.ContainsFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, `direction "sideways"`) })
	if v.Verdict != gate.Inconclusive || !told {
		t.Errorf("of no known direction: %s: %s; warnings %v", v.Verdict, v.Reason, v.Warnings)
	}
}

// An event that got worse by half as much or less than the event before it is an after-effect,
// whether that event is worse or perhaps worse. An event after a better or unchanged one is not,
// and no after-effect follows another. Times of 20 ms grow to 80, fourfold, and to 40, twofold:
// half as much in logarithms.
func TestAfterEffectsOfSuspects(t *testing.T) {
	frames, _ := metric.Default().Lookup("frames.duration_ms")
	of := func(event string, d gate.Direction, value float64) *judgement {
		return &judgement{metric: frames, Comparison: gate.Comparison{Event: event, Metric: frames.Name, Direction: d, Value: value, Expected: 20, Change: value/20 - 1}}
	}
	events := run.Iteration{Events: []run.Bucket{{Name: run.Start}, {Name: "E1"}, {Name: "E2"}, {Name: "E3"}}}
	for name, c := range map[string]struct {
		judged []*judgement
		want   string // the event that E2 is an after-effect of
	}{
		"worse":              {[]*judgement{of("E1", gate.ToRegression, 80), of("E2", gate.ToRegression, 40)}, "E1"},
		"perhaps worse":      {[]*judgement{of("E1", gate.Suspect, 80), of("E2", gate.ToRegression, 40)}, "E1"},
		"and perhaps so":     {[]*judgement{of("E1", gate.ToRegression, 80), of("E2", gate.Suspect, 40)}, "E1"},
		"by more than half":  {[]*judgement{of("E1", gate.ToRegression, 80), of("E2", gate.ToRegression, 41)}, ""},
		"as it was":          {[]*judgement{of("E1", gate.None, 80), of("E2", gate.ToRegression, 40)}, ""},
		"better":             {[]*judgement{of("E1", gate.ToImprovement, 5), of("E2", gate.ToRegression, 40)}, ""},
		"two before":         {[]*judgement{of(run.Start, gate.ToRegression, 80), of("E2", gate.ToRegression, 40)}, ""},
		"after an aftermath": {[]*judgement{of(run.Start, gate.ToRegression, 320), of("E1", gate.ToRegression, 80), of("E2", gate.ToRegression, 40)}, ""},
	} {
		chk := &check{run: run.Run{Iterations: []run.Iteration{events}}, judged: c.judged}
		chk.markAfterEffects()
		if got := c.judged[len(c.judged)-1].AfterEffectOf; got != c.want {
			t.Errorf("%s: E2 is an after-effect of %q, want %q", name, got, c.want)
		}
	}
}
