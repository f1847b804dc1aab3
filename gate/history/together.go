package history

import (
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/run"
)

// togetherLevel is how unlikely a run's own deviation has to be for it to count in what the runs
// show together.
const togetherLevel = 0.05

// together tests each cell over all runs of the check: a number that is a little worse in two
// sessions, or on fifteen phones after the same event, is a regression that no single run could
// prove. The combined chance, corrected for the number of cells, is given to the runs that deviate
// that way themselves, if they are of more than one session or device. share is the part of the
// false alarms that this may use.
func together(p gate.Policy, js []*judgement, share float64) {
	cells := map[run.Cell][]*judgement{}
	var order []run.Cell
	for _, j := range js {
		if !j.enough(p) && !j.predicted() {
			continue
		}
		cell := run.Cell{Event: j.Event, Metric: j.Metric}
		if cells[cell] == nil {
			order = append(order, cell)
		}
		cells[cell] = append(cells[cell], j)
	}
	var groups [][]*judgement
	for _, cell := range order {
		if severally(cells[cell]) > 1 {
			groups = append(groups, cells[cell])
		}
	}
	tests := make([]familywise.Tails, len(groups))
	for i, group := range groups {
		tests[i] = combined(group)
	}
	for i, corrected := range familywise.Correct(tests, share) {
		for _, worse := range []bool{true, false} {
			var agree []*judgement
			for _, j := range groups[i] {
				if j.worse() == worse && j.tails.On(worse) <= togetherLevel {
					agree = append(agree, j)
				}
			}
			if severally(agree) < 2 {
				continue
			}
			for _, j := range agree {
				if chance := corrected.On(worse); chance < j.P {
					j.P, j.Together = chance, len(groups[i])
				}
			}
		}
	}
}

// severally counts the sessions and devices of the judgements. Runs of one context that name no
// session may be of one.
func severally(js []*judgement) int {
	units := map[[2]string]bool{}
	for _, j := range js {
		units[j.unit()] = true
	}
	return len(units)
}

// unit returns the session on a device that a judgement is of: what it shows twice counts once.
func (j *judgement) unit() [2]string { return [2]string{j.context, j.session} }

// combined returns the chances of what the runs show together. Runs that are compared with the same
// values share the error of these, so that their scores are correlated by 1/(n+1); those of one
// session on one device are the same.
func combined(group []*judgement) familywise.Tails {
	scores := make([]float64, len(group))
	for i, j := range group {
		scores[i] = familywise.Score(j.tails.On(j.worse()), j.worse())
	}
	return familywise.Combine(scores, func(i, k int) float64 {
		a, b := group[i], group[k]
		switch {
		case a.unit() == b.unit():
			return 1
		case a.predicted() && b.predicted():
			return sharedDraw(a, b)
		case a.context == b.context && a.within == b.within:
			return 1 / (1 + float64(min(a.evidence.N, b.evidence.N)))
		}
		return 0
	})
}

// contradict marks a deviation in one session that another session of the same device in the same
// check does not show: it is due to the session.
func contradict(js []*judgement) {
	type number struct {
		run.Cell
		context, within string
	}
	alike := map[number][]*judgement{}
	for _, j := range js {
		of := number{run.Cell{Event: j.Event, Metric: j.Metric}, j.context, j.within}
		alike[of] = append(alike[of], j)
	}
	for _, group := range alike {
		for _, j := range group {
			j.denied = slices.ContainsFunc(group, func(o *judgement) bool {
				return o.session != j.session && (!o.worse() || o.tails.Worse > togetherLevel)
			})
		}
	}
}
