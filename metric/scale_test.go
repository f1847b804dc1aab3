package metric

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// Odds of 80.5 to 20.5 at 80 %: half a percentage point is added to either share, so that zero has
// odds.
func TestOnScale(t *testing.T) {
	smooth, _ := Default().Lookup("frames.smooth_ratio") // in thousandths
	for name, c := range map[string]struct {
		m           Metric
		scale       Scale
		value, want float64
	}{
		"a value as it is": {smooth, Linear, 0.8, 0.8},
		"a time":           {Metric{Log: true}, Log, 8, math.Log(8)},
		"four of five":     {smooth, Odds, 0.8, math.Log(0.805 / 0.205)},
		"one of five":      {smooth, Odds, 0.2, -math.Log(0.805 / 0.205)},
		"all":              {smooth, Odds, 1, math.Log(1.005 / 0.005)},
		"none":             {smooth, Odds, 0, -math.Log(1.005 / 0.005)},
		"more than all":    {smooth, Odds, 1.2, math.Log(1.005 / 0.005)},
		"nearly all":       {smooth, Odds, 0.999, math.Log(1.004 / 0.006)},
	} {
		near(t, name, c.m.On(c.scale, c.value), c.want)
	}
	for _, scale := range []Scale{Linear, Log, Odds} {
		near(t, "there and back", smooth.Back(scale, smooth.On(scale, 0.3)), 0.3)
	}
}

// A tenth more is a tenth of a mean, 1.1 squared for the 95th percentile, and half as many bad
// frames again.
func TestStep(t *testing.T) {
	for name, factor := range map[string]float64{
		"frames.duration_ms": 1.1, "frames.duration_ms.p90": math.Pow(1.1, 1.5), "frames.duration_ms.p95": 1.21,
		"frames.duration_ms.p99": 1.331, "frames.smooth_ratio": 1.5,
	} {
		m, _ := Default().Lookup(name)
		near(t, name, m.Step(0.1), math.Log(factor))
		near(t, name+", back", m.StepBack(math.Log(factor)), 0.1)
		near(t, name+", of nothing", m.Step(0), 0)
	}
	// Twice the worsening is twice that: 2.18 times as many for 20 %.
	smooth, _ := Default().Lookup("frames.smooth_ratio")
	near(t, "20 % of shares", math.Exp(smooth.Step(0.2)), math.Pow(1.5, math.Log(1.2)/math.Log(1.1)))
}

// Zero has no logarithm, and odds are limited.
func TestScaleOf(t *testing.T) {
	for name, c := range map[string]struct {
		m     Metric
		least float64
		want  Scale
	}{
		"times":                 {Metric{Log: true}, 0.1, Log},
		"times, of which one 0": {Metric{Log: true}, 0, Linear},
		"times below nothing":   {Metric{Log: true}, -1, Linear},
		"counts":                {Metric{}, 10, Linear},
		"shares":                {Metric{Odds: true}, 0.1, Odds},
		"shares of nothing":     {Metric{Odds: true}, 0, Odds},
	} {
		if got := c.m.ScaleOf(c.least); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A declared metric decides, unless it is a detail; a built-in one stays as it is.
func TestDeclaredMetricDecides(t *testing.T) {
	cpu, _ := Default().Lookup("cpu.time_ms")
	ms, _ := Default().Lookup("frames.duration_ms")
	c, err := Default().With(Metric{Name: "search.ms"}, Metric{Name: "search.ms.p95", Of: "search.ms"}, cpu, ms)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"search.ms": true, "search.ms.p95": false, "cpu.time_ms": false, "frames.duration_ms": true} {
		if m, _ := c.Lookup(name); m.Decides != want {
			t.Errorf("%s decides: %t, want %t", name, m.Decides, want)
		}
	}
}
