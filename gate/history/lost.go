package history

import (
	"fmt"

	"github.com/apkgate/apkgate/run"
)

// lostMetric is a metric of the whole run that most of the runs it is compared
// with have and the run has not: its reader failed, or the build turned it off.
type lostMetric struct {
	title    string
	had, all int // runs of the history that have it, and all that count
}

func (l lostMetric) String() string {
	return fmt.Sprintf("%s was not measured, and %d of %d accepted runs have it", l.title, l.had, l.all)
}

// lostMetrics are those that the policy judges, in the order of the catalogue.
// The runs of the own context count where there are any: what another phone can
// measure, this one may not.
func (c *check) lostMetrics() []lostMetric {
	var refs []*run.Summary
	for i, r := range c.past.Refs {
		if c.past.Own < 0 || c.past.Groups[i] == c.past.Own {
			refs = append(refs, r)
		}
	}
	var out []lostMetric
	for _, m := range c.catalogue.All() {
		cell := run.Cell{Metric: m.Name}
		if _, has := c.summary.Cells.Get(cell); has {
			continue
		}
		had, column := 0, run.NewColumn(cell)
		for _, r := range refs {
			if _, has := column.In(r.Cells); has && c.policy.Judged(cell, *r, c.catalogue) {
				had++
			}
		}
		if 2*had > len(refs) {
			out = append(out, lostMetric{m.Title, had, len(refs)})
		}
	}
	return out
}

// warnLost says so of each.
func (c *check) warnLost() {
	for _, l := range c.lost {
		c.warnings = append(c.warnings, run.Warning{Text: l.String()})
	}
}
