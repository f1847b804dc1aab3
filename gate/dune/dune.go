// Package dune judges a number exactly as the paper does: by the fences of the
// nearest cluster of the history alone, with the new value inside the sample.
//
// It is there to reproduce the paper, and takes its stand, not ours: it knows no
// chance, no correction for the number of comparisons and no doubt.
package dune

import (
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// Judge judges one cell exactly as the paper does (section 5.3.3): against
// the nearest cluster only, with the new value inside the sample. A budget that
// the policy sets holds whatever history says.
func Judge(p gate.Policy, c run.Cell, x float64, before past.Runs, m metric.Metric) gate.Comparison {
	policy := p.ForCell(c)
	out := gate.Comparison{Event: c.Event, Metric: c.Metric, Direction: gate.None, Value: x, P: 1, Limit: policy.Broken(x)}
	if out.Limit != nil {
		out.Direction = gate.ToRegression
	}
	cluster := stat.Sample{Values: []float64{x}}
	sum := 0.0
	for i, r := range before.Refs {
		if v, ok := r.Cells.Get(c); ok && before.Ranked[i].Cluster == 1 && m.Comparable(r.Context, before.Now) {
			cluster.Values = append(cluster.Values, v)
			sum += v
		}
	}
	n := len(cluster.Values)
	if n == 1 {
		return out
	}
	f := stat.FencesOf(cluster, policy.OutlierFactor)
	out.Q1, out.Q3, out.Lower, out.Upper, out.N = gate.Finite(f.Q1), gate.Finite(f.Q3), gate.Finite(f.Lower), gate.Finite(f.Upper), n
	out.Sample = past.SampleOf(past.Values{Numbers: cluster.Values[1:]}, before.Sampled)
	if out.Expected = gate.Finite(sum / float64(n-1)); out.Expected != 0 && !m.Signed {
		out.Change = gate.Finite(x/out.Expected - 1)
	}
	switch higher := m.Direction == metric.HigherIsBetter; {
	case out.Limit != nil:
	case x < f.Lower && higher, x > f.Upper && !higher:
		out.Direction = gate.ToRegression
	case x < f.Lower, x > f.Upper:
		out.Direction = gate.ToImprovement
	}
	return out
}

// LeastCluster is the least size of a nearest cluster in which the preset dune can
// flag anything: with fewer, the new value is itself so much of the third quartile
// that the fence lies beyond it, however bad it is. Of six it is no part of it.
func LeastCluster(p gate.Policy) int {
	factor := p.OutlierFactor
	for _, t := range p.Thresholds {
		if t.OutlierFactor != nil {
			factor = min(factor, *t.OutlierFactor)
		}
	}
	const largest = 6
	n := 1
	for ; n < largest; n++ {
		bad := 1.0
		cluster := append(make([]float64, n), bad)
		if stat.FencesOf(stat.Sample{Values: cluster}, factor).Upper < bad {
			break
		}
	}
	return n
}
