package sidebyside

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func TestLostMetricIsADoubt(t *testing.T) {
	with := func(metrics ...string) func(int) map[string]float64 {
		return func(i int) map[string]float64 {
			out := map[string]float64{}
			for _, name := range metrics {
				out[name] = 600 + float64(i%4)
			}
			return out
		}
	}
	const pss, cpu = "memory.pss_kb", "cpu.time_ms"
	for name, c := range map[string]struct {
		base, head func(int) map[string]float64
		want       gate.Outcome
		warning    string
	}{
		"the head lost it":            {with(pss, cpu), with(cpu), gate.Inconclusive, "memory (PSS) was measured for the base build but not for the head build"},
		"the head brings it along":    {with(cpu), with(pss, cpu), gate.Pass, "memory (PSS) was measured only for the head build"},
		"both have it":                {with(pss, cpu), with(pss, cpu), gate.Pass, ""},
		"the head lost it once in 12": {with(pss, cpu), func(i int) map[string]float64 { return with([]string{cpu, pss}[:min(2, 1+i)]...)(i) }, gate.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 12, c.base)), gatetest.Runs(gatetest.Rounds("h", 12, c.head)))
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

// A metric that is not judged is not missing.
func TestUnjudgedMetricIsNotLost(t *testing.T) {
	p := gatetest.Lenient(t)
	p.Thresholds = []gate.Threshold{{Metric: "memory.pss_kb", Ignore: true}}
	of := func(id string, metrics ...string) []run.Run {
		return gatetest.Runs(gatetest.Rounds(id, 12, func(i int) map[string]float64 {
			out := map[string]float64{}
			for _, name := range metrics {
				out[name] = 600 + float64(i%4)
			}
			return out
		}))
	}
	if v := Compare(p, metric.Default(), of("b", "cpu.time_ms", "memory.pss_kb"), of("h", "cpu.time_ms")); v.Verdict != gate.Pass || len(v.Warnings) != 0 {
		t.Errorf("%s: %s, %v", v.Verdict, v.Reason, v.Warnings)
	}
}

func TestSeveralLostMetrics(t *testing.T) {
	all := func(i int) map[string]float64 {
		return map[string]float64{"cpu.time_ms": 600 + float64(i%4), "memory.pss_kb": 600, "startup.ttid_ms": 300}
	}
	cpu := func(i int) map[string]float64 { return map[string]float64{"cpu.time_ms": all(i)["cpu.time_ms"]} }
	v := compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 12, all)), gatetest.Runs(gatetest.Rounds("h", 12, cpu)))
	if want := " were measured for the base build but not for the head build"; v.Verdict != gate.Inconclusive || !strings.Contains(v.Reason, want) {
		t.Errorf("%s: %q, want %q in it", v.Verdict, v.Reason, want)
	}
}

// Twelve rounds without any difference are enough: they would have shown one.
func TestEqualRoundsPass(t *testing.T) {
	same := func(int) map[string]float64 { return map[string]float64{"memory.pss_kb": 600} }
	v := compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 12, same)), gatetest.Runs(gatetest.Rounds("h", 12, same)))
	d := v.Scenarios[0].Comparisons[0]
	if v.Verdict != gate.Pass || !strings.Contains(v.Reason, "worse by at most 0.0 % (memory (PSS))") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if !d.HasInterval() || gatetest.End(d.ShiftLow) != 0 || gatetest.End(d.ShiftHigh) != 0 {
		t.Errorf("the interval is %v to %v, want 0 to 0", d.ShiftLow, d.ShiftHigh)
	}
	v = compareBoth(t, gatetest.Runs(gatetest.Rounds("b", 3, same)), gatetest.Runs(gatetest.Rounds("h", 3, same)))
	if d := v.Scenarios[0].Comparisons[0]; v.Verdict != gate.Inconclusive || d.HasInterval() {
		t.Errorf("three equal rounds: %s: %s; %+v", v.Verdict, v.Reason, d)
	}
	// Six runs of each build, at other times, are enough too; two are not.
	for n, want := range map[int]gate.Outcome{6: gate.Pass, 2: gate.Inconclusive} {
		var base, head []run.Run
		for i := range n {
			for side, to := range map[string]*[]run.Run{"b": &base, "h": &head} {
				r := gatetest.Run(fmt.Sprint(side, i), map[string]float64{"memory.pss_kb": 600})
				r.Session = r.ID
				*to = append(*to, r)
			}
		}
		if v := Compare(gatetest.Lenient(t), metric.Default(), base, head); v.Verdict != want {
			t.Errorf("%d equal runs of each build: %s: %s, want %s", n, v.Verdict, v.Reason, want)
		}
	}
}

