package history

import (
	"github.com/apkgate/apkgate/gate/evidence"
	"github.com/apkgate/apkgate/stat"
)

// correct makes up for the number of comparisons of a check. The worse and the
// better side are corrected each for itself: only the worse can fail a build.
// The whole runs have half of the false alarms to themselves, and all the
// events share the other half, so that a build which is slower all over is
// seen however many events a scenario has. Of several runs, what each shows
// alone and what they show together have half of that each.
func correct(js []*judgement, runs int) {
	var coarse, fine []*judgement
	for _, j := range js {
		if j.evidence.Kind == evidence.Nothing { // no question was asked
			continue
		}
		if j.Event == "" {
			coarse = append(coarse, j)
		} else {
			fine = append(fine, j)
		}
	}
	share := 1.0
	if len(coarse) > 0 && len(fine) > 0 {
		share /= 2
	}
	if runs > 1 {
		share /= 2
	}
	for _, family := range [][]*judgement{coarse, fine} {
		correctFamily(family, share)
		if runs > 1 {
			replicate(family, share)
		}
	}
}

// correctFamily corrects judgements that have a share of the false alarms.
func correctFamily(js []*judgement, share float64) {
	worse, better := make([]float64, len(js)), make([]float64, len(js))
	for i, j := range js {
		j.tests = float64(len(js)) / share
		if j.doubled {
			j.tests *= 2
		}
		tail := min(1, j.doubledTail()/share)
		worse[i], better[i] = 1, tail
		if j.worse() {
			worse[i], better[i] = tail, 1
		}
	}
	worse, better = stat.Holm(worse), stat.Holm(better)
	for i, j := range js {
		j.P = better[i]
		if j.worse() {
			j.P = worse[i]
		}
	}
}
