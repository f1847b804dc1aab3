package gate_test

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
)

func TestADeviationInASentence(t *testing.T) {
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

// Regressions before doubts before improvements, causes before after-effects, the
// surer doubt and the larger change first.
func TestTheGravestDeviationComesFirst(t *testing.T) {
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
