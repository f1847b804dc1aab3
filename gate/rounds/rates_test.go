package rounds_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
)

// noise returns n repetitions in order, with a standard deviation of 1.
type noise func(r *rand.Rand, n int) []float64

func each(draw func(*rand.Rand) float64) noise {
	return func(r *rand.Rand, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = draw(r)
		}
		return out
	}
}

// hangingOn returns noise of which each value takes half of the one before.
func hangingOn(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	x := r.NormFloat64()
	for i := range out {
		out[i] = x
		x = x/2 + math.Sqrt(0.75)*r.NormFloat64()
	}
	return out
}

// warmingUp returns noise on a phone that is slower by five standard deviations at first.
func warmingUp(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64() + 5*math.Exp(-float64(i)/20)
	}
	return out
}

// interrupted returns noise on a phone on which one repetition in twenty is slower by five standard
// deviations of the rest.
func interrupted(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		if out[i] = 0.68 * r.NormFloat64(); r.IntN(20) == 0 {
			out[i] += 3.4
		}
	}
	return out
}

// alternating returns noise on a phone on which every third repetition is slower.
func alternating(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		if out[i] = 0.5 * r.NormFloat64(); i%3 == 0 {
			out[i] += 2
		}
	}
	return out
}

var noises = map[string]noise{
	"normal":       each((*rand.Rand).NormFloat64),
	"heavy tails":  each(func(r *rand.Rand) float64 { return distuv.StudentsT{Sigma: 0.577, Nu: 3, Src: r}.Rand() }),
	"skewed":       each(func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }),
	"hanging on":   hangingOn,
	"warming up":   warmingUp,
	"every third":  alternating,
	"interrupted":  interrupted,
	"of few steps": each(func(r *rand.Rand) float64 { return math.Round(1.5*r.NormFloat64()) / 1.5 }),
}

// outcomes are the results of trials: shares of all, and rounds on average.
type outcomes struct {
	failed, passed, open, outside, rounds float64
}

// spent is the number of rounds of the default configuration.
const spent = 60

// trials draws pairs of builds, the head worse by a share, whose repetitions vary by cv, and the
// order of builds in each round.
func trials(t *testing.T, n int, seed uint64, of noise, cv, worse float64) outcomes {
	t.Helper()
	return knowing(t, n, seed, of, cv, worse, func(*rand.Rand) gate.Prior { return gate.Prior{} })
}

// knowing does so with a prior from the history, drawn for each trial.
func knowing(t *testing.T, n int, seed uint64, of noise, cv, worse float64, knows func(*rand.Rand) gate.Prior) (out outcomes) {
	t.Helper()
	p := strict(t)
	plan, err := rounds.PlanOf(p, spent, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, uint64(1000*cv)))
	for range n {
		var base, head [spent]float64
		for i, e := range of(r, 2*spent) {
			x := 10 * math.Exp(cv*e)
			if i%2 == 0 {
				base[i/2] = x
			} else {
				head[i/2] = x
			}
		}
		for i := range base {
			if r.IntN(2) == 0 {
				base[i], head[i] = head[i], base[i]
			}
		}
		first := open(1)
		first.Runs[0].Comparisons[0].Prior = knows(r)
		trial := rounds.New(p, metric.Default(), first, plan)
		trial.Add(0, gatetest.Rounds("b", spent, func(i int) map[string]float64 { return map[string]float64{ms: base[i]} }),
			gatetest.Rounds("h", spent, func(i int) map[string]float64 { return map[string]float64{ms: head[i] * (1 + worse)} }))
		v := trial.Verdict()
		got := v.Runs[0].Comparisons[0].Rounds
		share := 1 / float64(n)
		switch v.Verdict {
		case gate.Regression:
			out.failed += share
		case gate.Inconclusive:
			out.open += share
		default:
			out.passed += share
		}
		if got.ChangeLow != nil && *got.ChangeLow > worse || got.ChangeHigh != nil && *got.ChangeHigh < worse {
			out.outside += share
		}
		out.rounds += share * float64(got.Rounds)
	}
	return out
}

