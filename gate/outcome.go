package gate

import "slices"

// Outcome is what the gate says, of one run and of all together.
type Outcome string

// The outcomes. Of several runs the gravest is the verdict's:
// regression, invalid, inconclusive, improvement, pass.
const (
	Pass         Outcome = "pass"         // nothing deviates
	Improvement  Outcome = "improvement"  // deviates only for the better
	Inconclusive Outcome = "inconclusive" // too little evidence to tell
	Regression   Outcome = "regression"   // deviates for the worse
	Invalid      Outcome = "invalid"      // the run is not whole: nothing can be said
)

// FailOn is the outcome from which a verdict fails the build.
type FailOn string

// The outcomes from which a verdict can fail.
const (
	FailNever        FailOn = "never"        // the verdict is only shown
	FailRegression   FailOn = "regression"   // the default
	FailInconclusive FailOn = "inconclusive" // a doubt fails too
	FailDrift        FailOn = "drift"        // a creep over a quarter fails too, where one is looked for
)

// Fails reports whether an outcome fails what asked for it: the one place where a verdict and
// what it is to fail from come together.
func (o Outcome) Fails(from FailOn) bool {
	switch {
	case from == FailNever:
		return false
	case o == Inconclusive:
		return from == FailInconclusive
	}
	return o == Regression || o == Invalid
}

// FailOns are the values of FailOn.
func FailOns() []FailOn { return []FailOn{FailNever, FailRegression, FailInconclusive, FailDrift} }

// Direction says which way a comparison deviates.
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

// Screen says whether the history rules out that a comparison hides a worsening.
type Screen string

// What the history can tell of a comparison.
const (
	// Cleared: a worsening by the policy's MinEffect would hardly look as good.
	Cleared Screen = "cleared"
	// Open: it well might, or there is too little history to tell.
	Open Screen = "open"
)

// The paper's class labels (section 5.3.3).
const (
	LabelWorse  = "Outlier-"
	LabelBetter = "Outlier+"
	LabelNormal = "N"
)

// LabelSuspect is what a run that is perhaps worse bears in rules, and nowhere else.
const LabelSuspect = "Suspect-"

// outcomes and directions in the order of their gravity.
var (
	outcomes   = []Outcome{Pass, Improvement, Inconclusive, Invalid, Regression}
	directions = []Direction{None, ToImprovement, Suspect, ToRegression}
)

// Gravity ranks outcomes: 0 for a pass, the most for a regression. The gravest of
// several is the verdict. What is no outcome ranks below all.
func (o Outcome) Gravity() int { return slices.Index(outcomes, o) }

// Gravity ranks directions: 0 for none, the most for a regression. What is no
// direction ranks below all.
func (d Direction) Gravity() int { return slices.Index(directions, d) }

// Graver is the graver of two outcomes.
func Graver(a, b Outcome) Outcome {
	if b.Gravity() > a.Gravity() {
		return b
	}
	return a
}
