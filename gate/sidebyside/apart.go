package sidebyside

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// hint returns what to do where both builds' values were measured in different ways.
func (a incomparable) hint() string {
	const same = "measure both builds in the same way"
	switch a.property {
	case metric.EnergyFrom:
		return same + ": name the source of the joules, energy.source in apkgate.yml"
	case metric.FramesBy:
		return same + ": with one version of apkgate, on the same devices"
	}
	return same
}

// incomparable are metrics of a scenario that can't be compared in some context, since the builds'
// values were measured in different ways there.
type incomparable struct {
	property   string
	metrics    []string
	base, head []string // the property's values in each build's runs
	where      []string // the contexts concerned
}

// pairs returns a cell's values in this context, a pair for each way in which they were measured.
// Where units are paired, only those count of which both builds have the value.
func (st *stratum) pairs(cell run.Cell, m metric.Metric, paired bool) []stat.Pair {
	byWay := map[string]*stat.Pair{}
	var order []*stat.Pair
	of := func(u unit) *stat.Pair {
		way := m.Way(u.context)
		if byWay[way] == nil {
			byWay[way] = &stat.Pair{}
			order = append(order, byWay[way])
		}
		return byWay[way]
	}
	for i, u := range st.baseUnits {
		x, ok := u.cells[cell]
		if paired {
			head := st.headUnits[i]
			y, both := head.cells[cell]
			if ok = ok && both && m.Comparable(u.context, head.context); ok {
				of(u).Y = append(of(u).Y, y)
			}
		}
		if ok {
			of(u).X = append(of(u).X, x)
		}
	}
	for _, u := range st.headUnits {
		if y, ok := u.cells[cell]; ok && !paired {
			of(u).Y = append(of(u).Y, y)
		}
	}
	var out []stat.Pair
	for _, p := range order {
		if len(p.X) > 0 && len(p.Y) > 0 {
			out = append(out, *p)
		}
	}
	return out
}

// ways returns the ways in which the units' values of a cell were measured, each once and in order.
func ways(units []unit, cell run.Cell, m metric.Metric) []string {
	seen := map[string]bool{}
	for _, u := range units {
		if _, has := u.cells[cell]; has {
			seen[m.Way(u.context)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// noteIncomparable records that a context has the cell of both builds, but nothing of it can be
// compared there, since it was measured in different ways.
func (s *scenario) noteIncomparable(st *stratum, cell run.Cell, m metric.Metric) {
	base, head := ways(st.baseUnits, cell, m), ways(st.headUnits, cell, m)
	if m.Within == "" || len(base) == 0 || len(head) == 0 {
		return
	}
	found := slices.IndexFunc(s.incomparable, func(a incomparable) bool {
		return a.property == m.Within && slices.Equal(a.head, head) && slices.Equal(a.base, base)
	})
	if found < 0 {
		found = len(s.incomparable)
		s.incomparable = append(s.incomparable, incomparable{property: m.Within, base: base, head: head})
	}
	a := &s.incomparable[found]
	if !slices.Contains(a.metrics, cell.Metric) {
		a.metrics = append(a.metrics, cell.Metric)
	}
	if title := devctx.Title(st.context); !slices.Contains(a.where, title) {
		a.where = append(a.where, title)
	}
}

// warnIncomparable warns once of each kind.
func (s *scenario) warnIncomparable(c *comparing) {
	for _, a := range s.incomparable {
		const listed = 3
		where := ""
		if len(s.strata) > 1 {
			where = " on " + strings.Join(a.where[:min(len(a.where), listed)], ", ")
			if more := len(a.where) - listed; more > 0 {
				where += fmt.Sprintf(" and %d more", more)
			}
		}
		c.warn("scenario %q: %s%s, and %s left out; %s", s.name, a.describe(c.catalogue), where, prose.Plural(len(a.metrics), "is", "are"), a.hint())
	}
}

// describe reports how the builds differ.
func (a incomparable) describe(catalogue *metric.Catalogue) string {
	return fmt.Sprintf("%s can't be compared: %s is %s of the base build and %s of the head build",
		gate.Titles(a.metrics, catalogue), a.property, gate.OneOf(a.base), gate.OneOf(a.head))
}

// uncompared returns what a verdict without a regression has to add: the numbers that it does not
// cover.
func (s *scenario) uncompared(c *comparing) string {
	var metrics []string
	for _, a := range s.incomparable {
		metrics = append(metrics, a.metrics...)
	}
	if len(metrics) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s %s not compared, as the builds were measured in different ways", gate.Titles(metrics, c.catalogue), prose.Plural(len(metrics), "was", "were"))
}
