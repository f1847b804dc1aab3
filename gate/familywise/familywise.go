// Package familywise holds the tests of a check together: what a chance is worth where
// many questions were asked, and what several runs show that none shows alone.
//
// It takes a stand: a check of builds that are alike fails no oftener than the
// policy allows, however many comparisons it makes, and the worse side pays for
// nothing that is better. What is compared with what, and by which test, is for the
// packages beside it.
package familywise

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/stat"
)

// Sides are the chances that builds which are alike come out as far for the worse,
// and for the better.
type Sides struct{ Worse, Better float64 }

// On is the chance on one side.
func (s Sides) On(worse bool) float64 {
	if worse {
		return s.Worse
	}
	return s.Better
}

// Share is what a family may use of the false alarms, where each of these ways to
// divide the tests in two makes it share them with another.
func Share(divided ...bool) float64 {
	share := 1.0
	for _, d := range divided {
		if d {
			share /= 2
		}
	}
	return share
}

// Correct makes up for the number of tests in a family that may use a share of the
// false alarms: Holm's correction, each side for itself, as only the worse can fail
// a build.
func Correct(tests []Sides, share float64) []Sides {
	worse, better := make([]float64, len(tests)), make([]float64, len(tests))
	for i, t := range tests {
		worse[i], better[i] = min(1, t.Worse/share), min(1, t.Better/share)
	}
	worse, better = stat.Holm(worse), stat.Holm(better)
	out := make([]Sides, len(tests))
	for i := range tests {
		out[i] = Sides{worse[i], better[i]}
	}
	return out
}

// Score is a one-sided chance as a normal score, above zero on the worse side. One
// test alone may not decide for all: its score is bounded.
func Score(p float64, worse bool) float64 {
	const least = 1e-12
	z := distuv.UnitNormal.Quantile(1 - max(least, min(0.5, p)))
	if !worse {
		return -z
	}
	return z
}

// Together is the chance that tests of what is alike have together scores as much
// for the worse: Stouffer's sum. correlation is that of two scores, such as of runs
// that are compared with the same values.
func Together(scores []float64, correlation func(i, k int) float64) Sides {
	sum, variance := 0.0, 0.0
	for i, score := range scores {
		sum += score
		variance++
		for k := range scores[:i] {
			variance += 2 * correlation(i, k)
		}
	}
	p := distuv.UnitNormal.Survival(sum / math.Sqrt(variance))
	return Sides{Worse: p, Better: 1 - p}
}
