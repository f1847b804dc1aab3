package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// repeated is a run of one iteration for each number, its time per frame.
func repeated(id, session, model string, ms ...float64) run.Run {
	r := oneRun(id, nil)
	r.Session, r.Context, r.Iterations = session, map[string]string{"model": model}, nil
	for _, v := range ms {
		r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.duration_ms": v}})
	}
	return r
}

// rising are n times that drift upwards as a phone gets hot, times a factor.
func rising(n int, factor float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = (8 + 0.4*float64(i) + 0.05*float64(i*7%5)) * factor
	}
	return out
}

func compareAB(t *testing.T, base, head []run.Run) ABVerdict {
	t.Helper()
	return CompareAB(policy(t, PresetDefault), metric.Default(), base, head)
}

func list(rs ...run.Run) []run.Run { return rs }

// end is the end of an interval, not a number where there is none.
func end(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

func TestABOutcomes(t *testing.T) {
	partial := repeated("h", "s", "a", rising(10, 1)...)
	partial.Status = run.Partial
	partial.Warnings = []run.Warning{{Text: "warm-up 1 is lost"}, {Text: "the app crashed in repetition 3"}}
	early := oneRun("h", nil) // it ended before anybody asked the device what it is
	early.Status, early.Context, early.Iterations = run.Failed, nil, nil
	early.Warnings = []run.Warning{{Text: "measuring ended"}}
	for name, c := range map[string]struct {
		base, head []run.Run
		want       Outcome
		unit       ABUnit
		reason     string
	}{
		// The drift within the session is eight times the difference of the builds.
		"10 % slower in rounds": {list(repeated("b", "s", "a", rising(10, 1)...)), list(repeated("h", "s", "a", rising(10, 1.1)...)), Regression, ABRound, "+10 %"},
		"10 % faster in rounds": {list(repeated("b", "s", "a", rising(10, 1)...)), list(repeated("h", "s", "a", rising(10, 0.9)...)), Improvement, ABRound, "time per frame"},
		"2 % slower":            {list(repeated("b", "s", "a", rising(10, 1)...)), list(repeated("h", "s", "a", rising(10, 1.02)...)), Pass, ABRound, "worse by at most 2.0 % (time per frame)"},
		"three rounds":          {list(repeated("b", "s", "a", rising(3, 1)...)), list(repeated("h", "s", "a", rising(3, 1)...)), Inconclusive, ABRound, "3 rounds of each build could prove no change"},
		"slower, three rounds":  {list(repeated("b", "s", "a", rising(3, 1)...)), list(repeated("h", "s", "a", rising(3, 1.5)...)), Inconclusive, ABRound, "perhaps worse"},
		"not whole":             {list(repeated("b", "s", "a", rising(10, 1)...)), list(partial), Invalid, "", "the head on a: the run is not whole: the app crashed in repetition 3"},
		"no device":             {list(repeated("b", "s", "a", rising(10, 1)...)), list(early), Invalid, "", "the head: nothing was measured: measuring ended"},
		"other phones":          {list(repeated("b", "s", "a", rising(10, 1)...)), list(repeated("h", "s", "b", rising(10, 1)...)), Inconclusive, "", "no context in which both"},
		"one session each":      {list(repeated("b", "", "a", 8, 8.1, 8.2, 8.3, 8.4, 8.5)), list(repeated("h", "", "a", 11, 11.1, 11.2, 11.3, 11.4, 11.5)), Regression, ABIteration, "+36 %"},
		"one session, a doubt":  {list(repeated("b", "", "a", 8, 8.1, 8.2, 8.3, 8.4, 8.5)), list(repeated("h", "", "a", 9, 9.1, 9.2, 9.3, 9.4, 9.5)), Inconclusive, ABIteration, "perhaps worse"},
		"a session's heat":      {list(repeated("b", "", "a", 8, 8.1, 8.2, 8.3, 8.4, 8.5)), list(repeated("h", "", "a", 8.6, 8.7, 8.8, 8.9, 9, 9.1)), Pass, ABIteration, ""},
		"nothing at all":        {nil, nil, Inconclusive, "", "nothing to compare"},
	} {
		t.Run(name, func(t *testing.T) {
			v := compareAB(t, c.base, c.head)
			if v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: %q\nwant %s and %q in the reason", v.Verdict, v.Reason, c.want, c.reason)
			}
			if len(v.Scenarios) > 0 && v.Scenarios[0].Unit != c.unit {
				t.Errorf("the unit is %q, want %q", v.Scenarios[0].Unit, c.unit)
			}
			if warned := slices.ContainsFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, "session") }); warned != (c.unit == ABIteration) {
				t.Errorf("warnings: %v", v.Warnings)
			}
			// What is told as frames a second is as much slower as it is as ms a frame.
			p, catalogue := policy(t, PresetDefault), frameRate(t)
			if turned := CompareAB(p, catalogue, asRate(c.base), asRate(c.head)); turned.Verdict != c.want {
				t.Errorf("as frames a second %s: %q, want %s", turned.Verdict, turned.Reason, c.want)
			}
		})
	}
}

