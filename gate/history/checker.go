// Package history checks runs against the history of accepted runs and makes the verdict on them:
// gate.Verdict. Package past knows the history of one number; history makes the comparison, the
// correction for the number of comparisons, what several runs show together, and the reason.
//
// What the history can't decide is reported and never passed over. The package compares no two
// builds with each other (see sidebyside), and changes no history.
//
// The reasons are in docs/design/gate.md and docs/design/contexts.md.
package history

import (
	"sync"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Subject is one run to check and the history to check it against.
type Subject struct {
	Run        run.Run
	References []run.Summary
	sampled    int // values of a cell to keep for a figure; 0: MaxListed
}

// Check returns the verdict on the subjects, which it does not change. The chance that unchanged
// builds fail is limited to the policy's Alpha over all subjects together.
func Check(p gate.Policy, catalogue *metric.Catalogue, subjects []Subject) gate.Verdict {
	k := NewChecker(p, catalogue, len(subjects))
	for i, s := range subjects {
		k.Add(i, s)
	}
	return k.Verdict()
}

// Checker makes a verdict like Check, of subjects that are added one by one. It keeps only what the
// verdict reports of the references, so that those of all subjects need not be in memory at once.
type Checker struct {
	policy    gate.Policy
	catalogue *metric.Catalogue
	checks    []*check // by place

	mu      sync.Mutex
	history explain.Census
}

// NewChecker returns a checker of n subjects.
func NewChecker(p gate.Policy, catalogue *metric.Catalogue, n int) *Checker {
	return &Checker{policy: p, catalogue: catalogue, checks: make([]*check, n), history: explain.NewCensus(p.RuleProperties())}
}

// Add adds the subject of that place in the verdict, from 0 on; each place has one. It may be
// called concurrently.
func (k *Checker) Add(place int, s Subject) {
	s.sampled = k.sampled()
	k.checks[place] = newCheck(k.policy, k.catalogue, s)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.history.Count(s.References)
}

// sampled returns how many values of a cell are kept for a figure: fewer of each where there are
// hundreds of runs, as the verdict could not list them anyway.
func (k *Checker) sampled() int {
	const whole = 100 // runs
	return max(gate.MaxListed/10, gate.MaxListed*whole/max(len(k.checks), whole))
}

// Verdict returns the verdict on all subjects, each of which was added.
func (k *Checker) Verdict() gate.Verdict {
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Pass, Preset: k.policy.Preset, Warnings: []run.Warning{}, Rules: []gate.Rule{}, Runs: []gate.RunVerdict{}}
	if k.policy.Alpha > 0 {
		v.Level = 1 - k.policy.Alpha
	}
	if k.policy.Preset != gate.PresetDune {
		judgeTogether(k.policy, k.checks)
	}
	v.Warnings = append(v.Warnings, warnJoined(k.checks)...)
	v.Warnings = append(v.Warnings, warnKinds(k.policy, k.checks)...)
	for _, c := range k.checks {
		r := c.verdict()
		r.Repetitions = len(c.run.Iterations)
		v.Runs = append(v.Runs, r)
	}
	v.Accepted = k.history.Accepted(v.Runs)
	explain.FindRules(&v, k.policy)
	v.Trim()
	for _, r := range v.Runs {
		v.Verdict = gate.Graver(v.Verdict, r.Verdict)
	}
	if len(v.Runs) == 0 {
		v.Verdict = gate.Inconclusive
		v.Warnings = append(v.Warnings, run.Warning{Text: "there is no run to check"})
	}
	return v
}
