package history

import (
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/metric"
)

const (
	// suspectLevel is the chance under an unchanged build below which a comparison looks worse.
	suspectLevel = 0.05
	// overwhelming is a worsening that no session causes by itself: from here on the history alone
	// may call a single run a regression.
	overwhelming = 0.25
)

// decide sets the direction of the comparison, and whether the history clears it. The history alone
// calls a regression only what is beyond doubt: a broken budget, an exact number, what several
// sessions or devices show together, and a worsening larger than any session causes. Anything else
// that it can't clear is undecided.
func decide(p gate.Policy, j *judgement) {
	fill(p, j)
	if j.Limit = j.policy.Broken(j.Value); j.Limit != nil {
		j.Direction = gate.ToRegression
		return
	}
	if j.metric.Exact {
		j.decideExact()
		return
	}
	j.Effect, j.Prior = j.share, j.prior()
	j.Screen = gate.Open
	defer j.onlyShown(p)
	worsening := j.worsening()
	switch {
	case j.evidence.N == 0 || j.evidence.Own == 0: // the level is known from others only
		j.decidePredicted(p)
		return
	case !j.enough(p) && !j.enoughWithOthers(p):
		if j.matters() && worsening >= max(j.policy.MinChange, gate.SuspectChange) && !j.fewFrames() {
			j.Direction = gate.Suspect
		}
		return
	}
	matters := j.matters() && math.Abs(worsening) >= j.policy.MinChange
	sure := j.P <= p.Alpha && matters
	switch {
	case sure && j.worse() && !j.denied && j.enough(p) && (j.Together > 0 || j.overwhelms()):
		j.Direction = gate.ToRegression
	case matters && worsening > 0 && j.suspect():
		j.Direction = gate.Suspect
	case *j.Missed <= gate.MostMissed && !j.hasNewEvents():
		j.Screen = gate.Cleared
		if sure && worsening < 0 && j.enough(p) {
			j.Direction = gate.ToImprovement
		}
	}
}

// onlyShown withdraws the tests of a comparison that does not decide the verdict, unless the
// history is almost sure of a regression, however many comparisons are shown; or is so short that
// looking worse is all that it can show.
func (j *judgement) onlyShown(p gate.Policy) {
	if !j.Shown || j.Screen != gate.Open || j.Direction == gate.ToRegression {
		return
	}
	if short := !j.enough(p) && !j.enoughWithOthers(p); j.Direction == gate.Suspect && (short || j.P <= suspectLevel) {
		return
	}
	j.Screen, j.Direction = "", gate.None
}

// fewFrames reports whether a share of so few frames differs by no more than frames that were late
// by chance: of seventy frames one late frame and none are nearly the same.
func (j *judgement) fewFrames() bool {
	const errors = 2 // standard errors of the difference between two sessions
	return j.metric.Odds && math.Abs(j.x.Centre-j.evidence.Expected) < errors*math.Sqrt2*j.noise()
}

// suspect reports whether the number looks worse than an unchanged build's. Where a worsening that
// counts is excluded, that takes more than the one number in twenty that looks so by chance.
func (j *judgement) suspect() bool {
	if *j.Missed <= gate.MostMissed {
		return j.P <= suspectLevel
	}
	return j.tails.Worse <= suspectLevel
}

// hasNewEvents reports whether the run has rare events of which the history has none.
func (j *judgement) hasNewEvents() bool {
	return j.evidence.Counts.Known() && j.evidence.Counts.Rate() == 0 && j.Value > 0
}

// prior returns what the history shows of the number, for rounds.
func (j *judgement) prior() gate.Prior {
	e := j.evidence
	k := gate.Prior{Repetition: e.Within.SD(), DF: e.Within.DF, Counts: e.Counts, Events: j.Value * float64(j.x.N), Repetitions: float64(j.x.N)}
	if e.Outlook.Known() {
		k.Beyond, k.SD = j.x.Centre-e.Expected, (e.Outlook.Quantile(0.84)-e.Outlook.Quantile(0.16))/2
	}
	if e.Predicted != nil {
		k.Beyond, k.SD = j.x.Centre-e.Expected, math.Hypot(math.Hypot(e.Predicted.SD, e.Predicted.Session), j.noise())
	}
	return k
}

