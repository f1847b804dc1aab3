package interleaved

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/measurement"
)

// BudgetOf returns what may be measured alternately with the base build, if there is one, with the
// duration of a round of each scenario as estimated from the runs just measured. Without a base
// build, only the history decides. On a farm the rounds are limited by what the remaining money
// pays for, on everything that was measured.
func BudgetOf(cfg *config.Config, base Base, m measurement.Measured, farm measurement.Farm) gate.Budget {
	if cfg == nil || base.APK == "" || cfg.App.APK == "" || cfg.Rounds.Max == 0 {
		return gate.Budget{Alone: true}
	}
	if farm != nil {
		return paid(cfg, m, farm)
	}
	b := gate.Budget{Rounds: cfg.Rounds.Max, Minutes: cfg.Rounds.Within().Minutes(), Durations: map[string]gate.RoundDurations{}}
	setUps, repetitions := map[string][]time.Duration{}, map[string][]time.Duration{}
	for i, r := range m.Runs {
		if i >= len(m.Took) || m.Took[i].Repetition <= 0 {
			continue // it was taken over from a command that was killed, or from a shard
		}
		for _, name := range []string{r.Scenario, ""} {
			setUps[name] = append(setUps[name], m.Took[i].SetUp)
			repetitions[name] = append(repetitions[name], m.Took[i].Repetition)
		}
	}
	for name := range setUps {
		b.Durations[name] = gate.RoundDurations{SetUp: middle(setUps[name]).Minutes(), Repetition: middle(repetitions[name]).Minutes()}
	}
	b.Durations[""] = cmp.Or(b.Durations[""], assumed)
	return b
}

// paid returns the budget on a farm, which is paid and not waited for: the minutes that the rounds
// would take on a device if each took as long as assumed.
func paid(cfg *config.Config, m measurement.Measured, farm measurement.Farm) gate.Budget {
	rounds := min(cfg.Rounds.Max, farm.Affords(unitsOf(cfg, m)))
	if rounds == 0 {
		return gate.Budget{Alone: true}
	}
	minutes := float64(rounds*len(cfg.Scenarios)) * assumed.Round(1)
	return gate.Budget{Rounds: rounds, Minutes: minutes, Durations: map[string]gate.RoundDurations{"": assumed}}
}

// unitsOf returns the units that were measured.
func unitsOf(cfg *config.Config, m measurement.Measured) (out []measurement.Unit) {
	all := measurement.Units(cfg)
	for _, place := range m.Places {
		out = append(out, all[place])
	}
	return out
}

// assumed is how long the parts of a round take if unknown.
var assumed = gate.RoundDurations{SetUp: 0.5, Repetition: 0.25}

// middle returns the median, the longer one of the two in the middle.
func middle(ds []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(ds))
	return sorted[len(sorted)/2]
}