// frameRate is a catalogue with a metric of which more is better.
func frameRate(t *testing.T) *metric.Catalogue {
	t.Helper()
	c, err := metric.Default().With(metric.Metric{Name: "frames.rate", Title: "frames a second", Direction: metric.HigherIsBetter, Log: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// asRate are the runs with frames a second for milliseconds a frame.
func asRate(runs []run.Run) []run.Run {
	var out []run.Run
	for _, r := range runs {
		its := r.Iterations
		r.Iterations = nil
		for _, it := range its {
			r.Iterations = append(r.Iterations, run.Iteration{Metrics: map[string]float64{"frames.rate": 1000 / it.Metrics["frames.duration_ms"]}})
		}
		out = append(out, r)
	}
	return out
}

// Fewer frames and a worse smooth ratio are regressions, in rounds, in runs of many
// sessions and over several devices.
func TestABFewerFramesAreARegression(t *testing.T) {
	for name, c := range map[string]struct {
		metric     string
		base, head float64
	}{"frames": {"frames.count", 600, 400}, "smooth ratio": {"frames.smooth_ratio", 0.95, 0.8}} {
		side := func(side string, level float64, phones, sessions, each int) (out []run.Run) {
			for phone := range phones {
				for i := range sessions {
					r := rounds(fmt.Sprint(side, phone, i), each, func(k int) map[string]float64 {
						return map[string]float64{c.metric: level * (1 - 0.002*float64((k+i+phone)%5))}
					})
					r.Context = map[string]string{"model": fmt.Sprint(phone)}
					if sessions > 1 {
						r.Session = r.ID
					}
					out = append(out, r)
				}
			}
			return out
		}
		for unit, n := range map[string][3]int{"rounds": {1, 1, 12}, "runs": {1, 8, 1}, "rounds of two phones": {2, 1, 12}, "runs of two phones": {2, 6, 1}} {
			base, head := side("b", c.base, n[0], n[1], n[2]), side("h", c.head, n[0], n[1], n[2])
			if v := compareAB(t, base, head); v.Verdict != Regression {
				t.Errorf("%s, %s, fewer: %s: %s", name, unit, v.Verdict, v.Reason)
			}
			if v := compareAB(t, head, base); v.Verdict != Improvement {
				t.Errorf("%s, %s, more: %s: %s", name, unit, v.Verdict, v.Reason)
			}
		}
	}
}

func TestABNumbersByHand(t *testing.T) {
	base := repeated("b", "s", "a", 100, 200, 400, 100, 200, 400)
	head := repeated("h", "s", "a", 125, 250, 500, 125, 250, 500)
	d := compareAB(t, list(base), list(head)).Scenarios[0].Comparisons[0]
	// Each head value is the base's times 1.25, so that every estimate is; all six
	// signs agree, one way of 64.
	for what, pair := range map[string][2]float64{
		"base": {d.Base, 200}, "head": {d.Head, 250}, "change": {d.Change, 0.25}, "low": {end(d.ChangeLow), 0.25}, "high": {end(d.ChangeHigh), 0.25},
		"shift": {d.Shift, 50}, "raw p": {d.PRaw, 1.0 / 64}, "p of one comparison": {d.P, 1.0 / 64}, "n": {float64(d.N), 6},
		// Of 36 pairs the head's is above in 4·(3+2+1) = 24 and below in 12.
		"effect": {d.Effect, 12.0 / 36},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s is %g, want %g", what, pair[0], pair[1])
		}
	}
}

// Five phones, of which one is slower: it is found alone, and named.
func TestABFindsTheOneDevice(t *testing.T) {
	var base, head []run.Run
	for i := range 5 {
		model, factor := fmt.Sprint("phone ", i), 1.0
		if i == 3 {
			factor = 1.3
		}
		base = append(base, repeated(fmt.Sprint("b", i), "s", model, rising(12, 1)...))
		head = append(head, repeated(fmt.Sprint("h", i), "s", model, rising(12, factor)...))
	}
	v := compareAB(t, base, head)
	d := v.Scenarios[0].Deviations()
	if v.Verdict != Regression || len(d) != 1 || d[0].ShownIn() != 3 || !strings.Contains(v.Reason, "on phone 3: ") {
		t.Errorf("%s: %s; %+v", v.Verdict, v.Reason, d)
	}
}

// The app of one build was compiled ahead of time and the other's was not: they
// are not compared, and the warnings say what differs.
func TestABSaysWhatKeepsBuildsApart(t *testing.T) {
	base, head := repeated("b", "s", "a", rising(12, 1)...), repeated("h", "s", "a", rising(12, 1)...)
	base.Context["compiled"], head.Context["compiled"] = "speed", "none"
	base.Context["battery"], head.Context["battery"] = "high", "low"
	v := compareAB(t, list(base), list(head))
	if v.Verdict != Inconclusive || len(v.Warnings) != 2 {
		t.Fatalf("%s: %v, want inconclusive and a warning of each build", v.Verdict, v.Warnings)
	}
	if want := ": the other build was measured with another value of compiled"; !strings.HasSuffix(v.Reason, want) || v.Scenarios[0].Hint != "build and measure both in the same way" {
		t.Errorf("the reason is %q, the hint %q; want %q at its end", v.Reason, v.Scenarios[0].Hint, want)
	}
	for _, w := range v.Warnings {
		if !strings.HasSuffix(w.Text, "and is left out: the other build was measured with another value of compiled") {
			t.Errorf("%q doesn't say what differs", w.Text)
		}
	}
	v = compareAB(t, list(base), list(repeated("h", "s", "b", rising(12, 1)...)))
	if len(v.Warnings) != 2 || strings.Contains(v.Warnings[0].Text, "another value") {
		t.Errorf("%v: two phones are two phones", v.Warnings)
	}
}

// What the base has none of has no share of it.
func TestABTellsWhatIsNew(t *testing.T) {
	none, held := repeated("b", "s", "a", rising(12, 1)...), repeated("h", "s", "a", rising(12, 1)...)
	for i := range held.Iterations {
		none.Iterations[i].Metrics["wakelock.time_ms"], held.Iterations[i].Metrics["wakelock.time_ms"] = 0, 8000
	}
	v := compareAB(t, list(none), list(held))
	if v.Verdict != Regression || !strings.HasPrefix(v.Reason, "wakelocks held: 8000 ms where the base has 0 ms (+8000 ms, 95 % interval +8000 ms to +8000 ms, p = ") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// Most of the base's runs held no wakelock: a test may not be taken for one that
// could prove nothing because these are equal.
func TestABZerosSwitchNoTestOff(t *testing.T) {
	held := func(side string, ms ...float64) (out []run.Run) {
		for i, x := range ms {
			r := oneRun(fmt.Sprint(side, i), map[string]float64{"wakelock.time_ms": x})
			r.Session = r.ID
			out = append(out, r)
		}
		return out
	}
	v := compareAB(t, held("b", 0, 0, 0, 0, 0, 0, 100, 100, 100), held("h", 90_000, 91_000, 92_000))
	// Three of twelve are the largest in one way of 220.
	if d := v.Scenarios[0].Comparisons[0]; v.Verdict != Regression || math.Abs(d.P-1.0/220) > 1e-9 {
		t.Errorf("%s: %s (p = %g, want 1/220)", v.Verdict, v.Reason, d.P)
	}
}

func TestABHonoursThePolicy(t *testing.T) {
	base, head := list(repeated("b", "s", "a", rising(12, 1)...)), list(repeated("h", "s", "a", rising(12, 1.1)...))
	share, budget := 0.2, 5.0
	for name, c := range map[string]struct {
		threshold Threshold
		want      Outcome
	}{
		"a larger least change": {Threshold{Metric: "frames.duration_ms", MinChange: &share}, Pass},
		"ignored":               {Threshold{Metric: "frames.duration_ms", Ignore: true}, Inconclusive},
		"a budget":              {Threshold{Metric: "frames.duration_ms", MinChange: &share, Max: &budget}, Regression},
	} {
		p := policy(t, PresetDefault)
		p.Thresholds = []Threshold{c.threshold}
		if v := CompareAB(p, metric.Default(), base, head); v.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", name, v.Verdict, v.Reason, c.want)
		}
	}
}

// Six runs of each build made at other times are six observations, whatever
// their iterations are.
func TestABComparesRunsOfManySessions(t *testing.T) {
	var base, head []run.Run
	for i := range 6 {
		level := 8 + 0.1*float64(i)
		base = append(base, repeated(fmt.Sprint("b", i), fmt.Sprint("one", i), "a", level, level, 20))
		head = append(head, repeated(fmt.Sprint("h", i), fmt.Sprint("two", i), "a", 1.2*level, 1.2*level, 20))
	}
	v := compareAB(t, base, head)
	d := v.Scenarios[0].Comparisons[0]
	if v.Verdict != Regression || v.Scenarios[0].Unit != ABRun || d.N != 12 || len(v.Warnings) != 0 {
		t.Errorf("%s: %s; %+v; %v", v.Verdict, v.Reason, d, v.Warnings)
	}
}

func TestABStaysFinite(t *testing.T) {
	base := list(repeated("b", "s", "a", 1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300))
	head := list(repeated("h", "s", "a", 1e300, 1e300, 1e300, 1e300, 1e300, 1e300))
	d := compareAB(t, base, head).Scenarios[0].Comparisons[0]
	for _, x := range []float64{d.Change, end(d.ChangeLow), end(d.ChangeHigh), d.Shift, end(d.ShiftLow), end(d.ShiftHigh)} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("%+v holds a number that JSON does not", d)
		}
	}
}

