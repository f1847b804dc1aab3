package gate

import "github.com/apkgate/apkgate/gate/screening"

// Budget limits what may be measured with the base build. The zero value sets no limit.
type Budget struct {
	// Alone is set where nothing can be measured. The history then decides alone, each number at
	// the least worsening that it can exclude.
	Alone bool
	// Rounds is the maximum number of rounds of each scenario on each device.
	Rounds int
	// Minutes is the limit for all scenarios of a device together; 0 is no limit.
	Minutes float64
	// Durations are the durations of rounds, by scenario; "" is the default for other scenarios.
	Durations map[string]RoundDurations
}

// RoundDurations are the durations of the parts of a round, in minutes.
type RoundDurations struct {
	// SetUp is the duration of the set-up of one build's turn: installing, compiling, warming up.
	SetUp float64
	// Repetition is the duration of one repetition.
	Repetition float64
}

// Round returns the duration of a round of so many repetitions of each build, in minutes. The order
// of the builds is drawn for each round, so that every second turn finds its build already
// installed: a round costs one and a half set-ups.
func (l RoundDurations) Round(repetitions int) float64 {
	return 1.5*l.SetUp + 2*float64(repetitions)*l.Repetition
}

// DurationsOf returns the durations of a scenario's rounds.
func (b Budget) DurationsOf(scenario string) RoundDurations {
	if l, known := b.Durations[scenario]; known {
		return l
	}
	return b.Durations[""]
}

// Prior is what the history shows of one number before rounds are measured, on the scale on which
// the number is judged.
type Prior struct {
	// Repetition is the standard deviation of one repetition, with DF degrees of freedom; it is
	// unknown where DF is 0.
	Repetition, DF float64
	// Autocorrelation is the correlation of a repetition with the next one of its session, where
	// the history shows one; else 0.
	Autocorrelation float64
	// Beyond is how far the new run lies above the expected value, and SD the standard error of
	// that; both are unknown where SD is 0.
	Beyond, SD float64
	// Counts is the expected distribution of a number of rare events. The new run has Events of
	// them in Repetitions repetitions.
	Counts              screening.Counts
	Events, Repetitions float64
}
