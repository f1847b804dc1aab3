package rounds_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// atOnce returns a plan with one look, at which six rounds with all signs equal fail one question
// of three, two of two, and exclude.
func atOnce() rounds.Plan {
	return rounds.Plan{Most: 6, Looks: []rounds.Look{{Rounds: 6, Fail: 0.05, Pass: 1.0 / 64}}}
}

// build returns a run of six rounds: each metric's value, a hundredth more in each round.
func build(values map[string]float64) run.Run {
	return gatetest.Rounds("r", 6, func(i int) map[string]float64 {
		out := map[string]float64{}
		for name, v := range values {
			out[name] = v * (1 + 0.01*float64(i))
		}
		return out
	})
}

// asking returns a verdict on one run whose metrics are open.
func asking(metrics ...string) gate.Verdict {
	r := gate.RunVerdict{ID: "r", Verdict: gate.Inconclusive, Labels: []string{gate.LabelNormal}, Reason: "open", Hint: "measure"}
	for _, name := range metrics {
		r.Comparisons = append(r.Comparisons, gate.Comparison{Metric: name, Direction: gate.Suspect, Enough: 9, Value: 1, P: 0.2, Screen: gate.Open})
	}
	return gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive, Runs: []gate.RunVerdict{r}}
}

// lenient returns the policy with which six rounds can prove something.
func lenient(t *testing.T) gate.Policy {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Alpha = 0.05
	return p
}

func decided(t *testing.T, v gate.Verdict, base, head run.Run) gate.Verdict {
	t.Helper()
	trial := rounds.New(lenient(t), metric.Default(), v, atOnce())
	trial.Add(0, base, head)
	return trial.Verdict()
}

