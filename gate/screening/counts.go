package screening

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Count is how many events a session counted in how many repetitions.
type Count struct{ Events, Repetitions float64 }

// Counts is the expected distribution of the events of one more session: a negative binomial
// distribution, which is Poisson's with a rate that is only known as well as the past shows it, and
// with room for sessions that differ by more than chance.
type Counts struct {
	rate        float64 // events a repetition
	repetitions float64 // that the rate is known from
	dispersion  float64 // variance over mean, at least 1
}

// NewCounts returns the distribution expected after the past sessions. If there were no events,
// half an event is assumed (Jeffreys' prior): a rate of 0 is never certain.
func NewCounts(past []Count) Counts {
	const jeffreys = 0.5
	events, repetitions := 0.0, 0.0
	for _, c := range past {
		events += c.Events
		repetitions += c.Repetitions
	}
	if repetitions <= 0 {
		return Counts{}
	}
	out := Counts{rate: (events + jeffreys) / repetitions, repetitions: repetitions, dispersion: 1}
	if len(past) > 1 { // Pearson's statistic
		squares := 0.0
		for _, c := range past {
			expected := events / repetitions * c.Repetitions
			squares += (c.Events - expected) * (c.Events - expected) / math.Max(expected, jeffreys)
		}
		out.dispersion = math.Max(1, squares/float64(len(past)-1))
	}
	return out
}

// With returns the distribution after so many more repetitions of the same build, with these
// events.
func (c Counts) With(events, repetitions float64) Counts {
	if !c.Known() || repetitions <= 0 {
		return c
	}
	return Counts{rate: (c.rate*c.repetitions + events) / (c.repetitions + repetitions), repetitions: c.repetitions + repetitions, dispersion: c.dispersion}
}

// Repetitions returns how many the past has.
func (c Counts) Repetitions() float64 { return c.repetitions }

// Known reports whether there was any past session.
func (c Counts) Known() bool { return c.repetitions > 0 }

// Rate returns the expected number of events in one repetition.
func (c Counts) Rate() float64 {
	const jeffreys = 0.5
	return math.Max(c.rate-jeffreys/c.repetitions, 0)
}

// rounding is the error of a mean times the number of its values: 15 events in eleven repetitions
// may be 14.999….
const rounding = 1e-9

// AtMost returns the chance that a session of so many repetitions has no more than these events,
// where the build causes `more` additional events in such a session. Where the chance can't be
// computed, as numbers are not finite or too large, it is 1, which rules nothing out.
func (c Counts) AtMost(events, repetitions, more float64) float64 {
	events, repetitions = math.Floor(events+rounding), max(repetitions, 0)
	mean := c.rate*repetitions + more
	switch {
	case events < 0:
		return 0
	case mean <= 0 || math.IsInf(events, 1):
		return 1
	}
	// of the events about their mean, and of the mean
	variance := c.dispersion*mean + c.dispersion*c.rate*repetitions*repetitions/c.repetitions
	size := mean * mean / (variance - mean)
	chance := math.NaN()
	switch {
	case math.IsNaN(events+size) || size <= 0 || math.IsInf(variance, 0):
	case size > 1e5: // as good as Poisson's, and the beta function has too few digits
		chance = mathext.GammaIncRegComp(events+1, mean)
	default:
		chance = mathext.RegIncBeta(size, events+1, size/(size+mean))
	}
	if !(chance >= 0 && chance <= 1) {
		return 1
	}
	return chance
}

// AtLeast returns the chance that an unchanged build has no fewer.
func (c Counts) AtLeast(events, repetitions float64) float64 {
	if events < 1-rounding {
		return 1
	}
	return 1 - c.AtMost(math.Ceil(events-rounding)-1, repetitions, 0)
}
