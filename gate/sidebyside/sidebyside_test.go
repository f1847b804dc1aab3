package sidebyside

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

func compareBoth(t *testing.T, base, head []run.Run) Verdict {
	t.Helper()
	return Compare(gatetest.Lenient(t), metric.Default(), base, head)
}

func TestOutcomes(t *testing.T) {
	partial := gatetest.Repeated("h", "s", "a", gatetest.Rising(10, 1)...)
	partial.Status = run.Partial
	partial.Warnings = []run.Warning{{Text: "warm-up 1 is lost"}, {Text: "the app crashed in repetition 3"}}
	early := gatetest.Run("h", nil) // it ended before the device was queried
	early.Status, early.Context, early.Iterations = run.Failed, nil, nil
	early.Warnings = []run.Warning{{Text: "measuring ended"}}
	for name, c := range map[string]struct {
		base, head []run.Run
		want       gate.Outcome
		unit       Unit
		reason     string
	}{
		// The drift within the session is eight times the difference between the builds.
		"10 % slower in rounds": {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(10, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(10, 1.1)...)), gate.Regression, Round, "+10 %"},
		"10 % faster in rounds": {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(10, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(10, 0.9)...)), gate.Improvement, Round, "time per frame"},
		"2 % slower":            {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(10, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(10, 1.02)...)), gate.Pass, Round, "worse by at most 2.0 % (time per frame)"},
		"three rounds":          {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(3, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(3, 1)...)), gate.Inconclusive, Round, "3 rounds of each build are too few to prove a change"},
		"slower, three rounds":  {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(3, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(3, 1.5)...)), gate.Inconclusive, Round, "perhaps worse"},
		"not whole":             {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(10, 1)...)), gatetest.Runs(partial), gate.Invalid, "", "the head on a: the run is not whole: the app crashed in repetition 3"},
		"no device":             {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(10, 1)...)), gatetest.Runs(early), gate.Invalid, "", "the head: nothing was measured: measuring ended"},
		"other phones":          {gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(10, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "b", gatetest.Rising(10, 1)...)), gate.Inconclusive, "", "no context has complete runs of both"},
		"one session each":      {gatetest.Runs(gatetest.Repeated("b", "", "a", 8, 8.1, 8.2, 8.3, 8.4, 8.5)), gatetest.Runs(gatetest.Repeated("h", "", "a", 11, 11.1, 11.2, 11.3, 11.4, 11.5)), gate.Regression, Iteration, "+36 %"},
		"one session, a doubt":  {gatetest.Runs(gatetest.Repeated("b", "", "a", 8, 8.1, 8.2, 8.3, 8.4, 8.5)), gatetest.Runs(gatetest.Repeated("h", "", "a", 9, 9.1, 9.2, 9.3, 9.4, 9.5)), gate.Inconclusive, Iteration, "perhaps worse"},
		"a session's heat":      {gatetest.Runs(gatetest.Repeated("b", "", "a", 8, 8.1, 8.2, 8.3, 8.4, 8.5)), gatetest.Runs(gatetest.Repeated("h", "", "a", 8.6, 8.7, 8.8, 8.9, 9, 9.1)), gate.Pass, Iteration, ""},
		"nothing at all":        {nil, nil, gate.Inconclusive, "", "nothing to compare"},
	} {
		t.Run(name, func(t *testing.T) {
			v := compareBoth(t, c.base, c.head)
			if v.Verdict != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: %q\nwant %s and %q in the reason", v.Verdict, v.Reason, c.want, c.reason)
			}
			if len(v.Scenarios) > 0 && v.Scenarios[0].Unit != c.unit {
				t.Errorf("the unit is %q, want %q", v.Scenarios[0].Unit, c.unit)
			}
			if warned := slices.ContainsFunc(v.Warnings, func(w run.Warning) bool { return strings.Contains(w.Text, "session") }); warned != (c.unit == Iteration) {
				t.Errorf("warnings: %v", v.Warnings)
			}
			// Frames per second slow down by as much as ms per frame.
			p, catalogue := gatetest.Lenient(t), frameRate(t)
			if turned := Compare(p, catalogue, asRate(c.base), asRate(c.head)); turned.Verdict != c.want {
				t.Errorf("as frames a second %s: %q, want %s", turned.Verdict, turned.Reason, c.want)
			}
		})
	}
}

