package rounds

import (
	"fmt"
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/metric"
)

func alike(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 10
	}
	return out
}

// Student's t of 21 degrees of freedom exceeds 2.8314 with a chance of 0.5 % (tables).
const tOf21 = 2.831360

// Two rounds without any difference, and repetitions with a variance r² of 20 degrees of freedom:
// 40·r²/21 each, and over 0.955·2 for their estimate. Where 10 % is 2.8314 times its root it is
// excluded at exactly half a per cent.
func TestKnownNoiseExcludes(t *testing.T) {
	duration, _ := metric.Default().Lookup("frames.duration_ms")
	p95, _ := metric.Default().Lookup("frames.duration_ms.p95")
	smooth, _ := metric.Default().Lookup("frames.smooth_ratio")
	fps := metric.Metric{Name: "fps", Direction: metric.HigherIsBetter, Log: true}
	waver := func(margin float64) float64 { return math.Sqrt(math.Pow(margin/tOf21, 2) * 0.955 * 2 * 21 / 40) }
	r := waver(math.Log(1.1))
	for name, c := range map[string]struct {
		m          metric.Metric
		base, head []float64
		known      gate.Prior
		turn       int
		want       float64
	}{
		"as it was":               {duration, alike(2), alike(2), gate.Prior{Repetition: r, DF: 20}, 1, 0.005},
		"as it was, of turns":     {duration, alike(2), alike(2), gate.Prior{Repetition: r * math.Sqrt(3), DF: 20}, 3, 0.005},
		"of turns that wander":    {duration, alike(2), alike(2), gate.Prior{Repetition: r / math.Sqrt(0.9375), DF: 20, Autocorrelation: 0.5}, 2, 0.005}, // see TestLongerTurns
		"much is worth no more":   {duration, alike(2), alike(2), gate.Prior{Repetition: r, DF: 500}, 1, 0.005},
		"just what is excluded":   {duration, alike(2), times(alike(2), 1.1), gate.Prior{Repetition: r, DF: 20}, 1, 0.5},
		"a fifth quicker":         {duration, alike(2), times(alike(2), 1/1.1), gate.Prior{Repetition: 2 * r, DF: 20}, 1, 0.005},
		"as much of what is more": {fps, alike(2), alike(2), gate.Prior{Repetition: waver(math.Log(1 / 0.9)), DF: 20}, 1, 0.005},
		"of a tail":               {p95, alike(2), alike(2), gate.Prior{Repetition: 2 * r, DF: 20}, 1, 0.005},
		"of shares":               {smooth, []float64{0.9, 0.9}, []float64{0.9, 0.9}, gate.Prior{Repetition: waver(math.Log(1.5)), DF: 20}, 1, 0.005},
		"one round":               {duration, alike(1), alike(1), gate.Prior{Repetition: r, DF: 20}, 1, 1},
		"no round":                {duration, nil, nil, gate.Prior{Repetition: r, DF: 20}, 1, 1},
		"of no repetition, ranks": {duration, alike(2), alike(2), gate.Prior{Repetition: r}, 1, 1.0 / 4},
		"of no noise at all":      {duration, alike(2), alike(2), gate.Prior{DF: 20}, 1, 1.0 / 4},
		"the run was as expected": {duration, alike(2), alike(2), gate.Prior{Repetition: 2 * r, DF: 20, SD: 2 * math.Log(1.1) / tOf21 / math.Sqrt(3)}, 1, 0.005},
	} {
		got := PairedOf(c.m, c.base, c.head).given(c.known, c.turn).Excludes(0.1)
		if math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// With the same standard error as the rounds, the history's estimate of the new run counts as much:
// the combined estimate lies half-way, with half the variance. Where both differ by more than 2.5
// standard errors of their difference (root of two each), the history does not count: two equal
// rounds have a quarter then, and eight 1/256.
func TestHistoryOfTheNewRunCounts(t *testing.T) {
	duration, _ := metric.Default().Lookup("frames.duration_ms")
	const se = 0.03
	r := math.Sqrt(se * se * 0.955 * 2 * 21 / 40)
	for name, c := range map[string]struct{ beyond, sd, shift, se float64 }{
		"it knows nothing":     {0.5, 0, 0, se},
		"it was 4 % slower":    {0.04, se, 0.02, se / math.Sqrt2},
		"it was 4 % quicker":   {-0.04, se, -0.02, se / math.Sqrt2},
		"it is half as sure":   {0.05, 2 * se, 0.01, se * 2 / math.Sqrt(5)},
		"they nearly conflict": {2.49 * math.Sqrt2 * se, se, 2.49 * math.Sqrt2 * se / 2, se / math.Sqrt2},
	} {
		p := PairedOf(duration, alike(2), alike(2)).given(gate.Prior{Repetition: r, DF: 20, Beyond: c.beyond, SD: c.sd}, 1)
		shift, got, df := p.estimated()
		about(t, name, shift, c.shift)
		about(t, name+", its error", got, c.se)
		about(t, name+", degrees of freedom", df, 21)
		if math.Abs(p.reach(0.005)-(c.shift+tOf21*c.se)) > 1e-6 {
			t.Errorf("%s: it reaches to %g, want %g", name, p.reach(0.005), c.shift+tOf21*c.se)
		}
	}
	for _, beyond := range []float64{2.51 * math.Sqrt2 * se, -2.51 * math.Sqrt2 * se} {
		for n, want := range map[int]float64{2: 1.0 / 4, 8: 1.0 / 256} {
			k := gate.Prior{Repetition: r * math.Sqrt(float64(n)/2*(20+float64(n-1))/21), DF: 20, Beyond: beyond, SD: se} // as large an error
			about(t, fmt.Sprintf("they conflict by %.2f, %d rounds", beyond, n), PairedOf(duration, alike(n), alike(n)).given(k, 1).Excludes(0.1), want)
		}
	}
	// Rounds that vary more than ever before count with their own noise: ±0.1 has a variance of
	// 0.02.
	p := PairedOf(duration, alike(2), []float64{10 * math.Exp(0.1), 10 * math.Exp(-0.1)}).given(gate.Prior{Repetition: r, DF: 20}, 1)
	if _, got, _ := p.estimated(); math.Abs(got-math.Sqrt((40*r*r+0.02)/21/0.955/2)) > 1e-9 {
		t.Errorf("rounds that waver: %g", got)
	}
	// The end that a pass is based on is reported accordingly; the other is by ranks, for which two
	// rounds give none.
	at := Ends{Better: 0.001, Worse: 0.005}
	if x := PairedOf(duration, alike(2), alike(2)).given(gate.Prior{Repetition: r, DF: 20}, 1).Result(at); x.ShiftLow != nil || x.ChangeHigh == nil || math.Abs(*x.ChangeHigh-math.Expm1(tOf21*se)) > 1e-6 {
		t.Errorf("of times: %+v", x)
	}
	if x := PairedOf(duration, alike(1), alike(1)).given(gate.Prior{Repetition: r, DF: 20}, 1).Result(at); x.ChangeHigh != nil {
		t.Errorf("one round is told to bound it: %+v", x)
	}
	fps := metric.Metric{Name: "fps", Direction: metric.HigherIsBetter, Log: true}
	if x := PairedOf(fps, alike(2), alike(2)).given(gate.Prior{Repetition: r, DF: 20}, 1).Result(at); x.ShiftHigh != nil || x.ChangeLow == nil || math.Abs(*x.ChangeLow-math.Expm1(-tOf21*se)) > 1e-6 {
		t.Errorf("of what should be more: %+v", x)
	}
}

// Ninety repetitions without an ANR, and ten with three: with Jeffreys' half event the rate is
// Gamma(½, 90). Ten more repetitions have none with √0.9 = 0.94868, one with half a tenth of that,
// two with 3/8 of a hundredth, and three or more with 0.000325. Eight rounds without any make it 98
// and 18: √(98/116) and so on, 0.001243.
func TestRareEventsAreCountedTogether(t *testing.T) {
	anrs, _ := metric.Default().Lookup("anr.count")
	never := screening.NewCounts([]screening.Count{{Events: 0, Repetitions: 90}})
	none := func(n int) []float64 { return make([]float64, n) }
	ones := func(n, of int) []float64 {
		out := none(of)
		for i := range n {
			out[i] = 1
		}
		return out
	}
	const three, threeStill = 0.00032524, 0.00124262
	for name, c := range map[string]struct {
		base, head []float64
		events     float64 // of the new run, in ten repetitions
		turn       int
		worse      float64
	}{
		"none":                                {none(8), none(8), 0, 1, 1},
		"three, and no round":                 {nil, nil, 3, 1, three},
		"three, and rounds without any":       {none(8), none(8), 3, 1, threeStill},
		"and in turns of two":                 {none(4), none(4), 3, 2, threeStill},
		"two, and one more in the rounds":     {none(8), ones(1, 8), 2, 1, threeStill},
		"one, and a half of two turns of two": {none(4), []float64{0.5, 0.5, 0, 0}, 1, 2, threeStill},
		"one is no more than that":            {none(8), none(8), 1, 1, 1},
	} {
		p := PairedOf(anrs, c.base, c.head).given(gate.Prior{Counts: never, Events: c.events, Repetitions: 10}, c.turn)
		if math.Abs(p.Worse()-c.worse) > 1e-6 {
			t.Errorf("%s: %g, want %g", name, p.Worse(), c.worse)
		}
	}
	// The base build's rounds count as accepted ones: three there, and as many of the head.
	p := PairedOf(anrs, ones(3, 8), none(8)).given(gate.Prior{Counts: never, Events: 3, Repetitions: 10}, 1)
	about(t, "the rate that is accepted", p.Base, 3.0/98)
	about(t, "the rate of the head", p.Head, 3.0/18)
	if p.Worse() < 0.01 {
		t.Errorf("three where the base has three: %g", p.Worse())
	}
}

// Where an ANR occurred, a rate of one in five repetitions has to be excluded; where none did, one
// half a repetition. Two that no accepted build ever had are never excluded by repetitions without
// any. For a past of ten million the distribution is Poisson's: of 5 none has 0.0067 and of 5.5
// 0.0041; at most one of 7 has 0.0073, and of 7.6 0.0043.
func TestRareExcludes(t *testing.T) {
	anrs, _ := metric.Default().Lookup("anr.count")
	never := screening.NewCounts([]screening.Count{{Events: 0, Repetitions: 1e7}})
	often := screening.NewCounts([]screening.Count{{Events: 1e7, Repetitions: 1e7}})
	for name, c := range map[string]struct {
		past        screening.Counts
		events      float64
		repetitions float64 // including those of two rounds
		want        float64
	}{
		"none in ten":          {never, 0, 10, math.Exp(-5)},
		"none in eleven":       {never, 0, 11, math.Exp(-5.5)},
		"one in 35":            {never, 1, 35, 8 * math.Exp(-7)},
		"one in 38":            {never, 1, 38, 8.6 * math.Exp(-7.6)},
		"two in a thousand":    {never, 2, 1000, 1},
		"as many, of frequent": {often, 4, 4, math.Exp(-8) * (1 + 8 + 32 + 512.0/6 + 4096.0/24)}, // twice as many are 8
	} {
		p := PairedOf(anrs, []float64{0, 0}, []float64{0, 0}).given(gate.Prior{Counts: c.past, Events: c.events, Repetitions: c.repetitions - 2}, 1)
		if got := p.Excludes(0.1); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
		if !p.Below(0.1, 0.05) {
			t.Errorf("%s: rare events have no middle that could lie beyond", name)
		}
	}
	// Without any past only the rounds count.
	if p := PairedOf(anrs, []float64{0, 0}, []float64{0, 0}).given(gate.Prior{}, 1); p.rare != nil || p.Excludes(0.1) != 1.0/4 {
		t.Errorf("of no past: %g", p.Excludes(0.1))
	}
}

// Where the history has no repetition of a context, the base build of the rounds is the past: none
// in eight, for which half of one is assumed, and none of the head in these and ten of the new run.
// A rate of one half is 9 more than 1.125, with a variance of 12.65625, of which a negative
// binomial (of the size 40.5) has none with 0.8 to the 40.5. Failing is by the order of the rounds
// alone.
func TestRareEventsOfAContextNeverMeasured(t *testing.T) {
	anrs, _ := metric.Default().Lookup("anr.count")
	none, three := make([]float64, 8), []float64{1, 1, 1, 0, 0, 0, 0, 0}
	k := gate.Prior{Repetitions: 10}
	about(t, "none in any", PairedOf(anrs, none, none).given(k, 1).Excludes(0.1), math.Pow(0.8, 40.5))
	about(t, "none in turns of two", PairedOf(anrs, none[:4], none[:4]).given(k, 2).Excludes(0.1), math.Pow(0.8, 40.5))
	about(t, "three in the head's rounds", PairedOf(anrs, none, three).given(k, 1).Worse(), 1.0/8)
	if p := PairedOf(anrs, nil, nil).given(k, 1); p.rare != nil || p.Excludes(0.1) != 1 {
		t.Errorf("no round: %g", p.Excludes(0.1))
	}
}
