package rounds

import (
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/screening"
	"github.com/apkgate/apkgate/metric"
)

// A new run at the level of a build that is worse by 10 % is e^(d²/2) times as likely for that as
// for an unchanged one, where 10 % is d standard errors: twice where d² is 2·ln 2. One at the
// expected level has half. Of two with odds of 2 and ½ the first gets four fifths of what goes by
// suspicion, half of two parts: 0.5 + 0.8. Odds count a hundred to one at most.
func TestWeigh(t *testing.T) {
	const time, smooth = "frames.duration_ms", "frames.smooth_ratio"
	d := math.Sqrt(2 * math.Ln2)
	slower, odds := math.Log(1.1), math.Log(1.5)
	same := known(time, gate.Prior{SD: slower / d})
	worse := known(time, gate.Prior{Beyond: slower, SD: slower / d})
	janky := known(smooth, gate.Prior{Beyond: -odds, SD: odds / d})
	smoother := known(smooth, gate.Prior{Beyond: odds, SD: odds / d}) // e^(-1.5·d²): an eighth
	nothing := known(time, gate.Prior{})
	never := screening.NewCounts([]screening.Count{{Events: 0, Repetitions: 90}})
	anr := known("anr.count", gate.Prior{Counts: never, Events: 1, Repetitions: 10})
	sure := known(time, gate.Prior{Beyond: slower, SD: 0.001})
	surelyNot := known(time, gate.Prior{SD: 0.001})
	for name, c := range map[string]struct {
		open []gate.Comparison
		want []float64
	}{
		"alone":                    {[]gate.Comparison{worse}, []float64{1}},
		"as suspect as the other":  {[]gate.Comparison{worse, worse}, []float64{1, 1}},
		"more suspect":             {[]gate.Comparison{same, worse}, []float64{0.7, 1.3}},
		"of shares":                {[]gate.Comparison{janky, smoother}, []float64{0.5 + 16.0/17, 0.5 + 1.0/17}},
		"what nobody knows":        {[]gate.Comparison{same, nothing, worse}, []float64{0.7, 1, 1.3}},
		"rare events":              {[]gate.Comparison{anr, same, worse}, []float64{1, 0.7, 1.3}},
		"a hundred to one at most": {[]gate.Comparison{sure, surelyNot}, []float64{0.5 + 1e4/10001, 0.5 + 1/10001.0}},
	} {
		for i, q := range knownTrial(t, c.open...).questions() {
			about(t, name, q.weight, c.want[i])
		}
	}
}

// Five equal rounds have 1/32, more than half of a false alarm in twenty (1/40): they fail one of
// two questions if it has 1.5 parts (3/80), and none if it has a half (1/80), for which it takes
// seven rounds. With a plan of fewer both have equal parts.
func TestSuspectFailsSooner(t *testing.T) {
	p := strictly(t)
	p.Alpha = 0.05
	sure := known("frames.duration_ms", gate.Prior{Beyond: math.Log(1.1), SD: 0.001})
	surelyNot := known("frames.duration_ms", gate.Prior{SD: 0.001})
	for name, c := range map[string]struct {
		open []gate.Comparison
		most int
		want gate.RoundsOutcome
	}{
		"suspect":                 {[]gate.Comparison{sure, surelyNot}, 7, gate.RoundsWorse},
		"the other is":            {[]gate.Comparison{surelyNot, sure}, 7, gate.RoundsUndecided},
		"too few for a half part": {[]gate.Comparison{sure, surelyNot}, 6, gate.RoundsUndecided},
	} {
		v := gate.Verdict{Format: gate.Format}
		for _, open := range c.open {
			v.Runs = append(v.Runs, gate.RunVerdict{Verdict: gate.Inconclusive, Comparisons: []gate.Comparison{open}})
		}
		trial := New(p, metric.Default(), v, Plan{Most: c.most, Looks: []Look{{Rounds: 5, Fail: p.Alpha, Pass: PassLevel}}})
		trial.Add(0, timed(1, alike(5)...), timed(1, times(alike(5), 1.2)...))
		got := trial.Verdict().Runs[0].Comparisons[0].Rounds
		if got.Outcome != c.want {
			t.Errorf("%s: %s, want %s", name, got.Outcome, c.want)
		}
		if p := map[gate.RoundsOutcome]float64{gate.RoundsWorse: 2.0 / 32 / 1.5}[c.want]; p > 0 && math.Abs(got.P-p) > 2e-4 {
			t.Errorf("%s: a chance of %g, want %g", name, got.P, p)
		}
	}
}
