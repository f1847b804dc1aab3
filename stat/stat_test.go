package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

// Paper, section 5.3.3: T1..T5 with T6 included.
func TestFencesOfPaperExample(t *testing.T) {
	f := FencesOf(Sample{Values: []float64{448, 453, 450, 457, 430, 270}}, 1.5)
	near(t, "Q1", f.Q1, 390, 1e-9)
	near(t, "Q3", f.Q3, 454, 1e-9)
	near(t, "lower", f.Lower, 390-1.5*64, 1e-9)
	near(t, "upper", f.Upper, 454+1.5*64, 1e-9)
}

func TestQuantilesAtTheEnds(t *testing.T) {
	if q := (Sample{}).Quantiles(0.5)[0]; !math.IsNaN(q) {
		t.Errorf("median of nothing = %v, want NaN", q)
	}
	near(t, "quartile of one", Sample{Values: []float64{7}}.Quantiles(0.25)[0], 7, 0)
	near(t, "first quartile of three", Sample{Values: []float64{3, 1, 2}}.Quantiles(0.25)[0], 1, 0)
	near(t, "median of four", Median([]float64{4, 1, 3, 2}), 2.5, 1e-12)
}

func TestEqualWeightsChangeNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rng.IntN(30)
		s := Sample{Values: make([]float64, n)}
		w := Sample{Values: s.Values, Weights: make([]float64, n)}
		for i := range n {
			s.Values[i], w.Weights[i] = rng.NormFloat64(), 0.37
		}
		for _, p := range []float64{0, 0.1, 0.25, 0.5, 0.75, 1} {
			near(t, "quantile", w.Quantiles(p)[0], s.Quantiles(p)[0], 1e-9)
		}
	}
}

func TestWeightsPullTheMedian(t *testing.T) {
	s := Sample{Values: []float64{1, 2, 3, 100}, Weights: []float64{1, 1, 1, 97}}
	if m := s.Quantiles(0.5)[0]; m < 50 {
		t.Errorf("median = %v, want it drawn towards the heavy value 100", m)
	}
	near(t, "effective n", Sample{Values: []float64{1, 2}, Weights: []float64{3, 1}}.EffectiveN(), 1.6, 1e-12)
}

func TestMomentsLeaveOutOutliers(t *testing.T) {
	m := MomentsOf(Sample{Values: []float64{9, 10, 11, 10, 9, 11, 10, 9, 11, 1000}})
	near(t, "mean", m.Mean, 10, 1e-9)
	// Nine values: three each of 9, 10 and 11; Σ(x-10)² = 6, over 8.
	near(t, "sd", m.SD, math.Sqrt(6.0/8), 1e-9)
}

// Values of 1, 2 and 4, of which the last counts twice, are worth (1+1+2)²/(1+1+4) = 8/3: their
// mean is 11/4, and the mean square about it 27/16.
func TestMomentsOfWeightedValues(t *testing.T) {
	m := MomentsOf(Sample{Values: []float64{1, 2, 4}, Weights: []float64{1, 1, 2}})
	near(t, "mean", m.Mean, 2.75, 1e-12)
	near(t, "sd", m.SD, math.Sqrt(27.0/16*8/5), 1e-12)
	near(t, "degrees of freedom", m.DF, 5.0/3, 1e-12)
}

// t tables: the upper 2.5 % point at 4 degrees of freedom is 2.776.
func TestTailIsStudents(t *testing.T) {
	m := Moments{Mean: 0, SD: 1, N: 5, DF: 4}
	at := 2.776 * math.Sqrt(1.2)
	near(t, "tail", m.Tail(at), 0.025, 1e-4)
	near(t, "tail below", m.Tail(-at), 0.025, 1e-4)
	near(t, "reach", m.Reach(0.025), at, 1e-3)
	if p := (Moments{Mean: 1, N: 1}).Tail(9); p != 1 {
		t.Errorf("tail without a scale = %v, want 1", p)
	}
	still := Moments{Mean: 1, N: 5, DF: 4}
	near(t, "tail at the mean of what never wavers", still.Tail(1), 0.5, 0)
	near(t, "tail beside it", still.Tail(1.1), 0, 0)
	for what, reach := range map[string]float64{
		"without a scale": Moments{Mean: 1, N: 1}.Reach(0.025), "of no spread known": Moments{SD: math.NaN(), N: 5, DF: 4}.Reach(0.025), "at no chance": m.Reach(0),
	} {
		if !math.IsInf(reach, 1) {
			t.Errorf("reach %s = %v, want infinite", what, reach)
		}
	}
}

// No more than one false alarm in twenty, which the gate relies on.
func TestTailIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{5, 10, 40} {
		alarms, trials := 0, 20000
		for range trials {
			s := Sample{Values: make([]float64, n)}
			for i := range s.Values {
				s.Values[i] = rng.NormFloat64()
			}
			if x := rng.NormFloat64(); x > 0 && MomentsOf(s).Tail(x) < 0.05 {
				alarms++
			}
		}
		if rate := float64(alarms) / float64(trials); rate > 0.06 {
			t.Errorf("n = %d: false alarms at level 0.05 = %.4f, want at most 0.06", n, rate)
		}
	}
}

func TestHolm(t *testing.T) {
	// By hand: sorted 0.01·4, 0.02·3, 0.03·2, 0.04·1, kept monotone.
	got := Holm([]float64{0.04, 0.01, 0.03, 0.02})
	for i, want := range []float64{0.06, 0.04, 0.06, 0.06} {
		near(t, "corrected p", got[i], want, 1e-12)
	}
	got = Holm([]float64{0.001, math.NaN()})
	near(t, "beside what is no number", got[0], 0.002, 1e-12)
	near(t, "what is no number", got[1], 1, 0)
	for name, c := range map[string]struct{ ps, weights, want []float64 }{
		// 0.02 over 1.5 is the least, times both weights; then 0.02 over a half stands alone, and
		// is kept monotone.
		"alike but for their weights": {[]float64{0.02, 0.02}, []float64{0.5, 1.5}, []float64{0.04 / 1.5, 0.04 / 1.5}},
		// 0.004 over 0.4 is a hundredth, times 1.9; 0.03 then stands alone.
		"the lighter comes first": {[]float64{0.03, 0.004}, []float64{1.5, 0.4}, []float64{0.03, 0.019}},
	} {
		for i, got := range WeightedHolm(c.ps, c.weights) {
			near(t, name, got, c.want[i], 1e-12)
		}
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm(nil) = %v", got)
	}
}
