package rounds

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/run"
)

// By hand, for r = 0.5: two in a turn have 2 + 2·0.5 within it and 0.5·1.5² across, three have 3 +
// 2·(2·0.5 + 0.25) and 0.5·1.75²; each minus the other, divided by n² and by the value for one, 1 -
// 0.5.
func TestLongerTurns(t *testing.T) {
	for _, c := range []struct {
		turn    int
		r, want float64
	}{
		{1, 0, 1}, {2, 0, 1.0 / 2}, {3, 0, 1.0 / 3},
		{1, 0.5, 1}, {2, 0.5, 1.875 / 2}, {3, 0.5, 3.96875 / 4.5},
		{1, 0.95, 1}, {2, 0.95, 0.287625 / 0.2},
	} {
		if got := longer(c.turn, c.r); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d in a turn, which go together by %g: %g, want %g", c.turn, c.r, got, c.want)
		}
	}
}

// nights returns nine sessions of nine repetitions, each of which lies that much above the level.
func nights(above func(i int) float64) []run.Run {
	var out []run.Run
	for range 9 {
		var ms []float64
		for i := range 9 {
			ms = append(ms, 10*math.Exp(0.01*above(i)))
		}
		out = append(out, timed(0, ms...))
	}
	return out
}

// Where a set-up takes long a turn has three repetitions, unless the phone is slow for several of
// them at a time: a rise over nine has a correlation of (40 + 8/9·7.5)/(8·7.5) = 7/9, one over
// three of (0 + 2/3)/2.
func TestTurnWithAutocorrelation(t *testing.T) {
	lasts := gate.RoundDurations{SetUp: 1, Repetition: 0.1}
	rise, upAndDown := func(i int) float64 { return float64(i) }, func(i int) float64 { return float64(i % 2) }
	other := nights(rise)
	for _, r := range other {
		for _, it := range r.Iterations {
			it.Metrics["cpu.time_ms"] = it.Metrics["frames.duration_ms"]
			delete(it.Metrics, "frames.duration_ms")
		}
	}
	for name, c := range map[string]struct {
		accepted        []run.Run
		autocorrelation float64
		want            int
	}{
		"nothing is accepted":  {nil, 0, 3},
		"it goes up and down":  {nights(upAndDown), 0, 3},
		"it rises":             {nights(rise), 7.0 / 9, 1},
		"one short session":    {[]run.Run{timed(0, 10, 11, 12.1)}, 1.0 / 3, 3},
		"another number rises": {other, 0, 3},
	} {
		trial := knownTrial(t, known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9}))
		trial.LearnAutocorrelation(0, c.accepted)
		trial.LearnAutocorrelation(7, c.accepted) // nothing is open there
		if got := trial.places[0].questions[0].known.Autocorrelation; math.Abs(got-c.autocorrelation) > 1e-9 {
			t.Errorf("%s: they go together by %g, want %g", name, got, c.autocorrelation)
		}
		if got := trial.Turn(0, lasts); got != c.want {
			t.Errorf("%s: %d a turn, want %d", name, got, c.want)
		}
	}
}

// An event's repetitions have a correlation of their own.
func TestAutocorrelationOfEvents(t *testing.T) {
	event := nights(func(i int) float64 { return float64(i) })
	for _, r := range event {
		for i, it := range r.Iterations {
			r.Iterations[i] = run.Iteration{Metrics: map[string]float64{"frames.duration_ms": 10}, Events: []run.Bucket{{Name: "start"}, {Name: "tap", Metrics: it.Metrics}}}
		}
	}
	for name, want := range map[string]float64{"tap": 7.0 / 9, "swipe": 0} {
		c := known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9})
		c.Event = name
		trial := knownTrial(t, c)
		trial.LearnAutocorrelation(0, event)
		if got := trial.places[0].questions[0].known.Autocorrelation; math.Abs(got-want) > 1e-9 {
			t.Errorf("after %s they go together by %g, want %g", name, got, want)
		}
	}
}

// However high the correlation of repetitions, it is limited, and it is not used for rare events.
func TestAutocorrelationIsLimited(t *testing.T) {
	var long []run.Run
	for range 50 {
		var ms []float64
		for i := range 200 {
			ms = append(ms, 10+float64(i))
		}
		long = append(long, timed(0, ms...))
	}
	trial := knownTrial(t, known("frames.duration_ms", gate.Prior{Repetition: 0.05, DF: 9}), known("anr.count", gate.Prior{Counts: screening.NewCounts([]screening.Count{{Repetitions: 90}}), Repetitions: 10}))
	for place := range 2 {
		trial.LearnAutocorrelation(place, long)
	}
	if got := trial.places[0].questions[0].known.Autocorrelation; got != mostAutocorrelation {
		t.Errorf("it is %g, want %g", got, mostAutocorrelation)
	}
	if got := trial.places[1].questions[0].known.Autocorrelation; got != 0 {
		t.Errorf("rare events wander by %g", got)
	}
}
