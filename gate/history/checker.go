// Package history checks runs against the history of accepted runs and makes the
// verdict on them: gate.Verdict. What is known of a number is package past's;
// here is what follows from it: the comparison, its correction for the number of
// comparisons, what several runs show together, and the reason.
//
// It takes a stand: what the history can't tell is said and not passed over. It
// compares no two builds with each other (sidebyside), and changes no history.
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
	sampled    int // values of a cell to keep for a picture; 0: MaxListed
}

// Check makes the verdict on the subjects. It never changes them. The chance
// that builds that changed nothing fail is held to the policy's Alpha over all
// subjects together.
func Check(p gate.Policy, catalogue *metric.Catalogue, subjects []Subject) gate.Verdict {
	k := NewChecker(p, catalogue, len(subjects))
	for i, s := range subjects {
		k.Add(i, s)
	}
	return k.Verdict()
}

// Checker makes a verdict like Check, of subjects that come one after the other:
// of the references of each it keeps only what the verdict tells of them, so that
// nobody needs to hold those of all subjects at once.
type Checker struct {
	policy    gate.Policy
	catalogue *metric.Catalogue
	checks    []*check // by place

	mu      sync.Mutex
	history explain.Census
}

// NewChecker checks n subjects.
func NewChecker(p gate.Policy, catalogue *metric.Catalogue, n int) *Checker {
	return &Checker{policy: p, catalogue: catalogue, checks: make([]*check, n), history: explain.NewCensus(p.RuleProperties())}
}

// Add takes the subject of that place in the verdict, from 0 on; each place has
// one. Several may be added at the same time.
func (k *Checker) Add(place int, s Subject) {
	s.sampled = k.sampled()
	k.checks[place] = newCheck(k.policy, k.catalogue, s)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.history.Count(s.References)
}

// sampled is how many values of a cell are kept for a picture: fewer of each where
// there are hundreds of runs, whose verdict could not list them anyway.
func (k *Checker) sampled() int {
	const whole = 100 // runs
	return max(gate.MaxListed/10, gate.MaxListed*whole/max(len(k.checks), whole))
}

// Verdict is the verdict on all subjects, each of which was added.
func (k *Checker) Verdict() gate.Verdict {
	v := gate.Verdict{Format: gate.Format, Verdict: gate.Pass, Preset: k.policy.Preset, Warnings: []run.Warning{}, Rules: []gate.Rule{}, Runs: []gate.RunVerdict{}}
	if k.policy.Alpha > 0 {
		v.Level = 1 - k.policy.Alpha
	}
	if k.policy.Preset != gate.PresetDune {
		judgeTogether(k.policy, k.checks)
	}
	v.Warnings = append(v.Warnings, tellJoined(k.checks)...)
	v.Warnings = append(v.Warnings, tellKinds(k.policy, k.checks)...)
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
