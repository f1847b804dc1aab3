package history

import (
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

// A build's size is the same in each of its runs, so that a change is certain after two accepted
// runs. It decides only on request, and only if the change matters.
func TestBuildSizeIsExact(t *testing.T) {
	const size = "apk.size_bytes"
	of := func(bytes float64) run.Run {
		r := gatetest.Nearly("a", size, bytes)
		r.Iterations[0].Metrics["cpu.time_ms"] = 100
		return r
	}
	var history []run.Run
	for i := range 6 {
		r := of(10_000_000)
		r.ID, r.Iterations[0].Metrics["cpu.time_ms"] = string(rune('a'+i)), 98+float64(i)
		history = append(history, r)
	}
	asked := func(least float64) func(*gate.Policy) {
		return func(p *gate.Policy) { p.Thresholds = []gate.Threshold{{Metric: size, MinChange: &least}} }
	}
	for name, c := range map[string]struct {
		bytes  float64
		change func(*gate.Policy)
		want   gate.Outcome
	}{
		"twice as large, and nobody asks":      {20_000_000, func(*gate.Policy) {}, gate.Pass},
		"half a per cent, where that matters":  {10_051_000, asked(0.005), gate.Regression},
		"less than matters":                    {10_049_000, asked(0.005), gate.Pass},
		"smaller":                              {9_900_000, asked(0.005), gate.Improvement},
		"the same":                             {10_000_000, asked(0), gate.Pass},
		"a byte, where everything matters":     {10_000_001, asked(0), gate.Regression},
		"by name, and the same":                {10_000_000, func(p *gate.Policy) { p.Metrics = []string{size} }, gate.Pass},
		"by name, and the policy's own change": {10_600_000, func(p *gate.Policy) { p.Metrics = []string{size} }, gate.Regression},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		c.change(&p)
		if v := checkOne(p, of(c.bytes), history...); v.Verdict != c.want {
			t.Errorf("%s: %s: %s, want %s", name, v.Verdict, v.Reason, c.want)
		}
	}
	// A run without its APK lacks nothing that was configured.
	without := of(0)
	delete(without.Iterations[0].Metrics, size)
	if v := checkOne(gatetest.Policy(t, gate.PresetDefault), without, history...); v.Verdict != gate.Pass || len(v.Warnings) > 0 {
		t.Errorf("without its APK: %s: %s, warnings %v", v.Verdict, v.Reason, v.Warnings)
	}
}
