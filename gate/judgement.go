package gate

import (
	"math"
	"slices"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// judgement is one comparison in the making.
type judgement struct {
	Comparison
	metric   metric.Metric
	policy   cellPolicy
	scale    scale
	own      []float64 // the own context's values on the judged scale, where they are still needed
	x        float64   // the new value on the judged scale
	evidence evidence
	tail     float64 // chance of lying this far on the side on which x lies
	doubled  bool    // two tests were tried and the better one taken
	tests    float64 // what its tail is multiplied by at most for multiplicity
	context  string  // of the run, as a key
	within   string  // how the number came about: see metric.Metric.Within
}

// worse reports whether the new value lies on the side that is worse.
func (j *judgement) worse() bool {
	return (j.x > j.evidence.moments.Mean) == (j.metric.Direction == metric.LowerIsBetter)
}

func judge(p Policy, c run.Cell, x float64, history past, m metric.Metric) *judgement {
	v := history.valuesOf(c, m, x)
	j := &judgement{metric: m, policy: p.forCell(c), scale: v.scale, within: m.Way(history.now)}
	j.Comparison = Comparison{Event: c.Event, Metric: c.Metric, Value: x, Direction: None, P: 1}
	j.Sample = sampleOf(v, history.sampled)
	own, groups := v.split()
	e := evidenceOf(p, v, own, groups, j.policy.factor)
	if e.kind == all || m.Modes { // nothing else looks at them again, and there may be thousands
		j.own = slices.Clone(own)
	}
	j.x = j.scale.onScale(x)
	j.rest(e)
	return j
}

// rest bases the judgement on the evidence.
func (j *judgement) rest(e evidence) {
	e.moments.SD = max(e.moments.SD, j.leastSD(e.moments.Mean))
	j.evidence = e
	j.tail = max(e.moments.Tail(j.x), j.seenBefore())
	if e.kind == nothing {
		j.tail = 1
	}
}

// leastSD keeps a history without any spread from calling everything an
// outlier: half of what the metric resolves, and what the catalogue calls its
// restlessness.
func (j *judgement) leastSD(mean float64) float64 {
	if j.scale.log {
		return j.metric.Restless
	}
	return max(j.metric.Resolution/2, j.metric.Restless*math.Abs(mean))
}
