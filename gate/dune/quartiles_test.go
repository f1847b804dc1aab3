package dune_test

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/dune"
	"github.com/apkgate/apkgate/gate/gatetest"
)

// The paper's T6 with Weka's quartiles: 430 and 453, where its worked example has 390
// and 454.
func TestT6WithWekasQuartiles(t *testing.T) {
	now, accepted := t6()
	for rule, want := range map[gate.Quartiles][4]float64{"": {390, 454, 294, 550}, gate.QuartilesType6: {390, 454, 294, 550}, gate.QuartilesWeka: {430, 453, 395.5, 487.5}} {
		p := gatetest.Judging(t, gate.PresetDune, "frames.count")
		p.Quartiles = rule
		d := checkOne(p, now, accepted...).Deviations[0]
		for i, got := range []float64{d.Q1, d.Q3, d.Lower, d.Upper} {
			if math.Abs(got-want[i]) > 1e-9 {
				t.Errorf("%q: %g, want %g", rule, got, want[i])
			}
		}
	}
}

// Experiment C's K-9: 9 ms a frame against five phones of 17 to 23 ms. By type 6 the new
// value pulls its own quartile down; by Weka's it does not.
func TestOneGoodRunAmongFiveBadOnes(t *testing.T) {
	bad := gatetest.On("a", cpu, 17, 23, 19, 21, 18)
	for rule, want := range map[gate.Quartiles]gate.Direction{gate.QuartilesType6: gate.None, gate.QuartilesWeka: gate.ToImprovement} {
		p := judging(t, gate.ClusterJoined, cpu)
		p.Quartiles = rule
		if d := checkOne(p, gatetest.Nearly("a", cpu, 9), bad...).Comparisons[0]; d.Direction != want {
			t.Errorf("%s: %s between %g and %g, want %s", rule, d.Direction, d.Lower, d.Upper, want)
		}
	}
}

// The least number of references with which a value can stand out: by Weka's rule a low one with
// three, whatever the factor; by type 6 with five, and six where the factor is large.
func TestLeastCluster(t *testing.T) {
	for _, c := range []struct {
		rule   gate.Quartiles
		factor float64
		want   int
	}{
		{gate.QuartilesType6, 1.5, 5}, {gate.QuartilesType6, 3, 6}, {gate.QuartilesType6, 0.5, 4},
		{gate.QuartilesWeka, 1.5, 3}, {gate.QuartilesWeka, 100, 3}, {gate.QuartilesWeka, 0.1, 3},
	} {
		p := gate.Policy{Quartiles: c.rule, OutlierFactor: c.factor}
		if got := dune.LeastCluster(p); got != c.want {
			t.Errorf("%s with a factor of %g: %d, want %d", c.rule, c.factor, got, c.want)
		}
		p.OutlierFactor, p.Thresholds = 1000, []gate.Threshold{{Metric: cpu}, {Metric: cpu, OutlierFactor: &c.factor}}
		if got := dune.LeastCluster(p); got != c.want {
			t.Errorf("%s with a factor of %g for one metric: %d, want %d", c.rule, c.factor, got, c.want)
		}
	}
	// It is correct: a count that is far too low is flagged with three, not with two.
	for n, want := range map[int]gate.Direction{2: gate.None, 3: gate.ToRegression} {
		p := gatetest.Judging(t, gate.PresetDune, "frames.count")
		p.Quartiles = gate.QuartilesWeka
		low := gatetest.Run("low", gatetest.Frames(1, 0.9, 8))
		_, accepted := t6()
		if d := checkOne(p, low, accepted[:n]...).Comparisons[0]; d.Direction != want {
			t.Errorf("%d references: %s, want %s", n, d.Direction, want)
		}
	}
}
