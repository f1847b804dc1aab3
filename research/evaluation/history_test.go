package evaluation_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// checkEnergy returns the verdict on joules compared with those of a history of runs.
func checkEnergy(past []run.Summary, joules []float64) gate.RunVerdict {
	p, _ := gate.PolicyOf(gate.PresetDefault)
	return history.Check(p, metric.Default(), []history.Subject{{Run: energyRun("new", "", joules), References: past}}).Runs[0]
}

func summary(id string, joules []float64) run.Summary {
	return run.Summarize(energyRun(id, "", joules), run.Median, metric.Default())
}

// never marks a change that was not opened even at twice the energy.
const never = 1.0

// leastOpen returns the least change of a run's joules that the history doesn't clear, from 0 to
// never: from there on rounds with the base build decide.
func leastOpen(history []run.Summary, joules []float64) float64 {
	open := func(change float64) bool {
		more := make([]float64, len(joules))
		for i, j := range joules {
			more[i] = j * (1 + change)
		}
		v := checkEnergy(history, more).Verdict
		return v == gate.Regression || v == gate.Inconclusive
	}
	if open(0) {
		return 0
	}
	low, high := 0.0, never
	if !open(high) {
		return never
	}
	for high-low > 0.0005 {
		if middle := (low + high) / 2; open(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// quantile returns the value that a share of the values doesn't exceed.
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
		alarms, opened, least := 0, 0, make([]float64, times)
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
			now := session()
			if checkEnergy(history, now).Verdict == gate.Regression {
				alarms++
			}
			if least[trial] = leastOpen(history, now); least[trial] == 0 {
				opened++
			}
		}
		half, most := quantile(least, 0.5), quantile(least, 0.9)
		t.Logf("| %s | %s | %s | %.1f %% | %.1f %% |", p.name, share(alarms, times), share(opened, times), 100*half, 100*most)
		if limit := mostOf(times, 0.01); alarms > limit {
			t.Errorf("%s: %d of %d equal versions fail, want at most %d", p.name, alarms, times, limit)
		}
		if most > 0.1 {
			t.Errorf("%s: a tenth of versions is cleared that take %.1f %% more, want none at 10 %%", p.name, 100*most)
		}
	}
}
