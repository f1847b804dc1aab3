package saved

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

var (
	outcomes = []gate.Outcome{gate.Pass, gate.Improvement, gate.Inconclusive, gate.Regression, gate.Invalid}

	directions = []gate.Direction{gate.None, gate.ToRegression, gate.ToImprovement, gate.Suspect}
)

func validateEnergy(energy []hotspots.Change) error {
	if len(energy) > MaxEnergy {
		return fmt.Errorf("energy has %d entries, at most %d are allowed", len(energy), MaxEnergy)
	}
	for i, c := range energy {
		if err := c.Validate(); err != nil {
			return fmt.Errorf("energy[%d].%w", i, err)
		}
	}
	return nil
}

func validate(v gate.Verdict) error {
	if v.Format != gate.Format {
		return fmt.Errorf("format is %q, want %q", prose.Clip(v.Format, 60), gate.Format)
	}
	if err := knownOutcome(v.Verdict); err != nil {
		return err
	}
	if err := knownFailOn(v.FailOn); err != nil {
		return err
	}
	if !(v.Level >= 0 && v.Level < 1) {
		return fmt.Errorf("level is %g, want at least 0 and less than 1", v.Level)
	}
	for i, r := range v.Runs {
		if err := validateRun(r); err != nil {
			return fmt.Errorf("runs[%d].%w", i, err)
		}
	}
	return validateLost(v)
}

// validateLost returns an error for a verdict that contradicts its losses.
func validateLost(v gate.Verdict) error {
	if v.Lost == "" {
		return nil
	}
	if err := knownOutcome(v.Rest); err != nil {
		return fmt.Errorf("rest: %w", err)
	}
	if want := (gate.Verdict{Verdict: v.Rest}).WithLoss(v.Lost).Verdict; v.Verdict != want {
		return fmt.Errorf("verdict is %s where something was lost and the rest is %s, want %s", v.Verdict, v.Rest, want)
	}
	return nil
}

func validateRun(r gate.RunVerdict) error {
	if err := knownOutcome(r.Verdict); err != nil {
		return err
	}
	if len(r.Context) > run.MaxContext {
		return fmt.Errorf("context has %d properties, at most %d are allowed", len(r.Context), run.MaxContext)
	}
	for field, list := range map[string][]gate.Comparison{"deviations": r.Deviations, "comparisons": r.Comparisons, "work": r.Work} {
		for i, c := range list {
			if err := knownDirection(c.Direction); err != nil {
				return fmt.Errorf("%s[%d].%w", field, i, err)
			}
		}
	}
	return nil
}

func validateScenario(s sidebyside.Scenario) error {
	if err := knownOutcome(s.Verdict); err != nil {
		return err
	}
	for i, c := range s.Comparisons {
		if err := errors.Join(knownDirection(c.Direction), knownDirection(c.Together)); err != nil {
			return fmt.Errorf("comparisons[%d].%w", i, err)
		}
		for j, x := range c.Contexts {
			if err := knownDirection(x.Direction); err != nil {
				return fmt.Errorf("comparisons[%d].contexts[%d].%w", i, j, err)
			}
			if x.Context < 0 || x.Context >= len(s.Contexts) {
				return fmt.Errorf("comparisons[%d].contexts[%d].context is %d, want the place of one of %d contexts", i, j, x.Context, len(s.Contexts))
			}
		}
	}
	return nil
}

func knownOutcome(o gate.Outcome) error {
	if !slices.Contains(outcomes, o) {
		return fmt.Errorf("verdict is %q, want one of %q", prose.Clip(string(o), 60), outcomes)
	}
	return nil
}

func knownFailOn(from gate.FailOn) error {
	if from != "" && !slices.Contains(gate.FailOns(), from) {
		return fmt.Errorf("fail_on is %q, want one of %q", prose.Clip(string(from), 60), gate.FailOns())
	}
	return nil
}

func knownDirection(d gate.Direction) error {
	if !slices.Contains(directions, d) {
		return fmt.Errorf("direction is %q, want one of %q", prose.Clip(string(d), 60), directions)
	}
	return nil
}
