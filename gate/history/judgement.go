package history

import (
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// judgement is one comparison in progress.
type judgement struct {
	gate.Comparison
	metric   metric.Metric
	policy   gate.CellPolicy
	scale    past.Scale
	x        past.Number // of the new run, on the judged scale
	evidence past.Evidence
	share    float64          // the worsening that clearing excludes, as a share of a mean
	effect   float64          // the same, on the judged scale
	tails    familywise.Tails // chances that an unchanged build looks as bad, and as good
	session  string           // of the run, "" where it has none
	context  string           // of the run, as a key
	off      float64          // what its session shares with others, which is subtracted from x
	within   string           // how the number was measured: see metric.Metric.Within
	denied   bool             // another session of the check on the same device does not show it
}

func judge(p gate.Policy, c run.Cell, s run.Summary, x float64, before past.Runs, catalogue *metric.Catalogue) *judgement {
	m, _ := catalogue.Lookup(c.Metric)
	v := before.ValuesOf(c, m, x)
	j := &judgement{metric: m, policy: p.ForCell(c), scale: v.Scale, within: m.Way(before.Now), session: s.Session, tails: familywise.Tails{Worse: 1, Better: 1}}
	j.Comparison = gate.Comparison{Event: c.Event, Metric: c.Metric, Value: x, Direction: gate.None, P: 1}
	j.Sample = past.SampleOf(v, before.Sampled)
	j.x = v.NumberOf(s, p, c, m, x)
	if m.Exact {
		j.evidence = v.Newest()
		return j
	}
	j.evidence = before.EvidenceOf(p, c, m, v, j.x)
	if s.Session == "" || !j.scale.Multiplies() {
		j.evidence.Sessions = nil // only what scenarios of one session share is subtracted from them
	}
	j.Shown = c.Event == "" && !p.Decides(c, catalogue)
	j.screen(max(p.MinEffect, j.policy.MinChange))
	return j
}

// screen computes from the evidence how likely a build that is worse by the share looks as good as
// this, and an unchanged one as bad.
func (j *judgement) screen(share float64) {
	e := j.evidence
	j.share = share
	switch {
	case j.predicted():
		j.screenPredicted(share)
	case e.Counts.Known():
		repetitions := float64(j.x.N)
		events := j.Value * repetitions
		missed := e.Counts.AtMost(events, repetitions, j.moreEvents())
		j.Missed = &missed
		j.tails = familywise.Tails{Worse: e.Counts.AtLeast(events, repetitions), Better: e.Counts.AtMost(events, repetitions, 0)}
	case e.Outlook.Known():
		j.effect = j.effectOf(share)
		up := j.effect > 0
		missed := e.Outlook.Above(j.x.Centre - j.effect)
		if up {
			missed = e.Outlook.Below(j.x.Centre - j.effect)
		}
		j.Missed = &missed
		j.tails = familywise.Tails{Worse: e.Outlook.TailChance(j.x.Centre, up), Better: e.Outlook.TailChance(j.x.Centre, !up)}
	}
}

// fewestEvents is the least number of additional rare events, in all of a run's repetitions, that
// counts as a worsening that must not be overlooked: with four more expected, a run without any has
// a chance of two per cent.
const fewestEvents = 4

// effectOf returns a worsening by the share on the judged scale.
func (j *judgement) effectOf(share float64) float64 {
	return past.Effect(j.metric, j.scale, j.evidence.Expected, share)
}

// moreEvents returns how many additional rare events, in all of the run's repetitions, must not be
// overlooked: more where only a greater effect can be detected.
func (j *judgement) moreEvents() float64 {
	return max(fewestEvents, j.share*j.evidence.Counts.Rate()*float64(j.x.N))
}

// worse reports whether the new value lies on the side that is worse.
func (j *judgement) worse() bool { return j.tails.Worse <= j.tails.Better }

// worsening returns how much worse the value is than expected: see gate.Worsening.
func (j *judgement) worsening() float64 {
	return gate.Worsening(j.metric, j.Expected, j.Value-j.Expected, j.Change)
}

// matters reports whether the difference exceeds the metric's resolution: twice a wakelock of ten
// milliseconds is nothing.
func (j *judgement) matters() bool {
	const rounding = 1 - 1e-9
	return math.Abs(j.Value-j.Expected) >= rounding*j.metric.Resolution
}