func TestQuestions(t *testing.T) {
	v := gate.Verdict{Runs: []gate.RunVerdict{
		{Verdict: gate.Invalid, Comparisons: []gate.Comparison{{Metric: "a", Screen: gate.Open}}},
		{Verdict: gate.Regression, Comparisons: []gate.Comparison{
			{Metric: "a", Screen: gate.Cleared}, {Metric: "b"}, {Metric: "c", Screen: gate.Open},
			{Metric: "d", Screen: gate.Open, Limit: new(3.0)}, {Event: "tap", Metric: "c", Screen: gate.Open, Direction: gate.ToRegression}}},
		{Verdict: gate.Pass},
	}}
	want := []rounds.Question{{Place: 1, Cell: run.Cell{Metric: "c"}}, {Place: 1, Cell: run.Cell{Event: "tap", Metric: "c"}}}
	if got := rounds.Questions(v); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A trial keeps the results of its looks while rounds are appended, and looks again where they were
// replaced: its result is always that of a trial that saw nothing else.
func TestReplacedRounds(t *testing.T) {
	plan := rounds.Plan{Most: 8, Looks: []rounds.Look{{Rounds: 6, Fail: 0.04, Pass: 1.0 / 64}, {Rounds: 8, Fail: 0.01, Pass: 1.0 / 64}}}
	runOf := func(n, turn int, from, later float64) run.Run {
		r := gatetest.Rounds("r", n*turn, func(i int) map[string]float64 {
			level := from
			if i >= 6*turn {
				level = later
			}
			return map[string]float64{ms: level * (1 + 0.01*float64(i%3))}
		})
		r.Turn = turn
		return r
	}
	base := runOf(6, 1, 10, 10)
	for name, then := range map[string]struct {
		base, head run.Run
		want       gate.RoundsOutcome
	}{
		"the same":             {base, runOf(6, 1, 12, 0), gate.RoundsWorse},
		"two more":             {runOf(8, 1, 10, 10), runOf(8, 1, 12, 12), gate.RoundsWorse},
		"another head":         {base, runOf(6, 1, 10, 0), gate.RoundsExcluded},
		"another base":         {runOf(6, 1, 12, 0), runOf(6, 1, 12, 0), gate.RoundsExcluded},
		"two more, another":    {runOf(8, 1, 10, 10), runOf(8, 1, 10, 10), gate.RoundsExcluded},
		"fewer than one look":  {runOf(2, 1, 10, 0), runOf(2, 1, 12, 0), ""},
		"of two to a turn":     {runOf(6, 2, 10, 0), runOf(6, 2, 10, 0), gate.RoundsExcluded},
		"two to a turn, worse": {runOf(6, 2, 10, 0), runOf(6, 2, 12, 0), gate.RoundsWorse},
	} {
		trial := rounds.New(lenient(t), metric.Default(), asking(ms), plan)
		trial.Add(0, base, runOf(6, 1, 12, 0))
		trial.Next(0)
		trial.Add(0, then.base, then.head)
		fresh := rounds.New(lenient(t), metric.Default(), asking(ms), plan)
		fresh.Add(0, then.base, then.head)
		got, want := trial.Verdict().Runs[0].Comparisons[0], fresh.Verdict().Runs[0].Comparisons[0]
		says := gate.RoundsOutcome("")
		if got.Rounds != nil {
			says = got.Rounds.Outcome
		}
		if !reflect.DeepEqual(got, want) || says != then.want {
			t.Errorf("%s: %+v, want %q as %+v", name, got.Rounds, then.want, want.Rounds)
		}
	}
}

// The result of rounds for a metric, and the consequences for the run: for fewer and for more where
// more is better.
func TestTrialVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		metric     string
		base, head float64
		says       gate.RoundsOutcome
		direction  gate.Direction
		verdict    gate.Outcome
		label      string
		reason     string
		hint       string
	}{
		"slower": {ms, 10, 12, gate.RoundsWorse, gate.ToRegression, gate.Regression, "Outlier-",
			"time per frame: 12.30 ms where the base build has 10.25 ms in 6 rounds (+20 %, between +20 % and +20 %, p = 0.016)", ""},
		"as quick": {ms, 10, 10, gate.RoundsExcluded, gate.None, gate.Pass, "N",
			"nothing got worse in 1 comparison: in 6 rounds against the base build time per frame got worse by 0.0 % at most", ""},
		"a little slower": {ms, 10, 10.4, gate.RoundsExcluded, gate.None, gate.Pass, "N",
			"nothing got worse in 1 comparison: in 6 rounds against the base build time per frame got worse by 4.0 % at most", ""},
		"quicker": {ms, 10, 8, gate.RoundsExcluded, gate.ToImprovement, gate.Improvement, "Outlier+",
			"time per frame: 8.20 ms where the base build has 10.25 ms in 6 rounds (−20 %, between −20 % and −20 %)", ""},
		"less smooth": {"frames.smooth_ratio", 0.9, 0.7, gate.RoundsWorse, gate.ToRegression, gate.Regression, "Outlier-", "smooth ratio: ", ""},
		"a bit less smooth": {"frames.smooth_ratio", 0.9, 0.895, gate.RoundsExcluded, gate.None, gate.Pass, "N",
			"nothing got worse in 1 comparison: in 6 rounds against the base build smooth ratio has 1.09 times as many bad frames at most", ""},
		"smoother": {"frames.smooth_ratio", 0.7, 0.9, gate.RoundsExcluded, gate.ToImprovement, gate.Improvement, "Outlier+", "smooth ratio: ", ""},
		"no ANR": {"anr.count", 0, 0, gate.RoundsExcluded, gate.None, gate.Pass, "N",
			"nothing got worse in 1 comparison: in 6 rounds against the base build ANRs 0 (base 0)", ""},
		"ANRs":           {"anr.count", 0, 1, gate.RoundsWorse, gate.ToRegression, gate.Regression, "Outlier-", "ANRs: 1.0 where the base build has 0 in 6 rounds (+1.0, p = 0.016)", ""},
		"too little":     {ms, 0.04, 0.045, gate.RoundsExcluded, gate.None, gate.Pass, "N", "nothing got worse", ""},
		"hardly quicker": {ms, 10, 9.7, gate.RoundsExcluded, gate.None, gate.Pass, "N", "nothing got worse", ""},
	} {
		t.Run(name, func(t *testing.T) {
			base, head := map[string]float64{c.metric: c.base}, map[string]float64{c.metric: c.head}
			v := decided(t, asking(c.metric), build(base), build(head))
			r := v.Runs[0]
			got := r.Comparisons[0]
			if got.Rounds == nil || got.Rounds.Outcome != c.says || got.Direction != c.direction || got.Enough != 0 {
				t.Errorf("%s, %+v", got.Direction, got.Rounds)
			}
			if v.Verdict != c.verdict || r.Verdict != c.verdict || !slices.Equal(r.Labels, []string{c.label}) || r.Hint != c.hint {
				t.Errorf("%s, %s, labels %v, hint %q", v.Verdict, r.Verdict, r.Labels, r.Hint)
			}
			if !strings.HasPrefix(r.Reason, c.reason) || c.verdict == gate.Pass && c.reason != "nothing got worse" && r.Reason != c.reason {
				t.Errorf("%q, want %q", r.Reason, c.reason)
			}
			if deviates := c.direction != gate.None; (len(r.Deviations) == 1) != deviates {
				t.Errorf("deviations %v", r.Deviations)
			}
		})
	}
}

