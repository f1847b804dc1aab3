package screening

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// After three events in ten repetitions, with Jeffreys' half event, the expected rate is Gamma(3.5,
// 10). The chance that five more repetitions have at most k events is that of a negative binomial
// distribution with size 3.5 and chance 10/15.
func TestCountsByHand(t *testing.T) {
	c := NewCounts([]Count{{2, 5}, {1, 5}})
	lgamma := func(x float64) float64 { l, _ := math.Lgamma(x); return l }
	sum := 0.0
	for k := range 6 {
		n := float64(k)
		sum += math.Exp(lgamma(n+3.5) - lgamma(3.5) - lgamma(n+1) + 3.5*math.Log(10.0/15) + n*math.Log(5.0/15))
		if got := c.AtMost(n, 5, 0); math.Abs(got-sum) > 1e-9 {
			t.Errorf("at most %d: %g, want %g", k, got, sum)
		}
		if got := c.AtLeast(n+1, 5); math.Abs(got-(1-sum)) > 1e-9 {
			t.Errorf("at least %d: %g, want %g", k+1, got, 1-sum)
		}
	}
	if c.Rate() != 0.3 || c.AtLeast(0, 5) != 1 || c.AtLeast(0.4, 5) != 1 {
		t.Errorf("a rate of %g, and none at least with %g", c.Rate(), c.AtLeast(0, 5))
	}
	// A mean times its repetitions is rounded: 15 in eleven, one in 49.
	for _, of := range [][2]float64{{15, 11}, {1, 49}} {
		events, n := of[0]/of[1]*of[1], of[1]
		if events == of[0] {
			t.Fatalf("%g in %g is not rounded", of[0], n)
		}
		if most, least := c.AtMost(events, n, 4), c.AtLeast(events, n); most != c.AtMost(of[0], n, 4) || least != c.AtLeast(of[0], n) {
			t.Errorf("%g in %g: at most %g, at least %g", of[0], n, most, least)
		}
	}
	if NewCounts(nil).Known() || NewCounts([]Count{{1, 0}}).Known() || !c.Known() {
		t.Error("known is what had repetitions")
	}
}

// Two more events in five repetitions make five and a half in fifteen: five more repetitions have
// none with the chance (15/20)^5.5 = 0.2054.
func TestCountsOfMoreRepetitions(t *testing.T) {
	c := NewCounts([]Count{{2, 5}, {1, 5}})
	more := c.With(2, 5)
	if got := more.AtMost(0, 5, 0); math.Abs(got-math.Pow(0.75, 5.5)) > 1e-9 || math.Abs(more.Rate()-5.0/15) > 1e-12 || more.Repetitions() != 15 {
		t.Errorf("none in five with %g, a rate of %g of %g repetitions; want 0.2054, a third and 15", got, more.Rate(), more.Repetitions())
	}
	if c.With(1, 0) != c {
		t.Error("what was counted in no repetition counts")
	}
	if (Counts{}).With(1, 5).Known() {
		t.Error("of no past it is not known how sessions differ")
	}
}

// A long past determines the rate: Poisson's distribution, with four more events expected.
func TestCountsOfLongHistory(t *testing.T) {
	never := NewCounts([]Count{{0, 1e7}})
	for k := range 5 {
		if got, want := never.AtMost(float64(k), 5, 4), (distuv.Poisson{Lambda: 4}).CDF(float64(k)); math.Abs(got-want) > 1e-4 {
			t.Errorf("at most %d of four: %g, want %g", k, got, want)
		}
	}
	if never.Rate() != 0 {
		t.Errorf("a rate of %g of none", never.Rate())
	}
}

// Sessions that differ by more than chance widen the distribution: of 0 and 10 events, in five
// repetitions each, the variance is ten times the mean.
func TestCountsOfUnlikeSessions(t *testing.T) {
	even, uneven := NewCounts([]Count{{5, 5}, {5, 5}, {5, 5}}), NewCounts([]Count{{0, 5}, {10, 5}, {5, 5}})
	if uneven.dispersion != 5 || even.dispersion != 1 {
		t.Errorf("dispersions %g and %g, want 5 and 1", uneven.dispersion, even.dispersion)
	}
	if a, b := even.AtLeast(12, 5), uneven.AtLeast(12, 5); a > 0.05 || b < 2*a {
		t.Errorf("twelve where five are usual: %g of even sessions, %g of uneven ones", a, b)
	}
}

// Whatever is counted, a chance lies between 0 and 1, and AtMost does not decrease as the number of
// events grows.
func TestCountsAtAnyNumber(t *testing.T) {
	numbers := []float64{math.NaN(), math.Inf(-1), -1, 0, 1e-300, 0.5, 1, 3, 1e5, 1e6, 1e9, 1e15, 1e300, math.MaxFloat64, math.Inf(1)}
	pasts := [][]Count{{{0, 1}}, {{1, 5}, {1, 5}}, {{0, 5}, {1e9, 5}}, {{1e15, 3}}, {{1e300, 1e-300}}, {{math.MaxFloat64, 1}, {0, 1}}, {{math.NaN(), 5}}, {{math.Inf(1), 5}}, {{3, 1e300}}}
	for _, past := range pasts {
		c := NewCounts(past)
		for _, repetitions := range numbers {
			for _, more := range numbers {
				for _, events := range numbers {
					if p := c.AtMost(events, repetitions, more); !(p >= 0 && p <= 1) {
						t.Errorf("of %v: at most %g in %g with %g more: %g", past, events, repetitions, more, p)
					}
				}
			}
			for _, events := range numbers {
				if p := c.AtLeast(events, repetitions); !(p >= 0 && p <= 1) {
					t.Errorf("of %v: at least %g in %g: %g", past, events, repetitions, p)
				}
			}
		}
	}
	// A million events where a million are usual, in as many repetitions: half of the time.
	even := NewCounts([]Count{{1e6, 10}, {1e6, 10}, {1e6, 10}, {1e6, 10}})
	if p := even.AtMost(1e6, 10, 0); math.Abs(p-0.5) > 0.01 {
		t.Errorf("as many as usual or fewer: %g, want a half", p)
	}
	if p := even.AtMost(990_000, 10, 0); p > 1e-6 {
		t.Errorf("1 %% fewer of a million: %g", p)
	}
	if p := even.AtMost(-1, 10, 0); p != 0 {
		t.Errorf("fewer than none: %g", p)
	}
	if p := (Counts{}).AtMost(3, 5, 0); p != 1 {
		t.Errorf("nothing is known and nothing expected: at most three with %g, want 1", p)
	}
}