// A head build that drew almost none of the base's frames did not do the same work, however smooth
// the rest was.
func TestLostFramesAreADoubt(t *testing.T) {
	of := func(id, model string, frames float64) run.Run {
		r := gatetest.Rounds(id, 12, func(i int) map[string]float64 { return gatetest.Frames(frames+float64(i%4), 0.95, 8) })
		r.Context = map[string]string{"model": model}
		for i := range r.Iterations {
			r.Iterations[i].Events = []run.Bucket{{Name: "tap", Metrics: gatetest.Frames(frames/2, 0.95, 8)}}
		}
		return r
	}
	one := func(frames float64) []run.Run { return gatetest.Runs(of("r", "a", frames)) }
	two := func(a, b float64) []run.Run { return gatetest.Runs(of("r", "a", a), of("s", "b", b)) }
	for name, c := range map[string]struct {
		base, head []run.Run
		change     func(*gate.Policy)
		want       gate.Outcome
		said       string
	}{
		"a third fewer":            {one(600), one(400), func(*gate.Policy) {}, gate.Pass, ""},
		"most are gone":            {one(600), one(100), func(*gate.Policy) {}, gate.Inconclusive, "101.5 where the base has 601.5, 50 where the base has 300 (after tap)"},
		"twice as many":            {one(100), one(600), func(*gate.Policy) {}, gate.Pass, ""},
		"few there were":           {one(6), one(1), func(*gate.Policy) {}, gate.Pass, ""},
		"on one phone of two":      {two(600, 600), two(600, 100), func(p *gate.Policy) { p.Grain = gate.Coarse }, gate.Inconclusive, "101.5 where the base has 601.5 on b"},
		"nobody asks for frames":   {one(600), one(100), func(p *gate.Policy) { p.Metrics = []string{"cpu.time_ms"} }, gate.Inconclusive, ""},
		"they are judged by name":  {one(600), one(100), func(p *gate.Policy) { p.Metrics = []string{"frames.count"} }, gate.Regression, ""},
		"more places than a title": {two(600, 600), two(100, 100), func(*gate.Policy) {}, gate.Inconclusive, "50 where the base has 300 (after tap) on a, 101.5 where the base has 601.5 on b, 1 more"},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatetest.Lenient(t)
			c.change(&p)
			v := Compare(p, metric.Default(), c.base, c.head)
			if v.Verdict != c.want || !strings.HasSuffix(v.Reason, c.said) || len(v.Warnings) > 0 { // which are reported once
				t.Errorf("%s: %s; warnings %v", v.Verdict, v.Reason, v.Warnings)
			}
		})
	}
	slow := of("r", "a", 100)
	for i := range slow.Iterations {
		slow.Iterations[i].Metrics["frames.duration_ms"] = 12
	}
	v := Compare(gatetest.Lenient(t), metric.Default(), one(600), gatetest.Runs(slow))
	if v.Verdict != gate.Regression || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, "fewer than half of the base build's frames: 101.5") {
		t.Errorf("slower, and most are gone: %s: %s; warnings %v, want one of the frames", v.Verdict, v.Reason, v.Warnings)
	}
}