// 1/64 for six equal signs: 0.0156 each. Two of two have twice that and once, three of three have
// three times that and nothing fails.
func TestFalseAlarmsAreShared(t *testing.T) {
	slower := map[string]float64{ms: 12, "cpu.time_ms": 1200, "memory.pss_kb": 12000, "startup.ttid_ms": 120}
	base := map[string]float64{ms: 10, "cpu.time_ms": 1000, "memory.pss_kb": 10000, "startup.ttid_ms": 100}
	for n, fails := range map[int]bool{1: true, 2: true, 3: true, 4: false} {
		metrics := []string{ms, "cpu.time_ms", "memory.pss_kb", "startup.ttid_ms"}[:n]
		v := decided(t, asking(metrics...), build(base), build(slower))
		for _, c := range v.Runs[0].Comparisons {
			gatetest.About(t, fmt.Sprint(n, " questions"), c.Rounds.P, min(1, float64(n)/64))
			if (c.Direction == gate.ToRegression) != fails {
				t.Errorf("%d questions: %s", n, c.Direction)
			}
		}
	}
}

// One of two rejected leaves the whole level to the other: 2/64 is above half of 0.05, and below
// all of it. A question of another device counts as well.
func TestRejectedQuestionPassesItsLevelOn(t *testing.T) {
	but := func(values map[string]float64) run.Run { // the first round, with the least difference, goes the other way
		r := build(values)
		for name := range values {
			r.Iterations[0].Metrics[name] *= 0.8
		}
		return r
	}
	p := lenient(t)
	for name, c := range map[string]struct {
		other float64
		want  gate.Direction
	}{"the other fails too": {12, gate.ToRegression}, "the other passes": {10, gate.Suspect}} {
		v := asking(ms)
		v.Runs = append(v.Runs, asking(ms).Runs...)
		trial := rounds.New(p, metric.Default(), v, atOnce())
		trial.Add(0, build(map[string]float64{ms: 10}), but(map[string]float64{ms: 12}))
		if _, more := trial.Next(1); !more {
			t.Error("nothing is to be measured where nothing was")
		}
		trial.Add(1, build(map[string]float64{ms: 10}), build(map[string]float64{ms: c.other}))
		if got := trial.Verdict().Runs[0].Comparisons[0]; got.Direction != c.want {
			t.Errorf("%s: %s, %+v", name, got.Direction, got.Rounds)
		}
	}
}

// A broken budget and cleared comparisons stay as they were, and so does what is missing.
func TestUnquestionedComparisonsStay(t *testing.T) {
	v := asking(ms)
	r := &v.Runs[0]
	broken := gate.Comparison{Metric: "cpu.time_ms", Value: 1200, Direction: gate.ToRegression, Limit: new(1000.0), Screen: gate.Open, P: 1}
	r.Comparisons = append(r.Comparisons, broken, gate.Comparison{Metric: "memory.pss_kb", Direction: gate.ToImprovement, Screen: gate.Cleared, P: 0.01, Change: -0.2})
	same := build(map[string]float64{ms: 10, "cpu.time_ms": 1000, "memory.pss_kb": 100})
	got := decided(t, v, same, same)
	if reason := "CPU time: 1200 ms, beyond the limit of 1000 ms"; got.Verdict != gate.Regression || got.Runs[0].Reason != reason || got.Runs[0].Comparisons[1].Rounds != nil {
		t.Errorf("%s: %s", got.Verdict, got.Runs[0].Reason)
	}
	r.Comparisons = slices.Delete(r.Comparisons, 1, 2)
	if got := decided(t, v, same, same); got.Verdict != gate.Improvement || !slices.Equal(got.Runs[0].Labels, []string{"Outlier+"}) {
		t.Errorf("%s: %s", got.Verdict, got.Runs[0].Reason)
	}
	r.Missing = "energy was not measured"
	if got := decided(t, v, same, same); got.Verdict != gate.Inconclusive || got.Runs[0].Reason != r.Missing || got.Runs[0].Hint == "" {
		t.Errorf("%s: %s", got.Verdict, got.Runs[0].Reason)
	}
	if r.Comparisons[0].Rounds != nil || r.Labels[0] != gate.LabelNormal {
		t.Error("the first verdict was changed")
	}
}

func TestRunsWithoutQuestionsStay(t *testing.T) {
	v := asking(ms)
	v.Runs = append(v.Runs, gate.RunVerdict{ID: "other", Verdict: gate.Invalid, Reason: "it crashed"})
	trial := rounds.New(lenient(t), metric.Default(), v, atOnce())
	if n, more := trial.Next(1); n != 0 || more {
		t.Errorf("%d rounds where nothing is open", n)
	}
	trial.Add(1, build(nil), build(nil))
	trial.End(1, "lost")
	same := build(map[string]float64{ms: 10})
	trial.Add(0, same, same)
	got := trial.Verdict()
	if got.Verdict != gate.Invalid || got.Runs[1].Reason != "it crashed" || got.Runs[1].Rounds != nil {
		t.Errorf("%s, %+v", got.Verdict, got.Runs[1])
	}
}

