package record

import (
	"slices"

	"github.com/apkgate/apkgate/importer"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// Found are the measurements by workloads themselves, of all repetitions.
type Found struct {
	Iterations []run.Iteration // nil if no workload measured anything
	Declared   []run.Declared  // their metrics, each name once
	Context    []Property      // how they measured
}

// Property is one of a run's context.
type Property struct{ Name, Value string }

// Imported returns the measurements by workloads themselves. If one is one of several turns, it is
// one observation, however many iterations it has: they become their medians.
func Imported(measured []Measurement, turns bool) (out Found) {
	for _, m := range measured {
		if m.Imported == nil {
			continue
		}
		if turns {
			out.Iterations = append(out.Iterations, Median(m.Imported.Iterations))
		} else {
			out.Iterations = append(out.Iterations, m.Imported.Iterations...)
		}
		for _, d := range m.Imported.Declared {
			if !slices.ContainsFunc(out.Declared, func(known run.Declared) bool { return known.Name == d.Name }) {
				out.Declared = append(out.Declared, d)
			}
		}
		for _, name := range []string{importer.MeasuredBy, metric.FramesBy} {
			if value := m.Imported.Context[name]; value != "" {
				out.Context = append(out.Context, Property{name, value})
			}
		}
	}
	return out
}

// Median returns an iteration with the medians of some: those of one turn of a Macrobenchmark,
// which is one observation however many iterations it has.
func Median(of []run.Iteration) (out run.Iteration) {
	var whole []map[string]float64
	events := map[string][]map[string]float64{}
	for _, it := range of {
		whole = append(whole, it.Metrics)
		for _, e := range it.Events {
			if events[e.Name] == nil {
				out.Events = append(out.Events, run.Bucket{Name: e.Name})
			}
			events[e.Name] = append(events[e.Name], e.Metrics)
		}
	}
	out.Metrics = medians(whole)
	for i := range out.Events {
		out.Events[i].Metrics = medians(events[out.Events[i].Name])
	}
	return out
}

// medians returns those of each metric, over the iterations that have it.
func medians(of []map[string]float64) map[string]float64 {
	values, out := map[string][]float64{}, map[string]float64{}
	for _, metrics := range of {
		for name, v := range metrics {
			values[name] = append(values[name], v)
		}
	}
	for name, all := range values {
		out[name] = stat.Median(all)
	}
	return out
}
