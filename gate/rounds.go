package gate

import "github.com/apkgate/apkgate/run"

// Says is what rounds say of a comparison.
type Says string

// What rounds can say.
const (
	// SaysWorse: the head build is worse than the base build.
	SaysWorse Says = "worse"
	// SaysExcluded: that it is worse by the policy's MinEffect is excluded.
	SaysExcluded Says = "excluded"
	// SaysOpen: neither, with the rounds that there were.
	SaysOpen Says = "open"
)

// RoundsOf is what rounds of the base and the head build, in turns in one session,
// say of one comparison.
type RoundsOf struct {
	// Rounds counts the pairs of values that it rests on.
	Rounds int `json:"rounds"`
	// Base and Head are the middle of each build's values, in the metric's unit.
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// Shift is how far the head lies above the base (Hodges and Lehmann), in the
	// metric's unit; Change the same as a share of Base, 0 where that is 0 or may be
	// below it. The ends of an interval are nil where there is too little for one.
	Shift      float64  `json:"shift"`
	ShiftLow   *float64 `json:"shift_low"`
	ShiftHigh  *float64 `json:"shift_high"`
	Change     float64  `json:"change"`
	ChangeLow  *float64 `json:"change_low"`
	ChangeHigh *float64 `json:"change_high"`
	// P is the chance that builds which are alike come out as far for the worse at any
	// look, corrected for the looks and for all questions of the rounds.
	P    float64 `json:"p"`
	Says Says    `json:"says"`
	// Enough estimates how many rounds would settle what is open; 0 where unknown.
	Enough int `json:"enough,omitempty"`
	// Values are the base's and the head's of each round, in the metric's unit and in the
	// order of time, for pictures.
	Values [][2]float64 `json:"values,omitempty"`
}

// Estimate is what the head has where the base has Base, by the shift within the rounds.
// The middle of the head's values may lie elsewhere: what changes from round to round is
// in that, and not in the shift.
func (r RoundsOf) Estimate() float64 { return Finite(r.Base + r.Shift) }

// RoundsMeasured is how far the rounds on a run's device and scenario went.
type RoundsMeasured struct {
	Base     RoundsBase `json:"base"`
	Measured int        `json:"measured"` // rounds
	Most     int        `json:"most"`     // that the plan has
	Stopped  Stopped    `json:"stopped"`
	// Repetitions are those of both builds together.
	Repetitions int `json:"repetitions"`
}

// RoundsBase is the build that the head was measured beside.
type RoundsBase struct {
	App    run.App    `json:"app"`
	Source run.Source `json:"source,omitzero"`
}

// Stopped says why no more rounds were measured.
type Stopped string

// Why rounds stop.
const (
	StoppedSettled Stopped = "settled" // every question is answered, or one has failed
	StoppedBudget  Stopped = "budget"  // the rounds or the minutes are spent
	StoppedLost    Stopped = "lost"    // the device or a build's runs were lost
)
