package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func comparisonOf(v gate.RunVerdict, metric string) gate.Comparison {
	at := slices.IndexFunc(v.Comparisons, func(c gate.Comparison) bool { return c.Event == "" && c.Metric == metric })
	if at < 0 {
		return gate.Comparison{}
	}
	return v.Comparisons[at]
}

func TestJoulesAreComparedWithinSource(t *testing.T) {
	frames := gatetest.Steady(10, map[string]string{"model": "a"}, 8)
	for name, c := range map[string]struct {
		now     run.Run
		history []run.Run
		want    gate.Outcome
		n       int // values that the joules are compared with
		reason  string
		warning string
	}{
		"the same source":             {gatetest.Hungry("new", "rails", 8, 30), gatetest.HungryRuns(10, "rails", 8, 30), gate.Pass, 10, "energy by", ""},
		"the same, three times it":    {gatetest.Hungry("new", "rails", 8, 90), gatetest.HungryRuns(10, "rails", 8, 30), gate.Regression, 10, "energy: 90.00 J", ""},
		"another source":              {gatetest.Hungry("new", "battery", 8, 90), gatetest.HungryRuns(10, "rails", 8, 30), gate.Inconclusive, 0, "energy has no comparable history", `energy_from is "battery" here and "rails" in the accepted runs, and this verdict says nothing about it: measure as the accepted runs were, or accept 5 more runs`},
		"another source, slow frames": {gatetest.Hungry("new", "battery", 12, 30), gatetest.HungryRuns(10, "rails", 8, 30), gate.Regression, 0, "time per frame: 12.00 ms", `"rails" in the accepted runs`},
		"another profile of a model":  {gatetest.Hungry("new", "model a", 8, 90), gatetest.HungryRuns(10, "model b", 8, 30), gate.Inconclusive, 0, "no comparable history", `"model b"`},
		"two sources, its own tells":  {gatetest.Hungry("new", "battery", 8, 30), slices.Concat(gatetest.HungryRuns(10, "rails", 8, 30), gatetest.HungryRuns(10, "battery", 8, 20)), gate.Regression, 10, "energy: 30.00 J", ""},
		"two sources, as its own":     {gatetest.Hungry("new", "battery", 8, 20), slices.Concat(gatetest.HungryRuns(10, "rails", 8, 30), gatetest.HungryRuns(10, "battery", 8, 20)), gate.Pass, 10, "energy by", ""},
		"few of its own":              {gatetest.Hungry("new", "battery", 8, 20.5), slices.Concat(gatetest.HungryRuns(10, "rails", 8, 30), gatetest.HungryRuns(2, "battery", 8, 20)), gate.Inconclusive, 2, "energy has 2 comparable runs of the 5 that are needed", `energy: 10 of 12 accepted runs of this context were measured in another way and don't count: energy_from is "battery" here and "rails" there; 3 more runs of its kind rebuild the history`},
		"no energy before":            {gatetest.Hungry("new", "rails", 8, 30), frames, gate.Inconclusive, 0, "energy has no comparable history", "no accepted run that this one is compared with has energy.total_j"},
		"no energy before, slower":    {gatetest.Hungry("new", "rails", 10.5, 30), frames, gate.Regression, 0, "time per frame: 10.50 ms", ""},
		"imported, of no source":      {gatetest.Hungry("new", "", 8, 90), gatetest.HungryRuns(10, "", 8, 30), gate.Regression, 10, "energy: 90.00 J", ""},
		"of a source, imported ones":  {gatetest.Hungry("new", "rails", 8, 90), gatetest.HungryRuns(10, "", 8, 30), gate.Inconclusive, 0, "no comparable history", "not said in the accepted runs"},
		"imported, ones of a source":  {gatetest.Hungry("new", "", 8, 90), gatetest.HungryRuns(10, "rails", 8, 30), gate.Inconclusive, 0, "no comparable history", "energy_from is not said here"},
	} {
		t.Run(name, func(t *testing.T) {
			v := checkOne(gatetest.Policy(t, gate.PresetDefault), c.now, c.history...)
			if v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: %q\nwant %s and %q in the reason", v.Verdict, v.Reason, c.want, c.reason)
			}
			if d := comparisonOf(v, "energy.total_j"); d.N != c.n {
				t.Errorf("the joules are compared with %d values, want %d", d.N, c.n)
			}
			if d := comparisonOf(v, "frames.duration_ms"); d.N != len(c.history) {
				t.Errorf("the frames are compared with %d values, want all %d", d.N, len(c.history))
			}
			warned := slices.ContainsFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, c.warning) })
			if c.warning != "" && (!warned || len(v.Warnings) != 1) {
				t.Errorf("warnings %v, want one with %q", v.Warnings, c.warning)
			}
			if c.warning == "" && c.n > 0 && len(v.Warnings) > 0 {
				t.Errorf("warnings %v, want none", v.Warnings)
			}
		})
	}
}