// An after-effect stays one while the event before it is worse.
func TestAfterEffectsNeedTheirCause(t *testing.T) {
	v := asking()
	v.Runs[0].Comparisons = []gate.Comparison{
		{Event: "open", Metric: ms, Screen: gate.Open, Direction: gate.ToRegression, P: 1},
		{Event: "close", Metric: ms, Screen: gate.Open, Direction: gate.ToRegression, AfterEffectOf: "open", P: 1},
	}
	events := func(open, closing float64) run.Run {
		r := build(map[string]float64{"cpu.time_ms": 100})
		for i := range r.Iterations {
			by := 1 + 0.01*float64(i)
			r.Iterations[i].Events = []run.Bucket{{Name: "open", Metrics: map[string]float64{ms: open * by}}, {Name: "close", Metrics: map[string]float64{ms: closing * by}}}
		}
		return r
	}
	for name, c := range map[string]struct {
		open, closing float64
		want          []string
		after         string
	}{
		"both are worse":      {20, 13, []string{"openOutlier-"}, "open"},
		"the first is not":    {10, 13, []string{"closeOutlier-"}, ""},
		"the second is not":   {20, 10, []string{"openOutlier-"}, ""},
		"neither is any more": {10, 10, []string{"N"}, ""},
	} {
		r := decided(t, v, events(10, 10), events(c.open, c.closing)).Runs[0]
		if !slices.Equal(r.Labels, c.want) || r.Comparisons[1].AfterEffectOf != c.after {
			t.Errorf("%s: labels %v, after-effect of %q", name, r.Labels, r.Comparisons[1].AfterEffectOf)
		}
	}
}

// A threshold with a larger effect than min-effect applies to rounds too, and a preset without
// min-effect has the default's.
func TestThresholdsCountInRounds(t *testing.T) {
	base := build(map[string]float64{ms: 10})
	for name, c := range map[string]struct {
		preset    string
		minChange float64
		head      float64
		want      gate.RoundsOutcome
	}{
		"15 % of 5":                     {gate.PresetDefault, 0.05, 11.5, gate.RoundsWorse},
		"15 % of 30":                    {gate.PresetDefault, 0.3, 11.5, gate.RoundsExcluded},
		"35 % of 30":                    {gate.PresetDefault, 0.3, 13.5, gate.RoundsWorse},
		"4 % of the paper's preset":     {gate.PresetDune, 0, 9.6, gate.RoundsExcluded},
		"worse in the paper's preset":   {gate.PresetDune, 0, 10.6, gate.RoundsWorse},
		"more than min-effect (it's 8)": {gate.PresetDefault, 0.05, 10.6, gate.RoundsWorse},
	} {
		p := gatetest.Policy(t, c.preset)
		p.Alpha = 0.05
		p.Thresholds = []gate.Threshold{{Metric: ms, MinChange: &c.minChange}}
		trial := rounds.New(p, metric.Default(), asking(ms), atOnce())
		trial.Add(0, base, build(map[string]float64{ms: c.head}))
		if got := trial.Verdict().Runs[0].Comparisons[0].Rounds; got.Outcome != c.want {
			t.Errorf("%s: %s", name, got.Outcome)
		}
	}
}

// A round that only one build has, or has the metric of, does not count.
func TestRoundsThatAreNotWholeAreLeftOut(t *testing.T) {
	base, head := build(map[string]float64{ms: 10, "cpu.time_ms": 1000}), build(map[string]float64{ms: 12, "cpu.time_ms": 1000})
	head.Iterations = head.Iterations[:5]
	for _, of := range []run.Run{base, head} {
		delete(of.Iterations[1].Metrics, ms)
		base, head = head, base
	}
	base.Iterations[2].Metrics = map[string]float64{ms: 10}
	delete(head.Iterations[3].Metrics, "cpu.time_ms")
	measured := func(base, head run.Run, metrics ...string) gate.RunVerdict {
		trial := rounds.New(lenient(t), metric.Default(), asking(metrics...), atOnce())
		trial.Add(0, base, head)
		trial.End(0, "")
		return trial.Verdict().Runs[0]
	}
	r := measured(base, head, ms, "cpu.time_ms")
	if a, b := r.Comparisons[0].Rounds.Rounds, r.Comparisons[1].Rounds.Rounds; r.Rounds.Measured != 5 || a != 4 || b != 3 {
		t.Errorf("%d rounds, of which %d and %d count; want 5, 4 and 3", r.Rounds.Measured, a, b)
	}
	short, long := base, head
	short.Iterations, long.Iterations = base.Iterations[:3], head.Iterations
	if r := measured(short, long, ms); r.Rounds.Measured != 3 || r.Rounds.Repetitions != 8 {
		t.Errorf("%+v", r.Rounds)
	}
}