// abWorld makes two builds' runs on a world's phones. Interleaved rounds share
// the session's heat; runs made apart have their own.
func (w world) abRuns(rng *rand.Rand, rounds int, interleaved bool, slow float64) (base, head []run.Run) {
	w.noise *= math.Sqrt(float64(rounds)) // of one repetition, not of a run
	for c := range w.contexts {
		pair := [2]run.Run{}
		heat := math.Exp(w.session * rng.NormFloat64())
		for side, factor := range []float64{1, slow} {
			if !interleaved {
				heat = math.Exp(w.session * rng.NormFloat64())
			}
			cold := w
			cold.session = 0
			for i := range rounds {
				r := cold.run(rng, fmt.Sprint("run", side, c), c, factor*heat*(1+0.01*float64(i)))
				if i == 0 {
					pair[side] = r
					pair[side].Iterations = nil
				}
				pair[side].Iterations = append(pair[side].Iterations, r.Iterations...)
			}
			if interleaved {
				pair[side].Session = "together"
			}
		}
		base, head = append(base, pair[0]), append(head, pair[1])
	}
	return base, head
}

// abRate is the share of comparisons that end in the outcome.
func (w world) abRate(t *testing.T, trials, rounds int, interleaved bool, slow float64, want Outcome) float64 {
	n := 0
	for trial := range trials {
		base, head := w.abRuns(rand.New(rand.NewPCG(uint64(trial), 7)), rounds, interleaved, slow)
		if compareAB(t, base, head).Verdict == want {
			n++
		}
	}
	return float64(n) / float64(trials)
}