func TestJoulesOfAnotherSourceDecideNothing(t *testing.T) {
	only := func(r run.Run) run.Run {
		delete(r.Iterations[0].Metrics, "frames.duration_ms")
		return r
	}
	var history []run.Run
	for _, r := range gatetest.HungryRuns(10, "rails", 8, 30) {
		history = append(history, only(r))
	}
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), only(gatetest.Hungry("new", "battery", 8, 90)), history...)
	if v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, `energy_from is "battery" here and "rails" in the accepted runs`) {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

func TestDuneComparesJoulesWithinSource(t *testing.T) {
	history := slices.Concat(gatetest.HungryRuns(10, "rails", 8, 30), gatetest.HungryRuns(10, "battery", 8, 20))
	v := checkOne(gatetest.Judging(t, gate.PresetDune, "energy.total_j", "frames.duration_ms"), gatetest.Hungry("new", "battery", 8, 30), history...)
	if d := comparisonOf(v, "energy.total_j"); d.Direction != gate.ToRegression || d.N != 11 || comparisonOf(v, "frames.duration_ms").N != 21 {
		t.Errorf("%s of %d values, want a regression of 11: the ten of its source and itself", d.Direction, d.N)
	}
}

// In a check of several runs each is compared with those of its own source.
func TestRunsOfSeveralSourcesInOneCheck(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	refs := gatetest.Summaries(p, slices.Concat(gatetest.HungryRuns(10, "rails", 8, 30), gatetest.HungryRuns(10, "battery", 8, 20))...)
	v := Check(p, metric.Default(), []Subject{
		{Run: gatetest.Hungry("a", "rails", 8, 30), References: refs},
		{Run: gatetest.Hungry("b", "battery", 8, 20), References: refs},
		{Run: gatetest.Hungry("c", "battery", 8, 30), References: refs},
	})
	var got []gate.Outcome
	for _, r := range v.Runs {
		got = append(got, r.Verdict)
	}
	if want := []gate.Outcome{gate.Pass, gate.Pass, gate.Regression}; !slices.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}

func TestBudgetsInJoules(t *testing.T) {
	budget := 25.0
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Thresholds = []gate.Threshold{{Metric: "energy.total_j", Max: &budget}}
	for name, c := range map[string]struct {
		joules  float64
		history []run.Run
		want    gate.Outcome
	}{
		"within":                          {24.9, gatetest.HungryRuns(10, "rails", 8, 25), gate.Pass},
		"beyond, as the history is":       {25.1, gatetest.HungryRuns(10, "rails", 8, 25), gate.Regression},
		"beyond, of another source":       {25.1, gatetest.HungryRuns(10, "battery", 8, 25), gate.Regression},
		"beyond, without any history":     {25.1, nil, gate.Regression},
		"within, of another source":       {24.9, gatetest.HungryRuns(10, "battery", 8, 25), gate.Inconclusive},
		"within, and a third more joules": {24.9, gatetest.HungryRuns(10, "rails", 8, 18.7), gate.Regression},
	} {
		v := checkOne(p, gatetest.Hungry("new", "rails", 8, c.joules), c.history...)
		if v.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", name, v.Verdict, v.Reason, c.want)
		}
		if beyond := c.joules > budget; beyond != strings.Contains(v.Reason, "energy: 25.10 J, beyond the limit of 25.00 J") {
			t.Errorf("%s: %s", name, v.Reason)
		}
	}
	base, head := gatetest.HungryRounds("rails", 24), gatetest.HungryRounds("rails", 25.5)
	if v := sidebyside.Compare(p, metric.Default(), gatetest.Runs(base), gatetest.Runs(head)); v.Verdict != gate.Regression || !strings.Contains(v.Reason, "beyond the limit of 25.00 J") {
		t.Errorf("two builds: %s (%s)", v.Verdict, v.Reason)
	}
}