// frameRate returns a catalogue with a metric of which more is better.
func frameRate(t *testing.T) *metric.Catalogue {
	t.Helper()
	c, err := metric.Default().With(metric.Metric{Name: "frames.rate", Title: "frames a second", Direction: metric.HigherIsBetter, Log: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// asRate returns the runs with frames per second instead of milliseconds per frame.
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

// Fewer frames, where they are judged, and a worse smooth ratio are regressions, in rounds, in runs of many
// sessions and over several devices.
func TestFewerFramesAreARegression(t *testing.T) {
	for name, c := range map[string]struct {
		metric     string
		base, head float64
	}{"frames": {"frames.count", 600, 400}, "smooth ratio": {"frames.smooth_ratio", 0.95, 0.8}} {
		side := func(side string, level float64, phones, sessions, each int) (out []run.Run) {
			for phone := range phones {
				for i := range sessions {
					r := gatetest.Rounds(fmt.Sprint(side, phone, i), each, func(k int) map[string]float64 {
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
			p := gatetest.Judging(t, gate.PresetDefault, c.metric)
			if v := Compare(p, metric.Default(), base, head); v.Verdict != gate.Regression {
				t.Errorf("%s, %s, fewer: %s: %s", name, unit, v.Verdict, v.Reason)
			}
			if v := Compare(p, metric.Default(), head, base); v.Verdict != gate.Improvement {
				t.Errorf("%s, %s, more: %s: %s", name, unit, v.Verdict, v.Reason)
			}
		}
	}
}

func TestNumbersByHand(t *testing.T) {
	base := gatetest.Repeated("b", "s", "a", 100, 200, 400, 100, 200, 400)
	head := gatetest.Repeated("h", "s", "a", 125, 250, 500, 125, 250, 500)
	d := compareBoth(t, gatetest.Runs(base), gatetest.Runs(head)).Scenarios[0].Comparisons[0]
	// Each head value is 1.25 times the base's, so that every estimate is; all six signs agree, one
	// way of 64.
	for what, pair := range map[string][2]float64{
		"base": {d.Base, 200}, "head": {d.Head, 250}, "change": {d.Change, 0.25}, "low": {gatetest.End(d.ChangeLow), 0.25}, "high": {gatetest.End(d.ChangeHigh), 0.25},
		"shift": {d.Shift, 50}, "raw p": {d.PRaw, 1.0 / 64}, "p of one comparison": {d.P, 1.0 / 64}, "n": {float64(d.N), 6},
		// Of 36 pairs the head's value is above in 4·(3+2+1) = 24 and below in 12.
		"effect": {d.Effect, 12.0 / 36},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s is %g, want %g", what, pair[0], pair[1])
		}
	}
}

// Of five phones one is slower: it is found alone, and named.
func TestFindsTheOneDevice(t *testing.T) {
	var base, head []run.Run
	for i := range 5 {
		model, factor := fmt.Sprint("phone ", i), 1.0
		if i == 3 {
			factor = 1.3
		}
		base = append(base, gatetest.Repeated(fmt.Sprint("b", i), "s", model, gatetest.Rising(12, 1)...))
		head = append(head, gatetest.Repeated(fmt.Sprint("h", i), "s", model, gatetest.Rising(12, factor)...))
	}
	v := compareBoth(t, base, head)
	d := v.Scenarios[0].Deviations()
	if v.Verdict != gate.Regression || len(d) != 1 || d[0].ShownIn() != 3 || !strings.Contains(v.Reason, "on phone 3: ") {
		t.Errorf("%s: %s; %+v", v.Verdict, v.Reason, d)
	}
}

// The app of one build was compiled ahead of time and the other's was not: they are not compared,
// and the warnings name the difference.
func TestWarnsOfDifferingContexts(t *testing.T) {
	base, head := gatetest.Repeated("b", "s", "a", gatetest.Rising(12, 1)...), gatetest.Repeated("h", "s", "a", gatetest.Rising(12, 1)...)
	base.Context["compiled"], head.Context["compiled"] = "speed", "none"
	base.Context["battery"], head.Context["battery"] = "high", "low"
	v := compareBoth(t, gatetest.Runs(base), gatetest.Runs(head))
	if v.Verdict != gate.Inconclusive || len(v.Warnings) != 2 {
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
	v = compareBoth(t, gatetest.Runs(base), gatetest.Runs(gatetest.Repeated("h", "s", "b", gatetest.Rising(12, 1)...)))
	if len(v.Warnings) != 2 || strings.Contains(v.Warnings[0].Text, "another value") {
		t.Errorf("%v: two phones are two phones", v.Warnings)
	}
}

// A change from zero has no share.
func TestNewMetricIsReported(t *testing.T) {
	none, held := gatetest.Repeated("b", "s", "a", gatetest.Rising(12, 1)...), gatetest.Repeated("h", "s", "a", gatetest.Rising(12, 1)...)
	for i := range held.Iterations {
		none.Iterations[i].Metrics["wakelock.time_ms"], held.Iterations[i].Metrics["wakelock.time_ms"] = 0, 8000
	}
	v := compareBoth(t, gatetest.Runs(none), gatetest.Runs(held))
	if v.Verdict != gate.Regression || !strings.HasPrefix(v.Reason, "wakelocks held: 8000 ms where the base has 0 ms (+8000 ms); 95 % interval +8000 ms to +8000 ms, p = ") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// Most of the base's runs held no wakelock: these equal values must not make the test count as
// powerless.
func TestZerosKeepTests(t *testing.T) {
	held := func(side string, ms ...float64) (out []run.Run) {
		for i, x := range ms {
			r := gatetest.Run(fmt.Sprint(side, i), map[string]float64{"wakelock.time_ms": x})
			r.Session = r.ID
			out = append(out, r)
		}
		return out
	}
	v := compareBoth(t, held("b", 0, 0, 0, 0, 0, 0, 100, 100, 100), held("h", 90_000, 91_000, 92_000))
	// The chance that three of twelve are the largest is one in 220.
	if d := v.Scenarios[0].Comparisons[0]; v.Verdict != gate.Regression || math.Abs(d.P-1.0/220) > 1e-9 {
		t.Errorf("%s: %s (p = %g, want 1/220)", v.Verdict, v.Reason, d.P)
	}
}

func TestHonoursThePolicy(t *testing.T) {
	base, head := gatetest.Runs(gatetest.Repeated("b", "s", "a", gatetest.Rising(12, 1)...)), gatetest.Runs(gatetest.Repeated("h", "s", "a", gatetest.Rising(12, 1.1)...))
	share, budget := 0.2, 5.0
	for name, c := range map[string]struct {
		threshold gate.Threshold
		want      gate.Outcome
	}{
		"a larger least change": {gate.Threshold{Metric: "frames.duration_ms", MinChange: &share}, gate.Pass},
		"ignored":               {gate.Threshold{Metric: "frames.duration_ms", Ignore: true}, gate.Inconclusive},
		"a budget":              {gate.Threshold{Metric: "frames.duration_ms", MinChange: &share, Max: &budget}, gate.Regression},
	} {
		p := gatetest.Lenient(t)
		p.Thresholds = []gate.Threshold{c.threshold}
		if v := Compare(p, metric.Default(), base, head); v.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", name, v.Verdict, v.Reason, c.want)
		}
	}
}

// Six runs of each build made at other times are six observations, however many iterations they
// have.
func TestComparesRunsOfManySessions(t *testing.T) {
	var base, head []run.Run
	for i := range 6 {
		level := 8 + 0.1*float64(i)
		base = append(base, gatetest.Repeated(fmt.Sprint("b", i), fmt.Sprint("one", i), "a", level, level, 20))
		head = append(head, gatetest.Repeated(fmt.Sprint("h", i), fmt.Sprint("two", i), "a", 1.2*level, 1.2*level, 20))
	}
	v := compareBoth(t, base, head)
	d := v.Scenarios[0].Comparisons[0]
	if v.Verdict != gate.Regression || v.Scenarios[0].Unit != Run || d.N != 12 || len(v.Warnings) != 0 {
		t.Errorf("%s: %s; %+v; %v", v.Verdict, v.Reason, d, v.Warnings)
	}
}

func TestStaysFinite(t *testing.T) {
	base := gatetest.Runs(gatetest.Repeated("b", "s", "a", 1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300))
	head := gatetest.Runs(gatetest.Repeated("h", "s", "a", 1e300, 1e300, 1e300, 1e300, 1e300, 1e300))
	d := compareBoth(t, base, head).Scenarios[0].Comparisons[0]
	for _, x := range []float64{d.Change, gatetest.End(d.ChangeLow), gatetest.End(d.ChangeHigh), d.Shift, gatetest.End(d.ShiftLow), gatetest.End(d.ShiftHigh)} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("%+v holds a number that JSON does not", d)
		}
	}
}

// bothBuilds returns two builds' runs on a world's phones. Interleaved rounds share the session's
// heat; runs made apart have their own.
func bothBuilds(w gatetest.World, rng *rand.Rand, rounds int, interleaved bool, slow float64) (base, head []run.Run) {
	const repetitions = 12            // of a run
	w.Noise *= math.Sqrt(repetitions) // of one repetition
	for c := range w.Contexts {
		pair := [2]run.Run{}
		heat := math.Exp(w.Session * rng.NormFloat64())
		for side, factor := range []float64{1, slow} {
			if !interleaved {
				heat = math.Exp(w.Session * rng.NormFloat64())
			}
			cold := w
			cold.Session = 0
			for i := range rounds {
				r := cold.Run(rng, fmt.Sprint("run", side, c), c, factor*heat*(1+0.01*float64(i)))
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

// rate returns the share of comparisons with the outcome.
func rate(t *testing.T, w gatetest.World, trials, rounds int, interleaved bool, slow float64, want gate.Outcome) float64 {
	n := 0
	for trial := range trials {
		base, head := bothBuilds(w, rand.New(rand.NewPCG(uint64(trial), 7)), rounds, interleaved, slow)
		if compareBoth(t, base, head).Verdict == want {
			n++
		}
	}
	return float64(n) / float64(trials)
}

// At most one comparison in twenty of a build with itself may fail. With as many rounds as compare
// measures most pass outright, except on phones whose repetitions vary by a third: there a pass
// could not have shown an event that takes half as long again.
func TestUnchangedBuildsPass(t *testing.T) {
	trials := 30
	if os.Getenv("APKGATE_FULL") != "" {
		trials = 60
	}
	limit := 0.05 + 2*math.Sqrt(0.05*0.95/float64(trials))
	for name, w := range gatetest.Worlds {
		w.Contexts, w.Events = min(w.Contexts, 5), min(w.Events, 10)
		for _, interleaved := range []bool{true, false} {
			failed := rate(t, w, trials, 12, interleaved, 1, gate.Regression)
			t.Logf("%-32s interleaved %t: failed %.3f", name, interleaved, failed)
			if !interleaved {
				if failed > limit {
					t.Errorf("%s, apart: %.3f of unchanged builds fail, want at most %.3f", name, failed, limit)
				}
				continue
			}
			passed := rate(t, w, trials/2, 14, true, 1, gate.Pass)
			t.Logf("%-32s passed %.3f", name, passed)
			if noisy := w.Noise >= 0.1; noisy && passed > 0.2 {
				t.Errorf("%s: %.3f of unchanged builds pass, though hardly anything is excluded", name, passed)
			} else if !noisy && passed < 0.8 {
				t.Errorf("%s: only %.3f of unchanged builds pass outright", name, passed)
			}
			if failed > limit {
				t.Errorf("%s, in rounds: %.3f of unchanged builds fail, want at most %.3f", name, failed, limit)
			}
		}
	}
}

// A dozen rounds find a build that is 15 % slower, even on one phone.
func TestSlowBuildsFail(t *testing.T) {
	for name, least := range map[string]float64{"one phone, 20 runs": 0.6, "three phones, 3 runs each": 0.9} {
		failed := rate(t, gatetest.Worlds[name], 60, 12, true, 1.15, gate.Regression)
		t.Logf("%-32s failed %.3f", name, failed)
		if failed < least {
			t.Errorf("%s: %.3f of builds 15 %% slower fail, want at least %.2f", name, failed, least)
		}
	}
}

// A metric that the runs declare is compared, whatever the caller's catalogue has.
func TestDeclaredMetricsAreCompared(t *testing.T) {
	hits := func(id string, level float64) []run.Run {
		r := gatetest.Rounds(id, 12, func(i int) map[string]float64 {
			return map[string]float64{"search.hits": level + float64(i%3)}
		})
		r.Declared = []run.Declared{{Name: "search.hits", Unit: "hits", Better: "higher"}}
		return gatetest.Runs(r)
	}
	if v := compareBoth(t, hits("b", 100), hits("h", 50)); v.Verdict != gate.Regression {
		t.Errorf("half of the hits: %s: %s", v.Verdict, v.Reason)
	}
}