// Of many numbers some look better by chance: six rounds of one sign (1/64) prove it for the one
// question of a plan with such a level, and not for one of two.
func TestBetterByChance(t *testing.T) {
	for _, c := range []struct {
		asked []string
		want  gate.Direction
	}{{[]string{ms}, gate.ToImprovement}, {[]string{ms, "cpu.time_ms"}, gate.None}} {
		r := decided(t, asking(c.asked...), build(map[string]float64{ms: 10, "cpu.time_ms": 10}), build(map[string]float64{ms: 8, "cpu.time_ms": 10})).Runs[0]
		if got := r.Comparisons[0]; got.Direction != c.want || got.Rounds.Outcome != gate.RoundsExcluded {
			t.Errorf("%q: %s, %s; want %s, excluded", c.asked, got.Direction, got.Rounds.Outcome, c.want)
		}
	}
}

// A change of a metric that may be below zero is reported in its unit.
func TestSignedMetricsInRounds(t *testing.T) {
	p, catalogue := gatetest.Overruns(t, gate.PresetDefault)
	p.Alpha = 0.05
	of := func(at float64) run.Run {
		return gatetest.Rounds("r", 6, func(i int) map[string]float64 {
			return map[string]float64{"frames.overrun_ms": at + 0.01*float64(i)*at}
		})
	}
	for head, want := range map[float64]string{
		-3: "nothing got worse in 1 comparison: in 6 rounds against the base build time beyond the deadline changed by 0.00 ms at most",
		-1: "time beyond the deadline: −1.02 ms where the base build has −3.07 ms in 6 rounds (+2.05 ms, between +2.02 ms and +2.10 ms, p = 0.016)",
	} {
		trial := rounds.New(p, catalogue, asking("frames.overrun_ms"), atOnce())
		trial.Add(0, of(-3), of(head))
		if r := trial.Verdict().Runs[0]; strings.ReplaceAll(r.Reason, "-", "−") != want {
			t.Errorf("%q, want %q", r.Reason, want)
		}
	}
}

// Rules follow from the result of the rounds, of two phones on a new SDK and eight runs that were
// accepted on the SDK before: where both have a label, these are two of ten, and where one does, it
// is one of the build's own two.
func TestRulesOfTrialVerdict(t *testing.T) {
	one, plan := asking(ms).Runs[0], atOnce()
	plan.Looks[0].Pass = 1.0 / 32 // for two questions: six rounds of one sign have a chance of 1/64
	for name, c := range map[string]struct {
		heads [2]float64
		want  string
	}{
		"both are worse": {[2]float64{12, 12}, "[{map[sdk:15] map[] Outlier- 0.2 1 5 2} {map[model:a] map[] Outlier- 0.1 1 5 1} {map[model:b] map[] Outlier- 0.1 1 5 1}]"},
		"one is worse":   {[2]float64{12, 10}, "[{map[model:a] map[] Outlier- 0.5 1 2 1}]"},
		"neither is":     {[2]float64{10, 10}, "[]"},
		"one is better":  {[2]float64{10, 8}, "[{map[model:b] map[] Outlier+ 0.5 1 2 1}]"},
	} {
		v := gate.Verdict{Rules: []gate.Rule{{Then: "Outlier-"}, {Then: "Outlier+"}}, Accepted: []gate.Accepted{{Context: map[string]string{"sdk": "14", "model": "c"}, Runs: 8}}}
		for _, model := range []string{"a", "b"} {
			r := one
			r.ID, r.Context = model, map[string]string{"sdk": "15", "model": model}
			v.Runs = append(v.Runs, r)
		}
		trial := rounds.New(lenient(t), metric.Default(), v, plan)
		for place, head := range c.heads {
			trial.Add(place, build(map[string]float64{ms: 10}), build(map[string]float64{ms: head}))
		}
		if got := fmt.Sprint(trial.Verdict().Rules); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if len(v.Rules) != 2 {
			t.Errorf("%s: the first verdict has the rules %v", name, v.Rules)
		}
	}
}