// No wakelock was held before; now one is held for ten minutes. One that was held for some
// milliseconds before may be held again.
func TestNewWakelocks(t *testing.T) {
	held := func(id string, ms float64) run.Run {
		return gatetest.Run(id, map[string]float64{"frames.duration_ms": 8, "wakelock.time_ms": ms, "wakelock.screen_off_ms": ms / 2})
	}
	var none, some []run.Run
	for i := range 12 {
		none = append(none, held(fmt.Sprint(i), 0))
		some = append(some, held(fmt.Sprint(i), 20+float64(i%3)))
	}
	p := gatetest.Policy(t, gate.PresetDefault)
	for name, c := range map[string]struct {
		now     float64
		history []run.Run
		want    gate.Direction
	}{
		"ten minutes out of nothing":  {600_000, none, gate.ToRegression},
		"nothing again":               {0, none, gate.None},
		"a blink out of nothing":      {40, none, gate.None},
		"twice a blink":               {44, some, gate.None},
		"ten minutes out of a blink":  {600_000, some, gate.ToRegression},
		"five seconds out of nothing": {5_000, none, gate.ToRegression},
	} {
		v := checkOne(p, held("new", c.now), c.history...)
		if d := comparisonOf(v, "wakelock.time_ms"); d.Direction != c.want {
			t.Errorf("%s: %s (%s), want %s", name, d.Direction, v.Reason, c.want)
		}
		if d := comparisonOf(v, "wakelock.screen_off_ms"); d.Metric != "" {
			t.Errorf("%s: the detail is judged beside its summary", name)
		}
	}
}

