package gate

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/metric"
)

// A ratio worsens in points, a share of frames by its odds, a count in shares of the expected
// value, a tail by less as it spreads wider; and any worsening from zero counts as 1.
func TestWorsening(t *testing.T) {
	percent, known := metric.Default().Lookup("frames.smooth_ratio")
	if !known {
		t.Fatal("the catalogue has no smooth ratio")
	}
	percent.Unit = "%"
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	overrun.Direction = metric.LowerIsBetter
	hits := metric.Metric{Name: "cache.hits", Unit: "ratio", Direction: metric.HigherIsBetter}
	plain, _ := metric.Default().With(overrun, hits)
	// an odds ratio of 1.5 is a worsening by 10 %, with half a percentage point added to either
	// share
	odds := func(ratio float64) float64 { return math.Pow(ratio, math.Log(1.1)/math.Log(1.5)) - 1 }
	bad := func(share float64) float64 { return (share + 0.005) / (1 - share + 0.005) }
	inPercent, _ := plain.With(percent)
	for name, c := range map[string]struct {
		metric      string
		from, value float64
		want        float64
	}{
		"fewer frames":            {"frames.count", 600, 450, 0.25},
		"more frames":             {"frames.count", 600, 660, -0.1},
		"half of a small ratio":   {"cache.hits", 0.04, 0.02, 0.02},
		"a better ratio":          {"cache.hits", 0.9, 0.95, -0.05},
		"half as many bad frames": {"frames.smooth_ratio", 0.99, 1 - 0.0175, odds(bad(0.0175) / bad(0.01))}, // again, and a quarter of a percentage point: about 0.1
		"of many":                 {"frames.smooth_ratio", 0.8, 8. / 11, odds(bad(3./11) / bad(0.2))},
		"of nearly all":           {"frames.smooth_ratio", 0.04, 0.02, odds(bad(0.98) / bad(0.96))},
		"fewer bad frames":        {"frames.smooth_ratio", 0.9, 0.95, -odds(bad(0.1) / bad(0.05))},
		"no bad frames, and one":  {"frames.smooth_ratio", 1, 0.999, odds(bad(0.001) / bad(0))}, // of a thousand
		"a tail of p95":           {"frames.duration_ms.p95", 20, 24.2, 0.1},                    // 1.1 squared
		"a better tail":           {"frames.duration_ms.p95", 24.2, 20, -0.1},
		"a tail of p99":           {"frames.duration_ms.p99", 100, 133.1, 0.1}, // 1.1 cubed
		"slower":                  {"cpu.time_ms", 100, 120, 0.2},
		"an ANR where none was":   {"anr.count", 0, 0.1, 1},
		"too little to be an ANR": {"anr.count", 0, 0.01, 0},
		"none where none was":     {"own", 0, 0, 0},
		"nearer to the deadline":  {"frames.overrun_ms", -8, -4, 1},
		"further from it":         {"frames.overrun_ms", -4, -8, -1},
		"a little beyond it":      {"frames.overrun_ms", 0.1, 0.3, 0},
	} {
		for unit, catalogue := range map[string]*metric.Catalogue{"": plain, ", in per cent": inPercent} {
			m, _ := catalogue.Lookup(c.metric)
			share := 0.0
			if c.from != 0 {
				share = c.value/c.from - 1
			}
			if got := Worsening(m, c.from, c.value-c.from, share); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%s%s: %g, want %g", name, unit, got, c.want)
			}
		}
	}
}
