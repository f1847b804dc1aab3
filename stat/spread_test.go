package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// By hand: for 1, 2 and 10 the means of pairs are 1, 1.5, 2, 5.5, 6 and 10, the distances 1, 8 and
// 9.
func TestCentreAndSpreadByHand(t *testing.T) {
	for _, c := range []struct {
		values     []float64
		centre, sd float64
	}{
		{nil, math.NaN(), 0},
		{[]float64{7}, 7, 0},
		{[]float64{3, 1}, 2, math.Sqrt2},
		{[]float64{-1, 1}, 0, math.Sqrt2},
		{[]float64{10, 1, 2}, 3.75, math.Sqrt(73.0 / 3)}, // no two of three outvote the third
		{[]float64{1, 2, 3, 100}, 2.75, 2 * 1.0015},      // three of four do: 1, 1, 2, 97, 98, 99
		{[]float64{100, 2, 4, 1, 3}, 3, 2 * 0.9463},      // 1, 1, 1, 2, 2, 3, 96, 97, 98, 99
		{[]float64{-100, 1, 2, 3, 4, 5}, 2.5, 3 * 0.8922},
		{[]float64{1, 2, 3, 4, 5, 6, 1e9, -1e9}, 3.5, 4 * 0.9786},
		{upTo(16), 8.5, 5 * 1.0093}, // the 60th of 15 ones, 14 twos, 13 threes … is a five
		{upTo(18), 9.5, 6 * 1.0050}, // the 77th of 17 ones, 16 twos … a six
		{[]float64{5, 5, 5, 5}, 5, 0},
		{[]float64{0.1, 0.1, 0.1}, 0.1, 0},
	} {
		centre, sd := HodgesLehmann(c.values), RobustSD(c.values)
		if math.IsNaN(c.centre) != math.IsNaN(centre) || math.Abs(centre-c.centre) > 1e-12 || math.Abs(sd-c.sd) > 1e-3*c.sd {
			t.Errorf("%v: centre %g and spread %g, want %g and %g", c.values, centre, sd, c.centre, c.sd)
		}
		if fmt.Sprint(centre) == "-0" {
			t.Errorf("%v: the centre is -0", c.values)
		}
	}
}

// upTo returns the numbers from 1 to n.
func upTo(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

// A history pools squares of spreads: these have to be right on average, for any number of
// repetitions.
func TestRobustSDIsUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const samples = 20_000
	for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 30} {
		sum, squares := 0.0, 0.0 // of the squared spreads, and of their squares
		values := make([]float64, n)
		for range samples {
			for i := range values {
				values[i] = 50 + 3*rng.NormFloat64()
			}
			v := math.Pow(RobustSD(values)/3, 2)
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / samples
		chance := 4 * math.Sqrt((squares/samples-mean*mean)/samples)
		near(t, fmt.Sprintf("mean square of %d", n), mean, 1, chance+0.002)
	}
}

// The bisection finds the same as sorting all pairs.
func TestBisectionAgreesWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		values := make([]float64, 4+rng.IntN(40))
		for i := range values {
			values[i] = math.Round(20*rng.NormFloat64()) * math.Pow(10, float64(rng.IntN(5)-2))
		}
		var means, distances []float64
		for i, a := range values {
			for j, b := range values[i:] {
				means = append(means, a/2+b/2)
				if j > 0 {
					distances = append(distances, math.Abs(a-b))
				}
			}
		}
		slices.Sort(means)
		slices.Sort(distances)
		n := len(means)
		near(t, fmt.Sprint("centre of ", values), HodgesLehmann(values), means[(n-1)/2]/2+means[n/2]/2, 1e-12)
		near(t, fmt.Sprint("spread of ", values), RobustSD(values)/shamosFactor(len(values)), distances[(len(distances)-1)/2], 1e-9)
	}
}