// within returns the share of n trials that is exceeded with a chance of one in a thousand where
// the rate is p.
func within(n int, p float64) float64 {
	return p + distuv.UnitNormal.Quantile(0.999)*math.Sqrt(p*(1-p)/float64(n))
}

// draws returns how many of n draws are made: all of them in the full evaluation, half with
// APKGATE_FULL.
func draws(n int) int {
	switch {
	case os.Getenv("APKGATE_EVALUATION") == "full":
		return n
	case os.Getenv("APKGATE_FULL") != "":
		return n / 2
	}
	return n / 4
}

// Whatever the noise, at most one in a hundred unchanged builds fails, and at most three of those
// that are worse by min-effect pass.
func TestRates(t *testing.T) {
	n := draws(500)
	for name, of := range noises {
		for _, cv := range []float64{0.06, 0.2} {
			same := trials(t, n, 1, of, cv, 0)
			if same.failed > within(n, 0.01) {
				t.Errorf("%s, %.0f %%: %.2f %% of unchanged builds fail", name, 100*cv, 100*same.failed)
			}
			worse := trials(t, n, 2, of, cv, 0.1)
			if worse.passed > within(n, 0.03) {
				t.Errorf("%s, %.0f %%: %.2f %% of builds that are worse by 10 %% pass", name, 100*cv, 100*worse.passed)
			}
			if both := max(same.outside, worse.outside); both > within(n, 0.04) {
				t.Errorf("%s, %.0f %%: %.2f %% of intervals leave out what is true", name, 100*cv, 100*both)
			}
		}
	}
}

// The same holds where the history knows the noise with twenty degrees of freedom, and how the new
// run compares with the expected value. With heavy tails, or a wild repetition now and then, up to
// 4.5 in a hundred pass. Where every third repetition is slower the noise is not random, and up to
// eleven pass.
func TestRatesWithPrior(t *testing.T) {
	n := draws(300)
	for name, of := range noises {
		missed := 0.03
		switch name {
		case "heavy tails", "interrupted":
			missed = 0.045
		case "every third":
			missed = 0.11
		}
		for _, cv := range []float64{0.06, 0.12} {
			for _, sd := range []float64{0, 0.05} {
				knows := func(worse float64) func(*rand.Rand) gate.Prior {
					return func(r *rand.Rand) gate.Prior {
						chi := distuv.ChiSquared{K: 20, Src: r}.Rand()
						return gate.Prior{Repetition: cv * math.Sqrt(chi/20), DF: 20, Beyond: math.Log1p(worse) + sd*r.NormFloat64(), SD: sd}
					}
				}
				same, worse := knowing(t, n, 5, of, cv, 0, knows(0)), knowing(t, n, 6, of, cv, 0.1, knows(0.1))
				if same.failed > within(n, 0.01) {
					t.Errorf("%s, %.0f %%: %.2f %% of unchanged builds fail", name, 100*cv, 100*same.failed)
				}
				if worse.passed > within(n, missed) {
					t.Errorf("%s, %.0f %%: %.2f %% of builds that are worse by 10 %% pass", name, 100*cv, 100*worse.passed)
				}
			}
		}
	}
}

// How often 10 % is detected, and what an unchanged build costs, by how much repetitions vary.
func TestPower(t *testing.T) {
	n := draws(500)
	for cv, want := range map[float64]outcomes{
		0.03: {failed: 0.985, rounds: 8.5},
		0.06: {failed: 0.97, rounds: 11.5},
		0.09: {failed: 0.94, rounds: 18.5},
	} {
		got := trials(t, n, 3, noises["normal"], cv, 0.1)
		if short := got.failed + within(n, 1-want.failed) - (1 - want.failed); short < want.failed {
			t.Errorf("%.0f %%: %.1f %% of builds that are worse by 10 %% fail, want %.1f %%", 100*cv, 100*got.failed, 100*want.failed)
		}
		if same := trials(t, n, 4, noises["normal"], cv, 0); same.rounds > want.rounds || same.passed < 0.96 {
			t.Errorf("%.0f %%: an unchanged build takes %.1f rounds, and %.1f %% pass; want at most %.1f", 100*cv, same.rounds, 100*same.passed, want.rounds)
		}
	}
}
