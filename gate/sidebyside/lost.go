package sidebyside

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// findLost finds the judged metrics of the whole run that in some context most units of one build
// have and most of the other lack. One that the head lacks is a doubt, as it may have got worse;
// one that only the head has is left out with a warning.
func (s *scenario) findLost(c *comparing) {
	var brought []string
	for _, st := range s.strata {
		s.absent = append(s.absent, c.hasMost(st.baseUnits, st.headUnits)...)
		brought = append(brought, c.hasMost(st.headUnits, st.baseUnits)...)
	}
	s.absent, brought = each(s.absent), each(brought)
	for _, title := range s.absent {
		c.warn("scenario %q: %s was measured for the base build but not for the head build", s.name, title)
	}
	for _, title := range brought {
		c.warn("scenario %q: %s was measured only for the head build, and is left out", s.name, title)
	}
}

// each returns the titles, each once, in their order.
func each(titles []string) []string {
	var out []string
	for _, t := range titles {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// hasMost returns the titles of the metrics that most of the units have and most of the others
// lack.
func (c *comparing) hasMost(units, others []unit) []string {
	has := map[run.Cell]bool{}
	for _, u := range units {
		for cell := range u.cells {
			has[cell] = true
		}
	}
	all := anyOf(has)
	var out []string
	for _, m := range c.catalogue.All() {
		cell := run.Cell{Metric: m.Name}
		if c.policy.Judged(cell, all, c.catalogue) && mostHave(units, cell) && !mostHave(others, cell) {
			out = append(out, m.Title)
		}
	}
	return out
}

func mostHave(units []unit, cell run.Cell) bool {
	n := 0
	for _, u := range units {
		if _, has := u.cells[cell]; has {
			n++
		}
	}
	return 2*n > len(units)
}

// findFewer finds the events of which the head build has less than half of the base build's frames
// in some context, where frames are not judged: a result on the frames that are left is no verdict
// on the others.
func (s *scenario) findFewer(c *comparing) {
	const mostListed = 3
	var listed []string
	for _, st := range s.strata {
		for _, cell := range s.framesOfCells(c, st) {
			m, _ := c.catalogue.Lookup(cell.Metric)
			var base, head []float64
			for _, p := range st.pairs(cell, m, s.paired()) {
				base, head = append(base, p.X...), append(head, p.Y...)
			}
			if len(base) == 0 || stat.Median(base) < gate.LeastFrames || 2*stat.Median(head) >= stat.Median(base) {
				continue
			}
			text := fmt.Sprintf("%s where the base has %s", m.Format(stat.Median(head)), m.Format(stat.Median(base)))
			if cell.Event != "" {
				text += " (after " + cell.Event + ")"
			}
			if len(s.strata) > 1 {
				text += " on " + devctx.Title(st.context)
			}
			listed = append(listed, text)
		}
	}
	if len(listed) == 0 {
		return
	}
	if more := len(listed) - mostListed; more > 0 {
		listed = append(listed[:mostListed], fmt.Sprintf("%d more", more))
	}
	s.lackedFrames = "the head build drew fewer than half of the base build's frames: " + strings.Join(listed, ", ")
}

// framesOfCells returns the base build's cells that count the frames behind other cells, the whole
// run first.
func (s *scenario) framesOfCells(c *comparing, st *stratum) []run.Cell {
	found := map[run.Cell]bool{}
	for _, u := range st.baseUnits {
		for cell := range u.cells {
			if c.policy.RestsOn(cell, c.catalogue) {
				found[cell] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b run.Cell) int {
		return cmp.Or(cmp.Compare(s.order[a.Event], s.order[b.Event]), cmp.Compare(a.Event, b.Event))
	})
}
