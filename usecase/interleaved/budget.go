package interleaved

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/usecase/measurement"
)

// BudgetOf is what may be measured in turns with the base build, where there is one, as long
// as the runs that were just measured say of each scenario that a round takes. Where
// there is none, the history decides alone. On a farm it is as many rounds as what is left to
// spend pays for on all that was measured.
func BudgetOf(cfg *config.Config, base Base, m measurement.Measured, farm measurement.Farm) gate.Budget {
	if cfg == nil || base.APK == "" || cfg.App.APK == "" || cfg.Rounds.Max == 0 {
		return gate.Budget{Alone: true}
	}
	if farm != nil {
		return paid(cfg, m, farm)
	}
	b := gate.Budget{Rounds: cfg.Rounds.Max, Minutes: cfg.Rounds.Within().Minutes(), Lasts: map[string]gate.Lasts{}}
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
		b.Lasts[name] = gate.Lasts{SetUp: middle(setUps[name]).Minutes(), Repetition: middle(repetitions[name]).Minutes()}
	}
	b.Lasts[""] = cmp.Or(b.Lasts[""], assumed)
	return b
}

// paid is the budget on a farm, which is paid and not waited for: the minutes that the rounds
// would take on a device if each took as long as is assumed.
func paid(cfg *config.Config, m measurement.Measured, farm measurement.Farm) gate.Budget {
	rounds := min(cfg.Rounds.Max, farm.Affords(unitsOf(cfg, m)))
	if rounds == 0 {
		return gate.Budget{Alone: true}
	}
	minutes := float64(rounds*len(cfg.Scenarios)) * assumed.Round(1)
	return gate.Budget{Rounds: rounds, Minutes: minutes, Lasts: map[string]gate.Lasts{"": assumed}}
}

// unitsOf are the units of what was measured.
func unitsOf(cfg *config.Config, m measurement.Measured) (out []measurement.Unit) {
	all := measurement.Units(cfg)
	for _, place := range m.Places {
		out = append(out, all[place])
	}
	return out
}

// assumed is how long the parts of a round take where nobody knows.
var assumed = gate.Lasts{SetUp: 0.5, Repetition: 0.25}

// middle is the longer one of the two in the middle.
func middle(ds []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(ds))
	return sorted[len(sorted)/2]
}
