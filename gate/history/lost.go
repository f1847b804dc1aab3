package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// maxListed limits the list of missing metrics.
const maxListed = 3

// missingMetric is a metric of the whole run that most of the runs it is compared with have and the
// run lacks: its reader failed, or the build disabled it.
type missingMetric struct {
	title    string
	had, all int // runs of the history that have it, and all that count
}

func (l missingMetric) String() string {
	return fmt.Sprintf("%s was not measured, and %d of %d accepted runs have it", l.title, l.had, l.all)
}

// missingMetrics returns those that the policy judges, in the order of the catalogue. Only the runs
// of the own context count if there are any: this phone may not be able to measure what another
// can.
func (c *check) missingMetrics() []missingMetric {
	refs := c.comparable()
	var out []missingMetric
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
			out = append(out, missingMetric{m.Title, had, len(refs)})
		}
	}
	return out
}

// comparable returns the accepted runs of the own context, or if there are none, all.
func (c *check) comparable() []*run.Summary {
	var out []*run.Summary
	for i, r := range c.past.Refs {
		if c.past.Own < 0 || c.past.Groups[i] == c.past.Own {
			out = append(out, r)
		}
	}
	return out
}

// missingEvents names the judged events that each accepted run of this context has and the run
// lacks: an event that did not happen can't be judged. It is "" where there is none.
func (c *check) missingEvents() string {
	if c.policy.Preset == gate.PresetDune || c.past.Own < 0 {
		return ""
	}
	has, had := map[string]bool{}, map[string]int{}
	for cell := range c.summary.Cells.All() {
		has[cell.Event] = true
	}
	refs := c.comparable()
	for _, r := range refs {
		of := map[string]bool{}
		for cell := range r.Cells.All() {
			if cell.Event != "" && !has[cell.Event] && !of[cell.Event] && c.policy.Judged(cell, *r, c.catalogue) {
				of[cell.Event] = true
				had[cell.Event]++
			}
		}
	}
	var told []string
	for _, event := range slices.Sorted(maps.Keys(had)) {
		if had[event] == len(refs) {
			told = append(told, event)
		}
	}
	if len(told) == 0 {
		return ""
	}
	return "did not happen, though it did in each accepted run of this context: " + prose.Few(told, maxListed)
}

// framesOfCells returns the cells of the run that count the frames behind other cells.
func (c *check) framesOfCells() []run.Cell {
	var out []run.Cell
	for cell := range c.summary.Cells.All() {
		if c.policy.RestsOn(cell, c.catalogue) {
			out = append(out, cell)
		}
	}
	slices.SortFunc(out, c.inOrder)
	return out
}

// fewerFrames names the cells of which the run has less than half of the frames of each accepted
// run of its context: a result on the frames that are left is no verdict on the others. It is ""
// where there is no such cell.
func (c *check) fewerFrames(cells []run.Cell) string {
	var told []string
	for _, cell := range cells {
		x, _ := c.summary.Cells.Get(cell)
		m, _ := c.catalogue.Lookup(cell.Metric)
		own, _ := c.past.ValuesOf(cell, m, x).Split()
		if len(own) == 0 || slices.Min(own) < gate.LeastFrames || 2*x >= slices.Min(own) {
			continue
		}
		text := fmt.Sprintf("%s where the fewest were %s", m.Format(x), m.Format(slices.Min(own)))
		if cell.Event != "" {
			text += " (after " + cell.Event + ")"
		}
		told = append(told, text)
	}
	if len(told) == 0 {
		return ""
	}
	return gate.FewerThanHalf + " frames that each accepted run of this context has: " + prose.Few(told, maxListed)
}

// missing returns what the run lacks that accepted runs have, "" for nothing.
func (c *check) missing() string {
	if len(c.lost) > 0 {
		return c.lost[0].String()
	}
	return cmp.Or(c.lackedFrames, c.lackedEvents)
}

// warnMissing warns about each of them.
func (c *check) warnMissing() {
	if c.lackedFrames != "" {
		c.warnings = append(c.warnings, run.Warning{Text: c.lackedFrames})
	}
	for _, l := range c.lost {
		c.warnings = append(c.warnings, run.Warning{Text: l.String()})
	}
}
