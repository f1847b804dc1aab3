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

// values are a cell's, on the scale on which it is judged.
type values struct {
	metric        metric.Metric
	log           bool
	fromLast, all []stat.Pair // X before, Y now, by context
	series        []stat.Series
	days          float64 // from the first run to the newest
}

// oneWay splits contexts where the metric's values came about in different ways,
// such as joules of two sources: into those of the new runs, each with the
// earlier runs of the same way.
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
	first, newest := time.Time{}, time.Time{}
	for _, c := range contexts {
		for _, r := range slices.Concat(c.now, c.last, c.older) {
			x, ok := r.Cells.Get(cell)
			v.log = v.log && (!ok || x > 0)
			if !r.Started.IsZero() && (first.IsZero() || r.Started.Before(first)) {
				first = r.Started
			}
			if r.Started.After(newest) {
				newest = r.Started
			}
		}
	}
	v.days = newest.Sub(first).Hours() / 24
	for _, c := range contexts {
		now, last, older := v.of(c.now, cell), v.of(c.last, cell), v.of(c.older, cell)
		v.fromLast = append(v.fromLast, stat.Pair{X: last, Y: now})
		v.all = append(v.all, stat.Pair{X: slices.Concat(last, older), Y: now})
		var s stat.Series
		for _, r := range slices.Concat(c.now, c.last, c.older) {
			if x := v.of([]run.Summary{r}, cell); len(x) == 1 && !r.Started.IsZero() {
				s.Times, s.Values = append(s.Times, r.Started.Sub(first).Hours()/24), append(s.Values, x[0])
			}
		}
		v.series = append(v.series, s)
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
	case len(strata) == 1 && len(strata[0].Y) == 1: // ranks tell little of one new run
		m := stat.MomentsOf(stat.Sample{Values: strata[0].X})
		reach := m.Reach(alpha / 2)
		s = stat.Shift{Estimate: strata[0].Y[0] - m.Mean, Low: strata[0].Y[0] - m.Mean - reach, High: strata[0].Y[0] - m.Mean + reach}
	}
	return v.tell(s, stat.Median(from), len(from))
}

// creep is the change that the trend makes of the whole time.
func (v values) creep(t stat.Drift) *Shift {
	const leastPerSeries = 4 // of fewer, four orders in a row are nothing
	runs, first, longest := 0, []float64(nil), 0
	for _, s := range v.series {
		runs, longest = runs+len(s.Values), max(longest, len(s.Values))
		first = append(first, s.Values...)
	}
	if math.IsNaN(t.Slope) || longest < leastPerSeries {
		return nil
	}
	// The level at the first run, by the trend: the middle less half of the change.
	start := stat.Median(first) - t.Slope*v.days/2
	return v.tell(stat.Shift{Estimate: t.Slope * v.days, Low: t.Low * v.days, High: t.High * v.days}, start, runs)
}

func (v values) tell(s stat.Shift, from float64, runs int) *Shift {
	d := &Shift{From: v.back(from), Runs: runs}
	d.Shift, d.Change = gate.Change(v.metric, d.From, s.Estimate, v.scale())
	if !v.metric.Signed && !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) && !math.IsNaN(s.Low+s.High) {
		_, low := gate.Change(v.metric, d.From, s.Low, v.scale())
		_, high := gate.Change(v.metric, d.From, s.High, v.scale())
		d.Low, d.High = &low, &high
	}
	return d
}
