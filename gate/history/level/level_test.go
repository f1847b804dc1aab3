package level

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// least is 5 % on the scale of logarithms.
var least = math.Log(1.05)

// even returns sessions about a level, as many above it as below.
func even(n int, level, off float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = level + off*[]float64{0, 1, -1, 0.5, -0.5}[i%5]
	}
	return out
}

func TestPresent(t *testing.T) {
	old := even(15, 0, 0.01)
	with := func(newer ...float64) []float64 { return slices.Concat(old, newer) }
	for name, c := range map[string]struct {
		centres []float64
		from    int
		why     Why
	}{
		"nothing":                                   {nil, 0, ""},
		"one":                                       {[]float64{1}, 0, ""},
		"always the same":                           {make([]float64, 20), 0, ""},
		"nothing changed":                           {old, 0, ""},
		"one that is better by 20 %":                {with(-0.2), 15, Newest},
		"two of them":                               {with(-0.2, -0.21), 15, Newest},
		"three of them":                             {with(-0.2, -0.21, -0.19), 15, Step},
		"eight of them":                             {with(even(8, -0.2, 0.01)...), 15, Step},
		"one that is better by 4 %":                 {with(-0.04), 0, ""},
		"eight of them, better by 4 %":              {with(even(8, -0.04, 0.005)...), 0, ""},
		"one that is worse by 20 %":                 {with(0.2), 0, ""},
		"two of them, worse":                        {with(0.2, 0.21), 0, ""},
		"eight of them, worse":                      {with(even(8, 0.2, 0.01)...), 15, Step},
		"one bad session among them":                {slices.Concat(old, []float64{1}, old), 0, ""},
		"two bad sessions among them":               {slices.Concat(old, []float64{1, 0.9}, old), 0, ""},
		"one good session among them":               {slices.Concat(old, []float64{-1}, old), 0, ""},
		"better, then worse again":                  {slices.Concat(old, even(8, -0.2, 0.01), old), 23, Step},
		"better after a bad session":                {slices.Concat(old, []float64{1}, old, []float64{-0.2}), 31, Newest},
		"of three that were exact, one that is not": {[]float64{0, 0, 0, -0.2}, 3, Newest},
		"of two, one that is better":                {[]float64{0, 0.01, -0.2}, 0, ""},
		"100 that did not change":                   {even(100, 0, 0.01), 40, ""},
		"100 that changed 70 sessions ago":          {slices.Concat(even(30, 0, 0.01), even(70, 0.2, 0.01)), 40, ""},
		"100 that changed ten sessions ago":         {slices.Concat(even(90, 0, 0.01), even(10, 0.2, 0.01)), 90, Step},
		"5,000 of them":                             {slices.Concat(even(4990, 0, 0.01), even(10, 0.2, 0.01)), 4990, Step},
	} {
		got := Present(c.centres, 1, least)
		if got.From != c.from || got.Why != c.why || got.Moved != nil {
			t.Errorf("%s: %+v, want from %d, %q", name, got, c.from, c.why)
		}
		if math.IsNaN(got.Before) != (c.why == "") {
			t.Errorf("%s: before that it was %g", name, got.Before)
		}
		turned := slices.Clone(c.centres)
		for i := range turned {
			turned[i] *= -1
		}
		if other := Present(turned, -1, least); other.From != got.From || other.Why != got.Why {
			t.Errorf("%s: where more is better, the level begins at %d (%s), want as where less is", name, other.From, other.Why)
		}
	}
	if got := Present(with(-0.2), 1, least); math.Abs(got.Before) > 0.001 {
		t.Errorf("before it was better it was %g, want 0", got.Before)
	}
	for name, centres := range map[string][]float64{"better": with(-0.2, -0.2), "worse": with(0.2, 0.2), "falling": {0, -0.1, -0.2, -0.3, -0.4, -0.5, -0.6}} {
		if got := Present(centres, 0, least); got.Why == Newest || got.Moved != nil {
			t.Errorf("%s, where nothing is worse: %+v", name, got)
		}
	}
}

// A level that falls or rises steadily has no step. Each session is adjusted to the present.
func TestPresentOfMovingLevel(t *testing.T) {
	line := func(n int, by float64) []float64 {
		out := even(n, 0, 0.002)
		for i := range out {
			out[i] += by * float64(i)
		}
		return out
	}
	for name, by := range map[string]float64{"falls": -0.01, "rises": 0.01} {
		got := Present(line(18, by), 1, least)
		if got.From != 0 || got.Why != "" || len(got.Moved) != 18 {
			t.Fatalf("%s: %+v", name, got)
		}
		if last, first := got.Moved[17], got.Moved[0]; last != 0 || math.Abs(first/17-by) > 0.001 || first/17 > by {
			t.Errorf("%s: the first session would show %.3f more by now and the last %.3f; want 17 times %.2f or a little less, and 0", name, first, last, by)
		}
	}
	// Where higher is better, a rising series gets better, and its cautious end is the lower slope.
	for name, by := range map[string]float64{"falls": -0.01, "rises": 0.01} {
		centres := line(18, by)
		worse, better := Present(centres, 1, least), Present(centres, -1, least)
		if len(worse.Moved) != 18 || len(better.Moved) != 18 || worse.Moved[0] >= better.Moved[0] {
			t.Errorf("%s: moved by %v where more is worse, and by %v where it is better; want less of what is doubtful", name, worse.Moved, better.Moved)
		}
	}
	if got := Present(line(3, -0.1), 1, least); got.Moved != nil {
		t.Errorf("three sessions move by %v", got.Moved)
	}
	// A worsening has to be surer: five in a row occur by chance once in 120 times.
	if better, worse := Present(line(5, -0.01), 1, least), Present(line(5, 0.01), 1, least); len(better.Moved) != 5 || worse.Moved != nil {
		t.Errorf("five in a row: %v for the better and %v for the worse", better.Moved, worse.Moved)
	}
	fallen := append(line(18, -0.01), -0.5)
	if got := Present(fallen, 1, least); got.From != 18 || got.Why != Newest || got.Moved != nil {
		t.Errorf("a fall after a slow one: %+v", got)
	}
}

