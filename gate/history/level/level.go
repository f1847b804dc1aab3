// Package level finds where the present level of a number begins: in the accepted history of one
// context and metric, session by session.
//
// Only the present level is a reference. A history may only clear a build, so that a level is ended
// too early rather than too late: that costs repetitions, while old runs that excuse the loss of an
// improvement would make the gate useless. Where the number got worse, and was accepted, the new
// level has to be shown first. The consequences for a verdict are left to the neighbouring
// packages.
package level

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/stat"
)

// Level is the present level.
type Level struct {
	// From is the first of its sessions.
	From int
	// Before is the middle of the earlier sessions, NaN where Why is "".
	Before float64
	// Why is the reason why it begins there; "" where no other level was found.
	Why Why
	// Moved is how much more each of the sessions from From on would show by now, as the number
	// keeps rising or falling; nil where it is constant.
	Moved []float64
}

// Why is the reason why a level begins.
type Why string

// The reasons.
const (
	Step   Why = "step"   // the sessions since differ from those before
	Newest Why = "newest" // the newest one or two are better than those before
)

// Most is the number of newest sessions that count: older ones say nothing more about the present.
const Most = 60

// Present finds where the present level begins. centres are those of the sessions in the order of
// time, on a scale on which their noise is even. worse is +1 where higher is worse, -1 where lower
// is, and 0 where neither is. Changes of less than least end no level.
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
