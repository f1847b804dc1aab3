package rounds_test

import (
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/gatetest"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

const ms = "frames.duration_ms"

// open returns a verdict on runs whose time per frame the history left open.
func open(places int) gate.Verdict {
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Inconclusive}
	for i := range places {
		c := gate.Comparison{Metric: ms, Direction: gate.Suspect, Value: 12, Expected: 10, N: 5, P: 0.1, Screen: gate.Open}
		v.Runs = append(v.Runs, gate.RunVerdict{ID: fmt.Sprint(i), Verdict: gate.Inconclusive, Comparisons: []gate.Comparison{c}})
	}
	return v
}

// waver returns a run of n rounds around a time, with a few per cent of noise that depends on the
// seed.
func waver(seed, n int, at float64) run.Run {
	return gatetest.Rounds("r", n, func(i int) map[string]float64 {
		return map[string]float64{ms: at * (1 + 0.002*float64((i*7+seed*3)%11-5))}
	})
}

// measure adds rounds of both builds until the trial has enough.
func measure(t *testing.T, trial *rounds.Trial, place int, base, head float64) int {
	t.Helper()
	for range 100 {
		n, more := trial.Next(place)
		if !more {
			return n
		}
		trial.Add(place, waver(1, n, base), waver(2, n, head))
	}
	t.Fatal("there is no end")
	return 0
}

func TestTrialSettlesOpenComparisons(t *testing.T) {
	p := strict(t)
	for name, c := range map[string]struct {
		head float64
		want gate.Outcome
		says gate.RoundsOutcome
		n    int
	}{
		"as before":       {10, gate.Pass, gate.RoundsExcluded, 8},
		"a fifth slower":  {12, gate.Regression, gate.RoundsWorse, 12},
		"a third quicker": {7, gate.Improvement, gate.RoundsExcluded, 8},
	} {
		plan, err := rounds.PlanOf(p, 40, 1)
		if err != nil {
			t.Fatal(err)
		}
		trial := rounds.New(p, metric.Default(), open(1), plan)
		n := measure(t, trial, 0, 10, c.head)
		v := trial.Verdict()
		r := v.Runs[0]
		if v.Verdict != c.want || r.Comparisons[0].Rounds.Outcome != c.says || n != c.n || r.Rounds.Stopped != gate.StoppedSettled {
			t.Errorf("%s: %s after %d rounds: %s; %+v", name, v.Verdict, n, r.Reason, r.Comparisons[0].Rounds)
		}
	}
}

// strict returns the default policy at one false alarm in a hundred.
func strict(t *testing.T) gate.Policy {
	p := gatetest.Policy(t, gate.PresetDefault)
	p.Alpha = 0.01
	return p
}