// A number that no round has stays as the history has it, with its numbers, and is a doubt at most;
// the reason why there was no round is reported.
func TestUnmeasuredComparisonsStay(t *testing.T) {
	none := run.Run{Status: run.Complete}
	for name, c := range map[string]struct {
		base, head   run.Run
		lost         string
		was          gate.Direction
		direction    gate.Direction
		verdict      gate.Outcome
		reason, hint string
	}{
		"the base build is broken": {none, none, "the base build: it does not install", gate.None, gate.None, gate.Inconclusive, "open; the rounds ended early: the base build: it does not install", "fix what ended the rounds, and measure again"},
		"it looked worse":          {none, none, "the base build: it does not install", gate.ToRegression, gate.ToRegression, gate.Regression, "time per frame: 11.00 ms where 10.00 ms was expected", "fix what ended the rounds, and measure again"},
		"there was no time":        {none, none, "", gate.None, gate.None, gate.Inconclusive, "open; there was no time for a round against the base build", "allow more time (rounds.minutes in apkgate.yml)"},
		"worse, and no time":       {none, none, "", gate.ToRegression, gate.ToRegression, gate.Regression, "time per frame: 11.00 ms where 10.00 ms was expected", "allow more time (rounds.minutes in apkgate.yml)"},
		"worse, rounds without it": {build(nil), build(nil), "", gate.ToRegression, gate.Suspect, gate.Inconclusive, "perhaps worse: time per frame: 11.00 ms where 10.00 ms was expected", "measure on a calmer device"},
		"rounds without it":        {build(nil), build(nil), "", gate.None, gate.None, gate.Inconclusive, "6 rounds against the base build do not exclude that time per frame got worse by 10 %", "measure on a calmer device"},
	} {
		v := asking(ms)
		open := &v.Runs[0].Comparisons[0]
		open.Direction, open.Value, open.Expected, open.Change, open.N = c.was, 11, 10, 0.1, 8
		trial := rounds.New(lenient(t), metric.Default(), v, atOnce())
		trial.Add(0, c.base, c.head)
		trial.End(0, c.lost)
		r := trial.Verdict().Runs[0]
		got := r.Comparisons[0]
		if got.Rounds != nil || got.Direction != c.direction || got.Value != 11 || got.Expected != 10 {
			t.Errorf("%s: %s, %+v", name, got.Direction, got)
		}
		if r.Verdict != c.verdict || !strings.HasPrefix(r.Reason, c.reason) || r.Hint != c.hint {
			t.Errorf("%s: %s, %q, %q", name, r.Verdict, r.Reason, r.Hint)
		}
	}
}

// Where the whole run's number is excluded and an event's is open, the event is named.
func TestOpenEventIsNamed(t *testing.T) {
	v := asking(ms)
	v.Runs[0].Comparisons = append(v.Runs[0].Comparisons, gate.Comparison{Event: "back", Metric: ms, Screen: gate.Open})
	r := decided(t, v, build(map[string]float64{ms: 10}), build(map[string]float64{ms: 10})).Runs[0]
	if want := "6 rounds against the base build do not exclude that time per frame after back got worse by 10 %"; r.Verdict != gate.Inconclusive || r.Reason != want {
		t.Errorf("%s, %q, want %q", r.Verdict, r.Reason, want)
	}
}

// What is not excluded is reported by the effect of each, in its own terms.
func TestOpenComparisonIsReportedByItsEffect(t *testing.T) {
	open := func(metrics ...string) gate.Verdict {
		v := asking(metrics...)
		for i := range v.Runs[0].Comparisons {
			v.Runs[0].Comparisons[i].Direction = gate.None
		}
		return v
	}
	v := open(ms, "cpu.time_ms", "frames.smooth_ratio", "frames.duration_ms.p95", "anr.count")
	v.Runs[0].Comparisons[1].Effect = 0.25
	v.Runs[0].Comparisons[3].Effect = 0.2
	r := decided(t, v, build(nil), build(nil)).Runs[0]
	want := "6 rounds against the base build do not exclude that time per frame got worse by 10 %, or that CPU time got worse by 25 %, " +
		"or that smooth ratio got worse, to 1.5 times as many bad frames, or that time per frame, 95th percentile got worse by 44 %, or that ANRs became more frequent"
	if r.Verdict != gate.Inconclusive || r.Reason != want {
		t.Errorf("%q, want %q", r.Reason, want)
	}
	both := open(ms, "cpu.time_ms")
	if r, want := decided(t, both, build(nil), build(nil)).Runs[0], "6 rounds against the base build do not exclude that time per frame, CPU time got worse by 10 %"; r.Reason != want {
		t.Errorf("%q, want %q", r.Reason, want)
	}
}

// A pass reports the bound of a tail in its own terms, and of a ratio in points.
func TestPassReportsBounds(t *testing.T) {
	hits := metric.Metric{Name: "cache.hits", Title: "cache hits", Unit: "ratio", Direction: metric.HigherIsBetter}
	catalogue, err := metric.Default().With(hits)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		base, head float64
		want       string
	}{
		"frames.duration_ms.p95": {20, 21, "time per frame, 95th percentile got worse by 5.0 % at most"},
		hits.Name:                {0.5, 0.48, "cache hits got worse by 2.1 points at most"}, // 2 of 100 in the first round, 2.1 in the last
	} {
		trial := rounds.New(lenient(t), catalogue, asking(name), atOnce())
		trial.Add(0, build(map[string]float64{name: c.base}), build(map[string]float64{name: c.head}))
		if r := trial.Verdict().Runs[0]; r.Verdict != gate.Pass || !strings.HasSuffix(r.Reason, c.want) {
			t.Errorf("%s: %s: %q, want %q", name, r.Verdict, r.Reason, c.want)
		}
	}
}

