package gate

import (
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// judgeDune judges one cell exactly as the paper does (section 5.3.3): against
// the nearest cluster only, with the new value inside the sample.
func (p Policy) judgeDune(c run.Cell, x float64, history past, m metric.Metric) Comparison {
	out := Comparison{Event: c.Event, Metric: c.Metric, Direction: None, Value: x, P: 1}
	cluster := stat.Sample{Values: []float64{x}}
	sum := 0.0
	for i, r := range history.refs {
		if v, ok := r.Cells.Get(c); ok && history.ranked[i].Cluster == 1 && comparable(m, r.Context, history.now) {
			cluster.Values = append(cluster.Values, v)
			sum += v
		}
	}
	n := len(cluster.Values)
	if n == 1 {
		return out
	}
	f := stat.FencesOf(cluster, p.forCell(c).factor)
	out.Q1, out.Q3, out.Lower, out.Upper, out.N = finite(f.Q1), finite(f.Q3), finite(f.Lower), finite(f.Upper), n
	out.Sample = sampleOf(values{numbers: cluster.Values[1:]})
	if out.Expected = finite(sum / float64(n-1)); out.Expected != 0 {
		out.Change = finite(x/out.Expected - 1)
	}
	switch higher := m.Direction == metric.HigherIsBetter; {
	case x < f.Lower && higher, x > f.Upper && !higher:
		out.Direction = ToRegression
	case x < f.Lower, x > f.Upper:
		out.Direction = ToImprovement
	}
	return out
}
