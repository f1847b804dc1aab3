package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// hungry is a run of one phone with a time per frame and joules of a source; of
// no source where it is "".
func hungry(id, source string, ms, joules float64) run.Run {
	context := map[string]string{"model": "a"}
	if source != "" {
		context[run.EnergyFrom] = source
	}
	return withContext(oneRun(id, map[string]float64{"frames.duration_ms": ms, "energy.total_j": joules}), context)
}

// hungryRuns are n that waver by a per cent or two.
func hungryRuns(n int, source string, ms, joules float64) []run.Run {
	var out []run.Run
	for i := range n {
		waver := 1 + 0.01*float64(i%3-1)
		out = append(out, hungry(fmt.Sprint(source, i), source, ms*waver, joules*waver))
	}
	return out
}

func comparisonOf(v RunVerdict, metric string) Comparison {
	at := slices.IndexFunc(v.Comparisons, func(c Comparison) bool { return c.Event == "" && c.Metric == metric })
	if at < 0 {
		return Comparison{}
	}
	return v.Comparisons[at]
}

func TestJoulesAreComparedWithinTheirSource(t *testing.T) {
	frames := steady(10, map[string]string{"model": "a"}, 8)
	for name, c := range map[string]struct {
		now     run.Run
		history []run.Run
		want    Outcome
		n       int // values that the joules are compared with
		reason  string
		warning string
	}{
		"the same source":             {hungry("new", "rails", 8, 30), hungryRuns(10, "rails", 8, 30), Pass, 10, "energy by", ""},
		"the same, three times it":    {hungry("new", "rails", 8, 90), hungryRuns(10, "rails", 8, 30), Regression, 10, "energy: 90.00 J", ""},
		"another source":              {hungry("new", "battery", 8, 90), hungryRuns(10, "rails", 8, 30), Pass, 0, "; energy has no comparable history", `energy_from is "battery" here and "rails" in the accepted runs`},
		"another source, slow frames": {hungry("new", "battery", 12, 30), hungryRuns(10, "rails", 8, 30), Regression, 0, "time per frame: 12.00 ms", `"rails" in the accepted runs`},
		"another profile of a model":  {hungry("new", "model a", 8, 90), hungryRuns(10, "model b", 8, 30), Pass, 0, "no comparable history", `"model b"`},
		"two sources, its own tells":  {hungry("new", "battery", 8, 30), slices.Concat(hungryRuns(10, "rails", 8, 30), hungryRuns(10, "battery", 8, 20)), Regression, 10, "energy: 30.00 J", ""},
		"two sources, as its own":     {hungry("new", "battery", 8, 20), slices.Concat(hungryRuns(10, "rails", 8, 30), hungryRuns(10, "battery", 8, 20)), Pass, 10, "energy by", ""},
		"few of its own":              {hungry("new", "battery", 8, 20.5), slices.Concat(hungryRuns(10, "rails", 8, 30), hungryRuns(2, "battery", 8, 20)), Pass, 2, "energy has 2 comparable runs of the 5 that are needed", "energy has 2 comparable runs of the 5 that are needed"},
		"no energy before":            {hungry("new", "rails", 8, 30), frames, Pass, 0, "; energy has no comparable history", "no accepted run that this one is compared with has energy.total_j"},
		"no energy before, slower":    {hungry("new", "rails", 9, 30), frames, Regression, 0, "time per frame: 9.00 ms", ""},
		"imported, of no source":      {hungry("new", "", 8, 90), hungryRuns(10, "", 8, 30), Regression, 10, "energy: 90.00 J", ""},
		"of a source, imported ones":  {hungry("new", "rails", 8, 90), hungryRuns(10, "", 8, 30), Pass, 0, "no comparable history", "not said in the accepted runs"},
		"imported, ones of a source":  {hungry("new", "", 8, 90), hungryRuns(10, "rails", 8, 30), Pass, 0, "no comparable history", "energy_from is not said here"},
	} {
		t.Run(name, func(t *testing.T) {
			v := checkOne(policy(t, PresetDefault), c.now, c.history...)
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

func TestJoulesOfAnotherSourceAloneDecideNothing(t *testing.T) {
	only := func(r run.Run) run.Run {
		delete(r.Iterations[0].Metrics, "frames.duration_ms")
		return r
	}
	var history []run.Run
	for _, r := range hungryRuns(10, "rails", 8, 30) {
		history = append(history, only(r))
	}
	v := checkOne(policy(t, PresetDefault), only(hungry("new", "battery", 8, 90)), history...)
	if v.Verdict != Inconclusive || !strings.Contains(v.Reason, `energy_from is "battery" here and "rails" in the accepted runs`) {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

func TestDuneTooComparesJoulesWithinTheirSource(t *testing.T) {
	history := slices.Concat(hungryRuns(10, "rails", 8, 30), hungryRuns(10, "battery", 8, 20))
	v := checkOne(policy(t, PresetDune), hungry("new", "battery", 8, 30), history...)
	if d := comparisonOf(v, "energy.total_j"); d.Direction != ToRegression || d.N != 11 || comparisonOf(v, "frames.duration_ms").N != 21 {
		t.Errorf("%s of %d values, want a regression of 11: the ten of its source and itself", d.Direction, d.N)
	}
}

// Of several runs in a check each is compared with those of its own source.
func TestRunsOfSeveralSourcesInOneCheck(t *testing.T) {
	p := policy(t, PresetDefault)
	refs := summaries(p, slices.Concat(hungryRuns(10, "rails", 8, 30), hungryRuns(10, "battery", 8, 20))...)
	v := Check(p, metric.Default(), []Subject{
		{Run: hungry("a", "rails", 8, 30), References: refs},
		{Run: hungry("b", "battery", 8, 20), References: refs},
		{Run: hungry("c", "battery", 8, 30), References: refs},
	})
	var got []Outcome
	for _, r := range v.Runs {
		got = append(got, r.Verdict)
	}
	if want := []Outcome{Pass, Pass, Regression}; !slices.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}

func TestBudgetsInJoules(t *testing.T) {
	budget := 25.0
	p := policy(t, PresetDefault)
	p.Thresholds = []Threshold{{Metric: "energy.total_j", Max: &budget}}
	for name, c := range map[string]struct {
		joules  float64
		history []run.Run
		want    Outcome
	}{
		"within":                          {24.9, hungryRuns(10, "rails", 8, 25), Pass},
		"beyond, as the history is":       {25.1, hungryRuns(10, "rails", 8, 25), Regression},
		"beyond, of another source":       {25.1, hungryRuns(10, "battery", 8, 25), Regression},
		"beyond, without any history":     {25.1, nil, Regression},
		"within, of another source":       {24.9, hungryRuns(10, "battery", 8, 25), Pass},
		"within, and a third more joules": {24.9, hungryRuns(10, "rails", 8, 18.7), Regression},
	} {
		v := checkOne(p, hungry("new", "rails", 8, c.joules), c.history...)
		if v.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", name, v.Verdict, v.Reason, c.want)
		}
		if beyond := c.joules > budget; beyond != strings.Contains(v.Reason, "energy: 25.10 J, beyond the limit of 25.00 J") {
			t.Errorf("%s: %s", name, v.Reason)
		}
	}
	base, head := hungryRounds("rails", 24), hungryRounds("rails", 25.5)
	if v := CompareAB(p, metric.Default(), list(base), list(head)); v.Verdict != Regression || !strings.Contains(v.Reason, "beyond the limit of 25.00 J") {
		t.Errorf("two builds: %s (%s)", v.Verdict, v.Reason)
	}
}

// hungryRounds is a run of a dozen rounds that share their session. Its time per
// frame wavers with the joules, so that those of two builds are not the same.
func hungryRounds(source string, joules float64) run.Run {
	r := hungry("r", source, 8, joules)
	r.Session, r.Iterations = "together", nil
	for i := range 12 {
		waver := 1 + 0.01*float64(i%5)
		ms := 8 + 0.01*float64(i*int(joules)%7)
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": ms, "energy.total_j": joules * waver}})
	}
	return r
}

func TestABComparesJoulesWithinTheirSource(t *testing.T) {
	v := compareAB(t, list(hungryRounds("rails", 30)), list(hungryRounds("rails", 36)))
	if v.Verdict != Regression || !strings.Contains(v.Reason, "energy: ") || len(v.Warnings) > 0 {
		t.Errorf("one source: %s (%s), %v", v.Verdict, v.Reason, v.Warnings)
	}
	v = compareAB(t, list(hungryRounds("rails", 30)), list(hungryRounds("battery", 90)))
	s := v.Scenarios[0]
	if v.Verdict != Pass || len(s.Comparisons) != 1 || s.Comparisons[0].Metric != "frames.duration_ms" || s.Comparisons[0].N != 12 {
		t.Errorf("two sources: %s, %+v; want the frames alone compared", v.Verdict, s.Comparisons)
	}
	const want = `energy can't be compared: energy_from is "rails" of the base build and "battery" of the head build`
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, want) || !strings.Contains(v.Warnings[0].Text, "energy.source") {
		t.Errorf("warnings %v, want one with %s", v.Warnings, want)
	}
	if !strings.Contains(v.Reason, "energy was not compared") {
		t.Errorf("the reason keeps silent of it: %s", v.Reason)
	}
	alone := Threshold{Metric: "frames.duration_ms", Ignore: true}
	p := policy(t, PresetDefault)
	p.Thresholds = []Threshold{alone}
	v = CompareAB(p, metric.Default(), list(hungryRounds("rails", 30)), list(hungryRounds("battery", 90)))
	if v.Verdict != Inconclusive || !strings.Contains(v.Reason, want) {
		t.Errorf("joules alone: %s (%s), want inconclusive", v.Verdict, v.Reason)
	}
}

// One phone of two changed its source: the other's joules are still compared.
func TestABComparesWhatItCan(t *testing.T) {
	on := func(model string, r run.Run) run.Run {
		r.Context["model"], r.Session = model, "together on "+model
		return r
	}
	v := compareAB(t,
		list(on("a", hungryRounds("rails", 30)), on("b", hungryRounds("rails", 30))),
		list(on("a", hungryRounds("rails", 36)), on("b", hungryRounds("battery", 90))))
	at := slices.IndexFunc(v.Scenarios[0].Comparisons, func(d ABComparison) bool { return d.Metric == "energy.total_j" })
	if at < 0 || v.Scenarios[0].Comparisons[at].N != 12 || v.Verdict != Regression {
		t.Fatalf("%s: %+v", v.Verdict, v.Scenarios[0].Comparisons)
	}
	if got := v.Scenarios[0].Comparisons[at].Change; got < 0.199 || got > 0.201 {
		t.Errorf("change %+.3f, want the +20 %% of phone a", got)
	}
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, " on b, and is left out") {
		t.Errorf("warnings %v, want one of phone b", v.Warnings)
	}
}

// Nights of joules by rails, then two by the battery at half of it: no drift, and
// none of the new source that could be told yet.
func TestDriftStaysWithinASource(t *testing.T) {
	var before []run.Run
	for i, r := range hungryRuns(9, "rails", 8, 40) {
		r.Started = time.Date(2026, 1, 1+i, 3, 0, 0, 0, time.UTC)
		before = append(before, r)
	}
	last := hungry("last", "battery", 8, 20)
	last.Started = time.Date(2026, 1, 10, 3, 0, 0, 0, time.UTC)
	now := hungry("now", "battery", 8, 20)
	now.Started = time.Date(2026, 1, 11, 3, 0, 0, 0, time.UTC)
	lines := DriftOf(policy(t, PresetDefault), metric.Default(), list(now), list(last), append(before, last))
	at := slices.IndexFunc(lines, func(l DriftLine) bool { return l.Metric == "energy.total_j" })
	if at < 0 || math.Abs(lines[at].Now-20) > 1e-9 || lines[at].SinceLast == nil || lines[at].SinceAll.Runs != 1 || math.Abs(lines[at].SinceAll.Change) > 1e-9 || lines[at].Creep != nil {
		t.Errorf("%+v, want no change from the one run of its source", lines)
	}
	frames := slices.IndexFunc(lines, func(l DriftLine) bool { return l.Metric == "frames.duration_ms" })
	if lines[frames].SinceAll.Runs != 10 {
		t.Errorf("the frames are compared with %d runs, want all 10", lines[frames].SinceAll.Runs)
	}
}

// Nobody held a wakelock before; now one is held for ten minutes. And who held
// one for some milliseconds may do so again.
func TestWakelocksOutOfNothing(t *testing.T) {
	held := func(id string, ms float64) run.Run {
		return oneRun(id, map[string]float64{"frames.duration_ms": 8, "wakelock.time_ms": ms, "wakelock.screen_off_ms": ms / 2})
	}
	var none, some []run.Run
	for i := range 12 {
		none = append(none, held(fmt.Sprint(i), 0))
		some = append(some, held(fmt.Sprint(i), 20+float64(i%3)))
	}
	p := policy(t, PresetDefault)
	for name, c := range map[string]struct {
		now     float64
		history []run.Run
		want    Direction
	}{
		"ten minutes out of nothing":  {600_000, none, ToRegression},
		"nothing again":               {0, none, None},
		"a blink out of nothing":      {40, none, None},
		"twice a blink":               {44, some, None},
		"ten minutes out of a blink":  {600_000, some, ToRegression},
		"five seconds out of nothing": {5_000, none, ToRegression},
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

// The same of two builds.
func TestABWakelocksOutOfNothing(t *testing.T) {
	held := func(id string, ms float64) run.Run {
		r := repeated(id, "s", "a", rising(12, 1)...)
		for i := range r.Iterations {
			r.Iterations[i].Metrics["wakelock.time_ms"] = ms * (1 + 0.01*float64(i)) // zero stays zero
		}
		return r
	}
	for ms, want := range map[float64]Direction{0: None, 40: None, 600_000: ToRegression} {
		v := compareAB(t, list(held("b", 0)), list(held("h", ms)))
		at := slices.IndexFunc(v.Scenarios[0].Comparisons, func(d ABComparison) bool { return d.Metric == "wakelock.time_ms" })
		if at < 0 || v.Scenarios[0].Comparisons[at].Direction != want {
			t.Errorf("%.0f ms out of nothing: %+v, want %s", ms, v.Scenarios[0].Comparisons, want)
		}
	}
}

// Three packages that may not import each other name the same property.
func TestTheSourceHasOneName(t *testing.T) {
	m, _ := metric.Default().Lookup("energy.total_j")
	if m.Within != run.EnergyFrom || devctx.EnergyFrom != run.EnergyFrom {
		t.Errorf("metric says %q, context %q, run %q", m.Within, devctx.EnergyFrom, run.EnergyFrom)
	}
}

// Three of twenty accepted runs were put on the small cores, and took a fifth more:
// the next that is, is no regression; one that takes more than these is. One such
// run excuses nothing.
func TestAModeSeenBeforeIsNoRegression(t *testing.T) {
	history := hungryRuns(20, "rails", 8, 60)
	for i, want := range []Direction{ToRegression, ToRegression, None, None} {
		v := checkOne(policy(t, PresetDefault), hungry("new", "rails", 8, 71), history...)
		if d := comparisonOf(v, "energy.total_j"); d.Direction != want {
			t.Errorf("after %d such runs: %s (%s), want %s", i, d.Direction, v.Reason, want)
		}
		history[5*i] = hungry(fmt.Sprint("small", i), "rails", 8, 72+float64(i)/10)
	}
	if v := checkOne(policy(t, PresetDefault), hungry("new", "rails", 8, 85), history...); v.Verdict != Regression {
		t.Errorf("beyond both modes: %s (%s)", v.Verdict, v.Reason)
	}
	// What would have been seen lies beyond the second mode too: 72.2 J for 60 J.
	v := checkOne(policy(t, PresetDefault), hungry("new", "rails", 8, 60), history...)
	if d := comparisonOf(v, "energy.total_j"); d.Detectable*d.Expected+d.Expected < 72.2 {
		t.Errorf("a pass claims to see a worsening by %.0f %%, which was seen four times and excused", 100*d.Detectable)
	}
}
