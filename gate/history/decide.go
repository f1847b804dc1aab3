package history

import (
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/stat"
)

// outside reports whether the new value is an outlier by the fences.
func (j *judgement) outside() bool {
	return j.evidence.Kind != past.Nothing && (j.x < j.evidence.Fences.Lower || j.x > j.evidence.Fences.Upper)
}

const (
	// unseenMinChange is the least change that matters where the run's context
	// was never measured and few others were: a new phone may differ that much.
	unseenMinChange = 0.25
	// suspectLevels times Alpha bounds the p of a doubt.
	suspectLevels = 4
)

// decide says which way the comparison deviates.
func decide(p gate.Policy, j *judgement) {
	fill(p, j)
	if j.Limit = j.policy.Broken(j.Value); j.Limit != nil {
		j.Direction = gate.ToRegression
		return
	}
	if j.evidence.Kind == past.Nothing {
		return
	}
	least, worsening := j.leastChange(), j.worsening()
	means := j.means()
	matters := means && worsening >= least
	if !j.worse() {
		matters = means && -worsening >= least
	}
	outlier := j.outside() && matters
	sure := j.P <= p.Alpha && j.provable(p)
	switch {
	case outlier && sure && j.worse():
		j.Direction = gate.ToRegression
	case outlier && sure:
		j.Direction = gate.ToImprovement
	case outlier && j.worse() && j.P <= suspectLevels*p.Alpha,
		j.thin() && means && worsening >= max(least, gate.SuspectChange):
		j.Direction = gate.Suspect
		j.Enough = enough(p, j)
	}
}

// leastChange is the least change that matters, as worsening tells it.
func (j *judgement) leastChange() float64 {
	if j.evidence.Unseen {
		return max(j.policy.MinChange, unseenMinChange)
	}
	return j.policy.MinChange
}

// provable reports whether there are values enough to be sure of anything.
func (j *judgement) provable(p gate.Policy) bool {
	return j.evidence.Kind != past.EveryContext || j.evidence.N >= p.LeastRuns()
}

// thin reports that the own context has runs, and too few: what others show is no
// measure.
func (j *judgement) thin() bool {
	return j.evidence.Kind <= past.OwnBorrowed && j.evidence.Own > 0
}

// means reports whether the difference is large enough to mean anything: twice
// a wakelock of ten milliseconds is nothing.
func (j *judgement) means() bool {
	const rounding = 1 - 1e-9
	return math.Abs(j.Value-j.Expected) >= rounding*j.metric.Resolution
}

// worsening is how much worse the value is than expected: see Worsening.
func (j *judgement) worsening() float64 {
	return gate.Worsening(j.metric, j.Expected, j.Value-j.Expected, j.Change)
}

// fill completes the numbers that a reader sees, back on the metric's own scale.
func fill(p gate.Policy, j *judgement) {
	e := j.evidence
	if e.Kind == past.Nothing {
		return
	}
	back := func(x float64) float64 { return gate.Finite(j.scale.Back(x)) }
	j.Q1, j.Q3, j.Lower, j.Upper = back(e.Fences.Q1), back(e.Fences.Q3), back(e.Fences.Lower), back(e.Fences.Upper)
	j.N, j.Expected = e.N, back(e.Moments.Mean)
	mixed := e.Kind == past.EveryContext && e.Own > 0
	if mixed {
		j.Expected = back(stat.Median(j.own))
	}
	if j.Expected == 0 || j.metric.Signed {
		return
	}
	j.Change = gate.Finite(j.Value/j.Expected - 1)
	if p.Alpha == 0 {
		return
	}
	j.Detectable = gate.Finite(j.detectable(p))
	if reach := e.Moments.Reach(p.Alpha / 2); !mixed && !math.IsInf(reach, 1) { // mixed, it would be about other contexts' level
		a, b := gate.Finite(back(j.x-reach)/j.Expected-1), gate.Finite(back(j.x+reach)/j.Expected-1)
		low := min(a, b)
		if j.Value >= 0 && j.Expected > 0 {
			low = max(low, -1)
		}
		j.Low, j.High = &low, new(max(a, b))
	}
}

// detectable is the least worsening, as a share of what is expected, that this
// check would have called a regression: beyond the fence, sure enough, and
// large enough to matter. 0 where nothing could have been called one: of what
// should be more, nobody can lose more than all.
func (j *judgement) detectable(p gate.Policy) float64 {
	e := j.evidence
	reach := e.Moments.Reach(p.Alpha / j.tests)
	fence := e.Moments.Mean - e.Fences.Lower
	sign := -1.0
	if j.metric.Direction == metric.LowerIsBetter {
		fence, sign = e.Fences.Upper-e.Moments.Mean, 1
	}
	if math.IsInf(reach, 1) || !j.provable(p) {
		return 0
	}
	at := j.scale.Back(e.Moments.Mean + sign*max(reach, fence, j.beyondModes(sign, p.Alpha/j.tests)))
	least := j.leastChange()
	if j.metric.Ratio { // in points, see worsening
		least /= math.Abs(j.Expected)
	}
	share := max(sign*(at-j.Expected)/math.Abs(j.Expected), least, math.Abs(j.metric.Resolution/j.Expected))
	if sign < 0 && share > 1 {
		return 0
	}
	return share
}

// enough estimates how many runs of the own context, as even as those known,
// would make a deviation of this size certain; 0 where fifty would not.
func enough(p gate.Policy, j *judgement) int {
	m := j.evidence.Moments
	for n := p.MinHistory; n <= 50; n++ {
		m.N, m.DF = float64(n), min(float64(n-1), past.TailDF)
		if m.Tail(j.x) <= p.Alpha/j.tests {
			return n
		}
	}
	return 0
}
