package rounds

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// known returns an undecided comparison of a number with this prior.
func known(name string, k gate.Prior) gate.Comparison {
	return gate.Comparison{Metric: name, Screen: gate.Open, P: 1, Prior: k}
}

// knownTrial returns a trial of forty rounds of these, one per place.
func knownTrial(t *testing.T, open ...gate.Comparison) *Trial {
	t.Helper()
	v := gate.Verdict{Format: gate.Format}
	for _, c := range open {
		v.Runs = append(v.Runs, gate.RunVerdict{Verdict: gate.Inconclusive, Comparisons: []gate.Comparison{c}})
	}
	plan, err := PlanOf(strictly(t), 40, len(open))
	if err != nil {
		t.Fatal(err)
	}
	return New(strictly(t), metric.Default(), v, plan)
}

// timed returns a run with a round for each value, alternately.
func timed(turn int, ms ...float64) run.Run {
	r := run.Run{Status: run.Complete, Turn: turn}
	for _, x := range ms {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": x}})
	}
	return r
}

// The time goes first to what the history finds most suspect, by its own standard error: rare
// events that occurred, then what is worse, then the unknown, then what is better.
func TestOrder(t *testing.T) {
	const time, smooth = "frames.duration_ms", "frames.smooth_ratio"
	never := screening.NewCounts([]screening.Count{{Events: 0, Repetitions: 90}})
	trial := knownTrial(t,
		known(time, gate.Prior{Beyond: -0.1, SD: 0.05}),  // 2 better
		known(time, gate.Prior{Beyond: 0.06, SD: 0.06}),  // 1 worse
		known(time, gate.Prior{}),                        // unknown
		known(smooth, gate.Prior{Beyond: -0.3, SD: 0.1}), // 3 worse
		known(smooth, gate.Prior{Beyond: 0.1, SD: 0.1}),  // 1 better
		known("anr.count", gate.Prior{Counts: never, Events: 1, Repetitions: 10}),
		known("anr.count", gate.Prior{Counts: never, Events: 0, Repetitions: 10}),
		known(time, gate.Prior{Beyond: 0.06, SD: 0.06}), // as the second
	)
	if got, want := trial.Order(), []int{5, 3, 1, 7, 2, 6, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A place is as suspect as its most suspect number.
	v := gate.Verdict{Runs: []gate.RunVerdict{
		{Comparisons: []gate.Comparison{known(time, gate.Prior{Beyond: 0.1, SD: 0.1})}},
		{Comparisons: []gate.Comparison{known(time, gate.Prior{Beyond: -0.1, SD: 0.1}), known(smooth, gate.Prior{Beyond: -0.2, SD: 0.1})}},
		{},
	}}
	if got := New(strictly(t), metric.Default(), v, Plan{Most: 40}).Order(); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("%v, want the second, then the first, and not the one without questions", got)
	}
}

// A turn has the number of repetitions that is likely to settle the place soonest (see
// TestSettling). What is surely worse fails at the first possible look, whose rounds
// should be short.
func TestTurn(t *testing.T) {
	long, none := gate.RoundDurations{SetUp: 1, Repetition: 0.1}, gate.RoundDurations{Repetition: 1}
	noisy, calm := known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9}), known("frames.duration_ms", gate.Prior{Repetition: 0.001, DF: 9})
	wide := noisy
	wide.Effect = math.Expm1(3 * math.Log(1.1)) // a third of the way takes a ninth of the rounds
	worse := known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9, Beyond: 0.41, SD: 0.1})
	trial := knownTrial(t, noisy, calm, known("frames.duration_ms", gate.Prior{}), wide, worse)
	for name, c := range map[string]struct {
		at    int
		lasts gate.RoundDurations
		want  int
	}{
		"a set-up that takes long":  {0, long, 3},
		"a set-up of no time":       {0, none, 1},
		"hardly any noise":          {1, long, 1},
		"of which nothing is known": {2, long, 1},
		"a greater effect":          {3, long, 1},
		"four errors worse":         {4, long, 1},
		"nowhere":                   {9, long, 1},
	} {
		if got := trial.Turn(c.at, c.lasts); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	v := gate.Verdict{Runs: []gate.RunVerdict{{Comparisons: []gate.Comparison{calm, {Event: "tap", Metric: noisy.Metric, Screen: gate.Open, Prior: noisy.Prior}}}}}
	if got := New(strictly(t), metric.Default(), v, Plan{Most: 40}).Turn(0, long); got != 3 {
		t.Errorf("of a calm and a noisy one: %d, want 3", got)
	}
}

