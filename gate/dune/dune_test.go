package dune_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

const cpu = "cpu.time_ms"

func check(p gate.Policy, r run.Run, accepted ...run.Run) gate.Verdict {
	return history.Check(p, metric.Default(), []history.Subject{{Run: r, References: gatetest.Summaries(p, accepted...)}})
}

func checkOne(p gate.Policy, r run.Run, accepted ...run.Run) gate.RunVerdict {
	return check(p, r, accepted...).Runs[0]
}

// A budget applies whatever the history and the preset.
func TestBudgetsWithEveryPreset(t *testing.T) {
	most, least := 500.0, 50.0
	wide := []float64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}
	for _, preset := range gate.Presets() {
		p := gatetest.Policy(t, preset)
		p.Thresholds = []gate.Threshold{{Metric: cpu, Max: &most, Min: &least}}
		for ms, broken := range map[float64]*float64{900: &most, 10: &least} {
			v := checkOne(p, gatetest.Nearly("a", cpu, ms), gatetest.On("a", cpu, wide...)...)
			if d := v.Comparisons[0]; v.Verdict != gate.Regression || d.Limit == nil || *d.Limit != *broken {
				t.Errorf("%s: %g ms of %g to %g: %s: %s", preset, ms, least, most, v.Verdict, v.Reason)
			}
			if v := checkOne(p, gatetest.Nearly("a", cpu, ms)); v.Verdict != gate.Regression {
				t.Errorf("%s: %g ms of %g to %g without a history: %s", preset, ms, least, most, v.Verdict)
			}
		}
		v := checkOne(p, gatetest.Nearly("a", cpu, 450), gatetest.On("a", cpu, wide...)...)
		if d := v.Comparisons[0]; d.Limit != nil || d.Direction == gate.ToRegression {
			t.Errorf("%s: 450 ms: %s beyond %v", preset, d.Direction, d.Limit)
		}
	}
}

// The warning that nothing could be flagged appears exactly where that is so, whatever the factor:
// of n equal runs the worst one is beyond the fence if and only if there is no warning.
func TestDuneWarnsOfSmallClustersOnly(t *testing.T) {
	for _, factor := range []float64{0.1, 0.3, 0.5, 1, 1.5, 3, 10} {
		for n := 1; n <= 8; n++ {
			p := judging(t, gate.ClusterLiteral, cpu)
			p.OutlierFactor = factor
			same := make([]float64, n)
			for i := range same {
				same[i] = 100
			}
			v := checkOne(p, gatetest.Nearly("a", cpu, 1e6), gatetest.On("a", cpu, same...)...)
			if flagged, warned := v.Verdict == gate.Regression, len(v.Warnings) > 0; flagged == warned {
				t.Errorf("factor %g, %d runs: %s, warnings %v", factor, n, v.Verdict, v.Warnings)
			}
		}
	}
	// Another factor for one metric can flag where the policy's can't.
	p, low := judging(t, gate.ClusterLiteral, cpu), 0.3
	p.Thresholds = []gate.Threshold{{Metric: cpu, OutlierFactor: &low}}
	if v := checkOne(p, gatetest.Nearly("a", cpu, 900), gatetest.On("a", cpu, 100, 100, 100, 100)...); v.Verdict != gate.Regression || len(v.Warnings) != 0 {
		t.Errorf("%s, warnings %v", v.Verdict, v.Warnings)
	}
}

// judging returns the preset with these metrics, following the letter of the paper or not.
func judging(t *testing.T, c gate.Cluster, metrics ...string) gate.Policy {
	t.Helper()
	p := gatetest.Judging(t, gate.PresetDune, metrics...)
	p.Cluster = c
	return p
}

