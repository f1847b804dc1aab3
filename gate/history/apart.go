package history

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// apart are metrics of a run that have no comparable history, since their values
// are only comparable where a context property is equal.
type apart struct {
	property string
	metrics  []string
	here     []string // the property's values in the run
	there    []string // and in the accepted runs that have the metrics
}

// apartFrom groups such metrics by their property.
func (c *check) apartFrom() []apart {
	var out []apart
	for _, d := range c.unmatched() {
		m, _ := c.catalogue.Lookup(d.Metric)
		somewhere := slices.ContainsFunc(c.done, func(o gate.Comparison) bool { return o.Metric == d.Metric && o.N > 0 })
		if m.Within == "" || somewhere {
			continue
		}
		at := slices.IndexFunc(out, func(a apart) bool { return a.property == m.Within })
		if at < 0 {
			at = len(out)
			out = append(out, apart{property: m.Within, here: []string{m.Way(c.run.Context)}})
		}
		a := &out[at]
		if !slices.Contains(a.metrics, d.Metric) {
			a.metrics = append(a.metrics, d.Metric)
		}
		a.there = append(a.there, c.seen.Ways[run.Cell{Event: d.Event, Metric: d.Metric}]...)
		slices.Sort(a.there)
		a.there = slices.Compact(a.there)
	}
	return out
}

// warnApart says what the history has in another way, and what to do.
func (c *check) warnApart() {
	for _, a := range c.apart {
		if len(a.there) == 0 {
			continue // told as what no run has
		}
		c.warnings = append(c.warnings, run.Warning{Text: fmt.Sprintf(
			"%s, and this verdict says nothing of it: measure as the accepted runs were, or accept runs that were measured as this one", a.describe(c.catalogue))})
	}
}

// describe says how the run and the history differ: `energy has no comparable
// history: energy_from is "battery" here and "rails" there`.
func (a apart) describe(catalogue *metric.Catalogue) string {
	return fmt.Sprintf("%s has no comparable history: %s is %s here and %s in the accepted runs",
		gate.Titles(a.metrics, catalogue), a.property, gate.OneOf(a.here), gate.OneOf(a.there))
}
