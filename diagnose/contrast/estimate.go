package contrast

import (
	"math"

	"github.com/apkgate/apkgate/stat"
)

// What decides; docs/evaluation/causes.md#what-decides has the reasons.
const (
	// Certain is by how many errors a time must have grown.
	Certain = 3.0
	// Drifted is the part of its mean by which any time may differ from session to session.
	Drifted = 0.05
	// Tail is the part of a normal distribution beyond three standard errors.
	Tail = 0.00135
	// Level is the confidence level of Estimate.Interval.
	Level = 0.95
	z95   = 1.96
	// byChance is the largest chance, for anything to be clear, that the head's repetitions are
	// those with the longest times though nothing changed: one of all ways to choose as many of
	// both builds'. Four compared with four, or three with six of two runs, are enough, and three
	// compared with three are not.
	byChance = 0.02
	// leastFreedom is the least number of degrees of freedom that shows how much repetitions vary.
	leastFreedom = 4
)

// Estimate is a difference of means and its error, scaled so that three of it are as unlikely by
// chance as three standard errors of a normal distribution.
type Estimate struct{ Mean, Err float64 }

// Stands reports whether the difference is larger than chance explains.
func (e Estimate) Stands() bool { return e.Mean > 0 && e.Mean >= Certain*e.Err }

// Interval returns the interval of the difference, which is at least 0.
func (e Estimate) Interval() (low, high float64) {
	return max(e.Mean-z95*e.Err, 0), e.Mean + z95*e.Err
}

// Share returns which share of a whole the difference is, with its interval. Less than least is
// nothing.
func (e Estimate) Share(whole, least float64) (share, low, high float64) {
	rest := max(whole-e.Mean, 0)
	low, high = e.Interval()
	return min(e.Mean/whole, 1), low / max(low+rest, least), high / (high + rest)
}

// Scatter is how far repetitions lie from their run's mean.
type Scatter struct{ Repetitions, Runs, Squares float64 }

// Add adds the repetitions of one run.
func (s *Scatter) Add(values []float64) {
	if len(values) == 0 {
		return
	}
	mean := Mean(values)
	for _, v := range values {
		s.Squares += (v - mean) * (v - mean)
	}
	s.Repetitions += float64(len(values))
	s.Runs++
}

// Mean is 0 without values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

func (s Scatter) freedom(before Scatter) float64 {
	return s.Repetitions - s.Runs + before.Repetitions - before.Runs
}

// Varies reports whether the repetitions of a head and of earlier runs are enough to show how much
// they vary.
func (s Scatter) Varies(before Scatter) bool { return s.freedom(before) >= leastFreedom }

// Settles reports whether they are enough to separate a change from chance.
func (s Scatter) Settles(before Scatter) bool {
	ways := 1.0 // to choose the head's of all
	for i := 1.0; i <= s.Repetitions; i++ {
		ways *= (before.Repetitions + i) / i
	}
	return s.Varies(before) && ways >= 1/byChance
}

// Error returns the error of the difference between both means, so that three of it are as unlikely
// as the tail. They must vary.
func (s Scatter) Error(before Scatter, tail float64) float64 {
	freedom := s.freedom(before)
	within := (s.Squares + before.Squares) / freedom * (1/s.Repetitions + 1/before.Repetitions)
	return math.Sqrt(within) * stat.Moments{SD: 1, N: math.Inf(1), DF: freedom}.Reach(tail) / Certain
}
