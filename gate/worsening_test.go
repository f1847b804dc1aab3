package gate

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/metric"
)

// A ratio worsens in points, a count in shares of what was expected, and where
// nothing was expected any of it is a whole one.
func TestWorsening(t *testing.T) {
	percent, known := metric.Default().Lookup("frames.smooth_ratio")
	if !known {
		t.Fatal("the catalogue has no smooth ratio")
	}
	percent.Unit = "%"
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	overrun.Direction = metric.LowerIsBetter
	plain, _ := metric.Default().With(overrun)
	inPercent, _ := plain.With(percent)
	for name, c := range map[string]struct {
		metric      string
		from, value float64
		want        float64
	}{
		"fewer frames":            {"frames.count", 600, 450, 0.25},
		"more frames":             {"frames.count", 600, 660, -0.1},
		"half of a small ratio":   {"frames.smooth_ratio", 0.04, 0.02, 0.02},
		"a better ratio":          {"frames.smooth_ratio", 0.9, 0.95, -0.05},
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