// Of series in which nothing changed, 1 % show a step for the worse and 5 % one for the better, and
// some more a newest session or two that are better: these cost repetitions.
func TestPresentOfConstantLevel(t *testing.T) {
	const series = 2000
	for _, n := range []int{8, 12, 18, 30, 60} {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		worse, better, newest := 0, 0, 0
		for range series {
			centres := make([]float64, n)
			for i := range centres {
				centres[i] = random.NormFloat64()
			}
			switch got := Present(centres, 1, 0); {
			case got.Why == Newest:
				newest++
			case got.Why == Step && got.Before < median(centres[got.From:]):
				worse++
			case got.Why == Step:
				better++
			}
		}
		if w, b, l := share(worse, series), share(better, series), share(newest, series); w > 0.02 || b > 0.06 || l > 0.17 {
			t.Errorf("of %d sessions: a step for the worse in %.3f, for the better in %.3f, the newest in %.3f", n, w, b, l)
		}
	}
}

func share(n, of int) float64 { return float64(n) / float64(of) }

func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// A gate that clears a build where it lies so far below what one that is 10 % worse than the level
// would show that only 2 of 100 do, by the sessions that it is given: how often it clears a build
// at the level, and one that is 10 % worse.
func TestOldSessionsExcuse(t *testing.T) {
	after := func(k int, by float64) func(i, n int) float64 {
		return func(i, n int) float64 {
			if i < n-k {
				return 0
			}
			return math.Log(1 + by)
		}
	}
	slope := func(by float64) func(i, n int) float64 {
		return func(i, n int) float64 { return math.Log(1+by) * float64(i) }
	}
	const n, noise = 18, 0.03
	for name, c := range map[string]struct {
		level                  func(i, n int) float64
		whole                  float64 // the least share of worse builds that the whole history excuses
		mostMissed, leastClear float64
	}{
		"nothing changed":                  {after(0, 0), 0, 0.03, 0.6},
		"one accepted run is 20 % better":  {after(1, -0.2), 0.9, 0.02, 0},
		"two":                              {after(2, -0.2), 0.6, 0.02, 0},
		"three":                            {after(3, -0.2), 0.2, 0.02, 0},
		"six":                              {after(6, -0.2), 0, 0.03, 0.3},
		"six are 20 % worse":               {after(6, 0.2), 0, 0.03, 0.25},
		"each is 1 % better than the last": {slope(-0.01), 0.04, 0.035, 0.5},
		"each is 1 % worse than the last":  {slope(0.01), 0, 0.03, 0.5},
	} {
		random := rand.New(rand.NewPCG(2, 3))
		const draws = 1500
		var cleared, missed, excused int
		for range draws {
			centres := make([]float64, n)
			for i := range centres {
				centres[i] = c.level(i, n) + noise*random.NormFloat64()
			}
			now := c.level(n-1, n) + noise*random.NormFloat64()
			l := Present(centres, 1, least)
			used := slices.Clone(centres[l.From:])
			for i, by := range l.Moved {
				used[i] += by
			}
			cleared += clears(used, now)
			missed += clears(used, now+math.Log(1.1))
			excused += clears(centres, now+math.Log(1.1))
		}
		said := fmt.Sprintf("%s: of unchanged builds %.2f are cleared, of worse ones %.3f, and by the whole history %.3f", name, share(cleared, draws), share(missed, draws), share(excused, draws))
		t.Log(said)
		if share(missed, draws) > c.mostMissed || share(cleared, draws) < c.leastClear || share(excused, draws) < c.whole {
			t.Errorf("%s; want at least %.2f, at most %.3f, and %.2f or more", said, c.leastClear, c.mostMissed, c.whole)
		}
	}
}

// student are the 98 % points of Student's t for 4 to 17 degrees of freedom (from tables).
var student = []float64{2.999, 2.757, 2.612, 2.517, 2.449, 2.398, 2.359, 2.328, 2.303, 2.282, 2.264, 2.249, 2.235, 2.224}

// clears returns 1 where five sessions or more clear the present measurement.
func clears(sessions []float64, now float64) int {
	n := float64(len(sessions))
	if n < 5 {
		return 0
	}
	mean, squares := 0.0, 0.0
	for _, y := range sessions {
		mean += y / n
	}
	for _, y := range sessions {
		squares += (y - mean) * (y - mean)
	}
	if now < mean+math.Log(1.1)-student[len(sessions)-5]*math.Sqrt(squares/(n-1)*(1+1/n)) {
		return 1
	}
	return 0
}
