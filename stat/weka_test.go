package stat

import (
	"math"
	"slices"
	"testing"
)

// The quartiles of Weka's InterquartileRange, worked out by hand: for the paper's example 430 and
// 453 (half is 3, quarter 1), for an even half the middle of two values.
func TestWekaFencesByHand(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q1, q3 float64
	}{
		{[]float64{448, 453, 450, 457, 430, 270}, 430, 453},
		{[]float64{7}, 7, 7},
		{[]float64{5, 1}, 1, 5},
		{[]float64{5, 1, 3}, 1, 5},
		{[]float64{1, 2, 4, 8}, 3, 6},
		{[]float64{16, 1, 2, 4, 8}, 3, 12},
		{[]float64{1, 2, 4, 8, 16, 32, 64}, 2, 32},
		{[]float64{1, 2, 4, 8, 16, 32, 64, 128}, 6, 48},
		{[]float64{1, 2, 4, 8, 16, 32, 64, 128, 256}, 6, 96},
	} {
		before := slices.Clone(c.values)
		f := WekaFences(c.values, 2)
		reach := 2 * (c.q3 - c.q1)
		if want := (Fences{c.q1, c.q3, c.q1 - reach, c.q3 + reach}); f != want {
			t.Errorf("%v: %+v, want %+v", c.values, f, want)
		}
		if !slices.Equal(c.values, before) {
			t.Errorf("%v is reordered to %v", before, c.values)
		}
	}
	if f := WekaFences(nil, 2); !math.IsNaN(f.Q1) || !math.IsNaN(f.Q3) || !math.IsNaN(f.Lower) || !math.IsNaN(f.Upper) {
		t.Errorf("of nothing: %+v", f)
	}
}
