package gate

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/metric"
)

// A ratio worsens in points, a share of frames by its odds, a count in shares of what was
// expected, a tail by as much less as it spreads wider, and where nothing was expected any
// of it is a whole one.
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
	// an odds ratio of 1.5 is a worsening by 10 %
	odds := func(ratio float64) float64 { return math.Pow(ratio, math.Log(1.1)/math.Log(1.5)) - 1 }
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
		"half as many bad frames": {"frames.smooth_ratio", 99. / 100, 99 / 100.5, 0.1},  // again: 1 to 99, and 1.5 to 99
		"of many":                 {"frames.smooth_ratio", 4. / 5, 8. / 11, 0.1},        // 1 to 4, and 1.5 to 4
		"of nearly all":           {"frames.smooth_ratio", 0.04, 0.02, odds(49. / 24)},  // 24 to 1, and 49 to 1
		"fewer bad frames":        {"frames.smooth_ratio", 0.9, 0.95, -odds(19. / 9)},   // 1 to 9, and 1 to 19
		"no bad frames, and one":  {"frames.smooth_ratio", 1, 0.999, odds(1999. / 999)}, // half a thousandth stands for none
		"a tail of p95":           {"frames.duration_ms.p95", 20, 24.2, 0.1},            // 1.1 twice
		"a better tail":           {"frames.duration_ms.p95", 24.2, 20, -0.1},
		"a tail of p99":           {"frames.duration_ms.p99", 100, 133.1, 0.1}, // 1.1 thrice
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
