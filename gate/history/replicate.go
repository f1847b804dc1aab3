package history

import (
	"github.com/apkgate/apkgate/gate/family"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/run"
)

// replicateLevel is how unlikely a run's own deviation has to be for it to take
// part in what the runs show together.
const replicateLevel = 0.05

// replicate looks at each cell over all runs of the check together: fifteen
// phones that are each a little worse after the same event are a regression that
// no one of them could prove. It gives the combined chance, corrected for the
// number of cells, to the runs that deviate that way themselves. share is the
// part of the false alarms that this may use.
func replicate(js []*judgement, share float64) {
	cells := map[run.Cell][]*judgement{}
	var order []run.Cell
	for _, j := range js {
		if j.evidence.Kind == past.Nothing || j.evidence.Moments.DF <= 0 {
			continue
		}
		cell := run.Cell{Event: j.Event, Metric: j.Metric}
		if cells[cell] == nil {
			order = append(order, cell)
		}
		cells[cell] = append(cells[cell], j)
	}
	var together [][]*judgement
	for _, cell := range order {
		if len(cells[cell]) > 1 {
			together = append(together, cells[cell])
		}
	}
	tests := make([]family.Sides, len(together))
	for i, group := range together {
		tests[i] = combined(group)
	}
	for i, corrected := range family.Correct(tests, share) {
		for _, j := range together[i] {
			if p := corrected.On(j.worse()); j.tail <= replicateLevel && p < j.P {
				j.P, j.Together = p, len(together[i])
			}
		}
	}
}

// combined are the chances of what the runs show together. Runs that are compared
// with the same values share the error of these, so that their scores are correlated
// by 1/(n+1).
func combined(group []*judgement) family.Sides {
	scores := make([]float64, len(group))
	for i, j := range group {
		scores[i] = j.score()
	}
	return family.Together(scores, func(i, k int) float64 {
		if !group[i].shares(group[k]) {
			return 0
		}
		return 1 / (1 + min(group[i].evidence.Moments.N, group[k].evidence.Moments.N))
	})
}

// shares reports whether two runs are compared with the same values.
func (j *judgement) shares(k *judgement) bool {
	if j.within != k.within {
		return false
	}
	return j.context == k.context || (j.evidence.Kind == past.EveryContext && k.evidence.Kind == past.EveryContext)
}

// score is the tail as a normal score, above zero where the run is worse.
func (j *judgement) score() float64 { return family.Score(j.doubledTail(), j.worse()) }

// doubledTail pays for having tried two tests.
func (j *judgement) doubledTail() float64 {
	if j.doubled {
		return min(1, 2*j.tail)
	}
	return j.tail
}
