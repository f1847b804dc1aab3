package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// within says how a metric's values came about in a run of that context, "" for
// a metric that has one way only and for a run that doesn't tell.
func within(m metric.Metric, context map[string]string) string {
	if m.Within == "" {
		return ""
	}
	return context[m.Within]
}

// comparable reports whether values of the metric in runs of two contexts are
// one quantity: joules of one source say nothing of another's. Runs that don't
// tell the source are like each other and unlike all that do.
func comparable(m metric.Metric, a, b map[string]string) bool {
	return within(m, a) == within(m, b)
}

// apart are metrics of a run that have no comparable history, since their values
// are only comparable where a context property is equal.
type apart struct {
	property string
	metrics  []string
	now      []string // the property's values in the run, or in the head build's runs
	others   []string // and in those that they would be compared with and that have the metrics
	where    []string // of two builds: in which contexts
}

// apartFrom groups such metrics by their property.
func (c *check) apartFrom() []apart {
	var out []apart
	for _, d := range c.unmatched() {
		m, _ := c.catalogue.Lookup(d.Metric)
		somewhere := slices.ContainsFunc(c.done, func(o Comparison) bool { return o.Metric == d.Metric && o.N > 0 })
		if m.Within == "" || somewhere {
			continue
		}
		at := slices.IndexFunc(out, func(a apart) bool { return a.property == m.Within })
		if at < 0 {
			at = len(out)
			out = append(out, apart{property: m.Within, now: []string{within(m, c.run.Context)}})
		}
		a := &out[at]
		if !slices.Contains(a.metrics, d.Metric) {
			a.metrics = append(a.metrics, d.Metric)
		}
		a.others = append(a.others, c.seen.ways[run.Cell{Event: d.Event, Metric: d.Metric}]...)
		slices.Sort(a.others)
		a.others = slices.Compact(a.others)
	}
	return out
}

// ways are those in which the history's values of a cell came about, each once.
func (p past) ways(cell run.Cell, m metric.Metric) []string {
	seen := map[string]bool{}
	for _, r := range p.refs {
		if _, has := r.Cells.Get(cell); has {
			seen[within(m, r.Context)] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// warnApart says what the history has in another way, and what to do.
func (c *check) warnApart() {
	for _, a := range c.apart {
		if len(a.others) == 0 {
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
		titles(a.metrics, catalogue), a.property, valuesText(a.now), valuesText(a.others))
}

// titles are the metrics' titles, each once.
func titles(metrics []string, catalogue *metric.Catalogue) string {
	var out []string
	for _, name := range metrics {
		m, _ := catalogue.Lookup(name)
		if !slices.Contains(out, m.Title) {
			out = append(out, m.Title)
		}
	}
	return strings.Join(out, ", ")
}

// valuesText lists a context property's values; "" is that of a run without it.
func valuesText(values []string) string {
	const listed = 3
	var out []string
	for _, v := range values[:min(len(values), listed)] {
		text := fmt.Sprintf("%q", v)
		if v == "" {
			text = "not said"
		}
		out = append(out, text)
	}
	if more := len(values) - listed; more > 0 {
		out = append(out, fmt.Sprintf("%d others", more))
	}
	return strings.Join(out, " or ")
}
