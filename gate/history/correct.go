package history

import (
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
)

// correct corrects for the number of comparisons of a check. The worse and the better side are
// corrected separately: only the worse can fail a build. The deciding numbers of the whole run use
// half of the false alarms, and all events and shown numbers share the other half, so that a build
// which is slower everywhere is detected however many events a scenario has. With several runs,
// each half is divided again between what each run shows alone and what they show together.
func correct(p gate.Policy, js []*judgement, runs int) {
	var coarse, fine []*judgement
	for _, j := range js {
		switch {
		case j.Missed == nil: // not tested
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

// correctAlone corrects judgements that may use a share of the false alarms.
func correctAlone(js []*judgement, share float64) {
	tests := make([]familywise.Tails, len(js))
	for i, j := range js {
		tests[i] = j.tails
	}
	for i, corrected := range familywise.Correct(tests, share) {
		js[i].P = corrected.On(js[i].worse())
	}
}
