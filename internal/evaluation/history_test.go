package evaluation_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// checkEnergy is the verdict on joules beside those of a history of runs.
func checkEnergy(past []run.Summary, joules []float64) gate.RunVerdict {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	return history.Check(p, metric.Default(), []history.Subject{{Run: energyRun("new", "", joules), References: past}}).Runs[0]
}

func summary(id string, joules []float64) run.Summary {
	return run.Summarize(energyRun(id, "", joules), run.Median, metric.Default())
}

// never is a change that was not found at twice the energy either.
const never = 1.0

// leastFailing is the least change of a run's joules that fails it, from 0 to never.
func leastFailing(history []run.Summary, joules []float64) float64 {
	fails := func(change float64) bool {
		more := make([]float64, len(joules))
		for i, j := range joules {
			more[i] = j * (1 + change)
		}
		return checkEnergy(history, more).Verdict == gate.Regression
	}
	if fails(0) {
		return 0
	}
	low, high := 0.0, never
	if !fails(high) {
		return never
	}
	for high-low > 0.0005 {
		if middle := (low + high) / 2; fails(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// quantile is the value that a share of the values doesn't exceed.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// A pull request has one run and the runs of the main branch: here twenty of ten
// repetitions, each of its own session. Simulated.
func TestEnergyOfOneRunBesideAHistory(t *testing.T) {
	const runs, repetitions = 20, 10
	times := trials(60, 2000)
	for _, p := range phones {
		alarms, least := 0, make([]float64, times)
		for trial := range times {
			rng := chance(p.name, trial)
			session := func() (joules []float64) {
				for _, it := range p.oneSession(rng, "", repetitions, 0).Iterations {
					joules = append(joules, it.Metrics["energy.total_j"])
				}
				return joules
			}
			var history []run.Summary
			for i := range runs {
				history = append(history, summary(fmt.Sprint(i), session()))
			}
			if least[trial] = leastFailing(history, session()); least[trial] == 0 {
				alarms++
			}
		}
		half, most := quantile(least, 0.5), quantile(least, 0.8)
		t.Logf("| %s | %s | %.1f %% | %.1f %% |", p.name, share(alarms, times), 100*half, 100*most)
		if limit := mostOf(times, 0.05); alarms > limit {
			t.Errorf("%s: %d of %d equal versions fail, want at most %d", p.name, alarms, times, limit)
		}
		if expected := p.leastByTheory(runs, repetitions); p.little == 0 && p.burst == 0 && math.Abs(most-expected) > 0.25*expected+0.01 {
			t.Errorf("%s: four of five changes are failed from %.1f %% on, want about %.1f %%", p.name, 100*most, 100*expected)
		}
	}
}

// leastByTheory is the change that four of five runs show, of even noise: it has
// to lie beyond the fence, 1.5 times the distance of the quartiles above the upper
// one, be sure by the t-test of a new value with six degrees of freedom, and be
// 5 % at least; and the run itself lies 0.84 standard deviations on the low side
// in one of five.
func (p phone) leastByTheory(runs, repetitions int) float64 {
	median := math.Pi / 2 * p.noise * p.noise / float64(repetitions)
	sd := math.Sqrt(p.session*p.session + median)
	sure := distuv.StudentsT{Sigma: 1, Nu: 6}.Quantile(0.95) * math.Sqrt(1+1/float64(runs))
	fence := distuv.UnitNormal.Quantile(0.75) * 4
	return math.Expm1(max(sd*max(sure, fence), math.Log(1.05)) + 0.84*sd)
}