// Frames come from the timeline, and those of the accepted history from gfxinfo: the CPU time is
// compared with all of it, the frames with none, and that is reported once.
func TestFramesAreComparedWithinKind(t *testing.T) {
	of := func(n int, model, by string) (out []run.Run) {
		for i := range n {
			waver := 1 + 0.01*float64(i%3-1)
			totals := map[string]float64{"frames.smooth_ratio": 1 - 0.05*waver, "frames.duration_ms": 8 * waver, "cpu.time_ms": 100 * waver}
			context := map[string]string{"model": model}
			if by != "" {
				context[metric.FramesBy] = by
			}
			out = append(out, gatetest.In(gatetest.Run(fmt.Sprint(model, by, i), totals), context))
		}
		return out
	}
	now := func(by string) run.Run { r := of(1, "a", by)[0]; r.ID = "new"; return r }
	const both = "smooth ratio, time per frame"
	for name, c := range map[string]struct {
		now     run.Run
		history []run.Run
		n, cpu  int // values that the frames and the CPU time are compared with
		reason  string
		warning string
	}{
		"of before there was a timeline": {now("gfxinfo"), of(10, "a", ""), 10, 10, "", ""},
		"and the other way round":        {now(""), of(10, "a", "gfxinfo"), 10, 10, "", ""},
		"the first of the timeline": {now("timeline"), of(10, "a", ""), 0, 10, both + " have no comparable history",
			both + ` have no comparable history: frames_by is "timeline" here and "gfxinfo" in the accepted runs, and this verdict says nothing about them: accept 5 more runs that were measured as this one`},
		"the fourth": {now("timeline"), slices.Concat(of(10, "a", ""), of(3, "a", "timeline")), 3, 13, both + " have 3 comparable runs of the 5 that are needed",
			both + `: 10 of 13 accepted runs of this context were measured in another way and don't count: frames_by is "timeline" here and "gfxinfo" there; 2 more runs of its kind rebuild the history`},
		"the fifth": {now("timeline"), slices.Concat(of(1, "a", "gfxinfo"), of(4, "a", "timeline")), 4, 5, both + " have 4 comparable runs of the 5 that are needed",
			`1 of 5 accepted runs of this context was measured in another way and doesn't count: frames_by is "timeline" here and "gfxinfo" there; 1 more run of its kind rebuilds the history`},
		"the sixth": {now("timeline"), slices.Concat(of(10, "a", ""), of(5, "a", "timeline")), 5, 15, "", ""},
		"another phone has its kind": {now("timeline"), slices.Concat(of(10, "a", ""), of(6, "b", "timeline")), 6, 10, both + " have no comparable run of this context",
			"10 of 10 accepted runs of this context were measured in another way"},
		"another phone has the other": {now("timeline"), slices.Concat(of(10, "b", ""), of(6, "a", "timeline")), 6, 6, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := checkOne(gatetest.Policy(t, gate.PresetDefault), c.now, c.history...)
			if (v.Verdict == gate.Pass) != (c.reason == "") || v.Verdict == gate.Regression || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: %q, want a pass, or a doubt with %q", v.Verdict, v.Reason, c.reason)
			}
			for name, n := range map[string]int{"frames.smooth_ratio": c.n, "frames.duration_ms": c.n, "cpu.time_ms": c.cpu} {
				if d := comparisonOf(v, name); d.N != n {
					t.Errorf("%s is compared with %d values, want %d", name, d.N, n)
				}
			}
			told := slices.DeleteFunc(slices.Clone(v.Warnings), func(w run.Warning) bool { return !strings.Contains(w.Text, "frame") })
			if (len(told) == 1) != (c.warning != "") || len(told) > 1 || c.warning != "" && !strings.Contains(told[0].Text, c.warning) {
				t.Errorf("warnings %q, want one with %q", v.Warnings, c.warning)
			}
		})
	}
	// A start that was hardly ever measured is reported along with frames that are measured in
	// another way.
	started := func(r run.Run) run.Run {
		r.Iterations[0].Metrics["startup.ttid_ms"] = 300
		return r
	}
	known := slices.Concat(of(10, "a", ""), of(3, "a", "timeline"))
	known[0] = started(known[0])
	v := checkOne(gatetest.Policy(t, gate.PresetDefault), started(now("timeline")), known...)
	if !strings.Contains(v.Reason, "time to initial display has 1 comparable run of the 5 that are needed; "+both+" have 3") || len(v.Warnings) != 1 {
		t.Errorf("%q, want the frames and the start; warnings %q", v.Reason, v.Warnings)
	}
	// Frames that are much slower are a regression compared with their own kind, however many of
	// the other there are.
	slow := now("timeline")
	slow.Iterations[0].Metrics["frames.duration_ms"] = 16
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), slow, slices.Concat(of(10, "a", ""), of(6, "a", "timeline"))...); v.Verdict != gate.Regression {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// A metric has no comparable history where no accepted run has it in the same way and it is
// measured in several ways. A metric that is compared in the whole run has one, and a new metric is
// reported elsewhere.
func TestMetricsWithoutComparableHistory(t *testing.T) {
	of := func(event, metric string, n int) gate.Comparison {
		return gate.Comparison{Event: event, Metric: metric, N: n}
	}
	for name, c := range map[string]struct {
		done []gate.Comparison
		want []string
	}{
		"energy, nowhere":          {[]gate.Comparison{of("", "energy.total_j", 0), of("tap", "energy.total_j", 0), of("", "cpu.time_ms", 9)}, []string{"energy.total_j"}},
		"energy, of the whole run": {[]gate.Comparison{of("", "energy.total_j", 9), of("tap", "energy.total_j", 0)}, nil},
		"processor time, new":      {[]gate.Comparison{of("", "cpu.time_ms", 0)}, nil},
		"all":                      {[]gate.Comparison{of("", "energy.total_j", 9), of("", "cpu.time_ms", 9)}, nil},
	} {
		var got []string
		for _, a := range (&check{catalogue: metric.Default(), done: c.done}).incomparableMetrics() {
			got = append(got, a.metrics...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