// At most one comparison in twenty of a build with itself may fail.
func TestABUnchangedBuildsPass(t *testing.T) {
	trials := 60
	if testing.Short() {
		trials = 30
	}
	limit := 0.05 + 2*math.Sqrt(0.05*0.95/float64(trials))
	for name, w := range worlds {
		w.contexts, w.events = min(w.contexts, 5), min(w.events, 10)
		for _, interleaved := range []bool{true, false} {
			failed := w.abRate(t, trials, 12, interleaved, 1, Regression)
			t.Logf("%-32s interleaved %t: failed %.3f", name, interleaved, failed)
			if !interleaved {
				if failed > limit {
					t.Errorf("%s, apart: %.3f of unchanged builds fail, want at most %.3f", name, failed, limit)
				}
				continue
			}
			passed := w.abRate(t, trials/2, 12, true, 1, Pass)
			t.Logf("%-32s passed %.3f", name, passed)
			if passed < 0.8 {
				t.Errorf("%s: only %.3f of unchanged builds pass outright", name, passed)
			}
			if failed > limit {
				t.Errorf("%s, in rounds: %.3f of unchanged builds fail, want at most %.3f", name, failed, limit)
			}
		}
	}
}

// A dozen rounds find a build that is 15 % slower, on one phone already.
func TestABSlowBuildsFail(t *testing.T) {
	for name, least := range map[string]float64{"one phone, 20 runs": 0.6, "three phones, 3 runs each": 0.9} {
		failed := worlds[name].abRate(t, 60, 12, true, 1.15, Regression)
		t.Logf("%-32s failed %.3f", name, failed)
		if failed < least {
			t.Errorf("%s: %.3f of builds 15 %% slower fail, want at least %.2f", name, failed, least)
		}
	}
}
