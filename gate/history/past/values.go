package past

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// SampleOf returns at most that many of the values, evenly spaced, for figures.
func SampleOf(v Values, most int) []float64 {
	out := slices.Clone(gate.SampleEvenly(v.Numbers, most))
	for i, x := range out {
		out[i] = gate.Finite(v.Back(x))
	}
	return out
}

// Values are the values of one cell over the history, on the judged scale.
type Values struct {
	Scale
	Numbers []float64
	weights []float64
	groups  []int
	refs    []int // places in the history; nil: all of them, in its order
	past    *Runs
}

// Scale is the scale on which a cell is judged: see metric.Scale.
type Scale struct {
	metric metric.Metric
	Kind   metric.Scale
}

// Multiplies reports whether a distance on the scale is a factor: of a time, or of odds.
func (s Scale) Multiplies() bool { return s.Kind != metric.Linear }

// ValuesOf collects the values of a cell. Times and joules are judged on the log scale, where their
// noise is even, if every value is positive and some are at least ten times the metric's
// resolution: noise near the resolution is additive. Shares of frames are judged as odds.
func (p Runs) ValuesOf(c run.Cell, m metric.Metric, x float64) Values {
	v := Values{past: &p, Scale: Scale{m, m.ScaleOf(x)}, Numbers: p.table[c], weights: p.weights, groups: p.Groups}
	if v.Numbers == nil {
		return Values{past: &p, Scale: v.Scale}
	}
	if p.somewhereElse(v.Numbers, m) {
		v = p.comparableOnly(v, m)
	}
	if len(v.Numbers) > 0 {
		v.Kind = m.ScaleOf(min(x, slices.Min(v.Numbers)))
		if v.Kind == metric.Log && slices.Max(v.Numbers) < 10*m.Resolution { // whatever the new run shows
			v.Kind = metric.Linear
		}
	}
	if v.Multiplies() {
		v.Numbers = slices.Clone(v.Numbers) // they may be the table's
		for i, n := range v.Numbers {
			v.Numbers[i] = v.On(n)
		}
	}
	return v
}

// somewhereElse reports whether some run lacks the number, or measured it in another way.
func (p Runs) somewhereElse(numbers []float64, m metric.Metric) bool {
	return slices.ContainsFunc(numbers, math.IsNaN) || slices.Contains(p.comparable(m), false)
}

// way is how a metric's values are measured: see metric.Metric.Way.
type way struct{ within, unsaid string }

// comparable reports for each run of the history whether its values of the metric are the same
// quantity as the new run's. The result is the same for all metrics that are measured alike.
func (p Runs) comparable(m metric.Metric) []bool {
	key := way{m.Within, m.Unsaid}
	if p.alike[key] == nil {
		p.alike[key] = make([]bool, len(p.Refs))
		for i, r := range p.Refs {
			p.alike[key][i] = m.Comparable(r.Context, p.Now)
		}
	}
	return p.alike[key]
}

func (p Runs) comparableOnly(all Values, m metric.Metric) Values {
	v := Values{past: all.past, Scale: all.Scale}
	comparable := p.comparable(m)
	for i, n := range all.Numbers {
		if math.IsNaN(n) || !comparable[i] {
			continue
		}
		v.Numbers = append(v.Numbers, n)
		v.weights = append(v.weights, p.weights[i])
		v.groups = append(v.groups, p.Groups[i])
		v.refs = append(v.refs, i)
	}
	return v
}

// ref returns the place in the history of the run of the i-th value.
func (v Values) ref(i int) int {
	if v.refs == nil {
		return i
	}
	return v.refs[i]
}

// On converts a value to the scale.
func (s Scale) On(x float64) float64 { return s.metric.On(s.Kind, x) }

// Back converts a number on the scale to a value.
func (s Scale) Back(x float64) float64 { return s.metric.Back(s.Kind, x) }

// Split divides the values by context.
func (v Values) Split() (own []float64, groups [][]float64) {
	groups = v.byContext()
	if v.past.Own >= 0 {
		own = groups[v.past.Own]
	}
	return own, groups
}

// byContext divides the values by context. Some contexts may have none.
func (v Values) byContext() [][]float64 {
	sizes := make([]int, v.past.count)
	for i := range v.Numbers {
		sizes[v.groups[i]]++
	}
	groups, room := make([][]float64, v.past.count), make([]float64, len(v.Numbers))
	for g, n := range sizes {
		groups[g], room = room[:0:n], room[n:]
	}
	for i, x := range v.Numbers {
		groups[v.groups[i]] = append(groups[v.groups[i]], x)
	}
	return groups
}
