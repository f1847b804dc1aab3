// Package level finds where the present level of a number begins: in the accepted
// history of one context and metric, session by session.
//
// It takes a stand: what is no longer so is no reference. A history may only clear a
// build, so that a level is ended too early rather than too late: that costs
// repetitions, while old runs that excuse the loss of an improvement would make a gate
// of nothing. Where the number got worse, and somebody accepted it, the new level has
// to show first. What follows for a verdict is for the packages beside it.
package level

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/stat"
)

// Level is the present one.
type Level struct {
	// From is the first of the sessions that are of it.
	From int
	// Before is the middle of those before it, NaN where Why is "".
	Before float64
	// Why it begins there; "" where no other was seen.
	Why Why
	// Moved is what each of the sessions from From on would show more by now, as the
	// number keeps rising or falling; nil where it stands still.
	Moved []float64
}

// Why a level begins.
type Why string

// The reasons.
const (
	Step   Why = "step"   // the sessions since differ from those before
	Newest Why = "newest" // the newest one or two are better than those before
)

// Most are the newest sessions that count: what is older tells nothing more of now.
const Most = 60

// Present finds where the present level begins. centres are those of the sessions in the
// order of time, on a scale on which their noise is even. worse is +1 where more is
// worse and -1 where less is; where it is 0 nothing is. Changes of less than least end no
// level.
func Present(centres []float64, worse, least float64) Level {
	l := Level{From: max(0, len(centres)-Most), Before: math.NaN()}
	start := func(at int, why Why) {
		l.Before, l.Why = stat.Median(centres[l.From:l.From+at]), why
		l.From += at
	}
	for at := stepIn(centres[l.From:], worse, least); at > 0; at = stepIn(centres[l.From:], worse, least) {
		start(at, Step)
	}
	l.Moved = moved(centres[l.From:], worse)
	now := slices.Clone(centres[l.From:])
	for i, by := range l.Moved {
		now[i] += by
	}
	if at := betterAtLast(now, worse, least); at > 0 {
		start(at, Newest)
		l.Moved = nil
	}
	return l
}