// Repetitions that vary by 5 %, known with nine degrees of freedom, pass in eight of ten cases
// where (t+0.8416)·√(0.005/0.955/n) is 0.0953 at most: 0.0851 after ten rounds (t of 18 is 2.8784),
// 0.0962 after eight. With a history whose standard error is 4 % it is 0.0907 after six and 0.1045
// after four. Without a history, the order of eight rounds excludes. What looks no better than the
// effect fails at the first possible look or is measured to the end. Where one ANR in ten
// repetitions is usual and the new run has one in its ten, 16 rounds exclude one in five more: at
// most one of 7.8 has 0.0036, and of 7.2 after 14 rounds 0.0061. To show that they are more than
// usual would take some hundred rounds.
func TestForecastOfHopelessPlace(t *testing.T) {
	noise := gate.Prior{Repetition: 0.05, DF: 9, Repetitions: 10}
	told, conflict := noise, noise
	told.SD, conflict.Beyond, conflict.SD = 0.04, 0.5, 0.04
	hopeless := gate.Prior{Repetition: 1, DF: 9} // takes 2693 rounds
	never, usual := screening.NewCounts([]screening.Count{{Events: 0, Repetitions: 1e7}}), screening.NewCounts([]screening.Count{{Events: 1e6, Repetitions: 1e7}})
	trial := knownTrial(t,
		known("frames.duration_ms", noise), known("frames.duration_ms", told), known("frames.duration_ms", gate.Prior{}), known("frames.duration_ms", hopeless),
		known("anr.count", gate.Prior{Counts: never, Events: 0, Repetitions: 1}), known("anr.count", gate.Prior{Counts: never, Events: 1, Repetitions: 10}),
		known("anr.count", gate.Prior{Counts: usual, Events: 1, Repetitions: 10}))
	for name, c := range map[string]struct {
		at   int
		most float64 // rounds that it is likely to take
	}{
		"by rounds alone":        {0, 10},
		"with the history":       {1, 6},
		"of what nobody knows":   {2, 8},
		"none in one repetition": {4, 10},                              // e to the -5.5 with ten more and one, which eight more are not enough for
		"one in ten repetitions": {5, float64(trial.plan.firstFail())}, // it fails by one more, before 28 rounds without any exclude it
		"one in ten, as usual":   {6, 16},
	} {
		const round = 1.5
		if n, more := trial.Within(c.at, c.most*round, round); !more || n != 2 {
			t.Errorf("%s: until %d rounds, more %t, where %g are left; want two", name, n, more, c.most)
		}
		if n, more := trial.Within(c.at, c.most*round-0.1, round); more || n != 0 {
			t.Errorf("%s: until %d rounds, more %t, where less than %g are left; want none", name, n, more, c.most)
		}
	}
	if _, more := trial.Within(3, 1000, 1); more {
		t.Error("what no number of rounds settles is begun")
	}
	if _, more := trial.Within(99, 1000, 1); more {
		t.Error("a place without questions is begun")
	}
	// What looks a tenth worse after eight rounds can fail at the first look.
	trial = knownTrial(t, known("frames.duration_ms", noise))
	first := trial.plan.firstFail()
	trial.Add(0, timed(0, 10, 10, 10, 10), timed(0, 12, 12.2, 12.1, 12.3))
	if _, more := trial.Within(0, float64(first-4), 1); !more {
		t.Errorf("what looks worse is not measured until %d rounds", first)
	}
	if _, more := trial.Within(0, float64(first-5), 1); more {
		t.Error("it is measured where the first look that can fail is out of reach")
	}
	// Nothing else stops what is settled already.
	trial.Add(0, timed(0, 10, 10, 10, 10, 10, 10, 10, 10), timed(0, 10, 10, 10, 10, 10, 10, 10, 10))
	if n, more := trial.Within(0, 1000, 1); more || n != 8 {
		t.Errorf("%d rounds, more %t, of what is excluded", n, more)
	}
}

