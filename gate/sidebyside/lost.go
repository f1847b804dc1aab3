package sidebyside

import (
	"slices"

	"github.com/apkgate/apkgate/run"
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
		if has[cell] && c.policy.Judged(cell, all, c.catalogue) && mostHave(units, cell) && !mostHave(others, cell) {
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
