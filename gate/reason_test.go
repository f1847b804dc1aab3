package gate

import (
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func TestPartsOfReasons(t *testing.T) {
	joules, _ := metric.Default().Lookup("energy.total_j")
	for _, c := range []struct{ got, want string }{
		{Percent(0.0512), "+5.1 %"}, {Percent(-0.0512), "−5.1 %"}, {Percent(0.1), "+10 %"}, {Percent(-0.125), "−12 %"}, {Percent(0), "+0.0 %"},
		{PValue(0.00009), "p < 0.0001"}, {PValue(0.0001), "p = 0.0001"}, {PValue(0.0421), "p = 0.042"},
		{Signed(joules, 1.5), "+1.50 J"}, {Signed(joules, -1.5), "−1.50 J"}, {Signed(joules, 0), "0.00 J"},
		{Titles([]string{"energy.total_j", "cpu.time_ms", "energy.total_j"}, metric.Default()), "energy, CPU time"},
		{OneOf([]string{"rails"}), `"rails"`}, {OneOf([]string{"", "rails"}), `not said or "rails"`},
		{OneOf([]string{"a", "b", "c"}), `"a" or "b" or "c"`}, {OneOf([]string{"a", "b", "c", "d", "e"}), `"a" or "b" or "c" or 2 others`},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestDescribeIncompleteRun(t *testing.T) {
	why := []run.Warning{{Text: "the app crashed"}}
	for want, r := range map[string]run.Run{
		"the run is not whole: the app crashed":          {Status: run.Partial, Warnings: why},
		"nothing was measured: the app crashed":          {Status: run.Failed, Warnings: why},
		`the run is incomplete: its status is "partial"`: {Status: run.Partial},
	} {
		if got := DescribeIncomplete(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestGravestOutcomeCounts(t *testing.T) {
	rising := []Outcome{Pass, Improvement, Inconclusive, Invalid, Regression}
	for i, a := range rising {
		for k, b := range rising {
			if got := Graver(a, b); got != rising[max(i, k)] {
				t.Errorf("of %s and %s the graver is %s", a, b, got)
			}
		}
	}
	if !(None.Gravity() < ToImprovement.Gravity() && ToImprovement.Gravity() < Suspect.Gravity() && Suspect.Gravity() < ToRegression.Gravity()) {
		t.Error("directions are out of the order of their gravity")
	}
	if Direction("").Gravity() >= None.Gravity() || Outcome("").Gravity() >= Pass.Gravity() {
		t.Error("what is no outcome outweighs one")
	}
}

// A shift of the logarithm by ln 1.25 from 8 is 2, a quarter of 8; so is a shift by 2.
func TestChangeOfShift(t *testing.T) {
	const log125 = 0.22314355131420976
	for name, c := range map[string]struct {
		from, shift   float64
		scale         metric.Scale
		signed        bool
		amount, share float64
	}{
		"of logarithms": {8, log125, metric.Log, false, 2, 0.25}, "of amounts": {8, 2, metric.Linear, false, 2, 0.25}, "of nothing": {0, 2, metric.Linear, false, 2, 0},
		"of what may be below zero": {-8, 2, metric.Linear, true, 2, 0},
	} {
		amount, share := Change(metric.Metric{Signed: c.signed}, c.from, c.shift, c.scale)
		if d := max(amount-c.amount, c.amount-amount, share-c.share, c.share-share); d > 1e-12 {
			t.Errorf("%s: %g, as a share %g; want %g and %g", name, amount, share, c.amount, c.share)
		}
	}
}