// The reason names what a place that is lost, or whose time is spent, leaves open.
func TestRoundsThatEndEarly(t *testing.T) {
	plan := rounds.Plan{Most: 20, Looks: []rounds.Look{{Rounds: 12, Fail: 0.01, Pass: 0.001}, {Rounds: 20, Fail: 0.04, Pass: 0.001}}}
	base, head := build(map[string]float64{ms: 10}), build(map[string]float64{ms: 12})
	crashed := head
	crashed.Status, crashed.Warnings = run.Partial, []run.Warning{{Text: "the app crashed"}}
	for name, c := range map[string]struct {
		head    run.Run
		end     string
		ended   bool
		stopped gate.Stopped
		verdict gate.Outcome
		reason  string
		more    bool
	}{
		"going on":                           {head, "", false, gate.StoppedBudget, gate.Inconclusive, "", true},
		"time is spent":                      {head, "", true, gate.StoppedSettled, gate.Regression, "", false}, // at 0.05, all of it
		"lost, and settled by what there is": {head, "the device is gone", true, gate.StoppedSettled, gate.Regression, "", false},
		"the head crashed":                   {crashed, "", false, gate.StoppedSettled, gate.Regression, "", false},
		"the head crashed, and is as quick": {func() run.Run { r := base; r.Status, r.Warnings = crashed.Status, crashed.Warnings; return r }(), "", false, gate.StoppedLost,
			gate.Inconclusive, "6 rounds against the base build do not exclude that time per frame got worse by 10 %; the rounds ended early: the run is not whole: the app crashed", false},
		"as quick, and the time is spent": {base, "", true, gate.StoppedBudget, gate.Inconclusive, "6 rounds against the base build do not exclude that time per frame got worse by 10 %", false},
	} {
		trial := rounds.New(lenient(t), metric.Default(), asking(ms), plan)
		trial.Add(0, base, c.head)
		if c.ended {
			trial.End(0, c.end)
		}
		n, more := trial.Next(0)
		r := trial.Verdict().Runs[0]
		if more != c.more || !more && n != 6 || more && n != 12 || r.Verdict != c.verdict || c.reason != "" && r.Reason != c.reason {
			t.Errorf("%s: %d rounds, more %v, %s: %s (%s)", name, n, more, r.Verdict, r.Reason, r.Hint)
		}
		if r.Rounds.Stopped != c.stopped || r.Rounds.Measured != 6 || r.Rounds.Most != 20 || r.Rounds.Repetitions != 12 || r.Rounds.Base.App.Package != "app" {
			t.Errorf("%s: %+v", name, r.Rounds)
		}
	}
}

// Six rounds exclude by their order with 1/64 (a score of 2.154), where a pass takes 0.005 (2.576):
// 6·(2.576/2.154)² = 8.6 rounds, and an even number, are reported to be enough. A settled
// comparison needs none.
func TestReportedEnoughRounds(t *testing.T) {
	plan := rounds.Plan{Most: 20, Looks: []rounds.Look{{Rounds: 6, Fail: 0.05, Pass: 0.005}, {Rounds: 20, Pass: 0.005}}}
	for head, want := range map[float64]int{10: 10, 13: 0} {
		trial := rounds.New(lenient(t), metric.Default(), asking(ms), plan)
		trial.Add(0, build(map[string]float64{ms: 10}), build(map[string]float64{ms: head}))
		if got := trial.Verdict().Runs[0].Comparisons[0].Rounds; got.Enough != want {
			t.Errorf("a head of %g ms: %d rounds are told to be enough (%s), want %d", head, got.Enough, got.Outcome, want)
		}
	}
}

