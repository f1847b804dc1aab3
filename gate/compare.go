package gate

import (
	"math"

	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/stat"
)

// judgement is one comparison in the making.
type judgement struct {
	Comparison
	metric   metric.Metric
	policy   cellPolicy
	values   values
	x        float64 // the new value on the judged scale
	evidence evidence
	tail     float64 // chance of lying this far on the side on which x lies
	doubled  bool    // two tests were tried and the better one taken
	tests    float64 // what its tail is multiplied by at most for multiplicity
	context  string  // of the run, as a key
}

// worse reports whether the new value lies on the side that is worse.
func (j *judgement) worse() bool {
	return (j.x > j.evidence.moments.Mean) == (j.metric.Direction == metric.LowerIsBetter)
}

func (p Policy) judge(c run.Cell, x float64, history past, m metric.Metric) *judgement {
	j := &judgement{metric: m, policy: p.forCell(c), values: history.valuesOf(c, m, x)}
	j.Comparison = Comparison{Event: c.Event, Metric: c.Metric, Value: x, Direction: None, P: 1}
	j.x = j.values.onScale(x)
	j.rest(p.evidenceOf(j.values, j.policy.factor))
	return j
}

// rest bases the judgement on the evidence.
func (j *judgement) rest(e evidence) {
	e.moments.SD = max(e.moments.SD, j.leastSD(e.moments.Mean))
	j.evidence = e
	j.tail = e.moments.Tail(j.x)
	if e.kind == nothing {
		j.tail = 1
	}
}

// leastSD keeps a history without any spread from calling everything an
// outlier: half of what the metric resolves, and what the catalogue calls its
// restlessness.
func (j *judgement) leastSD(mean float64) float64 {
	if j.values.log {
		return j.metric.Restless
	}
	return max(j.metric.Resolution/2, j.metric.Restless*math.Abs(mean))
}

// borrowable is how far this cell moved from its own context's runs, per unit
// of standard error, if the scale of this check's other comparisons is to be
// lent to cells whose history shows none.
func (j *judgement) borrowable() (shift float64, ok bool) {
	if j.evidence.kind != all || j.evidence.own == 0 {
		return 0, false
	}
	own, _ := j.values.split()
	return (j.x - stat.Median(own)) / math.Sqrt(1+1/float64(len(own))), true
}

// minBorrowed is how many comparisons of one metric it takes to lend a scale.
const minBorrowed = 8

// borrow gives judgements without a scale of their own the scale that the same
// metric shows over all events and runs of this check: the third quartile of
// the absolute shifts, as most of them are no regressions. Its degrees of
// freedom are those of the runs, which move as one when a phone is hot.
func borrow(js []*judgement, runs int) {
	shifts := map[string][]float64{}
	for _, j := range js {
		if s, ok := j.borrowable(); ok {
			shifts[j.Metric] = append(shifts[j.Metric], math.Abs(s))
		}
	}
	df := float64(min(runs-1, tailDF))
	for _, j := range js {
		lent := shifts[j.Metric]
		if _, ok := j.borrowable(); !ok || len(lent) < minBorrowed || df < 1 {
			continue
		}
		j.tryBorrowed(stat.Sample{Values: lent}.Quantiles(0.75)[0]/normalThreeQuarters, df)
	}
}

// Of a standard normal distribution: the third quartile, and that of its
// absolute values.
const (
	normalQuartile      = 0.6745
	normalThreeQuarters = 1.1503
)

// tryBorrowed keeps the better of the two tests and pays for having tried both.
func (j *judgement) tryBorrowed(sd, df float64) {
	own, _ := j.values.split()
	before := j.evidence
	centre := stat.Median(own)
	q := normalQuartile * sd
	e := evidence{kind: borrowed, own: len(own), n: len(own)}
	e.fences = stat.Fences{Q1: centre - q, Q3: centre + q}
	e.fences.Lower, e.fences.Upper = centre-q*(1+2*j.policy.factor), centre+q*(1+2*j.policy.factor)
	e.moments = stat.Moments{Mean: centre, SD: sd, N: float64(len(own)), DF: df}
	keep := j.tail
	j.rest(e)
	j.doubled = true
	if keep < j.tail {
		j.rest(before)
	}
}

// correct makes up for the number of comparisons of a check. The worse and the
// better side are corrected each for itself: only the worse can fail a build.
// The whole runs have half of the false alarms to themselves, and all the
// events share the other half, so that a build which is slower all over is
// seen however many events a scenario has. Of several runs, what each shows
// alone and what they show together have half of that each.
func correct(js []*judgement, runs int) {
	var coarse, fine []*judgement
	for _, j := range js {
		if j.Event == "" {
			coarse = append(coarse, j)
		} else {
			fine = append(fine, j)
		}
	}
	share := 1.0
	if len(coarse) > 0 && len(fine) > 0 {
		share /= 2
	}
	if runs > 1 {
		share /= 2
	}
	for _, family := range [][]*judgement{coarse, fine} {
		correctFamily(family, share)
		if runs > 1 {
			replicate(family, share)
		}
	}
}

// correctFamily corrects judgements that have a share of the false alarms.
func correctFamily(js []*judgement, share float64) {
	worse, better := make([]float64, len(js)), make([]float64, len(js))
	for i, j := range js {
		j.tests = float64(len(js)) / share
		if j.doubled {
			j.tests *= 2
		}
		tail := min(1, j.doubledTail()/share)
		worse[i], better[i] = 1, tail
		if j.worse() {
			worse[i], better[i] = tail, 1
		}
	}
	worse, better = stat.Holm(worse), stat.Holm(better)
	for i, j := range js {
		j.P = better[i]
		if j.worse() {
			j.P = worse[i]
		}
	}
}

