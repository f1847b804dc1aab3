package rounds

import (
	"fmt"
	"math"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// with returns a question about time per frame with these differences of logarithms.
func with(differences ...float64) (*question, Paired) {
	m, _ := metric.Default().Lookup("frames.duration_ms")
	q := &question{cell: run.Cell{Metric: m.Name}, metric: m, effect: 0.1, weight: 1, minChange: 0.05}
	for i, d := range differences {
		q.base.add(i, 10)
		q.head.add(i, 10*math.Exp(d))
	}
	return q, q.paired(len(differences))
}

// trialOf returns a trial at 1 % of one question, which was measured to its end.
func trialOf(most int, q *question) *Trial {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	p.Alpha = 0.01
	n := len(q.base.value)
	t := &Trial{policy: WithDefaults(p), catalogue: metric.Default(), asked: 1, plan: Plan{Most: most, Looks: []Look{{Rounds: n, Fail: 1e-9, Pass: 1e-9}}}}
	t.places = map[int]*place{0: {measured: n, questions: []*question{q}}}
	t.look(t.places[0])
	return t
}

// Eight equal rounds have 1/256: a score of 2.660. At 0.6 of 1 % a score of 2.512 is needed: there
// were enough, and one more, even. Where one lies the other way by the least, two in 256 (2.418):
// 8·(2.512/2.418)² = 8.63. At half a per cent, which a pass needs, 2.576: 8·(2.576/2.418)² = 9.08,
// even. For 40 orders in 256 (1.010) it takes 8·(2.512/1.010)² = 49.5, for 70 (0.602) and a pass
// 8·(2.576/0.602)² = 146.4.
func TestEnoughRounds(t *testing.T) {
	for name, c := range map[string]struct {
		differences []float64
		want        int
	}{
		"worse, and sure":           {[]float64{.11, .12, .13, .14, .15, .16, .17, .18}, 10},
		"worse, and one is not":     {[]float64{-.01, .12, .13, .14, .15, .16, .17, .18}, 10},
		"no worse, and one beyond":  {[]float64{.0954, 0, .001, .002, -.001, .003, -.002, -.003}, 10},
		"no worse, and hardly sure": {[]float64{.25, .2, 0, .001, .002, -.001, .003, -.2}, 148},
		"as likely worse as not":    {[]float64{-1, 1.2, -1.3, 1.35, -1.4, 1.5, -1.6, 1.61}, 0},
		"of nothing":                {nil, 0},
		"worse, and hardly sure":    {[]float64{.3, -.2, .31, -.21, .32, -.22, .33, -.23}, 50},
	} {
		q, x := with(c.differences...)
		if got := trialOf(40, q).enough(q, x, 0.01); got != c.want {
			t.Errorf("%s: %d, want %d (worse %g, excluded %g, %g)", name, got, c.want, x.Worse(), x.Excludes(0.1), x.Worsening())
		}
	}
}

// Forty rounds exclude 10 % (0.0953 of a logarithm) with a score of 2.576, and in nine of ten cases
// with 1.282 more, where their difference has 0.0953·6.325/3.857 = 0.156, and a repetition 0.110.
func TestCalm(t *testing.T) {
	q, _ := with(0)
	if got := trialOf(40, q).calm(q); math.Abs(got-0.1105) > 0.0005 {
		t.Errorf("%g, want 0.1105", got)
	}
	q.effect = 0.21 // 1.1 squared
	if got := trialOf(40, q).calm(q); math.Abs(got-0.221) > 0.001 {
		t.Errorf("to exclude twice as much: %g, want 0.221", got)
	}
}

// Before the first look nothing can be settled: a few rounds do not show whether the device is
// calm.
func TestTooLittleTimeForALook(t *testing.T) {
	q, _ := with(.2)
	trial := trialOf(40, q)
	trial.plan.Looks[0].Rounds = 10
	if got, want := trial.settle(trial.places[0], trial.level()), "allow more time (rounds.minutes in apkgate.yml)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSettlingHint(t *testing.T) {
	sure, _ := with(.11, .12, .13, .14, .15, .16, .17, .18)
	noisy, x := with(-1, 1.2, -1.3, 1.35, -1.4, 1.5, -1.6, 1.61)
	waver := 100 * stat.RobustSD(x.differences) / math.Sqrt2 // a repetition's, of which two differ
	tell := func(most int, lost string, questions ...*question) string {
		trial := trialOf(most, questions[0])
		p := trial.places[0]
		p.questions, p.lost = questions, lost
		p.measured = max(p.measured, 8)
		trial.look(p)
		return trial.settle(p, trial.level())
	}
	calmer := fmt.Sprintf("measure on a calmer device: repetitions vary by %.0f %% here, and 40 rounds settle it where they vary by less than 11 %%", waver)
	for name, c := range map[string]struct{ got, want string }{
		"more rounds":            {tell(8, "", sure), "about 10 rounds would settle it (rounds.max in apkgate.yml), or a calmer device"},
		"more time":              {tell(40, "", sure), "about 10 rounds would settle it: allow more time (rounds.minutes in apkgate.yml)"},
		"a calmer device":        {tell(40, "", noisy), calmer},
		"of two the noisy one":   {tell(40, "", sure, noisy), calmer},
		"whichever comes first":  {tell(40, "", noisy, sure), calmer},
		"again, as it was lost":  {tell(40, "the device is gone", sure), "fix what ended the rounds, and measure again"},
		"of what has no percent": {tell(40, "", &question{metric: metric.Metric{Name: "x", Direction: metric.LowerIsBetter}, effect: 0.1, weight: 1}), "measure on a calmer device"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}