// Four rounds without a difference leave 0.0061, with two degrees of freedom fewer than they need
// (t of 12 is 3.0545, 0.0313 the standard error). Two more settle it in nearly half of the cases,
// four in eight of ten: a place that was begun continues where there is time for two, and one that
// another job has measured is begun where there is time for four.
func TestBegunPlaceContinues(t *testing.T) {
	const round = 1.5
	noise := known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9})
	alike := timed(0, 10, 10, 10, 10)
	begun, resumed := knownTrial(t, noise), knownTrial(t, noise)
	begun.Add(0, alike, alike)
	resumed.Resume(0, []run.Run{alike}, []run.Run{alike})
	if got := begun.Forecast(0); got != 4 {
		t.Errorf("%g more rounds are likely to settle it, want 4", got)
	}
	if n, more := begun.Within(0, 2*round, round); !more || n != 6 {
		t.Errorf("begun: until %d rounds, more %t; want six", n, more)
	}
	if _, more := begun.Within(0, 2*round-0.1, round); more {
		t.Error("begun: more than there is room for")
	}
	if got := resumed.Verdict().Runs[0].Comparisons[0].Rounds; got == nil || got.Rounds != 4 {
		t.Errorf("resumed: %+v is told of what was measured before, want four rounds", got)
	}
	if n, more := resumed.Within(0, 4*round, round); !more || n != 6 {
		t.Errorf("resumed: until %d rounds, more %t; want six", n, more)
	}
	if _, more := resumed.Within(0, 4*round-0.1, round); more {
		t.Error("resumed: begun where it is unlikely to be settled")
	}
}

// For a number without history eight rounds show the noise: distances with a median of 0 or 0.2,
// and 34 such rounds are likely to settle it, (2.7333+0.8416)·0.1483/ √(0.955·34) being 0.0930, and
// 0.0962 two rounds earlier.
func TestForecastOfUnknownNoise(t *testing.T) {
	trial := knownTrial(t, known("frames.duration_ms", gate.Prior{}))
	up, down := 10*math.Exp(0.1), 10*math.Exp(-0.1)
	trial.Add(0, timed(0, 10, 10, 10, 10, 10, 10, 10, 10), timed(0, up, down, up, down, up, down, up, down))
	x := trial.places[0].questions[0].paired(8)
	sd, df := x.noise()
	about(t, "degrees of freedom", df, 7)
	if sd < 0.1 || sd > 0.25 {
		t.Fatalf("values of ±0.1 waver by %g", sd)
	}
	want := 8.0
	for ; (passScore(7+want-8)+0.8416)*sd/math.Sqrt(0.955*want) > math.Log(1.1); want += 2 {
	}
	if got := trial.Forecast(0); got != want-8 {
		t.Errorf("%g more rounds, want %g", got, want-8)
	}
}

// A likely failure ends a place, whatever else is undecided there: a number with huge noise is
// never settled, and a slowdown of four standard errors fails at the first possible look. With
// three questions that is after 14 rounds: a tenth of 1 % over three is 1/3000, which takes 12
// equal signs, 13 where they need not be the most extreme order, and an even number.
func TestForecastOfFailure(t *testing.T) {
	noisy, worse := gate.Prior{Repetition: 1, DF: 9}, gate.Prior{Repetition: 0.05, DF: 9, Beyond: 0.41, SD: 0.1}
	plan, err := PlanOf(strictly(t), 40, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		known []gate.Prior
		want  float64
	}{
		"one that is never settled": {[]gate.Prior{noisy}, math.Inf(1)},
		"beside a sure slowdown":    {[]gate.Prior{worse, noisy}, 14},
		"in another order":          {[]gate.Prior{noisy, worse, noisy}, 14},
	} {
		var r gate.RunVerdict
		for i, k := range c.known {
			r.Comparisons = append(r.Comparisons, gate.Comparison{Event: fmt.Sprint("tap ", i), Metric: "frames.duration_ms", Screen: gate.Open, Prior: k})
		}
		trial := New(strictly(t), metric.Default(), gate.Verdict{Runs: []gate.RunVerdict{r}}, plan)
		if got := trial.Forecast(0); got != c.want {
			t.Errorf("%s: %g rounds, want %g", name, got, c.want)
		}
	}
}

