package config

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// gate decodes the policy. The preset comes first, as it determines the other keys' defaults.
func (d *decoder) gate(c *Config) reader {
	return func(n *node, path string) {
		catalogue, err := c.Catalogue()
		if err != nil { // an invalid metric's name is reported at its own place
			catalogue = metric.Default()
		}
		if preset := n.find("preset"); preset != nil && preset.text == gate.PresetDune {
			c.Gate = DefaultGate(gate.PresetDune)
		}
		g := &c.Gate
		d.mapping(n, path,
			may("preset", oneOf(d, &g.Preset, gate.Presets()...)),
			may("cluster", duneOnly(d, g, &g.Cluster, "compares with a cluster", gate.Clusters())),
			may("quartiles", duneOnly(d, g, &g.Quartiles, "has a choice of quartiles", gate.QuartileRules())),
			may("outlier-factor", d.number(&g.OutlierFactor, 0.1, 100)),
			may("min-support", d.fraction(&g.MinSupport, false)),
			may("min-confidence", d.fraction(&g.MinConfidence, false)),
			may("false-alarms", d.falseAlarms(g)),
			may("min-history", integer(d, &g.MinHistory, 1, 10_000)),
			may("min-change", d.fraction(&g.MinChange, true)),
			may("min-effect", d.minEffect(g)),
			may("summary", oneOf(d, &g.Summary, run.Median, run.Mean)),
			may("metrics", func(n *node, path string) {
				g.Metrics = nil // replace those of the preset
				d.set(&g.Metrics, 1, d.gatedMetric(catalogue))(n, path)
			}),
			may("fail-on", oneOf(d, &g.FailOn, gate.FailOns()...)),
			may("drift-budget", func(n *node, path string) {
				g.DriftBudget = new(Fraction)
				d.fraction(g.DriftBudget, false)(n, path)
			}),
			may("thresholds", d.list(0, d.threshold(g, catalogue))),
		)
	}
}

func (d *decoder) falseAlarms(g *Gate) reader {
	return func(n *node, path string) {
		if g.Preset == gate.PresetDune {
			d.at(n, path, "the preset dune sets no limit on false alarms; remove this key or use the preset default")
			return
		}
		d.fraction(&g.Alpha, false)(n, path)
	}
}

func (d *decoder) minEffect(g *Gate) reader {
	return func(n *node, path string) {
		if g.Preset == gate.PresetDune {
			d.at(n, path, "the preset dune clears nothing by the size of a worsening; remove this key or use the preset default")
			return
		}
		d.fraction(&g.MinEffect, false)(n, path)
	}
}

// duneOnly decodes an option of the preset dune, which no other preset has.
func duneOnly[T ~string](d *decoder, g *Gate, dst *T, does string, allowed []T) reader {
	return func(n *node, path string) {
		if g.Preset != gate.PresetDune {
			d.at(n, path, "only the preset dune %s; remove this key, or set preset: dune", does)
			return
		}
		oneOf(d, dst, allowed...)(n, path)
	}
}

// knownMetric decodes a metric's name that the catalogue has.
func (d *decoder) knownMetric(dst *string, catalogue *metric.Catalogue) reader {
	return func(n *node, path string) {
		var name string
		d.text(&name, metricRule)(n, path)
		if name == "" {
			return
		}
		if _, known := catalogue.Lookup(name); known {
			*dst = name
			return
		}
		var names []string
		for _, m := range catalogue.All() {
			names = append(names, m.Name)
		}
		hint := DidYouMean(name, names)
		if hint == "" {
			hint = "declare a metric of your own under metrics"
		}
		d.hinted(n, path, hint, "unknown metric %q; allowed: %s", prose.Short(name), strings.Join(shown(names), ", "))
	}
}

// shown limits a list of names in a message.
func shown(names []string) []string {
	const most = 30
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
}

// gatedMetric decodes a metric's name that can be gated.
func (d *decoder) gatedMetric(catalogue *metric.Catalogue) func(*string) reader {
	return func(dst *string) reader {
		return func(n *node, path string) {
			var name string
			d.knownMetric(&name, catalogue)(n, path)
			if m, known := catalogue.Lookup(name); known && m.Direction == metric.Neutral {
				d.at(n, path, "the metric %q is neutral, so it can't be better or worse", prose.Short(name))
				return
			}
			*dst = name
		}
	}
}

func (d *decoder) threshold(g *Gate, catalogue *metric.Catalogue) reader {
	lines := map[[2]string]int{}
	return func(n *node, path string) {
		var t Threshold
		if !d.mapping(n, path, d.thresholdFields(&t, n, catalogue)...) || t.Metric == "" {
			return
		}
		key := [2]string{t.Metric, t.Event}
		if first, has := lines[key]; has {
			d.at(n, path, "a second threshold for %s; the first is on line %d", cellText(t), first)
			return
		}
		lines[key] = n.line
		d.thresholdSense(n, path, t)
		g.Thresholds = append(g.Thresholds, t)
	}
}

func (d *decoder) thresholdFields(t *Threshold, n *node, catalogue *metric.Catalogue) []field {
	var m metric.Metric
	if name := n.find("metric"); name != nil {
		m, _ = catalogue.Lookup(name.text)
	}
	return []field{
		need("metric", d.gatedMetric(catalogue)(&t.Metric)),
		may("event", d.text(&t.Event, eventRule)),
		may("min-change", func(n *node, path string) {
			t.MinChange = new(Fraction)
			d.fraction(t.MinChange, true)(n, path)
		}),
		may("outlier-factor", func(n *node, path string) {
			t.OutlierFactor = new(float64)
			d.number(t.OutlierFactor, 0.1, 100)(n, path)
		}),
		may("max", d.budget(&t.Max, m)),
		may("min", d.budget(&t.Min, m)),
		may("ignore", d.boolean(&t.Ignore)),
	}
}

func cellText(t Threshold) string {
	switch t.Event {
	case "":
		return prose.Short(t.Metric) + " of the whole run"
	case gate.AnyEvent:
		return prose.Short(t.Metric) + " of any event"
	}
	return fmt.Sprintf("%s of the event %q", prose.Short(t.Metric), prose.Short(t.Event))
}

// budget decodes an absolute limit in the metric's unit; for a ratio it is a share.
func (d *decoder) budget(dst **float64, m metric.Metric) reader {
	return func(n *node, path string) {
		if m.Ratio {
			share := Fraction(-1)
			d.fraction(&share, true)(n, path)
			if share >= 0 {
				*dst = (*float64)(&share)
			}
			return
		}
		v, ok := decimal(n)
		if !ok {
			d.at(n, path, "want a number, got %s", describe(n))
			return
		}
		*dst = &v
	}
}

// thresholdSense reports a threshold that sets nothing or contradicts itself.
func (d *decoder) thresholdSense(n *node, path string, t Threshold) {
	limits := false
	for _, key := range []string{"min-change", "outlier-factor", "max", "min"} {
		limits = limits || n.find(key) != nil
	}
	switch {
	case t.Ignore && limits:
		d.at(n, path, "ignore: true leaves nothing to limit; remove it or the limits")
	case !t.Ignore && !limits:
		d.at(n, path, "the threshold sets nothing; want one or more of min-change, outlier-factor, max, min, ignore")
	case t.Max != nil && t.Min != nil && *t.Max < *t.Min:
		d.at(n.find("max"), join(path, "max"), "max is below min; got %s and %s", describe(n.find("max")), describe(n.find("min")))
	}
}
