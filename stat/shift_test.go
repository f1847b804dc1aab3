package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestShiftByHand(t *testing.T) {
	// Walsh averages of 1, 2, 6: 1, 1.5, 2, 3.5, 4, 6; their median is 2.75.
	near(t, "paired", PairedShift([]float64{6, 1, 2}, 0.05).Estimate, 2.75, 1e-12)
	// Differences of {10, 20} above {1, 2, 3}: 7, 8, 9, 17, 18, 19.
	near(t, "samples", SampleShift([]Pair{{[]float64{1, 2, 3}, []float64{10, 20}}}, 0.05).Estimate, 13, 1e-12)
	if s := PairedShift([]float64{1, 2, 3}, 0.05); !math.IsInf(s.Low, -1) || !math.IsInf(s.High, 1) {
		t.Errorf("the 95 %% interval of three differences is %v, want none: at best it is of 75 %%", s)
	}
	// Six differences: the ends have a chance of 1/64 each, so that the interval covers all of the
	// means.
	s := PairedShift([]float64{1, 2, 3, 4, 5, 6}, 0.05)
	near(t, "low", s.Low, 1, 0)
	near(t, "high", s.High, 6, 0)
	if s := PairedShift(nil, 0.05); !math.IsNaN(s.Estimate) {
		t.Errorf("the shift of nothing is %v", s)
	}
}

func TestIntervalsByHand(t *testing.T) {
	// The nine smallest of the 55 means of two squares up to 100 may be left out: T ≤ 8 has a
	// chance of 25/1024. Doubled they are 2 5 8 10 13 17 18 20 25.
	s := PairedShift([]float64{1, 4, 9, 16, 25, 36, 49, 64, 81, 100}, 0.05)
	near(t, "low of ten", s.Low, 12.5, 1e-12)
	// Four and four: U = 0 is one way of 70, so that the ends are the smallest and
	// the largest of the differences 92 96 98 99 112 … 182 186 188 189.
	one := Pair{[]float64{1, 2, 4, 8}, []float64{100, 120, 150, 190}}
	s = SampleShift([]Pair{one}, 0.05)
	near(t, "low of four and four", s.Low, 92, 1e-12)
	near(t, "high of four and four", s.High, 189, 1e-12)
	// The same twice, by the normal approximation: of 32 differences the 16 in the middle, minus
	// and plus 1.96·√(2·16·9/12) = 9.6.
	s = SampleShift([]Pair{one, one}, 0.05)
	near(t, "estimate of two strata", s.Estimate, (119.0+142)/2, 1e-12)
	near(t, "low of two strata", s.Low, 99, 1e-12)
	near(t, "high of two strata", s.High, 182, 1e-12)
	pair := Pair{[]float64{1}, []float64{2}}
	if s := SampleShift([]Pair{pair, pair}, 0.05); s.Estimate != 1 || !math.IsInf(s.Low, -1) || !math.IsInf(s.High, 1) {
		t.Errorf("the shift of two pairs is %v, want 1 without an interval", s)
	}
	if s := SampleShift([]Pair{{nil, []float64{1}}}, 0.05); !math.IsNaN(s.Estimate) {
		t.Errorf("the shift of one sample is %v", s)
	}
}

// An interval of 95 % contains the true shift 95 times in 100, whatever the shape of the noise, and
// is not much wider than necessary.
func TestIntervalsCoverTheShift(t *testing.T) {
	const trials, shift = 2000, 0.7
	source := rand.NewPCG(11, 12)
	rng := rand.New(source)
	noise := map[string]func() float64{
		"normal":     rng.NormFloat64,
		"heavy tail": func() float64 { return rng.NormFloat64() / math.Max(0.05, rng.Float64()) },
	}
	for name, draw := range noise {
		sample := func(n int, level float64) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = level + draw()
			}
			return out
		}
		for kind, make := range map[string]func() Shift{
			"10 pairs": func() Shift { return PairedShift(sample(10, shift), 0.05) },
			"80 pairs": func() Shift { return PairedShift(sample(80, shift), 0.05) },
			"8 and 8":  func() Shift { return SampleShift([]Pair{{sample(8, 0), sample(8, shift)}}, 0.05) },
			"three phones": func() Shift {
				var strata []Pair
				for level := range 3 {
					strata = append(strata, Pair{sample(5, float64(9*level)), sample(4+level, float64(9*level)+shift)})
				}
				return SampleShift(strata, 0.05)
			},
		} {
			source.Seed(11, 12) // the same draws, whatever ran before
			covered := 0
			for range trials {
				if s := make(); s.Low <= shift && shift <= s.High {
					covered++
				}
			}
			rate := float64(covered) / trials
			t.Logf("%s, %s: %.3f", name, kind, rate)
			if rate < 0.935 || rate > 0.985 {
				t.Errorf("%s, %s: %.3f of the intervals hold the shift, want 0.95", name, kind, rate)
			}
		}
	}
}

func TestManyValuesStayCheap(t *testing.T) {
	many := make([]float64, 20_000)
	for i := range many {
		many[i] = float64(i % 1000)
	}
	above := make([]float64, len(many))
	for i, v := range many {
		above[i] = v + 50
	}
	near(t, "paired", PairedShift(many, 0.05).Estimate, 499.5, 2)
	near(t, "samples", SampleShift([]Pair{{many, above}}, 0.05).Estimate, 50, 1)
}
