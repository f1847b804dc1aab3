package history

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// wavering returns a run of nine repetitions whose logarithms are normal with that deviation.
func wavering(id, model string, day int, ms, sd float64) run.Run {
	var values []float64
	for _, z := range []float64{-1.28, -0.84, -0.52, -0.25, 0, 0.25, 0.52, 0.84, 1.28} {
		values = append(values, ms*math.Exp(z*sd/0.82)) // 0.82 is their standard deviation
	}
	r := gatetest.Repeated(id, "", model, values...)
	r.Started = time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC)
	return r
}

// budgeted returns a verdict on one unchanged run of each phone, whose nights differ by half and
// whose repetitions vary by the given amount, with so many minutes for rounds of a minute.
func budgeted(t *testing.T, minutes float64, most int, sds map[string]float64) map[string]gate.Comparison {
	t.Helper()
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Budget = gate.Budget{Rounds: most, Minutes: minutes, Durations: map[string]gate.RoundDurations{"": {Repetition: 0.5}}}
	var subjects []Subject
	for model, sd := range sds {
		var history []run.Run
		for day, luck := range lucks {
			history = append(history, wavering(fmt.Sprint(model, day), model, day, 8*math.Exp(0.5*luck), sd))
		}
		subjects = append(subjects, Subject{Run: wavering("new of "+model, model, 99, 8, sd), References: gatetest.Summaries(p, history...)})
	}
	out := map[string]gate.Comparison{}
	for _, r := range Check(p, metric.Default(), subjects).Runs {
		out[r.Context["model"]] = r.Comparisons[0]
	}
	return out
}

// Repetitions that vary by 4.5 % take eight rounds to exclude 10 %, six to exclude 12.5, four for
// 15 and two for 25 (see gate/rounds, TestSettling): 0.0933, 0.1082, 0.1331 and 0.1894
// are excluded then. Each takes one minute; an unchanged build may be expected to use three tenths
// of the budget.
func TestBudgetSetsExcludedEffect(t *testing.T) {
	const tenth = 0.1
	for name, c := range map[string]struct {
		planned float64 // three tenths of the minutes
		most    int
		want    float64
	}{
		"no budget":           {0, 60, tenth},
		"no round":            {1, 0, tenth},
		"time for all of it":  {8.1, 60, tenth},
		"time for six rounds": {6.9, 60, 1.25 * tenth},
		"time for four":       {4.9, 60, 1.5 * tenth},
		"time for two":        {2.5, 60, 2.5 * tenth},
		"time for none":       {0.1, 60, 3.5 * tenth},
	} {
		got := budgeted(t, c.planned/0.3, c.most, map[string]float64{"a": 0.045})["a"]
		if math.Abs(got.Prior.Repetition-0.045) > 0.002 {
			t.Fatalf("repetitions waver by %g, want 0.045", got.Prior.Repetition)
		}
		if math.Abs(got.Effect-c.want) > 1e-9 || got.Screen != gate.Open {
			t.Errorf("%s: %g is to be excluded, %s; want %g", name, got.Effect, got.Screen, c.want)
		}
	}
	// Each device has the minutes for itself, and each of its scenarios a share of them; the
	// slowest number has a larger worsening to exclude.
	two := budgeted(t, 8.1/0.3, 60, map[string]float64{"a": 0.045, "b": 0.045})
	if math.Abs(two["a"].Effect-tenth) > 1e-9 || math.Abs(two["b"].Effect-tenth) > 1e-9 {
		t.Errorf("two devices: %g and %g, want 0.1", two["a"].Effect, two["b"].Effect)
	}
}

// Of two numbers of a device the slower one has a larger worsening to exclude, until both fit.
func TestSlowestNumberExcludesLess(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Budget = gate.Budget{Rounds: 60, Minutes: 7 / 0.3, Durations: map[string]gate.RoundDurations{"": {Repetition: 0.5}}}
	both := func(id string, day int, factor float64) run.Run {
		r := wavering(id, "a", day, 8*factor, 0.045)
		for i, it := range wavering(id, "a", day, 300*factor, 0.01).Iterations {
			r.Iterations[i].Metrics["startup.ttid_ms"] = it.Metrics[perFrame]
		}
		return r
	}
	var history []run.Run
	for day, luck := range lucks {
		history = append(history, both(fmt.Sprint(day), day, math.Exp(0.5*luck)))
	}
	v := checkOne(p, both("new", 99, 1), history...)
	if noisy, calm := comparisonOf(v, perFrame).Effect, comparisonOf(v, "startup.ttid_ms").Effect; math.Abs(noisy-0.15) > 1e-9 || math.Abs(calm-0.1) > 1e-9 {
		t.Errorf("%g of the noisy one (four rounds), %g of the calm one (two); want 0.15 and 0.1", noisy, calm)
	}
}

