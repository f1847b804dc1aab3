package history

import (
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

func TestAMetricThatGotLostIsADoubt(t *testing.T) {
	const ms, cpu = "frames.duration_ms", "cpu.time_ms"
	ten := gatetest.Measured(10, "a", ms, cpu)
	now := gatetest.Measured(2, "a", cpu)[1]
	now.ID = "new"
	for name, c := range map[string]struct {
		history []run.Run
		change  func(*gate.Policy)
		want    gate.Outcome
	}{
		"all had it":                      {ten, func(*gate.Policy) {}, gate.Inconclusive},
		"more than half had it":           {slices.Concat(ten[:6], gatetest.Measured(10, "a", cpu)[6:]), func(*gate.Policy) {}, gate.Inconclusive},
		"half had it":                     {slices.Concat(ten[:5], gatetest.Measured(10, "a", cpu)[5:]), func(*gate.Policy) {}, gate.Pass},
		"other phones have it":            {slices.Concat(gatetest.Measured(6, "a", cpu), gatetest.Measured(20, "b", ms, cpu)), func(*gate.Policy) {}, gate.Pass},
		"nobody asks for it":              {ten, func(p *gate.Policy) { p.Metrics = []string{cpu} }, gate.Pass},
		"it is ignored":                   {ten, func(p *gate.Policy) { p.Thresholds = []gate.Threshold{{Metric: ms, Ignore: true}} }, gate.Pass},
		"a detail of what is still there": {gatetest.Measured(10, "a", cpu, "energy.app_j"), func(*gate.Policy) {}, gate.Inconclusive},
		"the paper's preset":              {ten, func(p *gate.Policy) { *p = gatetest.Policy(t, gate.PresetDune) }, gate.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatetest.Policy(t, gate.PresetDefault)
			c.change(&p)
			v := checkOne(p, now, c.history...)
			if v.Verdict != c.want {
				t.Errorf("%s: %s, want %s", v.Verdict, v.Reason, c.want)
			}
			said := slices.ContainsFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, "was not measured, and") })
			if said != (c.want == gate.Inconclusive) || c.want == gate.Inconclusive && !strings.Contains(v.Reason, "was not measured") {
				t.Errorf("%s; warnings: %v", v.Reason, v.Warnings)
			}
		})
	}
	worse := now
	worse.Iterations = []run.Iteration{{Metrics: map[string]float64{cpu: 300}}}
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), worse, ten...); v.Verdict != gate.Regression {
		t.Errorf("three times the CPU time: %s", v.Verdict)
	}
}
