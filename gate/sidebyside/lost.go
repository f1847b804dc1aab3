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

// findLost finds the metrics of the whole run that the policy judges and that in
// some context most units of one build have and most of the other have not. What
// the head build lost is a doubt, as it can't be told from what got worse; what it
// brings along is left out with a warning.
func (s *scenario) findLost(c *comparing) {
	var brought []string
	for _, st := range s.strata {
		s.absent = append(s.absent, c.hasMost(st.baseUnits, st.headUnits)...)
		brought = append(brought, c.hasMost(st.headUnits, st.baseUnits)...)
	}
	s.absent, brought = each(s.absent), each(brought)
	for _, title := range s.absent {
		c.warn("scenario %q: %s was measured of the base build and not of the head build", s.name, title)
	}
	for _, title := range brought {
		c.warn("scenario %q: %s was measured of the head build alone, and is left out", s.name, title)
	}
}

// each are the titles, each once, in the order in which they come.
func each(titles []string) []string {
	var out []string
	for _, t := range titles {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// hasMost are the titles of the metrics that most of the units have and most of
// the others have not.
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

// findFewer finds the events of which the head build has less than half of the base
// build's frames in some context, where they are not judged: what is said of those
// that are left is no verdict on the others.
func (s *scenario) findFewer(c *comparing) {
	const listed = 3
	var told []string
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
			told = append(told, text)
		}
	}
	if len(told) == 0 {
		return
	}
	if more := len(told) - listed; more > 0 {
		told = append(told[:listed], fmt.Sprintf("%d more", more))
	}
	s.fewer = "the head build drew fewer than half of the base build's frames: " + strings.Join(told, ", ")
}

// framesOfCells are the base build's cells that say how many frames the others are of,
// the whole run first.
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