// Two rounds with the standard error √(9·0.005/10/0.955/2) = 0.0485 (nine degrees of freedom and
// one, and no noise of their own): what looks 2 % faster is 0.1153 from what is to be excluded, and
// passes after six rounds (3.8184·0.0671/√(0.955·6) = 0.1070; after four 0.1338). What looks 2 %
// slower may well be unchanged: eight (0.0913 of 0.0953).
func TestForecastAfterFirstRounds(t *testing.T) {
	for look, want := range map[float64]float64{-0.02: 6 - 2, 0.02: 8 - 2} {
		trial := knownTrial(t, known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9}))
		head := 10 * math.Exp(look)
		trial.Add(0, timed(1, 10, 10), timed(1, head, head))
		if got := trial.Forecast(0); got != want {
			t.Errorf("a shift of %g: %g more rounds, want %g", look, got, want)
		}
	}
}

// Without any history eight rounds exclude by their order. In a context that was never measured ten
// repetitions of the new run without an ANR and n rounds without any exclude a rate of one half a
// repetition where a negative binomial has none with 0.5 % at most: after two rounds, for which
// half an ANR is assumed, (1/3)^4.5 = 0.0071; after four (10/17)^12.5 = 0.0013. Where the head has
// three in eight rounds, whose order has 1/8 (1.150), 0.6 of 1 % (2.512) takes 8·(2.512/1.150)² =
// 38.1 rounds, and an even number. Two in ten, where ninety accepted ones had none, are
// extrapolated as three in ten: four of 22 have 0.0005 after twelve rounds, and fail at the first
// possible look.
func TestForecastOfRareEvents(t *testing.T) {
	never := screening.NewCounts([]screening.Count{{Events: 0, Repetitions: 90}})
	of := func(perRound ...float64) run.Run { return rounded("anr.count", perRound...) }
	none := of(0, 0, 0, 0, 0, 0, 0, 0)
	for name, c := range map[string]struct {
		known      gate.Prior
		base, head run.Run
		want       float64
	}{
		"nothing is known":                 {gate.Prior{}, of(), of(), 8},
		"a context never measured":         {gate.Prior{Repetitions: 10}, of(), of(), 4},
		"three in the head's eight rounds": {gate.Prior{Repetitions: 10}, none, of(1, 1, 1, 0, 0, 0, 0, 0), 40 - 8},
		"two, and eight rounds without":    {gate.Prior{Counts: never, Events: 2, Repetitions: 10}, none, none, 12 - 8},
	} {
		trial := knownTrial(t, known("anr.count", c.known))
		trial.Add(0, c.base, c.head)
		if got := trial.Forecast(0); got != c.want {
			t.Errorf("%s: %g more rounds, want %g", name, got, c.want)
		}
	}
}

// rounded returns a run with a round for each value of the metric.
func rounded(name string, values ...float64) run.Run {
	r := run.Run{Status: run.Complete, Turn: 1}
	for _, x := range values {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{name: x}})
	}
	return r
}

// For a number without a scale the order of eight rounds gives the number needed: fifty for 40
// orders in 256 (see TestEnoughRounds), and none where four of eight are worse.
func TestForecastWithoutScale(t *testing.T) {
	const overrun = "frames.overrun_ms"
	for name, c := range map[string]struct {
		head []float64
		want float64
	}{
		"worse, and hardly sure": {[]float64{30, -20, 31, -21, 32, -22, 33, -23}, 50 - 8},
		"as likely as not":       {[]float64{-10, 12, -13, 13.5, -14, 15, -16, 16.1}, math.Inf(1)},
	} {
		trial := knownTrial(t, known(overrun, gate.Prior{}))
		if got := trial.Forecast(0); got != 8 {
			t.Errorf("before any round: %g rounds, want 8", got)
		}
		trial.Add(0, rounded(overrun, make([]float64, 8)...), rounded(overrun, c.head...))
		if got := trial.Forecast(0); got != c.want {
			t.Errorf("%s: %g more rounds, want %g", name, got, c.want)
		}
	}
}