// A shown number uses none of the budget, however much it varies, and its worsening is unchanged:
// eight rounds for the deciding one fit.
func TestShownNumbersUseNoBudget(t *testing.T) {
	const cpu = "cpu.time_ms"
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Budget = gate.Budget{Rounds: 60, Minutes: 8.1 / 0.3, Durations: map[string]gate.RoundDurations{"": {Repetition: 0.5}}}
	both := func(id string, day int, factor float64) run.Run {
		r := wavering(id, "a", day, 8*factor, 0.045)
		for i, it := range wavering(id, "a", day, 300*factor, 0.045).Iterations {
			r.Iterations[i].Metrics[cpu] = it.Metrics[perFrame]
		}
		return r
	}
	var history []run.Run
	for day, luck := range lucks {
		history = append(history, both(fmt.Sprint(day), day, math.Exp(0.5*luck)))
	}
	v := checkOne(p, both("new", 99, 1), history...)
	frames, shown := comparisonOf(v, perFrame), comparisonOf(v, cpu)
	if frames.Shown || !shown.Shown || math.Abs(frames.Effect-0.1) > 1e-9 || math.Abs(shown.Effect-0.1) > 1e-9 {
		t.Errorf("%g of what decides (shown alone: %t), %g of what is shown (%t); want 0.1 of both", frames.Effect, frames.Shown, shown.Effect, shown.Shown)
	}
}

// Where the history decides alone, each number has to exclude the least worsening that the history
// excludes for nearly every unchanged build. Where twelve nights differ by 4.7 %, the next differs
// by 4.9 with eleven degrees of freedom: (2.328 + 1.796)·0.049 = 0.202 takes a quarter (0.2231), as
// a fifth is 0.1823. A number for which it excludes nothing is only shown, if another of the whole
// run decides; one with almost no history, or without a scale, stays as it is.
func TestEffectsExcludedByHistoryAlone(t *testing.T) {
	const (
		start, cpu, count = "startup.ttid_ms", "cpu.time_ms", "frames.count"
		quiet, loud       = 0.005, 0.5
	)
	type night map[string]float64 // how much each number differs from night to night
	for name, c := range map[string]struct {
		spread night
		tap    float64 // the same for the time per frame after a tap; 0: there is none
		named  bool    // a threshold names the time per frame
		metric string
		shown  bool
		effect float64
		screen gate.Screen
	}{
		"a quiet one":                           {night{perFrame: quiet}, 0, false, perFrame, false, 0.1, gate.Cleared},
		"one that wavers":                       {night{perFrame: 0.047}, 0, false, perFrame, false, 0.25, gate.Cleared},
		"a loud one alone":                      {night{perFrame: loud}, 0, false, perFrame, false, 0.1, gate.Open},
		"a loud one beside a quiet one":         {night{perFrame: loud, start: quiet}, 0, false, perFrame, true, 0.1, ""},
		"the quiet one beside it":               {night{perFrame: loud, start: quiet}, 0, false, start, false, 0.1, gate.Cleared},
		"one that is asked for":                 {night{perFrame: loud, start: quiet}, 0, true, perFrame, false, 0.1, gate.Open},
		"a loud one beside a number to show":    {night{perFrame: loud, cpu: quiet}, 0, false, perFrame, false, 0.1, gate.Open},
		"a loud one beside a quiet event":       {night{perFrame: loud}, quiet, false, perFrame, false, 0.1, gate.Open},
		"a loud number of frames beside a time": {night{perFrame: quiet, count: loud}, 0, false, count, false, 0.1, gate.Open},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		p.Budget = gate.Budget{Alone: true}
		if least := 0.05; c.named {
			p.Thresholds = []gate.Threshold{{Metric: perFrame, MinChange: &least}}
		}
		if c.spread[count] > 0 {
			p.Metrics = []string{perFrame, count}
		}
		at := func(id string, luck float64) run.Run {
			r := gatetest.Run(id, map[string]float64{})
			for metric, spread := range c.spread {
				r.Iterations[0].Metrics[metric] = 400 * math.Exp(spread*luck)
			}
			if c.tap > 0 {
				r.Iterations[0].Events = []run.Bucket{{Name: "tap", Metrics: map[string]float64{perFrame: 8 * math.Exp(c.tap*luck)}}}
			}
			return r
		}
		var history []run.Run
		for i, luck := range lucks {
			history = append(history, at(fmt.Sprint(i), luck))
		}
		got := comparisonOf(checkOne(p, at("new", 0), history...), c.metric)
		if got.Shown != c.shown || math.Abs(got.Effect-c.effect) > 1e-9 || got.Screen != c.screen {
			t.Errorf("%s: shown %t at %g, %q (missed with %g); want %t at %g, %q", name, got.Shown, got.Effect, got.Screen, gatetest.End(got.Missed), c.shown, c.effect, c.screen)
		}
	}
}

