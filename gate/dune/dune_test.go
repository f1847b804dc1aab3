package dune_test

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func checkOne(p gate.Policy, r run.Run, accepted ...run.Run) gate.RunVerdict {
	return history.Check(p, metric.Default(), []history.Subject{{Run: r, References: gatetest.Summaries(p, accepted...)}}).Runs[0]
}

// A budget is a budget, whatever history says and whichever preset judges.
func TestBudgetsHoldWithEveryPreset(t *testing.T) {
	most, least := 500.0, 50.0
	wide := []float64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}
	for _, preset := range gate.Presets() {
		p := gatetest.Policy(t, preset)
		p.Thresholds = []gate.Threshold{{Metric: "cpu.time_ms", Max: &most, Min: &least}}
		for ms, broken := range map[float64]*float64{900: &most, 10: &least} {
			v := checkOne(p, gatetest.Nearly("a", "cpu.time_ms", ms), gatetest.On("a", "cpu.time_ms", wide...)...)
			if d := v.Comparisons[0]; v.Verdict != gate.Regression || d.Limit == nil || *d.Limit != *broken {
				t.Errorf("%s: %g ms of %g to %g: %s: %s", preset, ms, least, most, v.Verdict, v.Reason)
			}
			if v := checkOne(p, gatetest.Nearly("a", "cpu.time_ms", ms)); v.Verdict != gate.Regression {
				t.Errorf("%s: %g ms of %g to %g without a history: %s", preset, ms, least, most, v.Verdict)
			}
		}
		v := checkOne(p, gatetest.Nearly("a", "cpu.time_ms", 450), gatetest.On("a", "cpu.time_ms", wide...)...)
		if d := v.Comparisons[0]; d.Limit != nil || d.Direction == gate.ToRegression {
			t.Errorf("%s: 450 ms: %s beyond %v", preset, d.Direction, d.Limit)
		}
	}
}

// The warning that nothing could be flagged stands where nothing could, whatever
// the factor: of n equal runs the worst one is beyond the fence if and only if it
// is not warned.
func TestDuneWarnsOfSmallClustersOnly(t *testing.T) {
	for _, factor := range []float64{0.1, 0.3, 0.5, 1, 1.5, 3, 10} {
		for n := 1; n <= 8; n++ {
			p := gatetest.Policy(t, gate.PresetDune)
			p.OutlierFactor = factor
			same := make([]float64, n)
			for i := range same {
				same[i] = 100
			}
			v := checkOne(p, gatetest.Nearly("a", "cpu.time_ms", 1e6), gatetest.On("a", "cpu.time_ms", same...)...)
			if flagged, warned := v.Verdict == gate.Regression, len(v.Warnings) > 0; flagged == warned {
				t.Errorf("factor %g, %d runs: %s, warnings %v", factor, n, v.Verdict, v.Warnings)
			}
		}
	}
	// Another factor for one metric can flag where the policy's can't.
	p, low := gatetest.Policy(t, gate.PresetDune), 0.3
	p.Thresholds = []gate.Threshold{{Metric: "cpu.time_ms", OutlierFactor: &low}}
	if v := checkOne(p, gatetest.Nearly("a", "cpu.time_ms", 900), gatetest.On("a", "cpu.time_ms", 100, 100, 100, 100)...); v.Verdict != gate.Regression || len(v.Warnings) != 0 {
		t.Errorf("%s, warnings %v", v.Verdict, v.Warnings)
	}
}

// The nearest cluster alone counts: five runs of the same phone, not twenty others.
func TestDuneTakesTheNearestClusterAlone(t *testing.T) {
	accepted := append(gatetest.On("b", "cpu.time_ms", make([]float64, 20)...), gatetest.On("a", "cpu.time_ms", 100, 101, 102, 103, 104, 105)...)
	d := checkOne(gatetest.Policy(t, gate.PresetDune), gatetest.Nearly("a", "cpu.time_ms", 102), accepted...).Comparisons[0]
	if d.N != 7 || d.Expected != 102.5 {
		t.Errorf("%d values about %g, want 7 about 102.5", d.N, d.Expected)
	}
}
