package history

import (
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/metric"
)

const (
	// mostMissed is the chance at most with which a cleared comparison may hide a
	// worsening by the policy's MinEffect.
	mostMissed = 0.02
	// suspectLevel is the chance of an unchanged build below which a comparison looks
	// worse.
	suspectLevel = 0.05
	// overwhelming is the worsening that no session brings about by itself: what a single
	// run may be called a regression for by history alone.
	overwhelming = 0.25
)

// decide says which way the comparison deviates, and whether the history clears it. The
// history alone calls a regression what is beyond doubt: a broken budget, a number that
// is read and not measured, what several sessions or devices show together, and what is
// worse than any session makes it. Whatever else it can't clear is open.
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
	j.Effect, j.Known = j.share, j.known()
	j.Screen = gate.Open
	defer j.onlyShown(p)
	worsening := j.worsening()
	switch {
	case j.evidence.N == 0 || j.evidence.Own == 0: // nothing is known of the level but by others
		j.decideForetold(p)
		return
	case !j.enough(p) && !j.lent(p):
		if j.means() && worsening >= max(j.policy.MinChange, gate.SuspectChange) && !j.fewFrames() {
			j.Direction = gate.Suspect
		}
		return
	}
	matters := j.means() && math.Abs(worsening) >= j.policy.MinChange
	sure := j.P <= p.Alpha && matters
	switch {
	case sure && j.worse() && !j.denied && j.enough(p) && (j.Together > 0 || j.overwhelms()):
		j.Direction = gate.ToRegression
	case matters && worsening > 0 && j.suspect():
		j.Direction = gate.Suspect
	case *j.Missed <= mostMissed && !j.news():
		j.Screen = gate.Cleared
		if sure && worsening < 0 && j.enough(p) {
			j.Direction = gate.ToImprovement
		}
	}
}

// onlyShown withdraws the questions of a comparison that has no say in the verdict, unless the
// history all but calls it a regression, however many are shown beside it; or is so short that
// what looks worse is all that it tells.
func (j *judgement) onlyShown(p gate.Policy) {
	if !j.Shown || j.Screen != gate.Open || j.Direction == gate.ToRegression {
		return
	}
	if short := !j.enough(p) && !j.lent(p); j.Direction == gate.Suspect && (short || j.P <= suspectLevel) {
		return
	}
	j.Screen, j.Direction = "", gate.None
}

// fewFrames reports whether a share of so few frames differs no more than by frames that were
// late by chance: of seventy frames one that is late and none are much the same.
func (j *judgement) fewFrames() bool {
	const errors = 2 // standard errors of the difference between two sessions
	return j.metric.Odds && math.Abs(j.x.Centre-j.evidence.Expected) < errors*math.Sqrt2*j.noise()
}

// suspect reports whether the number looks worse than an unchanged build's. Where a worsening
// that counts is excluded, that takes more than one number in twenty that looks so by chance.
func (j *judgement) suspect() bool {
	if *j.Missed <= mostMissed {
		return j.P <= suspectLevel
	}
	return j.tails.Worse <= suspectLevel
}

// news reports whether the run has events of which the history has none.
func (j *judgement) news() bool {
	return j.evidence.Counts.Known() && j.evidence.Counts.Rate() == 0 && j.Value > 0
}

// known is what rounds are told of the number.
func (j *judgement) known() gate.Known {
	e := j.evidence
	k := gate.Known{Repetition: e.Within.SD(), DF: e.Within.DF, Counts: e.Counts, Events: j.Value * float64(j.x.N), Repetitions: float64(j.x.N)}
	if e.Outlook.Known() {
		k.Beyond, k.SD = j.x.Centre-e.Expected, (e.Outlook.Quantile(0.84)-e.Outlook.Quantile(0.16))/2
	}
	if e.Foretold != nil {
		k.Beyond, k.SD = j.x.Centre-e.Expected, math.Hypot(math.Hypot(e.Foretold.SD, e.Foretold.Session), j.noise())
	}
	return k
}

// lent reports whether what other contexts tell makes up for the sessions that the own one
// lacks: enough to clear a build, not to condemn it.
func (j *judgement) lent(p gate.Policy) bool { return j.Missed != nil && j.evidence.Lent }

// enough reports whether the own context has sessions enough to clear or to condemn.
func (j *judgement) enough(p gate.Policy) bool {
	return j.Missed != nil && j.evidence.Own >= p.LeastRuns()
}

// overwhelms reports whether the value is worse by more than a session makes it. Of what
// never was, and of which nobody says how little means anything, one is no more than that.
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

// decideExact decides a number that is of the build: any difference that matters is one.
func (j *judgement) decideExact() {
	if j.evidence.N == 0 || !j.means() || math.Abs(j.worsening()) < j.policy.MinChange {
		return
	}
	j.P, j.Direction = 0, gate.ToImprovement
	if j.worsening() > 0 {
		j.Direction = gate.ToRegression
	}
}

// fill completes the numbers that a reader sees, back on the metric's own scale.
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
	a := gate.Finite(back(e.Expected+j.off+j.x.Centre-e.Outlook.Reach(1-p.Alpha/2))/j.Expected - 1)
	b := gate.Finite(back(e.Expected+j.off+j.x.Centre-e.Outlook.Reach(p.Alpha/2))/j.Expected - 1)
	low := min(a, b)
	if j.Value >= 0 && j.Expected > 0 {
		low = max(low, -1)
	}
	j.Low, j.High = &low, new(max(a, b))
}

// detectable is the worsening, as a share of what is expected, of which nine of ten
// builds would show: look worse by what matters, and not be cleared. 0 where nobody can
// lose as much: of what should be more, more than all.
func (j *judgement) detectable() float64 {
	const unlucky = 0.1
	e := j.evidence
	sign := math.Copysign(1, j.effect)
	chance := func(p float64) float64 { // how far the next session lies on the worse side, at that quantile
		return sign * (e.Outlook.Quantile(0.5+sign*(p-0.5)) - e.Expected)
	}
	matters := math.Abs(past.Effect(j.metric, j.scale, e.Expected, j.policy.MinChange))
	shows := max(chance(mostMissed)+math.Abs(j.effect), matters)
	at := j.scale.Back(e.Expected + j.off + sign*(shows-chance(unlucky)))
	share := sign * (at - j.Expected) / math.Abs(j.Expected)
	if j.metric.Direction == metric.HigherIsBetter && share > 1 {
		return 0
	}
	return share
}
