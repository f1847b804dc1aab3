package past

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Other phones predict times and shares of a phone that was never measured. For rare events,
// metrics that may be below zero, and exact numbers they only show their values: all of them two.
func TestPredictedEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		metric    string
		at        float64 // of all other phones
		predicted bool
	}{
		"times":             {"frames.duration_ms", 2, true},
		"shares":            {"frames.smooth_ratio", 0.9, true},
		"frames":            {frames, 600, true},
		"rare events":       {"anr.count", 2, false},
		"below zero":        {"frames.overrun_ms", 2, false},
		"what is only read": {"apk.size_bytes", 2, false},
	} {
		all := []float64{c.at, c.at, c.at}
		e := of(t, c.metric, c.at, map[string][]float64{"b": all, "c": all, "d": all})
		m, _ := metric.Default().Lookup(c.metric)
		expected := m.Back(m.ScaleOf(c.at), e.Expected)
		if (e.Predicted != nil) != c.predicted || e.N != 9 || e.Own != 0 || math.Abs(expected-c.at) > 1e-6*c.at {
			t.Errorf("%s: foretold %t, %g is expected of %d; want %t, and %g of nine", name, e.Predicted != nil, expected, e.N, c.predicted, c.at)
		}
	}
	for _, name := range []string{"frames.duration_ms", "anr.count"} {
		if e := of(t, name, 2, nil); e.Predicted != nil || e.N != 0 || e.Expected != 0 {
			t.Errorf("%s of nothing: %+v", name, e)
		}
	}
}

// Where the history has no run of the same context, the new run's repetitions alone show how they
// differ; for rare events they don't.
func TestRepetitionsWithoutHistory(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	for name, want := range map[string]float64{"frames.duration_ms": 3, "anr.count": 0} {
		history := RunsOf(gatetest.Phone("a"), gatetest.Summaries(p, gatetest.On("b", name, 2, 3)...), nil)
		cell := run.Cell{Metric: name}
		history.Tabulate([]run.Cell{cell})
		m, _ := metric.Default().Lookup(name)
		v := history.ValuesOf(cell, m, 2)
		e := history.EvidenceOf(p, cell, m, v, Number{Centre: v.On(2), SD: 0.05, N: 4})
		if e.Within.DF != want || want > 0 && math.Abs(e.Within.SD()-0.05) > 1e-12 {
			t.Errorf("%s: repetitions differ by %g with %g degrees of freedom, want 0.05 with %g", name, e.Within.SD(), e.Within.DF, want)
		}
	}
}
