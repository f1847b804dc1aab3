package history

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
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

// kind is how the judged numbers of one property came about in the run, and how many
// accepted runs have them of the same kind: runs of others are no history for them.
type kind struct {
	property    string
	metrics     []string
	here        string
	there       []string // in other runs
	same, other int      // accepted runs
	own         bool     // these are of the run's own context alone
}

// kindsOf groups the cells that are judged by the property that keeps them apart.
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

// warnApart says what the history has in another way, and what to do. Where some runs
// of this way are there, and too few, it says how far the history has come.
func (c *check) warnApart() {
	for _, k := range c.kinds {
		at := slices.IndexFunc(c.apart, func(a apart) bool { return a.property == k.property && len(a.there) > 0 })
		missing := c.policy.LeastRuns() - k.same
		switch {
		case slices.Contains(c.told, k.property):
		case at >= 0:
			c.warnings = append(c.warnings, run.Warning{Text: c.apart[at].describe(c.catalogue) + ", and this verdict says nothing of " +
				prose.Plural(len(k.metrics), "it", "them") + ": " + k.otherwise() + "accept " + moreRuns(missing) + "that were measured as this one"})
		case k.rebuilds(c.policy):
			c.warnings = append(c.warnings, run.Warning{Text: k.describe(c.catalogue) + "; " + moreRuns(missing) + "of its kind " + prose.Plural(missing, "rebuilds", "rebuild") + " the history"})
		}
	}
}

// otherwise is what to do instead of accepting runs, before "accept": where frames come
// from is for the device to say.
func (k kind) otherwise() string {
	if k.property == metric.FramesBy {
		return ""
	}
	return "measure as the accepted runs were, or "
}

// rebuilds reports whether accepted runs of another kind stand beside too few of the
// run's own.
func (k kind) rebuilds(p gate.Policy) bool { return k.other > 0 && k.same < p.LeastRuns() }

// moreRuns is so many of them, with a space: "5 runs ".
func moreRuns(n int) string {
	if n <= 0 {
		return "runs "
	}
	return fmt.Sprintf("%d more %s ", n, prose.Plural(n, "run", "runs"))
}

// describe says which runs don't count: `smooth ratio, time per frame: 10 of 12 accepted
// runs of this context were measured in another way and don't count: frames_by is
// "timeline" here and "gfxinfo" there`.
func (k kind) describe(catalogue *metric.Catalogue) string {
	whose := "accepted runs"
	if k.own {
		whose += " of this context"
	}
	return fmt.Sprintf("%s: %d of %d %s %s measured in another way and %s count: %s is %s here and %s there",
		gate.Titles(k.metrics, catalogue), k.other, k.same+k.other, whose, prose.Plural(k.other, "was", "were"), prose.Plural(k.other, "doesn't", "don't"),
		k.property, gate.OneOf([]string{k.here}), gate.OneOf(k.there))
}

// describe says how the run and the history differ: `energy has no comparable
// history: energy_from is "battery" here and "rails" there`.
func (a apart) describe(catalogue *metric.Catalogue) string {
	return fmt.Sprintf("%s %s no comparable history: %s is %s here and %s in the accepted runs",
		gate.Titles(a.metrics, catalogue), have(a.metrics), a.property, gate.OneOf(a.here), gate.OneOf(a.there))
}

// have is the verb of so many metrics.
func have(metrics []string) string { return prose.Plural(len(metrics), "has", "have") }
