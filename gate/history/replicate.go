package history

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/apkgate/apkgate/gate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
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
		if j.evidence.Kind == evidence.Nothing || j.evidence.Moments.DF <= 0 {
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
	worse, better := make([]float64, len(together)), make([]float64, len(together))
	for i, group := range together {
		p := combined(group)
		worse[i], better[i] = min(1, p/share), min(1, (1-p)/share)
	}
	worse, better = stat.Holm(worse), stat.Holm(better)
	for i, group := range together {
		for _, j := range group {
			p := better[i]
			if j.worse() {
				p = worse[i]
			}
			if j.tail <= replicateLevel && p < j.P {
				j.P, j.Together = p, len(group)
			}
		}
	}
}

// combined is the chance that runs which changed nothing are together as much
// worse as these: Stouffer's sum of normal scores. Runs that are compared with
// the same values share the error of these, so that their scores are correlated
// by 1/(n+1).
func combined(group []*judgement) float64 {
	sum, variance := 0.0, 0.0
	for i, j := range group {
		sum += j.score()
		variance++
		for _, k := range group[:i] {
			if j.shares(k) {
				variance += 2 / (1 + min(j.evidence.Moments.N, k.evidence.Moments.N))
			}
		}
	}
	return distuv.UnitNormal.Survival(sum / math.Sqrt(variance))
}

// shares reports whether two runs are compared with the same values.
func (j *judgement) shares(k *judgement) bool {
	if j.within != k.within {
		return false
	}
	return j.context == k.context || (j.evidence.Kind == evidence.EveryContext && k.evidence.Kind == evidence.EveryContext)
}

// score is the tail as a normal score, above zero where the run is worse.
func (j *judgement) score() float64 {
	const least = 1e-12 // one run alone may not decide for all
	z := distuv.UnitNormal.Quantile(1 - max(least, min(0.5, j.doubledTail())))
	if !j.worse() {
		return -z
	}
	return z
}

// doubledTail pays for having tried two tests.
func (j *judgement) doubledTail() float64 {
	if j.doubled {
		return min(1, 2*j.tail)
	}
	return j.tail
}
