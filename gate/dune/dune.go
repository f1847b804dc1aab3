// Package dune judges a number as the paper does: by the fences of the nearest clusters of the
// history, with the new value inside the sample.
//
// It reproduces the paper, with its principles rather than ours: no chance, no correction for the
// number of comparisons and no doubt. It departs from the paper's letter in one point, unless
// configured otherwise (gate.ClusterLiteral): it includes the next clusters while the nearest is so
// small that its fences can't flag anything. Where the paper contradicts itself on quartiles, it
// supports both readings (gate.Quartiles).
package dune

import (
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// Judge judges one cell as the paper does (section 5.3.3), with the new value inside the sample,
// and returns the number of clusters that gave the sample, from the nearest on. A budget of the
// policy applies whatever the history; with fewer values than its MinHistory, or for less than its
// MinChange, nothing else is flagged.
func Judge(p gate.Policy, c run.Cell, x float64, before past.Runs, m metric.Metric) (out gate.Comparison, clusters int) {
	policy := p.ForCell(c)
	out = gate.Comparison{Event: c.Event, Metric: c.Metric, Direction: gate.None, Value: x, P: 1, Limit: policy.Broken(x)}
	if out.Limit != nil {
		out.Direction = gate.ToRegression
	}
	values, clusters := nearest(p, c, before, m)
	if len(values) == 0 {
		return out, clusters
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	f := fencesOf(append([]float64{x}, values...), p.Quartiles, policy.OutlierFactor)
	out.Q1, out.Q3, out.Lower, out.Upper, out.N = gate.Finite(f.Q1), gate.Finite(f.Q3), gate.Finite(f.Lower), gate.Finite(f.Upper), len(values)+1
	out.Sample = past.SampleOf(past.Values{Numbers: values}, before.Sampled)
	if out.Expected = gate.Finite(sum / float64(len(values))); out.Expected != 0 && !m.Signed {
		out.Change = gate.Finite(x/out.Expected - 1)
	}
	if out.Limit == nil && len(values) >= p.MinHistory && (x < f.Lower || x > f.Upper) {
		out.Direction = direction(m, out, policy.MinChange)
	}
	return out, clusters
}

// fencesOf returns the fences of the values, by the policy's quartile rule.
func fencesOf(values []float64, rule gate.Quartiles, factor float64) stat.Fences {
	if rule == gate.QuartilesWeka {
		return stat.WekaFences(values, factor)
	}
	return stat.FencesOf(stat.Sample{Values: values}, factor)
}

// direction returns the direction of an outlier: none where the change is smaller than the least
// that matters.
func direction(m metric.Metric, c gate.Comparison, least float64) gate.Direction {
	switch worsening := gate.Worsening(m, c.Expected, c.Value-c.Expected, c.Change); {
	case max(worsening, -worsening) < least:
		return gate.None
	case (c.Value > c.Expected) == (m.Direction == metric.LowerIsBetter):
		return gate.ToRegression
	}
	return gate.ToImprovement
}

// leastJoined is the number of references up to which clusters are joined: with the paper's outlier
// factor fewer can't flag anything, and its example has as many (section 5.3.3).
const leastJoined = 5

// nearest returns the values of the cell in the nearest cluster and, unless the policy follows the
// letter of the paper, in the next ones until there are enough; and the number of these clusters.
func nearest(p gate.Policy, c run.Cell, before past.Runs, m metric.Metric) (values []float64, clusters int) {
	enough := max(leastJoined, p.MinHistory, leastFor(p.Quartiles, p.ForCell(c).OutlierFactor))
	for i, r := range before.Refs {
		rank := before.Ranked[i].Cluster
		if rank > max(1, clusters) && (p.Cluster == gate.ClusterLiteral || len(values) >= enough) {
			break
		}
		if v, ok := r.Cells.Get(c); ok && m.Comparable(r.Context, before.Now) {
			values, clusters = append(values, v), rank
		}
	}
	return values, clusters
}

// LeastCluster returns the least number of references with which the preset dune can flag anything:
// with fewer, the new value itself shifts the next quartile so much that the fence lies beyond it,
// however bad it is.
func LeastCluster(p gate.Policy) int {
	factor := p.OutlierFactor
	for _, t := range p.Thresholds {
		if t.OutlierFactor != nil {
			factor = min(factor, *t.OutlierFactor)
		}
	}
	return leastFor(p.Quartiles, factor)
}

// leastFor is LeastCluster for one outlier factor. Weka's rule flags values that are too low with
// fewer references than those that are too high.
func leastFor(rule gate.Quartiles, factor float64) int {
	const (
		largest  = 6    // the new value does not affect the third quartile of seven
		rounding = 1e-9 // of a fence
	)
	n := 1
	for ; n < largest; n++ {
		high, low := 1.0, -1.0
		others := make([]float64, n)
		if fencesOf(append(others, high), rule, factor).Upper < high-rounding || fencesOf(append(others, low), rule, factor).Lower > low+rounding {
			break
		}
	}
	return n
}
