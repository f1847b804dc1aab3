// Package sidebyside compares two builds by their runs and makes the verdict on the head build,
// without any history: rounds of both alternately, or runs of each made at other times.
//
// It tests by ranks, and where there are too few rounds to show anything the result is a doubt, not
// a pass. It neither measures nor decides when to stop measuring.
package sidebyside

import (
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/rounds"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Format is the format and version of a comparison of two builds as JSON
// (docs/format/compare.md).
const Format = "apkgate.compare/1"

// Verdict is the gate's result for a head build compared with a base build.
type Verdict struct {
	Format  string       `json:"format"`
	Verdict gate.Outcome `json:"verdict"`
	// Reason gives the reason in one sentence; Hint is what the reader can do, "" for nothing.
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// FailOn is the least grave outcome that fails the build; "" is FailRegression.
	FailOn gate.FailOn `json:"fail_on,omitempty"`
	// Level is the confidence of each interval by itself, such as 0.95.
	Level     float64       `json:"level"`
	Base      Build         `json:"base"`
	Head      Build         `json:"head"`
	Scenarios []Scenario    `json:"scenarios"`
	Warnings  []run.Warning `json:"warnings"`
}

// Build is one of the two builds.
type Build struct {
	App    run.App    `json:"app"`
	Source run.Source `json:"source,omitzero"`
	// Runs are the ids of its runs, at most MaxListed of RunTotal.
	Runs     []string `json:"runs"`
	RunTotal int      `json:"run_total"`
}

// Unit is what counts as one independent observation.
type Unit string

// The units, best first.
const (
	// Round is one repetition of each build, one right after the other, so that heat and drift are
	// the same for both: the difference within a round counts.
	Round Unit = "round"
	// Run is a whole run, where each build has several made at other times, or
	// one on each of several devices.
	Run Unit = "run"
	// Iteration is one repetition of a run. The repetitions of one session share its conditions, so
	// that this is a substitute: a warning says so.
	Iteration Unit = "iteration"
)

// Scenario is the comparison in one scenario.
type Scenario struct {
	Scenario string       `json:"scenario"`
	Verdict  gate.Outcome `json:"verdict"`
	Reason   string       `json:"reason"`
	Hint     string       `json:"hint,omitempty"`
	Unit     Unit         `json:"unit"`
	// Contexts are those in which both builds were measured.
	Contexts []Context `json:"contexts"`
	// Comparisons are all comparisons, in the order of events, then of the catalogue of metrics.
	Comparisons []Comparison `json:"comparisons"`
}

// Context is one context and how many units of each build were measured in it.
type Context struct {
	Context map[string]string `json:"context"`
	Base    int               `json:"base"`
	Head    int               `json:"head"`
}

// Comparison compares one number of the head build with the base build's, over all contexts
// together.
type Comparison struct {
	Event  string `json:"event"` // "" for the whole run
	Metric string `json:"metric"`
	// Direction is the gravest direction of all contexts together and of each alone.
	Direction gate.Direction `json:"direction"`
	Difference
	// Open is set where it did not fail, and a worsening by the policy's MinEffect, for an event by
	// a quarter, is not excluded either.
	Open bool `json:"open,omitempty"`
	// Enough estimates how many rounds (or runs, or iterations, of each build in each context)
	// would settle a Suspect, or an Open comparison; 0 where unknown.
	Enough int `json:"enough,omitempty"`
	// Together is the direction of all contexts together.
	Together gate.Direction `json:"together"`
	// Contexts are the same for each context alone, in the order of the scenario's contexts; empty
	// where there is only one.
	Contexts []ContextDifference `json:"contexts,omitempty"`
}

// ContextDifference is the shift in one context.
type ContextDifference struct {
	Context   int            `json:"context"` // index among the scenario's contexts
	Direction gate.Direction `json:"direction"`
	Difference
}

// Difference is how far the head build's values lie above the base build's.
type Difference struct {
	// Base and Head are the medians of each build's values, in the metric's unit.
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// Shift is the estimate of Hodges and Lehmann, in the metric's unit, with its interval. Both
	// ends are nil where there are too few values for one.
	Shift     float64  `json:"shift"`
	ShiftLow  *float64 `json:"shift_low"`
	ShiftHigh *float64 `json:"shift_high"`
	// Change is the shift as a share of Base (0 where Base is 0 or may be below it). Where the
	// metric's noise is multiplicative it is computed on the log scale.
	Change     float64  `json:"change"`
	ChangeLow  *float64 `json:"change_low"`
	ChangeHigh *float64 `json:"change_high"`
	// P is the chance of a shift at least this large in the same direction between identical
	// builds, corrected for multiplicity; PRaw is that of this test alone.
	P    float64 `json:"p"`
	PRaw float64 `json:"p_raw"`
	// Effect is Cliff's delta: how often a head value lies above a base value minus how often
	// below, from -1 to 1.
	Effect float64 `json:"effect"`
	// N counts the pairs of values where Unit is round, the values of both
	// builds otherwise.
	N int `json:"n"`
	// Limit is the absolute budget that Head breaks; nil where it breaks none.
	Limit *float64 `json:"limit,omitempty"`
	// Values are the base's and the head's value of each round, in the metric's unit and in the
	// order in which they were measured: of one context where Unit is round, at most MaxValues, and
	// only of what is flagged, undecided or about the whole run.
	Values [][2]float64 `json:"values,omitempty"`
}

// MaxValues limits the rounds whose values a difference has.
const MaxValues = 200

// Estimate returns Base plus the shift. The median of the head's values may lie elsewhere: it
// includes what changes from round to round, which the shift excludes.
func (s Difference) Estimate() float64 { return gate.Finite(s.Base + s.Shift) }

// HasInterval reports whether there were enough values for an interval.
func (s Difference) HasInterval() bool {
	return s.ShiftLow != nil && s.ShiftHigh != nil && s.ChangeLow != nil && s.ChangeHigh != nil
}

// Compare compares two builds by their runs, which it does not change.
//
// The test is by ranks, since frame times have heavy tails and a build that stumbles once must not
// decide. Where rounds were interleaved (the runs share a session) it is Wilcoxon's signed-rank
// test of the differences within rounds, over the rounds of all devices: heat, drift and the device
// are the same for both builds of a round, and by chance alone its difference is as likely to have
// one sign as the other, whatever the device's scale. Runs made at other times are compared by the
// rank-sum test, stratified by context as van Elteren (1960) does where there are several. Each of
// several contexts is tested alone too. All tests of a check share the policy's Alpha as those of
// Check do: Holm's correction, separately for the worse and the better side, half for whole runs
// and half for events, half for each context alone and half for all together.
//
// Presets matter only for the least change that matters. Where the policy sets no level (preset
// dune) the default's is used.
//
// A pass requires that a worsening by the policy's MinEffect is excluded over all contexts
// together, at the same chance as in rounds that settle what a history left open; for events, and
// where a build can't be separated from a session, a worsening by a quarter.
func Compare(p gate.Policy, catalogue *metric.Catalogue, base, head []run.Run) Verdict {
	p = rounds.WithDefaults(p)
	v := Verdict{
		Format: Format, Verdict: gate.Pass, Level: 1 - p.Alpha, Base: buildOf(base), Head: buildOf(head),
		Scenarios: []Scenario{}, Warnings: []run.Warning{},
	}
	catalogue, doubts := gate.Catalogue(catalogue, slices.Concat(base, head)...)
	v.Warnings = append(v.Warnings, doubts...)
	c := &comparing{policy: p, catalogue: catalogue, verdict: &v}
	c.gather(base, head)
	c.correct()
	for _, s := range c.scenarios {
		v.Scenarios = append(v.Scenarios, s.conclude(c))
	}
	c.conclude()
	return v
}

// buildOf describes the build of the runs, as the first run has it.
func buildOf(runs []run.Run) Build {
	b := Build{Runs: []string{}, RunTotal: len(runs)}
	for i, r := range runs {
		if i == 0 {
			b.App, b.Source = r.App, r.Source
		}
		if i < gate.MaxListed {
			b.Runs = append(b.Runs, r.ID)
		}
	}
	return b
}
