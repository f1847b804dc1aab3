package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Groups whose variances are drawn from Smyth's model, s0²·d0/χ²(d0), give back s0 and d0.
func TestPriorVarianceOfGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, want := range []float64{2, 6, 12} {
		var variances, dfs []float64
		for i := range 4000 {
			df := float64(2 + i%7)
			of := 9 * want / distuv.ChiSquared{K: want, Src: rng}.Rand()
			variances = append(variances, of*distuv.ChiSquared{K: df, Src: rng}.Rand()/df)
			dfs = append(dfs, df)
		}
		sd, df := PriorVariance(variances, dfs)
		near(t, "standard deviation", sd, 3, 0.15)
		near(t, "degrees of freedom", df, want, 0.2*want)
	}
}

func TestPriorVarianceOfFewGroups(t *testing.T) {
	for name, c := range map[string]struct {
		variances, dfs []float64
		sd, df         float64
	}{
		"none":                     {nil, nil, 0, 0},
		"two":                      {[]float64{1, 1}, []float64{4, 4}, 0, 0},
		"three, one of no freedom": {[]float64{1, 1, 1}, []float64{4, 4, 0}, 0, 0},
		"three, one of no spread":  {[]float64{1, 1, 0}, []float64{4, 4, 4}, 0, 0},
		"three, one of infinity":   {[]float64{1, 1, math.Inf(1)}, []float64{4, 4, 4}, 0, 0},
	} {
		if sd, df := PriorVariance(c.variances, c.dfs); sd != c.sd || df != c.df {
			t.Errorf("%s: %g with %g degrees of freedom, want %g with %g", name, sd, df, c.sd, c.df)
		}
	}
	// Equal as far as the data can show: the largest degrees of freedom that a prior may have.
	if sd, df := PriorVariance([]float64{4, 4, 4, 4}, []float64{9, 9, 9, 9}); df != mostPriorDF || math.Abs(sd-2) > 0.2 {
		t.Errorf("four alike: %g with %g degrees of freedom, want about 2 with %d", sd, df, mostPriorDF)
	}
	// Different by orders of magnitude: almost nothing.
	if _, df := PriorVariance([]float64{1e-6, 1, 1e6, 1e3}, []float64{9, 9, 9, 9}); df > 0.5 {
		t.Errorf("four unlike: %g degrees of freedom, want next to none", df)
	}
}

func TestTrigamma(t *testing.T) {
	near(t, "of one", trigamma(1), math.Pi*math.Pi/6, 1e-12)
	for _, x := range []float64{1e-5, 0.01, 0.3, 1, 7, 500} {
		near(t, "its inverse", inverseTrigamma(trigamma(x))/x, 1, 1e-6)
	}
}
