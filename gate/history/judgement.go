package history

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// judgement is one comparison in the making.
type judgement struct {
	gate.Comparison
	metric   metric.Metric
	policy   gate.CellPolicy
	scale    past.Scale
	own      []float64 // the own context's values on the judged scale, where they are still needed
	x        float64   // the new value on the judged scale
	evidence past.Evidence
	tail     float64 // chance of lying this far on the side on which x lies
	doubled  bool    // two tests were tried and the better one taken
	tests    float64 // what its tail is multiplied by at most for multiplicity
	context  string  // of the run, as a key
	within   string  // how the number came about: see metric.Metric.Within
}

// worse reports whether the new value lies on the side that is worse.
func (j *judgement) worse() bool {
	return (j.x > j.evidence.Moments.Mean) == (j.metric.Direction == metric.LowerIsBetter)
}

func judge(p gate.Policy, c run.Cell, x float64, before past.Runs, m metric.Metric) *judgement {
	v := before.ValuesOf(c, m, x)
	j := &judgement{metric: m, policy: p.ForCell(c), scale: v.Scale, within: m.Way(before.Now)}
	j.Comparison = gate.Comparison{Event: c.Event, Metric: c.Metric, Value: x, Direction: gate.None, P: 1}
	j.Sample = past.SampleOf(v, before.Sampled)
	own, groups := v.Split()
	e := past.EvidenceOf(p, v, own, groups, j.policy.OutlierFactor)
	if e.Kind == past.EveryContext || m.Modes { // nothing else looks at them again, and there may be thousands
		j.own = slices.Clone(own)
	}
	j.x = j.scale.On(x)
	j.baseOn(e)
	return j
}

// baseOn bases the judgement on the evidence.
func (j *judgement) baseOn(e past.Evidence) {
	e.Moments.SD = max(e.Moments.SD, j.leastSD(e.Moments.Mean))
	j.evidence = e
	j.tail = max(e.Moments.Tail(j.x), j.seenBefore())
	if e.Kind == past.Nothing {
		j.tail = 1
	}
}

// leastSD keeps a history without any spread from calling everything an
// outlier: half of what the metric resolves, and what the catalogue calls its
// restlessness. What is read and not measured wavers by next to nothing.
func (j *judgement) leastSD(mean float64) float64 {
	if j.metric.Exact {
		return j.metric.Resolution / 1000
	}
	if j.scale.Log {
		return j.metric.Restless
	}
	return max(j.metric.Resolution/2, j.metric.Restless*math.Abs(mean))
}
