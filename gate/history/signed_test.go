package history

import (
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/run"
)

// Frames that used to be done 8 ms before their deadline, and now 4 ms, are worse: by 4 ms and by
// no share of anything.
func TestOverrunChangesByAmount(t *testing.T) {
	const overrun = "frames.overrun_ms"
	met := gatetest.On("a", overrun, -8, -8.2, -7.8, -8.1, -7.9, -8)
	missed := gatetest.On("a", overrun, 0.1, 0.11, 0.09, 0.1, 0.11, 0.09)
	for name, c := range map[string]struct {
		now     float64
		history []run.Run
		want    gate.Outcome
		said    string
	}{
		"nearer to the deadline": {-4, met, gate.Regression, "time beyond the deadline: -4.00 ms where -8.00 ms was expected (+4.00 ms, p "},
		"further from it":        {-12, met, gate.Improvement, "time beyond the deadline: -12.00 ms where -8.00 ms was expected (−4.00 ms, p "},
		"beyond it":              {3, met, gate.Regression, "3.00 ms where -8.00 ms was expected (+11.00 ms, p "},
		"as it was":              {-8, met, gate.Pass, "nothing deviates in 1 comparison"},
		"next to nothing more":   {0.4, missed, gate.Pass, "nothing deviates in 1 comparison"},
		"more than nothing":      {0.8, missed, gate.Inconclusive, "perhaps worse: time beyond the deadline: 0.80 ms where 0.10 ms was expected (+0.70 ms, p "},
		"much more":              {3, missed, gate.Regression, "3.00 ms where 0.10 ms was expected (+2.90 ms, p "},
	} {
		for _, preset := range gate.Presets() {
			p, catalogue := gatetest.Overruns(t, preset)
			v := Check(p, catalogue, []Subject{{Run: gatetest.Nearly("a", overrun, c.now), References: gatetest.Summaries(p, c.history...)}}).Runs[0]
			if preset == gate.PresetDune {
				if c.want != gate.Pass && c.want != gate.Inconclusive && v.Verdict != c.want {
					t.Errorf("%s, %s: %s: %s", name, preset, v.Verdict, v.Reason)
				}
				continue
			}
			if v.Verdict != c.want || !strings.Contains(v.Reason, c.said) || strings.Contains(v.Reason, "%") {
				t.Errorf("%s: %s: %q, want %s and %q, and no shares", name, v.Verdict, v.Reason, c.want, c.said)
			}
			if d := v.Comparisons[0]; d.Change != 0 || d.Low != nil || d.High != nil || d.Detectable != 0 {
				t.Errorf("%s: %+v, want no shares", name, d)
			}
		}
	}
}

// After-effects are measured by amounts too: of 6 ms too late, 2 ms.
func TestAfterEffectOfOverrun(t *testing.T) {
	p, catalogue := gatetest.Overruns(t, gate.PresetDefault)
	of := func(id string, tap, scroll float64) run.Run {
		at := func(name string, ms float64) run.Bucket {
			return run.Bucket{Name: name, Metrics: map[string]float64{"frames.overrun_ms": ms}}
		}
		return gatetest.Run(id, nil, at("tap", tap), at("scroll", scroll))
	}
	var history []run.Run
	for i, off := range []float64{0, 0.1, -0.1, 0.05, -0.05, 0, 0.1, -0.1} {
		history = append(history, of(string(rune('a'+i)), -8+off, -8+off))
	}
	for scroll, want := range map[float64]string{-5.4: "tap", -3: ""} {
		v := Check(p, catalogue, []Subject{{Run: of("new", -2, scroll), References: gatetest.Summaries(p, history...)}}).Runs[0]
		if len(v.Comparisons) != 2 || v.Comparisons[1].Direction != gate.ToRegression || v.Comparisons[1].AfterEffectOf != want {
			t.Errorf("%g ms after the scroll: %+v, want an after-effect of %q", scroll, v.Comparisons, want)
		}
	}
}
