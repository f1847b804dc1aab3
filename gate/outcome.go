package gate

import "slices"

// Outcome is the result of the gate, for one run and for all together.
type Outcome string

// The outcomes. The verdict on several runs is the gravest of: regression, invalid, inconclusive,
// improvement, pass.
const (
	Pass         Outcome = "pass"         // nothing deviates
	Improvement  Outcome = "improvement"  // deviates only for the better
	Inconclusive Outcome = "inconclusive" // too little evidence to decide
	Regression   Outcome = "regression"   // deviates for the worse
	Invalid      Outcome = "invalid"      // the run is incomplete and can't be judged
)

// FailOn is the least grave outcome that fails the build.
type FailOn string

// The values of FailOn.
const (
	FailNever        FailOn = "never"        // the verdict is only shown
	FailRegression   FailOn = "regression"   // the default
	FailInconclusive FailOn = "inconclusive" // a doubt fails too
	FailDrift        FailOn = "drift"        // a drift over a quarter fails too, where drift is checked
)

// Fails reports whether an outcome fails the build. It is the only place that compares a verdict
// with fail-on.
func (o Outcome) Fails(from FailOn) bool {
	switch {
	case from == FailNever:
		return false
	case o == Inconclusive:
		return from == FailInconclusive
	}
	return o == Regression || o == Invalid
}

// FailOns returns the values of FailOn.
func FailOns() []FailOn { return []FailOn{FailNever, FailRegression, FailInconclusive, FailDrift} }

// Direction is the direction in which a comparison deviates.
type Direction string

// The directions of a comparison.
const (
	None         Direction = "none"
	ToRegression Direction = "regression"
	// ToImprovement is the paper's "optimization".
	ToImprovement Direction = "improvement"
	// Suspect is a deviation for the worse that the history is too small to confirm.
	Suspect Direction = "suspect"
)

// Screen is the result of screening: whether the history rules out that a comparison hides a
// worsening.
type Screen string

// The results of screening.
const (
	// Cleared: a worsening by the policy's MinEffect would hardly look as good.
	Cleared Screen = "cleared"
	// Open: such a worsening may well look as good, or there is too little history to decide.
	Open Screen = "open"
)

// The paper's class labels (section 5.3.3).
const (
	LabelWorse  = "Outlier-"
	LabelBetter = "Outlier+"
	LabelNormal = "N"
)

// LabelSuspect labels a run that may be worse. It is used in rules only.
const LabelSuspect = "Suspect-"

// Outcomes and directions in the order of their gravity.
var (
	outcomes   = []Outcome{Pass, Improvement, Inconclusive, Invalid, Regression}
	directions = []Direction{None, ToImprovement, Suspect, ToRegression}
)

// Gravity returns the rank of an outcome: 0 for a pass, the highest for a regression, -1 for an
// unknown outcome. The gravest of several is the verdict.
func (o Outcome) Gravity() int { return slices.Index(outcomes, o) }

// Gravity returns the rank of a direction: 0 for none, the highest for a regression, -1 for an
// unknown direction.
func (d Direction) Gravity() int { return slices.Index(directions, d) }

// Graver returns the graver of two outcomes.
func Graver(a, b Outcome) Outcome {
	if b.Gravity() > a.Gravity() {
		return b
	}
	return a
}
