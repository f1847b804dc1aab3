package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// measured are n runs of a phone that have these metrics.
func measured(n int, model string, metrics ...string) []run.Run {
	var out []run.Run
	for i := range n {
		totals := map[string]float64{}
		for _, name := range metrics {
			totals[name] = 100 + float64(i%3)
		}
		out = append(out, withContext(oneRun(fmt.Sprint(model, i), totals), map[string]string{"model": model}))
	}
	return out
}

func TestAMetricThatGotLostIsADoubt(t *testing.T) {
	const ms, cpu = "frames.duration_ms", "cpu.time_ms"
	ten := measured(10, "a", ms, cpu)
	now := measured(2, "a", cpu)[1]
	now.ID = "new"
	for name, c := range map[string]struct {
		history []run.Run
		change  func(*Policy)
		want    Outcome
	}{
		"all had it":                      {ten, func(*Policy) {}, Inconclusive},
		"more than half had it":           {slices.Concat(ten[:6], measured(10, "a", cpu)[6:]), func(*Policy) {}, Inconclusive},
		"half had it":                     {slices.Concat(ten[:5], measured(10, "a", cpu)[5:]), func(*Policy) {}, Pass},
		"other phones have it":            {slices.Concat(measured(6, "a", cpu), measured(20, "b", ms, cpu)), func(*Policy) {}, Pass},
		"nobody asks for it":              {ten, func(p *Policy) { p.Metrics = []string{cpu} }, Pass},
		"it is ignored":                   {ten, func(p *Policy) { p.Thresholds = []Threshold{{Metric: ms, Ignore: true}} }, Pass},
		"a detail of what is still there": {measured(10, "a", cpu, "energy.app_j"), func(*Policy) {}, Inconclusive},
		"the paper's preset":              {ten, func(p *Policy) { *p = policy(t, PresetDune) }, Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, PresetDefault)
			c.change(&p)
			v := checkOne(p, now, c.history...)
			if v.Verdict != c.want {
				t.Errorf("%s: %s, want %s", v.Verdict, v.Reason, c.want)
			}
			said := slices.ContainsFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, "was not measured, and") })
			if said != (c.want == Inconclusive) || c.want == Inconclusive && !strings.Contains(v.Reason, "was not measured") {
				t.Errorf("%s; warnings: %v", v.Reason, v.Warnings)
			}
		})
	}
	worse := now
	worse.Iterations = []run.Iteration{{Metrics: map[string]float64{cpu: 300}}}
	if v := checkOne(policy(t, PresetDefault), worse, ten...); v.Verdict != Regression {
		t.Errorf("three times the CPU time: %s", v.Verdict)
	}
}

// rounds is a run of n repetitions.
func rounds(id string, n int, metrics func(i int) map[string]float64) run.Run {
	r := oneRun(id, nil)
	r.Session, r.Iterations = "s", nil
	for i := range n {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: metrics(i)})
	}
	return r
}

func TestABAMetricThatGotLostIsADoubt(t *testing.T) {
	with := func(metrics ...string) func(int) map[string]float64 {
		return func(i int) map[string]float64 {
			out := map[string]float64{}
			for _, name := range metrics {
				out[name] = 600 + float64(i%4)
			}
			return out
		}
	}
	const count, cpu = "frames.count", "cpu.time_ms"
	for name, c := range map[string]struct {
		base, head func(int) map[string]float64
		want       Outcome
		warning    string
	}{
		"the head lost it":            {with(count, cpu), with(cpu), Inconclusive, "frames rendered was measured of the base build and not of the head build"},
		"the head brings it along":    {with(cpu), with(count, cpu), Pass, "frames rendered was measured of the head build alone"},
		"both have it":                {with(count, cpu), with(count, cpu), Pass, ""},
		"the head lost it once in 12": {with(count, cpu), func(i int) map[string]float64 { return with([]string{cpu, count}[:min(2, 1+i)]...)(i) }, Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := compareAB(t, list(rounds("b", 12, c.base)), list(rounds("h", 12, c.head)))
			if v.Verdict != c.want {
				t.Errorf("%s: %s, want %s", v.Verdict, v.Reason, c.want)
			}
			if c.warning == "" && len(v.Warnings) == 0 {
				return
			}
			if len(v.Warnings) != 1 || c.warning == "" || !strings.Contains(v.Warnings[0].Text, c.warning) {
				t.Errorf("warnings %v, want %q", v.Warnings, c.warning)
			}
		})
	}
}

func TestABSeveralLostMetrics(t *testing.T) {
	all := func(i int) map[string]float64 {
		return map[string]float64{"cpu.time_ms": 600 + float64(i%4), "frames.count": 600, "startup.ttid_ms": 300}
	}
	cpu := func(i int) map[string]float64 { return map[string]float64{"cpu.time_ms": all(i)["cpu.time_ms"]} }
	v := compareAB(t, list(rounds("b", 12, all)), list(rounds("h", 12, cpu)))
	if want := " were measured of the base build and not of the head build"; v.Verdict != Inconclusive || !strings.Contains(v.Reason, want) {
		t.Errorf("%s: %q, want %q in it", v.Verdict, v.Reason, want)
	}
}

// Twelve rounds in which nothing differs are enough: had there been a difference,
// they would have shown it.
func TestABEqualRoundsPass(t *testing.T) {
	same := func(int) map[string]float64 { return map[string]float64{"frames.count": 600} }
	v := compareAB(t, list(rounds("b", 12, same)), list(rounds("h", 12, same)))
	d := v.Scenarios[0].Comparisons[0]
	if v.Verdict != Pass || !strings.Contains(v.Reason, "worse by at most 0.0 % (frames rendered)") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if !d.HasInterval() || end(d.ShiftLow) != 0 || end(d.ShiftHigh) != 0 {
		t.Errorf("the interval is %v to %v, want 0 to 0", d.ShiftLow, d.ShiftHigh)
	}
	v = compareAB(t, list(rounds("b", 3, same)), list(rounds("h", 3, same)))
	if d := v.Scenarios[0].Comparisons[0]; v.Verdict != Inconclusive || d.HasInterval() {
		t.Errorf("three equal rounds: %s: %s; %+v", v.Verdict, v.Reason, d)
	}
	// Six runs of each build, at other times, are enough too; two are not.
	for n, want := range map[int]Outcome{6: Pass, 2: Inconclusive} {
		var base, head []run.Run
		for i := range n {
			for side, to := range map[string]*[]run.Run{"b": &base, "h": &head} {
				r := oneRun(fmt.Sprint(side, i), map[string]float64{"frames.count": 600})
				r.Session = r.ID
				*to = append(*to, r)
			}
		}
		if v := CompareAB(policy(t, PresetDefault), metric.Default(), base, head); v.Verdict != want {
			t.Errorf("%d equal runs of each build: %s: %s, want %s", n, v.Verdict, v.Reason, want)
		}
	}
}
