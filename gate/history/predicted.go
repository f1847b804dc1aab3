package history

import (
	"fmt"
	"maps"
	"math"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/familywise"
	"github.com/apkgate/apkgate/gate/history/past"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// predicted reports whether the level is predicted from other contexts, as the own one was never
// measured.
func (j *judgement) predicted() bool { return j.evidence.Predicted != nil }

// screenPredicted screens by what other contexts predict: how likely a build that is worse by the
// share looks as good as this, and an unchanged one as bad.
func (j *judgement) screenPredicted(share float64) {
	e := j.evidence
	j.effect = past.Effect(j.metric, j.scale, e.Expected, share)
	up := j.effect > 0
	missed := e.Predicted.Chance(j.x.Centre-j.effect, j.noise(), !up)
	j.Missed = &missed
	j.tails = familywise.Tails{Worse: e.Predicted.Chance(j.x.Centre, j.noise(), up), Better: e.Predicted.Chance(j.x.Centre, j.noise(), !up)}
}

// noise returns the standard error of the run's centre, from its repetitions.
func (j *judgement) noise() float64 { return j.x.SD / math.Sqrt(float64(j.x.N)) }

// decidePredicted decides a number of a context that was never measured: a value beyond what
// similar contexts predict is a regression, and one within stays undecided. They clear nothing.
func (j *judgement) decidePredicted(p gate.Policy) {
	worsening := j.worsening()
	switch {
	case !j.matters() || worsening < j.policy.MinChange:
	case j.P <= p.Alpha && j.worse() && !j.denied:
		j.Direction = gate.ToRegression
	case j.tails.Worse <= suspectLevel:
		j.Direction = gate.Suspect
	}
}

// sharedDraw returns the correlation of two scores due to the prediction: two sessions of one
// context share all uncertainty about it.
func sharedDraw(a, b *judgement) float64 {
	return a.evidence.Predicted.Correlation(*b.evidence.Predicted, math.Min(a.noise(), b.noise()))
}

// unmeasured names the runs that a level was predicted from, "" where the context was measured.
func (c *check) unmeasured(d gate.Comparison) string {
	for _, j := range c.judged {
		if j.predicted() && j.Event == d.Event && j.Metric == d.Metric && d.Limit == nil {
			if c.setting.runs > 0 {
				return "; " + c.setting.describe()
			}
			t, why := j.evidence.Predicted, "no accepted run of this context yet"
			if c.seen.Own {
				why = "no accepted run of this context has it"
			}
			return fmt.Sprintf("; %s: that is what %d accepted %s of other contexts predict, which differ in %s", why,
				t.Runs, prose.Plural(t.Runs, "session", "sessions"), strings.Join(t.Unlike, ", "))
		}
	}
	return ""
}

// describePredicted reports how much a context that was never measured may differ through no fault
// of the build.
func (c *check) describePredicted(few []*judgement) string {
	if c.setting.runs > 0 {
		return c.setting.describe()
	}
	text := fmt.Sprintf("no accepted run of this context yet: others (%d accepted %s) are only a rough guide", c.seen.Total, prose.Plural(c.seen.Total, "run", "runs"))
	for _, j := range few {
		if j.predicted() {
			t := j.evidence.Predicted
			reach := t.Reach(suspectLevel, j.noise())
			share := math.Abs(reach / j.evidence.Expected)
			switch {
			case j.metric.Odds:
				return fmt.Sprintf("%s, and may have %.1f times as many bad frames, as it differs in %s", text, math.Exp(reach), strings.Join(t.Unlike, ", "))
			case j.scale.Multiplies():
				share = math.Expm1(reach)
			case j.metric.Ratio:
				return fmt.Sprintf("%s, and may differ by %.0f points in %s, as it differs in %s", text, 100*reach, j.metric.Title, strings.Join(t.Unlike, ", "))
			}
			return fmt.Sprintf("%s, and may differ by %.0f %% in %s, as it differs in %s", text, 100*share, j.metric.Title, strings.Join(t.Unlike, ", "))
		}
	}
	return text
}

// setting is a difference in how we measured, where a run's context differs from that of accepted
// runs in nothing else: it takes time, so that the two are judged apart.
type setting struct {
	now, before string // values of recordedAs, "" for none
	// compiled and compiledBefore are the values of compiledAs, where these differ.
	compiled, compiledBefore string
	runs                     int // accepted runs that were measured as before; 0: there is no such setting
}

// The properties that follow from the configuration: they separate recorded runs from others, and
// runs of an app that was compiled otherwise.
const (
	recordedAs = "recorded"
	compiledAs = "compiled"
)

// settingOf looks for accepted runs of exactly the same context except for recording and compiling.
func settingOf(p gate.Policy, own devctx.Properties, refs []run.Summary) (s setting) {
	plain := func(of devctx.Properties) devctx.Properties {
		out := maps.Clone(devctx.Telling(of, p.Use))
		delete(out, recordedAs)
		delete(out, compiledAs)
		return out
	}
	now, its := devctx.Only(own, p.Use), plain(own)
	for _, r := range refs {
		before := devctx.Only(r.Context, p.Use)
		if !maps.Equal(plain(r.Context), its) {
			continue
		}
		if before[recordedAs] == now[recordedAs] && before[compiledAs] == now[compiledAs] {
			return setting{} // there are some to be compared with
		}
		s = setting{now: now[recordedAs], before: before[recordedAs], runs: s.runs + 1}
		if before[compiledAs] != now[compiledAs] {
			s.compiled, s.compiledBefore = or(now[compiledAs], "not at all"), or(before[compiledAs], "not at all")
		}
	}
	return s
}

func or(value, none string) string {
	if value == "" {
		return none
	}
	return value
}

// describe names the setting, its old value and its new one.
func (s setting) describe() string {
	runs := fmt.Sprintf("the %d accepted %s of this device", s.runs, prose.Plural(s.runs, "run", "runs"))
	if s.compiled != "" {
		also := ""
		if s.now != s.before {
			also = ", and recorded otherwise"
		}
		return fmt.Sprintf("the app of this run was compiled as %s, and that of %s as %s%s (compile, energy.methods and evidence in the configuration): that changes times, so that the two are judged apart", s.compiled, runs, s.compiledBefore, also)
	}
	if s.now == "" {
		return fmt.Sprintf("%s %s recorded (evidence.keep was not none), and this run was not: recording takes time, so the two are judged separately", runs, prose.Plural(s.runs, "was", "were"))
	}
	if s.before != "" {
		return fmt.Sprintf("this run was recorded by %s, and %s by %s (evidence and methods in the configuration): recording takes time, so the two are judged separately", s.now, runs, s.before)
	}
	return fmt.Sprintf("this run was recorded (evidence.keep), and %s %s not (evidence.keep was none): recording takes time, so the two are judged separately", runs, prose.Plural(s.runs, "was", "were"))
}

// hint returns what to do about it.
func (s setting) hint() string {
	switch {
	case s.compiled != "":
		return "set compile, energy.methods and evidence back to what they were, to be compared with these runs again"
	case s.now == "":
		return "set evidence.keep back to what it was, such as worst"
	case s.before != "":
		return "set evidence and methods back to what they were, or accept runs that are recorded so"
	}
	return "set evidence.keep back to none: a regression is explained without it, by rounds of both builds that are recorded after the verdict (apkgate run --base OLD.apk)"
}