// Of two metrics one fails: the other no longer changes the verdict.
func TestPlaceEndsAtFailure(t *testing.T) {
	base, head := map[string]float64{ms: 10, "cpu.time_ms": 1000}, map[string]float64{ms: 13, "cpu.time_ms": 1060}
	plan := rounds.Plan{Most: 12, Looks: []rounds.Look{{Rounds: 6, Fail: 0.04, Pass: 0.001}, {Rounds: 12, Fail: 0.01, Pass: 0.001}}}
	trial := rounds.New(lenient(t), metric.Default(), asking(ms, "cpu.time_ms", "memory.pss_kb"), plan)
	trial.Add(0, build(base), build(base))
	if n, more := trial.Next(0); n != 12 || !more {
		t.Errorf("open, and %d rounds are enough", n)
	}
	one := rounds.New(lenient(t), metric.Default(), asking(ms, "cpu.time_ms"), plan)
	head["cpu.time_ms"] = 1000
	one.Add(0, build(base), build(head))
	if n, more := one.Next(0); n != 6 || more {
		t.Errorf("%d rounds, more %v", n, more)
	}
	if r := one.Verdict().Runs[0]; r.Rounds.Stopped != gate.StoppedSettled || r.Comparisons[1].Rounds.Outcome != gate.RoundsUndecided {
		t.Errorf("%+v, %+v", r.Rounds, r.Comparisons[1].Rounds)
	}
}

// A head that draws half of the frames does not pass by those that it draws.
func TestHeadWithHalfOfTheFramesDoesNotPass(t *testing.T) {
	of := func(count float64) run.Run { return build(map[string]float64{ms: 10, "frames.count": count}) }
	for name, c := range map[string]struct {
		base, head float64
		want       gate.Outcome
	}{
		"nearly half": {100, 49, gate.Inconclusive}, "half": {100, 50, gate.Pass}, "none of few": {9, 0, gate.Pass}, "none of ten": {10, 0, gate.Inconclusive},
	} {
		v := decided(t, asking(ms), of(c.base), of(c.head))
		if r := v.Runs[0]; r.Verdict != c.want || (r.Missing != "") != (c.want == gate.Inconclusive) {
			t.Errorf("%s: %s, missing %q", name, r.Verdict, r.Missing)
		}
	}
	slower := build(map[string]float64{ms: 13, "frames.count": 20})
	r := decided(t, asking(ms), of(100), slower).Runs[0]
	if want := "the head build drew fewer than half of the base build's frames: 20.5 where the base has 102.5"; r.Verdict != gate.Regression || len(r.Warnings) != 1 || r.Warnings[0].Text != want {
		t.Errorf("%s, warnings %v", r.Verdict, r.Warnings)
	}
	p := lenient(t)
	p.Metrics = []string{ms, "frames.count"} // judged itself
	trial := rounds.New(p, metric.Default(), asking(ms), atOnce())
	trial.Add(0, of(100), of(20))
	if r := trial.Verdict().Runs[0]; r.Missing != "" {
		t.Errorf("missing %q", r.Missing)
	}
}

// A head that lacks a number of the base does not pass by the rest, where no history has the
// number.
func TestHeadThatLacksANumberDoesNotPass(t *testing.T) {
	const joules = "energy.total_j"
	whole, lacks := build(map[string]float64{ms: 10, joules: 5}), build(map[string]float64{ms: 10})
	after := func(r run.Run, event string, rounds int) run.Run {
		for i := range r.Iterations[:rounds] {
			r.Iterations[i].Events = []run.Bucket{{Name: event, Metrics: map[string]float64{ms: 10}}}
		}
		return r
	}
	tapped := func(rounds int) run.Run { return after(build(map[string]float64{ms: 10}), "tap", rounds) }
	for name, c := range map[string]struct {
		base, head run.Run
		missing    string
	}{
		"nothing":                      {whole, whole, ""},
		"its joules":                   {whole, lacks, "measured for the base build but not for the head build: energy"},
		"what it alone has":            {lacks, whole, ""},
		"all that it has":              {lacks, build(nil), "measured for the base build but not for the head build: time per frame"},
		"an event":                     {tapped(6), tapped(3), "measured for the base build but not for the head build: time per frame after tap"},
		"an event of some rounds":      {tapped(6), tapped(4), ""},
		"an event that few rounds had": {tapped(3), tapped(0), ""},
	} {
		want := gate.Pass
		if c.missing != "" {
			want = gate.Inconclusive
		}
		if r := decided(t, asking(ms), c.base, c.head).Runs[0]; r.Verdict != want || r.Missing != c.missing {
			t.Errorf("%s: %s, missing %q, want %s and %q", name, r.Verdict, r.Missing, want, c.missing)
		}
	}
	p := lenient(t)
	p.Metrics = []string{ms} // joules are not judged
	trial := rounds.New(p, metric.Default(), asking(ms), atOnce())
	trial.Add(0, whole, lacks)
	if r := trial.Verdict().Runs[0]; r.Verdict != gate.Pass {
		t.Errorf("a number that is not judged: %s: %s", r.Verdict, r.Reason)
	}
	slower := build(map[string]float64{ms: 13})
	if r := decided(t, asking(ms), whole, slower).Runs[0]; r.Verdict != gate.Regression || len(r.Warnings) != 1 {
		t.Errorf("a slower one: %s, warnings %v", r.Verdict, r.Warnings)
	}
}
