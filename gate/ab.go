package gate

import (
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// FormatAB is the format and version of a comparison of two builds as JSON
// (docs/format/compare.md).
const FormatAB = "apkgate.compare/1"

// ABVerdict is what the gate says of a head build beside a base build.
type ABVerdict struct {
	Format  string  `json:"format"`
	Verdict Outcome `json:"verdict"`
	// Reason says in one sentence why; Hint what the reader can do, "" for nothing.
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
	// Level is the confidence of each interval by itself, such as 0.95.
	Level     float64       `json:"level"`
	Base      ABBuild       `json:"base"`
	Head      ABBuild       `json:"head"`
	Scenarios []ABScenario  `json:"scenarios"`
	Warnings  []run.Warning `json:"warnings"`
}

// ABBuild is one of the two builds.
type ABBuild struct {
	App    run.App    `json:"app"`
	Source run.Source `json:"source,omitzero"`
	// Runs are the ids of its runs, at most MaxListed of the RunTotal that there are.
	Runs     []string `json:"runs"`
	RunTotal int      `json:"run_total"`
}

// ABUnit is what counts as one independent observation.
type ABUnit string

// The units, the best first.
const (
	// ABRound is one repetition of each build right after another, so that heat
	// and drift are the same for both: the difference within a round counts.
	ABRound ABUnit = "round"
	// ABRun is a whole run, where each build has several made at other times, or
	// one on each of several devices.
	ABRun ABUnit = "run"
	// ABIteration is one repetition of a run. Those of one session share what
	// that session had, so that this is a stand-in: a warning says so.
	ABIteration ABUnit = "iteration"
)

// ABScenario is the comparison in one scenario.
type ABScenario struct {
	Scenario string  `json:"scenario"`
	Verdict  Outcome `json:"verdict"`
	Reason   string  `json:"reason"`
	Hint     string  `json:"hint,omitempty"`
	Unit     ABUnit  `json:"unit"`
	// Contexts are those in which both builds were measured.
	Contexts []ABContext `json:"contexts"`
	// Comparisons are all that were made, in the order of events, then of the
	// catalogue of metrics.
	Comparisons []ABComparison `json:"comparisons"`
}

// ABContext is one context and how many units of each build were measured in it.
type ABContext struct {
	Context map[string]string `json:"context"`
	Base    int               `json:"base"`
	Head    int               `json:"head"`
}

// ABComparison is one number of the head build beside the base build's, over
// all contexts together.
type ABComparison struct {
	Event  string `json:"event"` // "" for the whole run
	Metric string `json:"metric"`
	// Direction is the gravest of what all contexts together and each alone show.
	Direction Direction `json:"direction"`
	ABShift
	// Enough estimates how many rounds (or runs, or iterations, of each build in
	// each context) would settle a Suspect; 0 where unknown.
	Enough int `json:"enough,omitempty"`
	// Together is the direction that all contexts together show.
	Together Direction `json:"together"`
	// Contexts are the same for each context alone, in the order of the
	// scenario's contexts; empty where there is only one.
	Contexts []ABContextShift `json:"contexts,omitempty"`
}

// ABContextShift is the shift in one context.
type ABContextShift struct {
	Context   int       `json:"context"` // its place among the scenario's contexts
	Direction Direction `json:"direction"`
	ABShift
}

// ABShift is how far the head build's values lie above the base build's.
type ABShift struct {
	// Base and Head are the middle of each build's values, in the metric's unit.
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// Shift is the estimate of Hodges and Lehmann, in the metric's unit, and its
	// interval. Both ends are nil where there is too little for one.
	Shift     float64  `json:"shift"`
	ShiftLow  *float64 `json:"shift_low"`
	ShiftHigh *float64 `json:"shift_high"`
	// Change is the shift as a share of Base (0 where Base is 0). Where the
	// metric's noise multiplies it is worked out on the log scale.
	Change     float64  `json:"change"`
	ChangeLow  *float64 `json:"change_low"`
	ChangeHigh *float64 `json:"change_high"`
	// P is the chance of a shift at least this large the same way between builds
	// that are alike, corrected for multiplicity; PRaw is that of this test alone.
	P    float64 `json:"p"`
	PRaw float64 `json:"p_raw"`
	// Effect is Cliff's delta: how often a head value lies above a base value
	// less how often below, from -1 to 1.
	Effect float64 `json:"effect"`
	// N counts the pairs of values where Unit is round, the values of both
	// builds otherwise.
	N int `json:"n"`
	// Limit is the absolute budget that Head breaks; nil where it breaks none.
	Limit *float64 `json:"limit,omitempty"`
}

// HasInterval reports whether there was enough for an interval.
func (s ABShift) HasInterval() bool {
	return s.ShiftLow != nil && s.ShiftHigh != nil && s.ChangeLow != nil && s.ChangeHigh != nil
}

// CompareAB compares two builds by their runs. It never changes them.
//
// The test is by ranks, since frame times have heavy tails and a build that
// stumbles once must not decide. Where rounds were interleaved (the runs share
// a session) it is Wilcoxon's signed-rank test of the differences within
// rounds, over the rounds of all devices: a round is the block in which heat,
// drift and the device are the same for both builds, and under chance alone its
// difference is as likely to have one sign as the other, whatever the device's
// scale. Runs made at other times are compared by the rank-sum test, stratified
// by context as van Elteren (1960) does where there are several. Of several
// contexts each is tested alone too. All tests of a check share the policy's
// Alpha as those of Check do: Holm's correction, the worse and the better side
// each for itself, half for whole runs and half for events, half for each
// context alone and half for all together.
//
// Presets play no part, but for the least change that matters. Where the policy
// sets no level (preset dune) the default's is taken.
func CompareAB(p Policy, catalogue *metric.Catalogue, base, head []run.Run) ABVerdict {
	p = p.WithLevel()
	v := ABVerdict{
		Format: FormatAB, Verdict: Pass, Level: 1 - p.Alpha, Base: buildOf(base), Head: buildOf(head),
		Scenarios: []ABScenario{}, Warnings: []run.Warning{},
	}
	c := &abCheck{policy: p, catalogue: catalogue, verdict: &v}
	c.gather(base, head)
	c.correct()
	for _, s := range c.scenarios {
		v.Scenarios = append(v.Scenarios, s.conclude(c))
	}
	c.conclude()
	return v
}

// buildOf says what the runs were made of: as the first has it.
func buildOf(runs []run.Run) ABBuild {
	b := ABBuild{Runs: []string{}, RunTotal: len(runs)}
	for i, r := range runs {
		if i == 0 {
			b.App, b.Source = r.App, r.Source
		}
		if i < MaxListed {
			b.Runs = append(b.Runs, r.ID)
		}
	}
	return b
}
