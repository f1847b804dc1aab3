package history

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
)

// A build's size does not vary, so that its history has no spread: only the size of the change is
// judged, and only on request.
func TestBuildSizeJudgedOnRequest(t *testing.T) {
	phone := map[string]string{"model": "a"}
	const usual = 20_000_000
	history := gatetest.Steady(10, phone, 8)
	for i := range history {
		history[i].Iterations[0].Metrics["apk.size_bytes"] = usual
	}
	share, budget := 0.01, 20_100_000.0
	named := []string{"frames.duration_ms", "apk.size_bytes"}
	for name, c := range map[string]struct {
		bytes      float64
		metrics    []string
		thresholds []gate.Threshold
		want       gate.Outcome
	}{
		"by default":                    {2 * usual, nil, nil, gate.Pass},
		"the same":                      {usual, named, nil, gate.Pass},
		"3 % more, of 5 % that matter":  {1.03 * usual, named, nil, gate.Pass},
		"7 % more":                      {1.07 * usual, named, nil, gate.Regression},
		"10 % less":                     {0.9 * usual, named, nil, gate.Improvement},
		"3 % more, of 1 % that matters": {1.03 * usual, nil, []gate.Threshold{{Metric: "apk.size_bytes", MinChange: &share}}, gate.Regression},
		"over a budget":                 {1.01 * usual, nil, []gate.Threshold{{Metric: "apk.size_bytes", Max: &budget}}, gate.Regression},
		"within a budget":               {1.004 * usual, nil, []gate.Threshold{{Metric: "apk.size_bytes", Max: &budget}}, gate.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			p := gatetest.Policy(t, gate.PresetDefault)
			p.Metrics, p.Thresholds = c.metrics, c.thresholds
			now := gatetest.Timed("new", phone, 8.1)
			now.Iterations[0].Metrics["apk.size_bytes"] = c.bytes
			if v := checkOne(p, now, history...); v.Verdict != c.want {
				t.Errorf("%s: %s, want %s", v.Verdict, v.Reason, c.want)
			}
		})
	}
	// A run of an app that was installed by hand lacks nothing that is judged.
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), gatetest.Timed("new", phone, 8.1), history...); v.Verdict != gate.Pass {
		t.Errorf("without a size: %s: %s", v.Verdict, v.Reason)
	}
}