// A large nearest cluster counts alone, whatever the reading: six runs of the same phone, not
// twenty others. A small one is joined with the next in rank until there are five, unless the
// letter of the paper is configured.
func TestNearestClusters(t *testing.T) {
	phone := func(model, network string, ms ...float64) []run.Run {
		var out []run.Run
		for i, r := range gatetest.On(model, cpu, ms...) {
			r.ID = fmt.Sprint(model, network, i)
			out = append(out, gatetest.In(r, map[string]string{"model": model, "network": network}))
		}
		return out
	}
	now := gatetest.In(gatetest.Nearly("a", cpu, 102), map[string]string{"model": "a", "network": "wifi"})
	others := phone("b", "3g", make([]float64, 20)...)
	six := phone("a", "wifi", 100, 101, 102, 103, 104, 105)
	for name, c := range map[string]struct {
		cluster  gate.Cluster
		accepted []run.Run
		change   func(*gate.Policy)
		n        int
		expected float64
		joined   bool
	}{
		"six, joined":      {gate.ClusterJoined, slices.Concat(others, six), nil, 7, 102.5, false},
		"six, literal":     {gate.ClusterLiteral, slices.Concat(others, six), nil, 7, 102.5, false},
		"six, by default":  {"", slices.Concat(others, six), nil, 7, 102.5, false},
		"two, literal":     {gate.ClusterLiteral, slices.Concat(others, six[:2]), nil, 3, 100.5, false},
		"two, joined":      {gate.ClusterJoined, slices.Concat(others, six[:2], phone("c", "wifi", 106, 107, 108)), nil, 6, 104.4, true},
		"all there are":    {gate.ClusterJoined, slices.Concat(six[:2], phone("c", "wifi", 103)), nil, 4, 304.0 / 3, true},
		"a whole cluster":  {gate.ClusterJoined, slices.Concat(six[:2], phone("c", "wifi", 100, 100, 100, 100, 100, 100)), nil, 9, 801.0 / 8, true},
		"two clusters on":  {gate.ClusterJoined, slices.Concat(six[:2], phone("c", "wifi", 100, 100), phone("d", "3g", 99)), nil, 6, 100, true},
		"more are asked":   {gate.ClusterJoined, slices.Concat(six, phone("c", "wifi", 109)), func(p *gate.Policy) { p.MinHistory = 7 }, 8, 724.0 / 7, true},
		"a larger factor":  {gate.ClusterJoined, slices.Concat(six[:5], phone("c", "wifi", 108)), func(p *gate.Policy) { p.OutlierFactor = 10 }, 7, 103, true},
		"a smaller factor": {gate.ClusterJoined, slices.Concat(six[:4], phone("c", "wifi", 109)), func(p *gate.Policy) { p.OutlierFactor = 0.2 }, 6, 103, true},
	} {
		p := judging(t, c.cluster, cpu)
		if c.change != nil {
			c.change(&p)
		}
		v := check(p, now, c.accepted...)
		d := v.Runs[0].Comparisons[0]
		if d.N != c.n || math.Abs(d.Expected-c.expected) > 1e-9 || len(d.Sample) != c.n-1 {
			t.Errorf("%s: %d values about %g, a sample of %d; want %d about %g", name, d.N, d.Expected, len(d.Sample), c.n, c.expected)
		}
		if said := len(v.Warnings) == 1 && strings.Contains(v.Warnings[0].Text, "the next in rank were joined"); said != c.joined {
			t.Errorf("%s: says that clusters were joined: %t; %v", name, said, v.Warnings)
		}
	}
}

// A nearest cluster without a value of the metric is skipped for it.
func TestRunsWithoutTheMetricAreNoReferences(t *testing.T) {
	without := gatetest.On("a", "memory.pss_kb", 1, 2, 3, 4, 5, 6)
	with := gatetest.On("b", cpu, 100, 101, 102, 103, 104)
	now := gatetest.Nearly("a", cpu, 900)
	for cluster, want := range map[gate.Cluster]int{gate.ClusterJoined: 6, gate.ClusterLiteral: 0} {
		if d := check(judging(t, cluster, cpu), now, slices.Concat(without, with)...).Runs[0].Comparisons[0]; d.N != want || (d.Direction == gate.ToRegression) != (want > 0) {
			t.Errorf("%s: %s of %d values, want %d", cluster, d.Direction, d.N, want)
		}
	}
}

// A value outside the fences by less than the least change that matters is ignored, for the worse
// and for the better, for times and for ratios, which are counted in points.
func TestSmallOutliersDoNotMatter(t *testing.T) {
	const ratio = "frames.smooth_ratio"
	for _, c := range []struct {
		metric  string
		before  []float64
		x       float64
		least   float64
		without gate.Direction
		with    gate.Direction
	}{
		{cpu, []float64{100, 100, 100, 100, 100}, 109, 0.1, gate.ToRegression, gate.None},
		{cpu, []float64{100, 100, 100, 100, 100}, 111, 0.1, gate.ToRegression, gate.ToRegression},
		{cpu, []float64{100, 100, 100, 100, 100}, 91, 0.1, gate.ToImprovement, gate.None},
		{cpu, []float64{100, 100, 100, 100, 100}, 89, 0.1, gate.ToImprovement, gate.ToImprovement},
		{ratio, []float64{0.5, 0.5, 0.5, 0.5, 0.5}, 0.42, 0.1, gate.ToRegression, gate.None},
		{ratio, []float64{0.5, 0.5, 0.5, 0.5, 0.5}, 0.38, 0.1, gate.ToRegression, gate.ToRegression},
		{ratio, []float64{0.5, 0.5, 0.5, 0.5, 0.5}, 0.62, 0.1, gate.ToImprovement, gate.ToImprovement},
	} {
		p := judging(t, gate.ClusterJoined, c.metric)
		for least, want := range map[float64]gate.Direction{0: c.without, c.least: c.with} {
			p.MinChange = least
			if d := checkOne(p, gatetest.Nearly("a", c.metric, c.x), gatetest.On("a", c.metric, c.before...)...).Comparisons[0]; d.Direction != want {
				t.Errorf("%s of %g, where %g matters: %s, want %s", c.metric, c.x, least, d.Direction, want)
			}
		}
	}
}