// Rounds that an earlier job measured count as far as both builds' runs go, if they have as many
// repetitions per turn.
func TestResume(t *testing.T) {
	of := func(turn, n int) run.Run { return timed(turn, alike(n)...) }
	for name, c := range map[string]struct {
		at           int
		bases, heads []run.Run
		want         int
	}{
		"one part":                      {0, []run.Run{of(1, 4)}, []run.Run{of(1, 4)}, 4},
		"two parts":                     {0, []run.Run{of(1, 4), of(1, 2)}, []run.Run{of(1, 4), of(1, 2)}, 6},
		"in turns of two":               {0, []run.Run{of(2, 4)}, []run.Run{of(2, 4)}, 2},
		"the head has one less":         {0, []run.Run{of(1, 4)}, []run.Run{of(1, 3)}, 3},
		"the base has one less":         {0, []run.Run{of(1, 3)}, []run.Run{of(1, 4)}, 3},
		"half a turn":                   {0, []run.Run{of(2, 4)}, []run.Run{of(2, 3)}, 1},
		"the head's turns differ":       {0, []run.Run{of(1, 4), of(1, 2)}, []run.Run{of(1, 4), of(2, 2)}, 4},
		"the base's turns differ":       {0, []run.Run{of(1, 4), of(2, 2)}, []run.Run{of(1, 4), of(1, 2)}, 4},
		"none":                          {0, nil, nil, 0},
		"a part of the head is missing": {0, []run.Run{of(1, 4), of(1, 4)}, []run.Run{of(1, 4)}, 0},
		"where nothing is asked":        {9, []run.Run{of(1, 4)}, []run.Run{of(1, 4)}, 0},
	} {
		trial := knownTrial(t, known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9}))
		trial.Resume(c.at, c.bases, c.heads)
		if got := trial.Before(c.at); got != c.want {
			t.Errorf("%s: %d rounds, want %d", name, got, c.want)
		}
	}
}

// Rounds of turns have a value for each turn: the mean of its repetitions, for times the geometric
// one. An incomplete turn does not count.
func TestTurnOfRepetitions(t *testing.T) {
	trial := knownTrial(t, known("frames.duration_ms", gate.Prior{}))
	trial.Add(0, timed(2, 8, 12.5, 10, 10, 7), timed(2, 8, 18, 12, 12))
	got := trial.Verdict().Runs[0]
	if got.Rounds.Measured != 2 || got.Rounds.Repetitions != 9 {
		t.Errorf("%+v, want two rounds of nine repetitions", got.Rounds)
	}
	want := [][2]float64{{10, 12}, {10, 12}}
	for i, v := range got.Comparisons[0].Rounds.Values {
		about(t, "base", v[0], want[i][0])
		about(t, "head", v[1], want[i][1])
	}
	missing := timed(2, 8, 18, 12, 12)
	delete(missing.Iterations[1].Metrics, "frames.duration_ms")
	trial.Add(0, timed(2, 8, 12.5, 10, 10), missing)
	if got := trial.Verdict().Runs[0].Comparisons[0].Rounds; got.Rounds != 1 {
		t.Errorf("%d rounds, of which one has a repetition without frames", got.Rounds)
	}
	// For shares and counts it is the mean.
	q := question{cell: run.Cell{Metric: "frames.smooth_ratio"}}
	q.metric, _ = metric.Default().Lookup("frames.smooth_ratio")
	cells := func(v float64) run.Cells { return run.CellsOf(map[run.Cell]float64{q.cell: v}) }
	mean, whole := q.turnOf([]run.Cells{cells(1), cells(0.9), cells(0.8)})
	about(t, "shares", mean, 0.9)
	if !whole {
		t.Error("all of them have it")
	}
}
