package rounds

import (
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
)

// counted returns the numbers of the whole run that count its work and are not judged.
func (t *Trial) counted() []*question {
	var out []*question
	for _, m := range t.catalogue.All() {
		cell := run.Cell{Metric: m.Name}
		if m.Counted && !t.policy.Judged(cell, run.Summary{}, t.catalogue) {
			out = append(out, &question{cell: cell, metric: m, minChange: t.policy.ForCell(cell).MinChange})
		}
	}
	return out
}

// work returns the work that is clearly more in the head build: compared with the base build where
// the rounds count it and are enough for an interval, else as the history has it.
func (t *Trial) work(before []gate.Comparison, p *place) []gate.Comparison {
	var out []gate.Comparison
	level := t.policy.Alpha / 2
	for _, q := range p.counted {
		x := q.paired(p.measured)
		said := x.Result(Ends{Better: level, Worse: level})
		if said.ChangeLow == nil {
			out = append(out, slices.DeleteFunc(slices.Clone(before), func(c gate.Comparison) bool { return c.Metric != q.cell.Metric })...)
			continue
		}
		if *said.ChangeLow > 0 && x.Worsening() >= q.minChange {
			said.P, said.Outcome = 1, gate.RoundsWorse
			out = append(out, gate.Comparison{
				Metric: q.cell.Metric, Direction: gate.None, Value: said.Head, Expected: said.Base, Change: said.Change,
				Low: said.ChangeLow, High: said.ChangeHigh, N: said.Rounds, P: 1, Shown: true, Rounds: &said,
			})
		}
	}
	return out
}
