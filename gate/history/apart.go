package history

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// incomparable are metrics of a run without comparable history, since their values are only
// comparable where a context property is equal.
type incomparable struct {
	property string
	metrics  []string
	here     []string // the property's values in the run
	there    []string // and in the accepted runs that have the metrics
}

// incomparableMetrics groups such metrics by their property.
func (c *check) incomparableMetrics() []incomparable {
	var out []incomparable
	for _, d := range c.unmatched() {
		m, _ := c.catalogue.Lookup(d.Metric)
		somewhere := slices.ContainsFunc(c.done, func(o gate.Comparison) bool { return o.Metric == d.Metric && o.N > 0 })
		if m.Within == "" || somewhere {
			continue
		}
		at := slices.IndexFunc(out, func(a incomparable) bool { return a.property == m.Within })
		if at < 0 {
			at = len(out)
			out = append(out, incomparable{property: m.Within, here: []string{m.Way(c.run.Context)}})
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

// kind is how the judged numbers of one property were measured in the run, and how many accepted
// runs measured them in the same way: runs of another kind are no history for them.
type kind struct {
	property    string
	metrics     []string
	here        string
	there       []string // in other runs
	same, other int      // accepted runs
	own         bool     // only runs of the run's own context are counted
}

// kindsOf groups the judged cells by the property that separates their kinds.
func (c *check) kindsOf(cells []run.Cell) []kind {
	var out []kind
	for i, cell := range cells {
		m, _ := c.catalogue.Lookup(cell.Metric)
		if m.Within == "" || slices.ContainsFunc(out, func(k kind) bool { return k.property == m.Within }) {
			continue
		}
		k := kind{property: m.Within, here: m.Way(c.run.Context)}
		ofKind := slices.DeleteFunc(slices.Clone(cells[i:]), func(other run.Cell) bool {
			o, _ := c.catalogue.Lookup(other.Metric)
			return o.Within != m.Within
		})
		for _, other := range ofKind {
			if !slices.Contains(k.metrics, other.Metric) {
				k.metrics = append(k.metrics, other.Metric)
			}
		}
		k.same, k.other, k.there, k.own = c.past.Kinds(ofKind, m)
		out = append(out, k)
	}
	return out
}

// warnApart warns about the history that was measured in another way, and says what to do. Where
// there are too few runs of the present kind, it reports how many there are.
func (c *check) warnApart() {
	for _, k := range c.kinds {
		at := slices.IndexFunc(c.incomparable, func(a incomparable) bool { return a.property == k.property && len(a.there) > 0 })
		missing := c.policy.LeastRuns() - k.same
		switch {
		case slices.Contains(c.reported, k.property):
		case at >= 0:
			c.warnings = append(c.warnings, run.Warning{Text: c.incomparable[at].describe(c.catalogue) + ", and this verdict says nothing about " +
				prose.Plural(len(k.metrics), "it", "them") + ": " + k.otherwise() + "accept " + moreRuns(missing) + "that were measured as this one"})
		case k.rebuilds(c.policy):
			c.warnings = append(c.warnings, run.Warning{Text: k.describe(c.catalogue) + "; " + moreRuns(missing) + "of its kind " + prose.Plural(missing, "rebuilds", "rebuild") + " the history"})
		}
	}
}

// alternative is what to do instead of accepting runs, as a prefix of "accept": the device decides
// where frames come from.
func (k kind) otherwise() string {
	if k.property == metric.FramesBy {
		return ""
	}
	return "measure as the accepted runs were, or "
}

// rebuilds reports whether there are accepted runs of another kind and too few of the run's own.
func (k kind) rebuilds(p gate.Policy) bool { return k.other > 0 && k.same < p.LeastRuns() }

// moreRuns returns the number with its noun and a space: "5 more runs ".
func moreRuns(n int) string {
	if n <= 0 {
		return "runs "
	}
	return fmt.Sprintf("%d more %s ", n, prose.Plural(n, "run", "runs"))
}

// describe reports which runs don't count: `smooth ratio, time per frame: 10 of 12 accepted runs of
// this context were measured in another way and don't count: frames_by is "timeline" here and
// "gfxinfo" there`.
func (k kind) describe(catalogue *metric.Catalogue) string {
	whose := "accepted runs"
	if k.own {
		whose += " of this context"
	}
	return fmt.Sprintf("%s: %d of %d %s %s measured in another way and %s count: %s is %s here and %s there",
		gate.Titles(k.metrics, catalogue), k.other, k.same+k.other, whose, prose.Plural(k.other, "was", "were"), prose.Plural(k.other, "doesn't", "don't"),
		k.property, gate.OneOf([]string{k.here}), gate.OneOf(k.there))
}

// describe reports how the run and the history differ: `energy has no comparable history:
// energy_from is "battery" here and "rails" there`.
func (a incomparable) describe(catalogue *metric.Catalogue) string {
	return fmt.Sprintf("%s %s no comparable history: %s is %s here and %s in the accepted runs",
		gate.Titles(a.metrics, catalogue), have(a.metrics), a.property, gate.OneOf(a.here), gate.OneOf(a.there))
}

// have returns the verb for so many metrics.
func have(metrics []string) string { return prose.Plural(len(metrics), "has", "have") }
