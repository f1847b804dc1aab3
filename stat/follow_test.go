package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// By hand: for 1, 2, 3, 4 the squares about 2.5 sum to 5 and the products of neighbours to 1.25,
// and three quarters of a variance of 5/3 are added: (1.25 + 1.25) / (3 · 5/3).
func TestAutocorrelationByHand(t *testing.T) {
	for name, c := range map[string]struct {
		series [][]float64
		want   float64
	}{
		"a rise":               {[][]float64{{1, 2, 3, 4}}, 0.5},
		"up and down":          {[][]float64{{1, 2, 1, 2}}, -0.5},
		"both, each about its": {[][]float64{{1, 2, 3, 4}, {11, 12, 11, 12}}, (0.5/1 + 1.5) / 6}, // products 1.25 - 0.75, squares 5 + 1
		"two tell nothing":     {[][]float64{{1, 2}, {4, 7}}, 0},
		"nor does a constant":  {[][]float64{{3, 3, 3}}, 0},
		"nor nothing":          {nil, 0},
		"nor what is no sum":   {[][]float64{{1e300, -1e300, 1e300}}, 0},
	} {
		if got := Autocorrelation(c.series); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// For independent values in short series it is 0, while their products alone would be far below,
// and rarely two standard errors above it, for 36 pairs.
func TestAutocorrelationOfShortSeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	sum, outside := 0.0, 0
	const trials = 2000
	for range trials {
		var series [][]float64
		for range 9 {
			level := 10 * rng.NormFloat64()
			var values []float64
			for range 5 {
				values = append(values, level+rng.NormFloat64())
			}
			series = append(series, values)
		}
		r := Autocorrelation(series)
		sum += r / trials
		if r > 2/math.Sqrt(36) {
			outside++
		}
	}
	if math.Abs(sum) > 0.02 || outside > trials/20 {
		t.Errorf("it is %.3f in the middle, and %d of %d lie two standard errors above 0", sum, outside, trials)
	}
}