// A number that almost no run of the history has is not a noisy one: it decides.
func TestNumberWithoutHistoryDecides(t *testing.T) {
	const start = "startup.ttid_ms"
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Budget = gate.Budget{Alone: true}
	at := func(id string, totals map[string]float64) run.Run { return gatetest.Run(id, totals) }
	history := []run.Run{at("first", map[string]float64{perFrame: 8, start: 400})}
	for i, luck := range lucks {
		history = append(history, at(fmt.Sprint(i), map[string]float64{perFrame: 8 * math.Exp(0.005*luck)}))
	}
	v := checkOne(p, at("new", map[string]float64{perFrame: 8, start: 400}), history...)
	if frames, got := comparisonOf(v, perFrame), comparisonOf(v, start); frames.Screen != gate.Cleared || got.Shown || got.Screen != gate.Open {
		t.Errorf("shown %t, %q, beside what is %q; want it open", got.Shown, got.Screen, frames.Screen)
	}
}

// UI events decide with a quarter, where the history nearly always clears an unchanged one; where
// nothing else was measured they decide anyway, and where a threshold names them, with its own
// effect.
func TestDecidingEvents(t *testing.T) {
	at := func(id string, whole bool, waver float64) run.Run {
		r := gatetest.Run(id, nil, run.Bucket{Name: "tap", Metrics: map[string]float64{perFrame: 8 * waver}})
		if whole {
			r.Iterations[0].Metrics = map[string]float64{perFrame: 8}
		}
		return r
	}
	for name, c := range map[string]struct {
		spread float64 // of nights
		whole  bool
		asked  bool
		shown  bool
		effect float64
		screen gate.Screen
	}{
		"quiet":                  {0.02, true, false, false, 0.25, gate.Cleared},
		"loud":                   {0.15, true, false, true, 0.25, ""},
		"loud, and nothing else": {0.15, false, false, false, 0.1, gate.Open},
		"loud, and asked for":    {0.15, true, true, false, 0.1, gate.Open},
		"quiet, and asked for":   {0.02, true, true, false, 0.1, gate.Cleared},
	} {
		p := gatetest.Policy(t, gate.PresetDefault)
		if least := 0.05; c.asked {
			p.Thresholds = []gate.Threshold{{Metric: perFrame, Event: "tap", MinChange: &least}}
		}
		var history []run.Run
		for i, luck := range lucks {
			history = append(history, at(fmt.Sprint(i), c.whole, math.Exp(c.spread*luck)))
		}
		v := checkOne(p, at("new", c.whole, 1), history...)
		got := v.Comparisons[len(v.Comparisons)-1]
		if got.Event != "tap" || got.Shown != c.shown || math.Abs(got.Effect-c.effect) > 1e-9 || got.Screen != c.screen {
			t.Errorf("%s: shown %t at %g, %q (missed with %g); want %t at %g, %q", name, got.Shown, got.Effect, got.Screen, gatetest.End(got.Missed), c.shown, c.effect, c.screen)
		}
	}
}

// Where the next session is normal about the expected value, with a standard deviation of s, an
// unchanged build lies 2.054 of them short of the effect with the chance that it is cleared: 99 %
// where the effect is 2.054 plus 2.326; the same where higher is better.
func TestClearingChance(t *testing.T) {
	p := gatetest.Policy(t, gate.PresetDefault)
	for _, name := range []string{perFrame, smoothRatio} {
		value := func(luck float64) float64 {
			if name == smoothRatio { // 1.5 is to the odds what 1.1 is to a time
				return 1 / (1 + 0.25*math.Exp(luck*math.Log(1.5)/math.Log(1.1)))
			}
			return 8 * math.Exp(luck)
		}
		var history []float64
		for i := range 60 {
			history = append(history, value(0.02*lucks[(5*i)%len(lucks)]))
		}
		c := newCheck(p, metric.Default(), Subject{Run: gatetest.Nearly("a", name, value(0)), References: gatetest.Summaries(p, gatetest.On("a", name, history...)...)})
		j := c.judged[0]
		for share, want := range map[float64][2]float64{0.01: {0, 0.1}, 0.042: {0.4, 0.65}, 0.1: {0.985, 1}} {
			if got := j.clearing().chance(share); got < want[0] || got > want[1] {
				t.Errorf("%s: %g of unchanged builds are cleared where %g is to be excluded, want %g to %g", name, got, share, want[0], want[1])
			}
		}
	}
}