// With fewer runs than min-history the result is inconclusive, and the reason says so.
func TestShortHistoryIsADoubt(t *testing.T) {
	most := 500.0
	bad := gatetest.Nearly("a", cpu, 900)
	five := gatetest.On("a", cpu, 100, 101, 102, 103, 104)
	for name, c := range map[string]struct {
		cluster  gate.Cluster
		accepted []run.Run
		least    int
		want     gate.Outcome
	}{
		"nothing is asked for":   {gate.ClusterJoined, five, 0, gate.Regression},
		"five":                   {gate.ClusterJoined, five, 5, gate.Regression},
		"six":                    {gate.ClusterJoined, five, 6, gate.Inconclusive},
		"six, with another's":    {gate.ClusterJoined, slices.Concat(five, gatetest.On("b", cpu, 105)), 6, gate.Regression},
		"six, without another's": {gate.ClusterLiteral, slices.Concat(five, gatetest.On("b", cpu, 105)), 6, gate.Inconclusive},
	} {
		p := judging(t, c.cluster, cpu)
		p.MinHistory = c.least
		if v := checkOne(p, bad, c.accepted...); v.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", name, v.Verdict, v.Reason, c.want)
		}
		p.Thresholds = []gate.Threshold{{Metric: cpu, Max: &most}}
		if v := checkOne(p, bad, c.accepted...); v.Verdict != gate.Regression {
			t.Errorf("%s, beyond its budget: %s", name, v.Verdict)
		}
	}
}

// The paper's three metrics of the whole run are judged; more on request.
func TestMetricsOfDune(t *testing.T) {
	events := []run.Bucket{{Name: "tap", Metrics: map[string]float64{"frames.duration_ms": 9, cpu: 5}}, {Name: "swipe", Metrics: map[string]float64{"frames.duration_ms": 9}}}
	metrics := gatetest.Frames(450, 0.9, 8)
	metrics[cpu], metrics["memory.pss_kb"] = 100, 5000
	now := gatetest.Run("new", metrics, events...)
	most := 1e9
	for name, c := range map[string]struct {
		change func(*gate.Policy)
		want   []string
	}{
		"unless more is asked for": {func(*gate.Policy) {}, []string{" frames.count", " frames.duration_ms", " frames.smooth_ratio"}},
		"other metrics":            {func(p *gate.Policy) { p.Metrics = []string{cpu} }, []string{" " + cpu}},
		"the fine grain":           {func(p *gate.Policy) { p.Grain = gate.Fine }, []string{"swipe frames.duration_ms", "tap frames.duration_ms"}},
		"both grains": {func(p *gate.Policy) { p.Grain, p.Metrics = gate.Both, []string{"frames.duration_ms"} },
			[]string{" frames.duration_ms", "swipe frames.duration_ms", "tap frames.duration_ms"}},
		"the budget of an event": {func(p *gate.Policy) {
			p.Metrics, p.Thresholds = []string{"frames.count"}, []gate.Threshold{{Metric: "frames.duration_ms", Event: "tap", Max: &most}}
		}, []string{" frames.count", "tap frames.duration_ms"}},
		"and of the coarse grain alone": {func(p *gate.Policy) {
			p.Metrics, p.Thresholds = []string{"frames.count"}, []gate.Threshold{{Metric: "frames.duration_ms", Event: "tap", Max: &most}}
			p.Grain = gate.Coarse
		}, []string{" frames.count"}},
	} {
		p := gatetest.Policy(t, gate.PresetDune)
		c.change(&p)
		var got []string
		for _, d := range checkOne(p, now).Comparisons {
			got = append(got, d.Event+" "+d.Metric)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// With two lists runs are compared by the network alone, and the rules still name the phone.
func TestRulesHaveTheirOwnList(t *testing.T) {
	p := judging(t, gate.ClusterLiteral, cpu)
	p.Use = []string{"network"}
	in := func(r run.Run, model, version string) run.Run {
		r.ID = model + version
		return gatetest.In(r, map[string]string{"network": "wifi", "model": model, "version": version})
	}
	var accepted []run.Run
	for i := range 10 {
		accepted = append(accepted, in(gatetest.Nearly("x", cpu, 100), fmt.Sprint("m", i), "1"))
	}
	bad := in(gatetest.Nearly("x", cpu, 900), "new", "2")
	for _, c := range []struct {
		rules []string
		want  []map[string]string
	}{
		{nil, nil}, // ten of eleven on this network are normal
		{[]string{"model"}, []map[string]string{{"model": "new"}}},
		{[]string{"version"}, []map[string]string{{"version": "2"}}},
	} {
		p.RuleUse = c.rules
		var got []map[string]string
		for _, r := range check(p, bad, accepted...).Rules {
			got = append(got, r.If)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("of %q: rules %v, want %v", c.rules, got, c.want)
		}
	}
}
