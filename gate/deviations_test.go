package gate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
)

func TestDescribeDeviation(t *testing.T) {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	for want, d := range map[string]gate.Comparison{
		"time per frame: 12.00 ms":                              {Value: 12, P: 1},
		"time per frame after tap: 12.00 ms":                    {Event: "tap", Value: 12, P: 1},
		"time per frame: 12.00 ms where 8.00 ms was expected":   {Value: 12, Expected: 8, N: 5, P: 1},
		"time per frame: 12.00 ms, beyond the limit of 9.00 ms": {Value: 12, Expected: 8, N: 5, P: 0.01, Limit: new(9.0)},
		"time per frame: 12.00 ms where 8.00 ms was expected (+50 %, 95 % interval −1.0 % to +90 %, p = 0.04)": {Value: 12, Expected: 8, N: 5, P: 0.04, Change: 0.5, Low: new(-0.01), High: new(0.9)},
		"time per frame: 12.00 ms where 8.00 ms was expected (95 % interval +0.0 % to +0.0 %, p < 0.0001)":     {Value: 12, Expected: 8, N: 5, P: 0.00001, Low: new(0.0), High: new(0.0)},
	} {
		if got := gate.Describe(d, m, 0.95); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Regressions come before doubts, doubts before improvements, causes before after-effects, then the
// surer doubt and the larger change.
func TestDeviationsByGravity(t *testing.T) {
	want := []gate.Comparison{
		{Event: "1", Direction: gate.ToRegression, Change: 0.5, P: 0.04},
		{Event: "2", Direction: gate.ToRegression, Change: -0.3, P: 0.01},
		{Event: "3", Direction: gate.ToRegression, Change: 0.9, AfterEffectOf: "1"},
		{Event: "4", Direction: gate.Suspect, Change: 0.1, P: 0.1},
		{Event: "5", Direction: gate.Suspect, Change: 0.9, P: 0.2},
		{Event: "6", Direction: gate.ToImprovement, Change: -0.9, P: 0.04},
		{Event: "7", Direction: gate.ToImprovement, Change: -0.2, P: 0.01},
	}
	all := append(slices.Clone(want), gate.Comparison{Event: "8", Direction: gate.None})
	slices.Reverse(all)
	got := gate.Deviations(all)
	if len(got) != len(want) {
		t.Fatalf("%d deviations, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].Event != want[i].Event {
			t.Errorf("place %d is that of %s", i+1, got[i].Event)
		}
	}
}

// The sentence on rounds has the values of both builds. A change from zero, or of a metric that may
// be below zero, is in the metric's unit. An interval with an open end is left out, and a broken
// budget is that of the run itself.
func TestDescribeRounds(t *testing.T) {
	ms, _ := metric.Default().Lookup("frames.duration_ms")
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	whole := func(change func(*gate.RoundsComparison)) *gate.RoundsComparison {
		r := gate.RoundsComparison{
			Rounds: 16, Base: 8, Head: 12, Shift: 4, ShiftLow: new(3.0), ShiftHigh: new(5.0),
			Change: 0.5, ChangeLow: new(0.375), ChangeHigh: new(0.625), P: 0.002,
		}
		change(&r)
		return &r
	}
	const without = "time per frame: 12.00 ms where the base build has 8.00 ms in 16 rounds (+50 %, p = 0.002)"
	for _, c := range []struct {
		m      metric.Metric
		rounds *gate.RoundsComparison
		limit  *float64
		want   string
	}{
		{ms, whole(func(*gate.RoundsComparison) {}), nil, "time per frame: 12.00 ms where the base build has 8.00 ms in 16 rounds (+50 %, between +38 % and +62 %, p = 0.002)"},
		{ms, whole(func(r *gate.RoundsComparison) { r.P = 1 }), nil, "time per frame: 12.00 ms where the base build has 8.00 ms in 16 rounds (+50 %, between +38 % and +62 %)"},
		{ms, whole(func(r *gate.RoundsComparison) { r.Rounds, r.P, r.ShiftLow, r.ShiftHigh = 1, 1, nil, nil }), nil, "time per frame: 12.00 ms where the base build has 8.00 ms in 1 round (+50 %)"},
		{ms, whole(func(r *gate.RoundsComparison) { r.ShiftLow, r.ChangeLow = nil, nil }), nil, without},
		{ms, whole(func(r *gate.RoundsComparison) { r.ShiftHigh, r.ChangeHigh = nil, nil }), nil, without},
		{ms, whole(func(r *gate.RoundsComparison) { r.ShiftLow = nil }), nil, without},
		{ms, whole(func(r *gate.RoundsComparison) { r.ChangeLow = nil }), nil, without},
		{ms, whole(func(r *gate.RoundsComparison) { r.ChangeHigh = nil }), nil, without},
		{ms, whole(func(r *gate.RoundsComparison) { r.Base = 0 }), nil, "time per frame: 4.00 ms where the base build has 0.00 ms in 16 rounds (+4.00 ms, between +3.00 ms and +5.00 ms, p = 0.002)"},
		{overrun, whole(func(r *gate.RoundsComparison) { r.Base, r.Head = -8, -4 }), nil, "time beyond the deadline: -4.00 ms where the base build has -8.00 ms in 16 rounds (+4.00 ms, between +3.00 ms and +5.00 ms, p = 0.002)"},
		{ms, whole(func(*gate.RoundsComparison) {}), new(10.0), "time per frame: 12.00 ms, beyond the limit of 10.00 ms"},
	} {
		d := gate.Comparison{Value: 12, P: 1, Rounds: c.rounds, Limit: c.limit}
		if got := gate.Describe(d, c.m, 0.99); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	half := gate.Comparison{Value: 12, Expected: 8, N: 5, P: 1, Change: 0.5, Low: new(0.1)}
	if got := gate.Describe(half, ms, 0.95); got != "time per frame: 12.00 ms where 8.00 ms was expected (+50 %)" {
		t.Errorf("half an interval: %q", got)
	}
}

// The labels of a run list each place once, and neither after-effects nor doubts.
func TestLabels(t *testing.T) {
	worse, better := gate.Comparison{Direction: gate.ToRegression}, gate.Comparison{Event: "tap", Direction: gate.ToImprovement}
	after := gate.Comparison{Event: "swipe", Direction: gate.ToRegression, AfterEffectOf: "tap"}
	for _, c := range []struct {
		all  []gate.Comparison
		want []string
	}{
		{nil, []string{"N"}},
		{[]gate.Comparison{{Direction: gate.None}, {Direction: gate.Suspect}, after}, []string{"N"}},
		{[]gate.Comparison{worse, worse, better, after}, []string{"Outlier-", "tapOutlier+"}},
		{[]gate.Comparison{better, {Event: "tap", Direction: gate.ToRegression}}, []string{"tapOutlier+", "tapOutlier-"}},
	} {
		if got := gate.Labels(c.all); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Where rounds decided, their numbers rank the deviations.
func TestDeviationsRankedByRounds(t *testing.T) {
	of := func(event string, d gate.Direction, change, p float64) gate.Comparison {
		return gate.Comparison{Event: event, Direction: d, Change: -change, P: 1 - p, Rounds: &gate.RoundsComparison{Change: change, P: p}}
	}
	got := gate.Deviations([]gate.Comparison{
		of("less sure", gate.Suspect, 0.9, 0.3), of("surer", gate.Suspect, 0.1, 0.1),
		of("small", gate.ToRegression, 0.1, 0.001), of("large", gate.ToRegression, 0.5, 0.002),
	})
	for i, want := range []string{"large", "small", "surer", "less sure"} {
		if got[i].Event != want {
			t.Errorf("place %d is that of %q, want %q", i+1, got[i].Event, want)
		}
	}
}

// Sizes of changes are on the scale of a mean: bad frames by their odds with half a percentage
// point added, of which ×1.5 is worth 10 %, and a tail by half of its logarithm, so that 21 % is
// worth 10 %. Any other change is as large as its share.
func TestSize(t *testing.T) {
	odds := math.Log((0.995 / 0.015) / (0.965 / 0.045))
	for name, c := range map[string]struct {
		from, shift, share, want float64
	}{
		"frames.smooth_ratio":     {0.99, -0.03, -0.0303, math.Pow(1.1, odds/math.Log(1.5)) - 1},
		"frames.duration_ms.p95":  {10, 3, 0.3, math.Sqrt(1.3) - 1},
		"frames.duration_ms":      {10, 2, 0.2, 0.2},
		"cpu.time_ms":             {100, -30, -0.3, 0.3},
		"anr.count":               {0, 0.2, 0, 0},
		"of.nobody that is known": {1, 1, 0.5, 0.5},
	} {
		if got := gate.Size(name, c.from, c.shift, c.share); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
