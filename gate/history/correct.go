package history

import (
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
)

// correct makes up for the number of comparisons of a check. The worse and the
// better side are corrected each for itself: only the worse can fail a build.
// The whole run's numbers that decide have half of the false alarms to themselves, and all
// events and what is only shown share the other half, so that a build which is slower all
// over is seen however many events a scenario has. Of several runs, what each shows
// alone and what they show together have half of that each.
func correct(p gate.Policy, js []*judgement, runs int) {
	var coarse, fine []*judgement
	for _, j := range js {
		switch {
		case j.Missed == nil: // no question was asked
		case j.Event == "" && j.decides():
			coarse = append(coarse, j)
		default:
			fine = append(fine, j)
		}
	}
	share := familywise.Share(len(coarse) > 0 && len(fine) > 0, runs > 1)
	for _, tests := range [][]*judgement{coarse, fine} {
		correctAlone(tests, share)
		if runs > 1 {
			together(p, tests, share)
		}
	}
}

// correctAlone corrects judgements that have a share of the false alarms.
func correctAlone(js []*judgement, share float64) {
	tests := make([]familywise.Sides, len(js))
	for i, j := range js {
		tests[i] = j.tails
	}
	for i, corrected := range familywise.Correct(tests, share) {
		js[i].P = corrected.On(js[i].worse())
	}
}
