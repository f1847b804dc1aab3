package history

import (
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// judgement is one comparison in the making.
type judgement struct {
	gate.Comparison
	metric   metric.Metric
	policy   gate.CellPolicy
	scale    past.Scale
	x        past.Number // of the new run, on the judged scale
	evidence past.Evidence
	share    float64          // the worsening that clearing excludes, as a share of a mean
	effect   float64          // the same, on the judged scale
	tails    familywise.Sides // chances that an unchanged build looks as bad, and as good
	session  string           // of the run, "" where it has none
	context  string           // of the run, as a key
	off      float64          // what its session shares with others, which is taken off x
	within   string           // how the number came about: see metric.Metric.Within
	denied   bool             // another session of the check, on the same device, does not show it
}

func judge(p gate.Policy, c run.Cell, s run.Summary, x float64, before past.Runs, catalogue *metric.Catalogue) *judgement {
	m, _ := catalogue.Lookup(c.Metric)
	v := before.ValuesOf(c, m, x)
	j := &judgement{metric: m, policy: p.ForCell(c), scale: v.Scale, within: m.Way(before.Now), session: s.Session, tails: familywise.Sides{Worse: 1, Better: 1}}
	j.Comparison = gate.Comparison{Event: c.Event, Metric: c.Metric, Value: x, Direction: gate.None, P: 1}
	j.Sample = past.SampleOf(v, before.Sampled)
	j.x = v.NumberOf(s, p, c, m, x)
	if m.Exact {
		j.evidence = v.Newest()
		return j
	}
	j.evidence = before.EvidenceOf(p, c, m, v, j.x)
	if s.Session == "" || !j.scale.Multiplies() {
		j.evidence.Sessions = nil // only what scenarios of one session share is taken off them
	}
	j.Shown = c.Event == "" && !p.Decides(c, catalogue)
	j.ask(max(p.MinEffect, j.policy.MinChange))
	return j
}

// ask asks the evidence what it is worth: how likely a build that is worse by the share
// looks as good as this, and one that is unchanged as bad.
func (j *judgement) ask(share float64) {
	e := j.evidence
	j.share = share
	switch {
	case j.foretold():
		j.askForetold(share)
	case e.Counts.Known():
		repetitions := float64(j.x.N)
		events := j.Value * repetitions
		missed := e.Counts.AtMost(events, repetitions, j.moreEvents())
		j.Missed = &missed
		j.tails = familywise.Sides{Worse: e.Counts.AtLeast(events, repetitions), Better: e.Counts.AtMost(events, repetitions, 0)}
	case e.Outlook.Known():
		j.effect = j.effectOf(share)
		up := j.effect > 0
		missed := e.Outlook.Above(j.x.Centre - j.effect)
		if up {
			missed = e.Outlook.Below(j.x.Centre - j.effect)
		}
		j.Missed = &missed
		j.tails = familywise.Sides{Worse: e.Outlook.Rarely(j.x.Centre, up), Better: e.Outlook.Rarely(j.x.Centre, !up)}
	}
}

// fewestEvents are how many more rare events in all of a run's repetitions count as a
// worsening that must not be overlooked: with four more to be expected, a run without
// any is a matter of two per cent.
const fewestEvents = 4

// effectOf is a worsening by the share on the judged scale.
func (j *judgement) effectOf(share float64) float64 {
	return past.Effect(j.metric, j.scale, j.evidence.Expected, share)
}

// moreEvents are how many more rare events than usual, in all of the run's repetitions, must
// not be overlooked: more where no more than a greater effect can be seen.
func (j *judgement) moreEvents() float64 {
	return max(fewestEvents, j.share*j.evidence.Counts.Rate()*float64(j.x.N))
}

// worse reports whether the new value lies on the side that is worse.
func (j *judgement) worse() bool { return j.tails.Worse <= j.tails.Better }

// worsening is how much worse the value is than expected: see gate.Worsening.
func (j *judgement) worsening() float64 {
	return gate.Worsening(j.metric, j.Expected, j.Value-j.Expected, j.Change)
}

// means reports whether the difference is large enough to mean anything: twice
// a wakelock of ten milliseconds is nothing.
func (j *judgement) means() bool {
	const rounding = 1 - 1e-9
	return math.Abs(j.Value-j.Expected) >= rounding*j.metric.Resolution
}
