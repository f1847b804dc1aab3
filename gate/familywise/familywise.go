// Package familywise corrects for the number of tests in a check: what a chance is worth where many
// comparisons were made, and what several runs show together that none shows alone.
//
// A check of identical builds fails no more often than the policy allows, however many comparisons
// it makes, and the worse side is not corrected for tests of the better. Which values are compared,
// and by which test, is decided by the neighbouring packages.
package familywise

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/stat"
)

// Tails are the chances that identical builds come out as far for the worse, and for the better.
type Tails struct{ Worse, Better float64 }

// On returns the chance on one side.
func (s Tails) On(worse bool) float64 {
	if worse {
		return s.Worse
	}
	return s.Better
}

// Share returns the share of the false alarms that a family of tests may use. Each true argument is
// a division of the tests in two that halves it.
func Share(divided ...bool) float64 {
	share := 1.0
	for _, d := range divided {
		if d {
			share /= 2
		}
	}
	return share
}

// Correct corrects for the number of tests in a family that may use a share of the false alarms:
// Holm's correction, separately for each side, as only the worse can fail a build.
func Correct(tests []Tails, share float64) []Tails {
	worse, better := make([]float64, len(tests)), make([]float64, len(tests))
	for i, t := range tests {
		worse[i], better[i] = min(1, t.Worse/share), min(1, t.Better/share)
	}
	worse, better = stat.Holm(worse), stat.Holm(better)
	out := make([]Tails, len(tests))
	for i := range tests {
		out[i] = Tails{worse[i], better[i]}
	}
	return out
}

// Score returns a one-sided chance as a normal score, above zero on the worse side. Scores are
// bounded, so that one test can't decide for all.
func Score(p float64, worse bool) float64 {
	const least = 1e-12
	z := distuv.UnitNormal.Quantile(1 - max(least, min(0.5, p)))
	if !worse {
		return -z
	}
	return z
}

// Combine returns the chance that tests of the same question together score as much for the worse:
// Stouffer's sum. correlation is that of two scores, such as of runs that are compared with the
// same values.
func Combine(scores []float64, correlation func(i, k int) float64) Tails {
	sum, variance := 0.0, 0.0
	for i, score := range scores {
		sum += score
		variance++
		for k := range scores[:i] {
			variance += 2 * correlation(i, k)
		}
	}
	p := distuv.UnitNormal.Survival(sum / math.Sqrt(variance))
	return Tails{Worse: p, Better: 1 - p}
}