// enoughWithOthers reports whether other contexts make up for the sessions that the own one lacks:
// enough to clear a build, not to fail it.
func (j *judgement) enoughWithOthers(p gate.Policy) bool { return j.Missed != nil && j.evidence.Lent }

// enough reports whether the own context has enough sessions to clear or to fail a build.
func (j *judgement) enough(p gate.Policy) bool {
	return j.Missed != nil && j.evidence.Own >= p.LeastRuns()
}

// overwhelms reports whether the value is worse by more than a session causes. Where the number was
// always zero and its metric states no resolution, one event is not overwhelming.
func (j *judgement) overwhelms() bool {
	switch {
	case j.evidence.Counts.Known():
		return j.worsening() >= overwhelming
	case j.Expected == 0 && j.metric.Resolution == 0:
		return false
	}
	by := past.Effect(j.metric, j.scale, j.evidence.Expected, overwhelming)
	return (j.x.Centre-j.evidence.Expected)*math.Copysign(1, by) >= math.Abs(by)
}

// decideExact decides a number that is a property of the build: any difference that matters counts.
func (j *judgement) decideExact() {
	if j.evidence.N == 0 || !j.matters() || math.Abs(j.worsening()) < j.policy.MinChange {
		return
	}
	j.P, j.Direction = 0, gate.ToImprovement
	if j.worsening() > 0 {
		j.Direction = gate.ToRegression
	}
}

// fill sets the numbers that a reader sees, on the metric's own scale.
func fill(p gate.Policy, j *judgement) {
	e := j.evidence
	if e.N == 0 {
		return
	}
	back := func(x float64) float64 { return gate.Finite(j.scale.Back(x)) }
	j.Q1, j.Q3, j.Lower, j.Upper = back(e.Fences.Q1), back(e.Fences.Q3), back(e.Fences.Lower), back(e.Fences.Upper)
	j.N, j.Expected, j.Since = e.N, back(e.Expected+j.off), e.Since
	if j.Expected == 0 || j.metric.Signed {
		return
	}
	j.Change = gate.Finite(j.Value/j.Expected - 1)
	if p.Alpha == 0 || !e.Outlook.Known() {
		return
	}
	j.Detectable = gate.Finite(j.detectable())
	a := gate.Finite(back(e.Expected+j.off+j.x.Centre-e.Outlook.TailQuantile(1-p.Alpha/2))/j.Expected - 1)
	b := gate.Finite(back(e.Expected+j.off+j.x.Centre-e.Outlook.TailQuantile(p.Alpha/2))/j.Expected - 1)
	low := min(a, b)
	if j.Value >= 0 && j.Expected > 0 {
		low = max(low, -1)
	}
	j.Low, j.High = &low, new(max(a, b))
}

// detectable returns the worsening, as a share of the expected value, that nine of ten builds would
// show: looking worse by a change that matters, and not cleared. It is 0 where no build can lose as
// much: where higher is better, more than all.
func (j *judgement) detectable() float64 {
	const unlucky = 0.1
	e := j.evidence
	sign := math.Copysign(1, j.effect)
	chance := func(p float64) float64 { // how far the next session lies on the worse side, at that quantile
		return sign * (e.Outlook.Quantile(0.5+sign*(p-0.5)) - e.Expected)
	}
	matters := math.Abs(past.Effect(j.metric, j.scale, e.Expected, j.policy.MinChange))
	shows := max(chance(gate.MostMissed)+math.Abs(j.effect), matters)
	at := j.scale.Back(e.Expected + j.off + sign*(shows-chance(unlucky)))
	share := sign * (at - j.Expected) / math.Abs(j.Expected)
	if j.metric.Direction == metric.HigherIsBetter && share > 1 {
		return 0
	}
	return share
}