// outside reports whether the new value is an outlier by the fences.
func (j *judgement) outside() bool {
	return j.evidence.kind != nothing && (j.x < j.evidence.fences.Lower || j.x > j.evidence.fences.Upper)
}

const (
	// unseenMinChange is the least change that matters where the run's context
	// was never measured and few others were: a new phone may differ that much.
	unseenMinChange = 0.25
	// suspectChange is the least worsening that is worth a doubt where the own
	// context has too few runs to judge by.
	suspectChange = 0.10
	// suspectLevels times Alpha bounds the p of a doubt.
	suspectLevels = 4
)

// decide says which way the comparison deviates.
func (p Policy) decide(j *judgement) {
	p.fill(j)
	if j.Limit = j.brokenLimit(); j.Limit != nil {
		j.Direction = ToRegression
		return
	}
	if j.evidence.kind == nothing {
		return
	}
	least := j.policy.minChange
	if j.evidence.unseen {
		least = max(least, unseenMinChange)
	}
	matters := math.Abs(j.worsening()) >= least
	thin := j.evidence.kind <= borrowed && j.evidence.own > 0 // few of its own: what others show is no measure
	switch {
	case j.outside() && matters && j.P <= p.Alpha && (j.evidence.kind != all || j.evidence.n >= p.MinHistory):
		j.Direction = ToImprovement
		if j.worse() {
			j.Direction = ToRegression
		}
	case j.worse() && j.outside() && matters && j.P <= suspectLevels*p.Alpha,
		thin && j.worsening() >= max(least, suspectChange):
		j.Direction = Suspect
		j.Enough = p.enough(j)
	}
}

// brokenLimit is the absolute budget that the value breaks, nil for none.
func (j *judgement) brokenLimit() *float64 {
	switch {
	case j.policy.max != nil && j.Value > *j.policy.max:
		return j.policy.max
	case j.policy.min != nil && j.Value < *j.policy.min:
		return j.policy.min
	}
	return nil
}

// worsening is how much worse the value is than expected, as a share of what was
// expected; of a ratio in percentage points, since half of a smooth ratio of 3 %
// is nothing that anybody sees. Where nothing was expected (no ANR before) any
// change is a whole one. It is below zero for the better.
func (j *judgement) worsening() float64 {
	change := j.Change
	switch {
	case j.metric.Unit == "ratio":
		change = j.Value - j.Expected
	case j.Expected == 0 && math.Abs(j.Value) >= j.metric.Resolution:
		change = math.Copysign(1, j.Value)
	}
	if j.metric.Direction == metric.HigherIsBetter {
		return -change
	}
	return change
}

// fill completes the numbers that a reader sees, back on the metric's own scale.
func (p Policy) fill(j *judgement) {
	e := j.evidence
	if e.kind == nothing {
		return
	}
	back := func(x float64) float64 { return finite(j.values.back(x)) }
	j.Q1, j.Q3, j.Lower, j.Upper = back(e.fences.Q1), back(e.fences.Q3), back(e.fences.Lower), back(e.fences.Upper)
	j.N, j.Expected = e.n, back(e.moments.Mean)
	j.Sample = sampleOf(j.values)
	mixed := e.kind == all && e.own > 0
	if mixed {
		own, _ := j.values.split()
		j.Expected = back(stat.Median(own))
	}
	if j.Expected == 0 {
		return
	}
	j.Change = finite(j.Value/j.Expected - 1)
	if p.Alpha == 0 || mixed { // the interval would be about other contexts' level
		return
	}
	if reach := e.moments.Reach(p.Alpha / 2); !math.IsInf(reach, 1) {
		a, b := finite(back(j.x-reach)/j.Expected-1), finite(back(j.x+reach)/j.Expected-1)
		j.Low, j.High = min(a, b), max(a, b)
		if j.Value >= 0 && j.Expected > 0 {
			j.Low = max(j.Low, -1)
		}
	}
	j.Detectable = finite(j.detectable(p))
}

// finite keeps numbers that JSON can't hold out of a verdict.
func finite(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}

// detectable is the least worsening, as a share of what is expected, that this
// check would have called a regression: beyond the fence, sure enough, and
// large enough to matter. 0 where nothing could have been called one.
func (j *judgement) detectable(p Policy) float64 {
	e := j.evidence
	reach := e.moments.Reach(p.Alpha / j.tests)
	fence := e.moments.Mean - e.fences.Lower
	sign := -1.0
	if j.metric.Direction == metric.LowerIsBetter {
		fence, sign = e.fences.Upper-e.moments.Mean, 1
	}
	if math.IsInf(reach, 1) {
		return 0
	}
	at := j.values.back(e.moments.Mean + sign*max(reach, fence))
	least := j.policy.minChange
	if j.metric.Unit == "ratio" { // in points, see worsening
		least /= math.Abs(j.Expected)
	}
	return max(math.Abs(at/j.Expected-1), least)
}

// sampleOf is an even choice of at most MaxListed of the values, for pictures.
func sampleOf(v values) []float64 {
	n := len(v.numbers)
	out := make([]float64, 0, min(n, MaxListed))
	for i := range min(n, MaxListed) {
		out = append(out, v.back(v.numbers[i*n/min(n, MaxListed)]))
	}
	return out
}

// enough estimates how many runs of the own context, as even as those known,
// would make a deviation of this size certain; 0 where fifty would not.
func (p Policy) enough(j *judgement) int {
	m := j.evidence.moments
	for n := p.MinHistory; n <= 50; n++ {
		m.N, m.DF = float64(n), min(float64(n-1), tailDF)
		if m.Tail(j.x) <= p.Alpha/j.tests {
			return n
		}
	}
	return 0
}
