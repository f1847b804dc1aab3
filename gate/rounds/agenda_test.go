package rounds

import (
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screen"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// known is an open comparison of a number of which the history knows this much.
func known(name string, k gate.Known) gate.Comparison {
	return gate.Comparison{Metric: name, Screen: gate.Open, P: 1, Known: k}
}

// knownTrial is a trial of forty rounds of these, one a place.
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

// sideBySide are runs of as many rounds as there are heads, in turns.
func timed(turn int, ms ...float64) run.Run {
	r := run.Run{Status: run.Complete, Turn: turn}
	for _, x := range ms {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": x}})
	}
	return r
}

// The hour goes first to what the history finds most suspect, by its own standard error:
// rare events that are there, then what is worse, then what nobody knows, then what is better.
func TestTheMostSuspectComesFirst(t *testing.T) {
	const time, smooth = "frames.duration_ms", "frames.smooth_ratio"
	never := screen.CountsOf([]screen.Count{{Events: 0, Repetitions: 90}})
	trial := knownTrial(t,
		known(time, gate.Known{Beyond: -0.1, SD: 0.05}),  // 2 better
		known(time, gate.Known{Beyond: 0.06, SD: 0.06}),  // 1 worse
		known(time, gate.Known{}),                        // unknown
		known(smooth, gate.Known{Beyond: -0.3, SD: 0.1}), // 3 worse
		known(smooth, gate.Known{Beyond: 0.1, SD: 0.1}),  // 1 better
		known("anr.count", gate.Known{Counts: never, Events: 1, Repetitions: 10}),
		known("anr.count", gate.Known{Counts: never, Events: 0, Repetitions: 10}),
		known(time, gate.Known{Beyond: 0.06, SD: 0.06}), // as the second
	)
	if got, want := trial.Order(), []int{5, 3, 1, 7, 2, 6, 4, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A place is as suspect as its most suspect number.
	v := gate.Verdict{Runs: []gate.RunVerdict{
		{Comparisons: []gate.Comparison{known(time, gate.Known{Beyond: 0.1, SD: 0.1})}},
		{Comparisons: []gate.Comparison{known(time, gate.Known{Beyond: -0.1, SD: 0.1}), known(smooth, gate.Known{Beyond: -0.2, SD: 0.1})}},
		{},
	}}
	if got := New(strictly(t), metric.Default(), v, Plan{Most: 40}).Order(); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("%v, want the second, then the first, and not the one without questions", got)
	}
}

// As many repetitions a turn as settle the place's hardest question soonest (see
// TestHowManyRepetitionsATurnHas).
func TestATurnServesTheHardestQuestion(t *testing.T) {
	long, none := gate.Lasts{SetUp: 1, Repetition: 0.1}, gate.Lasts{Repetition: 1}
	noisy, calm := known("frames.duration_ms", gate.Known{Repetition: 0.05, DF: 9}), known("frames.duration_ms", gate.Known{Repetition: 0.001, DF: 9})
	wide := noisy
	wide.Effect = math.Expm1(3 * math.Log(1.1)) // a third of the way takes a ninth of the rounds
	trial := knownTrial(t, noisy, calm, known("frames.duration_ms", gate.Known{}), wide)
	for name, c := range map[string]struct {
		at    int
		lasts gate.Lasts
		want  int
	}{
		"a set-up that takes long":  {0, long, 3},
		"a set-up of no time":       {0, none, 1},
		"hardly any noise":          {1, long, 1},
		"of which nothing is known": {2, long, 1},
		"a greater effect":          {3, long, 1},
		"nowhere":                   {9, long, 1},
	} {
		if got := trial.Turn(c.at, c.lasts); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	v := gate.Verdict{Runs: []gate.RunVerdict{{Comparisons: []gate.Comparison{calm, {Event: "tap", Metric: noisy.Metric, Screen: gate.Open, Known: noisy.Known}}}}}
	if got := New(strictly(t), metric.Default(), v, Plan{Most: 40}).Turn(0, long); got != 3 {
		t.Errorf("of a calm and a noisy one: %d, want 3", got)
	}
}

// Repetitions that waver by 5 % pass in eight of ten cases after 2·0.0025/0.955·((2.5758+
// 0.8416)/0.0953)² = 6.73 rounds, even. A history as good as a standard error of 4 % saves
// 625·0.005236 = 3.27 of them. Without any, the order of eight rounds excludes. What looks
// no better than the effect fails at the first look that can or is measured to the end.
func TestWhatCannotBeSettledIsNotBegun(t *testing.T) {
	noise := gate.Known{Repetition: 0.05, DF: 9}
	told, conflict := noise, noise
	told.SD, conflict.Beyond, conflict.SD = 0.04, 0.5, 0.04
	hopeless := gate.Known{Repetition: 1, DF: 9} // takes 2693 rounds
	never := screen.CountsOf([]screen.Count{{Events: 0, Repetitions: 1e7}})
	trial := knownTrial(t,
		known("frames.duration_ms", noise), known("frames.duration_ms", told), known("frames.duration_ms", gate.Known{}), known("frames.duration_ms", hopeless),
		known("anr.count", gate.Known{Counts: never, Events: 0, Repetitions: 1}), known("anr.count", gate.Known{Counts: never, Events: 1, Repetitions: 10}))
	for name, c := range map[string]struct {
		at   int
		most float64 // rounds that it is likely to take
	}{
		"by rounds alone":        {0, 8},
		"with the history":       {1, 4},
		"of what nobody knows":   {2, 8},
		"none in one repetition": {4, 10},                         // e to the -5.5 with ten more and one, which eight more are not enough for
		"one in ten repetitions": {5, float64(trial.firstFail())}, // it fails by one more, before 28 rounds without any exclude it
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
	// Of what looks a tenth worse after eight rounds, the first look that can fail is far enough.
	trial = knownTrial(t, known("frames.duration_ms", noise))
	first := trial.firstFail()
	trial.Add(0, timed(0, 10, 10, 10, 10), timed(0, 12, 12.2, 12.1, 12.3))
	if _, more := trial.Within(0, float64(first-4), 1); !more {
		t.Errorf("what looks worse is not measured until %d rounds", first)
	}
	if _, more := trial.Within(0, float64(first-5), 1); more {
		t.Error("it is measured where the first look that can fail is out of reach")
	}
	// Nothing stops what is settled already but that.
	trial.Add(0, timed(0, 10, 10, 10, 10, 10, 10, 10, 10), timed(0, 10, 10, 10, 10, 10, 10, 10, 10))
	if n, more := trial.Within(0, 1000, 1); more || n != 8 {
		t.Errorf("%d rounds, more %t, of what is excluded", n, more)
	}
}

// Rounds of turns have a value for each turn: the middle of its repetitions, of times the
// geometric one. A turn that is not whole counts nothing.
func TestTurnsAreTheirRepetitions(t *testing.T) {
	trial := knownTrial(t, known("frames.duration_ms", gate.Known{}))
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
	// Of shares and counts it is the mean.
	q := question{cell: run.Cell{Metric: "frames.smooth_ratio"}}
	q.metric, _ = metric.Default().Lookup("frames.smooth_ratio")
	cells := func(v float64) run.Cells { return run.CellsOf(map[run.Cell]float64{q.cell: v}) }
	mean, whole := q.turnOf([]run.Cells{cells(1), cells(0.9), cells(0.8)})
	about(t, "shares", mean, 0.9)
	if !whole {
		t.Error("all of them have it")
	}
}
