package contexts

import (
	"math"
	"slices"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// OfMetric are the shares of one metric of the whole run.
type OfMetric struct {
	Metric string
	Runs   int // that have it, measured in the same way
	Shares []Share
}

// ByMetric returns the shares of the metrics of whole runs that the policy judges, in the order of
// the catalogue, over comparable runs of one scenario. contexts counts the distinct ones. Metrics
// of which nothing is known have no shares.
func ByMetric(p gate.Policy, catalogue *metric.Catalogue, runs []run.Summary) (contexts int, out []OfMetric) {
	groups := devctx.NewGroups(p.Use)
	numbers := make([]int, len(runs))
	for i, r := range runs {
		numbers[i] = groups.Of(r.Context)
	}
	c := Of(groups.Distinct())
	for _, name := range metrics(p, catalogue, runs) {
		m, _ := catalogue.Lookup(name)
		values := make([][]float64, len(groups.Distinct()))
		n := 0
		for i, x := range valuesOf(runs, m) {
			if !math.IsNaN(x) {
				values[numbers[i]] = append(values[numbers[i]], x)
				n++
			}
		}
		out = append(out, OfMetric{Metric: name, Runs: n, Shares: c.Shares(values)})
	}
	return len(groups.Distinct()), out
}

// metrics returns the names of the judged metrics of whole runs.
func metrics(p gate.Policy, catalogue *metric.Catalogue, runs []run.Summary) (names []string) {
	seen := map[string]bool{}
	for _, r := range runs {
		for cell := range r.Cells.All() {
			if cell.Event == "" && !seen[cell.Metric] && p.Judged(cell, r, catalogue) {
				seen[cell.Metric] = true
				names = append(names, cell.Metric)
			}
		}
	}
	slices.SortFunc(names, catalogue.Compare)
	return names
}

// valuesOf returns a metric's values in the runs that measured it in the most common way, on the
// judged scale; NaN for the others.
func valuesOf(runs []run.Summary, m metric.Metric) []float64 {
	out, ways := make([]float64, len(runs)), map[string]int{}
	log, most := m.Log, ""
	for i, r := range runs {
		x, has := r.Cells.Get(run.Cell{Metric: m.Name})
		if out[i] = x; !has {
			out[i] = math.NaN()
			continue
		}
		way := m.Way(r.Context)
		if ways[way]++; ways[way] > ways[most] {
			most = way
		}
		log = log && x > 0
	}
	for i, r := range runs {
		switch {
		case m.Way(r.Context) != most:
			out[i] = math.NaN()
		case log:
			out[i] = math.Log(out[i])
		}
	}
	return out
}
