package gate

import (
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// judgeDune judges one cell exactly as the paper does (section 5.3.3): against
// the nearest cluster only, with the new value inside the sample. A budget that
// the policy sets holds whatever history says.
func judgeDune(p Policy, c run.Cell, x float64, history past, m metric.Metric) Comparison {
	policy := p.forCell(c)
	out := Comparison{Event: c.Event, Metric: c.Metric, Direction: None, Value: x, P: 1, Limit: policy.broken(x)}
	if out.Limit != nil {
		out.Direction = ToRegression
	}
	cluster := stat.Sample{Values: []float64{x}}
	sum := 0.0
	for i, r := range history.refs {
		if v, ok := r.Cells.Get(c); ok && history.ranked[i].Cluster == 1 && m.Comparable(r.Context, history.now) {
			cluster.Values = append(cluster.Values, v)
			sum += v
		}
	}
	n := len(cluster.Values)
	if n == 1 {
		return out
	}
	f := stat.FencesOf(cluster, policy.factor)
	out.Q1, out.Q3, out.Lower, out.Upper, out.N = finite(f.Q1), finite(f.Q3), finite(f.Lower), finite(f.Upper), n
	out.Sample = sampleOf(values{numbers: cluster.Values[1:]}, history.sampled)
	if out.Expected = finite(sum / float64(n-1)); out.Expected != 0 {
		out.Change = finite(x/out.Expected - 1)
	}
	switch higher := m.Direction == metric.HigherIsBetter; {
	case out.Limit != nil:
	case x < f.Lower && higher, x > f.Upper && !higher:
		out.Direction = ToRegression
	case x < f.Lower, x > f.Upper:
		out.Direction = ToImprovement
	}
	return out
}

// leastCluster is the least size of a nearest cluster in which the preset dune can
// flag anything: with fewer, the new value is itself so much of the third quartile
// that the fence lies beyond it, however bad it is. Of six it is no part of it.
func leastCluster(p Policy) int {
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
