package drift

import (
	"math"
	"slices"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// values are a cell's values on the judged scale.
type values struct {
	metric        metric.Metric
	log           bool
	fromLast, all []stat.Pair // X before, Y now, by context
	contexts      [][]point
	first         time.Time // of all runs
}

// oneWay splits contexts where the metric's values were measured in different ways, such as joules
// of two sources: one group for each way of the new runs, with the earlier runs of the same way.
func oneWay(contexts []*group, m metric.Metric) []*group {
	if m.Within == "" {
		return contexts
	}
	var out []*group
	for _, c := range contexts {
		var ways []string
		for _, r := range c.now {
			if way := m.Way(r.Context); !slices.Contains(ways, way) {
				ways = append(ways, way)
			}
		}
		for _, way := range ways {
			of := func(runs []run.Summary) []run.Summary {
				return slices.DeleteFunc(slices.Clone(runs), func(r run.Summary) bool { return m.Way(r.Context) != way })
			}
			out = append(out, &group{key: c.key, context: c.context, now: of(c.now), last: of(c.last), older: of(c.older)})
		}
	}
	return out
}

func valuesOf(contexts []*group, cell run.Cell, m metric.Metric) values {
	v := values{metric: m, log: m.Log}
	for _, c := range contexts {
		for _, r := range slices.Concat(c.now, c.last, c.older) {
			x, ok := r.Cells.Get(cell)
			v.log = v.log && (!ok || x > 0)
			if !r.Started.IsZero() && (v.first.IsZero() || r.Started.Before(v.first)) {
				v.first = r.Started
			}
		}
	}
	for _, c := range contexts {
		now, last, older := v.of(c.now, cell), v.of(c.last, cell), v.of(c.older, cell)
		v.fromLast = append(v.fromLast, stat.Pair{X: last, Y: now})
		v.all = append(v.all, stat.Pair{X: slices.Concat(last, older), Y: now})
		v.contexts = append(v.contexts, v.pointsOf(slices.Concat(c.now, c.last, c.older), cell))
	}
	return v
}

func (v values) of(runs []run.Summary, cell run.Cell) []float64 {
	var out []float64
	for _, r := range runs {
		if x, ok := r.Cells.Get(cell); ok {
			if v.log {
				x = math.Log(x)
			}
			out = append(out, x)
		}
	}
	return out
}

func (v values) scale() metric.Scale {
	if v.log {
		return metric.Log
	}
	return metric.Linear
}

func (v values) back(x float64) float64 {
	if v.log {
		x = math.Exp(x)
	}
	return gate.Finite(x)
}

// shift compares the new runs with earlier ones; nil where there are none.
func (v values) shift(strata []stat.Pair, alpha float64) *Shift {
	strata = slices.DeleteFunc(slices.Clone(strata), func(p stat.Pair) bool { return len(p.X) == 0 || len(p.Y) == 0 })
	var from []float64
	ones := len(strata) > 1
	for _, p := range strata {
		from = append(from, p.X...)
		ones = ones && len(p.X) == 1 && len(p.Y) == 1
	}
	if len(from) == 0 {
		return nil
	}
	s := stat.SampleShift(strata, alpha)
	switch {
	case ones:
		s = stat.PairedShift(stat.Differences(strata), alpha)
	case len(strata) == 1 && len(strata[0].Y) == 1: // ranks show little about one new run
		m := stat.MomentsOf(stat.Sample{Values: strata[0].X})
		reach := m.Reach(alpha / 2)
		s = stat.Shift{Estimate: strata[0].Y[0] - m.Mean, Low: strata[0].Y[0] - m.Mean - reach, High: strata[0].Y[0] - m.Mean + reach}
	}
	return v.result(s, stat.Median(from), len(from))
}

func (v values) result(s stat.Shift, from float64, runs int) *Shift {
	d := &Shift{From: v.back(from), Runs: runs}
	d.Shift, d.Change = gate.Change(v.metric, d.From, s.Estimate, v.scale())
	if !v.metric.Signed && !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) && !math.IsNaN(s.Low+s.High) {
		_, low := gate.Change(v.metric, d.From, s.Low, v.scale())
		_, high := gate.Change(v.metric, d.From, s.High, v.scale())
		d.Low, d.High = &low, &high
	}
	return d
}
