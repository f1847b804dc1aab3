package gate

import "github.com/apkgate/apkgate/run"

// RoundsOutcome is the result of rounds for one comparison.
type RoundsOutcome string

// The results of rounds.
const (
	// RoundsWorse: the head build is worse than the base build.
	RoundsWorse RoundsOutcome = "worse"
	// RoundsExcluded: a worsening by the policy's MinEffect is excluded.
	RoundsExcluded RoundsOutcome = "excluded"
	// RoundsUndecided: neither, with the rounds that were measured.
	RoundsUndecided RoundsOutcome = "open"
)

// RoundsComparison is the result for one comparison of rounds: the base and the head build measured
// alternately in one session.
type RoundsComparison struct {
	// Rounds counts the pairs of values.
	Rounds int `json:"rounds"`
	// Base and Head are the medians of each build's values, in the metric's unit.
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// Shift is how far the head lies above the base (Hodges and Lehmann), in the metric's unit.
	// Change is the same as a share of Base; 0 where Base is 0 or may be below it. The ends of an
	// interval are nil where there are too few values for one.
	Shift      float64  `json:"shift"`
	ShiftLow   *float64 `json:"shift_low"`
	ShiftHigh  *float64 `json:"shift_high"`
	Change     float64  `json:"change"`
	ChangeLow  *float64 `json:"change_low"`
	ChangeHigh *float64 `json:"change_high"`
	// P is the chance that identical builds come out as far for the worse at any look, corrected
	// for the number of looks and of questions.
	P       float64       `json:"p"`
	Outcome RoundsOutcome `json:"says"`
	// Enough estimates how many rounds would settle an undecided comparison; 0 where unknown.
	Enough int `json:"enough,omitempty"`
	// Values are the base's and the head's value of each round, in the metric's unit and in the
	// order of time, for figures.
	Values [][2]float64 `json:"values,omitempty"`
}

// Estimate returns Base plus the shift within the rounds. The median of the head's values may lie
// elsewhere: it includes what changes from round to round, which the shift excludes.
func (r RoundsComparison) Estimate() float64 { return Finite(r.Base + r.Shift) }

// RoundsMeasured is the progress of the rounds on a run's device and scenario.
type RoundsMeasured struct {
	Base     RoundsBase `json:"base"`
	Measured int        `json:"measured"` // rounds
	Most     int        `json:"most"`     // planned at most
	Stopped  Stopped    `json:"stopped"`
	// Repetitions counts those of both builds together.
	Repetitions int `json:"repetitions"`
}

// RoundsBase identifies the base build of the rounds.
type RoundsBase struct {
	App    run.App    `json:"app"`
	Source run.Source `json:"source,omitzero"`
}

// Stopped is the reason why no more rounds were measured.
type Stopped string

// Reasons why rounds stop.
const (
	StoppedSettled Stopped = "settled" // every question is answered, or one has failed
	StoppedBudget  Stopped = "budget"  // the rounds or the minutes are spent
	StoppedLost    Stopped = "lost"    // the device or a build's runs were lost
)
