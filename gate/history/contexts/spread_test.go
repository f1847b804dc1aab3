package contexts

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Without noise, and flat on the standard deviation, the variance of n differences is n·s² over chi
// square with n - 1 degrees of freedom (Gelman and others, Bayesian Data Analysis, section 3.2,
// with one degree less for the prior).
func TestSpreadOfPairsWithoutNoise(t *testing.T) {
	for _, n := range []int{3, 5, 12, 100} {
		var ds []difference
		for i := range n {
			ds = append(ds, difference{square: 4 + float64(i%2)})
		}
		sum := 0.0
		for _, d := range ds {
			sum += d.square
		}
		got := spreadOf(ds, float64(n))
		chi := distuv.ChiSquared{K: float64(n - 1)}
		want := spread{low: sum / chi.Quantile(0.95), middle: sum / chi.Quantile(0.5), high: sum / chi.Quantile(0.05)}
		for name, x := range map[string][2]float64{"low": {got.low, want.low}, "middle": {got.middle, want.middle}, "high": {got.high, want.high}} {
			if math.Abs(x[0]/x[1]-1) > 0.08 {
				t.Errorf("%d differences: %s is %.3f, want %.3f", n, name, x[0], x[1])
			}
		}
	}
}

// With noise of 3 in addition to a variance of 1, known from many pairs, the estimate is 1. As many
// pairs that are worth fewer are less sure.
func TestNoiseIsNoSpread(t *testing.T) {
	var ds []difference
	normal := distuv.UnitNormal
	const n = 2000
	for i := range n { // as in a normal distribution of variance 4
		z := normal.Quantile((float64(i) + 0.5) / n)
		ds = append(ds, difference{square: 4 * z * z, noise: 3})
	}
	many := spreadOf(ds, n)
	if math.Abs(many.middle-1) > 0.1 || many.low < 0.7 || many.high > 1.3 {
		t.Errorf("%+v, want about 1", many)
	}
	few := spreadOf(ds, 4)
	if few.high < 4 || few.low > 0.1 {
		t.Errorf("%+v, want next to nothing known by four", few)
	}
	none := spreadOf([]difference{{0, 1}, {1, 1}, {0.5, 1}, {2, 1}, {1, 1}, {0.2, 1}}, 6)
	if none.low > 0.01 || none.high > 3.5 {
		t.Errorf("%+v of what is noise alone", none)
	}
}

func TestSpreadOfNothing(t *testing.T) {
	for name, ds := range map[string][]difference{"equal": {{0, 0}, {0, 0}}, "beyond all bounds": {{math.Inf(1), 1}}, "no number": {{math.NaN(), math.NaN()}}} {
		if got := spreadOf(ds, 2); got != (spread{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	huge := spreadOf([]difference{{1e200, 1e-200}, {1e190, 1}}, 2)
	if !(huge.high > huge.middle && huge.middle > huge.low && huge.low >= 0) || math.IsInf(huge.high, 0) {
		t.Errorf("%+v", huge)
	}
}
