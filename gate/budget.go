package gate

import "github.com/apkgate/apkgate/gate/screening"

// Budget is what may be measured beside the base build. The zero value says nothing of it.
type Budget struct {
	// Alone says that nothing can be measured: the history decides alone, each number at the
	// least worsening that it can exclude.
	Alone bool
	// Rounds at most, of each scenario on each device.
	Rounds int
	// Minutes for all scenarios of a device together; 0 is no bound.
	Minutes float64
	// Lasts are how long rounds take, by scenario; what is not known of a scenario is "".
	Lasts map[string]Lasts
}

// Lasts is how long the parts of a round take, in minutes.
type Lasts struct {
	// SetUp is that of one build's turn: installing, compiling, warming up.
	SetUp float64
	// Repetition is that of one repetition.
	Repetition float64
}

// Round is how long a round of so many repetitions of each build takes. Which build is first
// is drawn for each round, so that every second turn finds its build on the device: a round
// costs one set-up and a half.
func (l Lasts) Round(repetitions int) float64 {
	return 1.5*l.SetUp + 2*float64(repetitions)*l.Repetition
}

// LastsOf is how long rounds of a scenario take.
func (b Budget) LastsOf(scenario string) Lasts {
	if l, known := b.Lasts[scenario]; known {
		return l
	}
	return b.Lasts[""]
}

// Known is what the history knows of one number before rounds are measured, on the scale on
// which it is judged.
type Known struct {
	// Repetition is the standard deviation of one repetition, worth DF degrees of freedom;
	// nothing is known where DF is 0.
	Repetition, DF float64
	// Wander is the correlation of a repetition with the next of its session, as far as the
	// history shows that they follow on each other; 0 where it does not.
	Wander float64
	// Beyond is how far the new run lies above what is expected, and SD how far off that may
	// be; nothing is known where SD is 0.
	Beyond, SD float64
	// Counts is what is expected of a number of rare events, of which the new run has Events
	// in so many Repetitions.
	Counts              screening.Counts
	Events, Repetitions float64
}
