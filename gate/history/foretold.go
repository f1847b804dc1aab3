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

// foretold reports whether the level is what other contexts let expect, as the own one was
// never measured.
func (j *judgement) foretold() bool { return j.evidence.Foretold != nil }

// askForetold asks what other contexts let expect: how likely they make a build that is worse by
// the share look as good as this, and one that is unchanged as bad.
func (j *judgement) askForetold(share float64) {
	e := j.evidence
	j.effect = past.Effect(j.metric, j.scale, e.Expected, share)
	up := j.effect > 0
	missed := e.Foretold.Chance(j.x.Centre-j.effect, j.noise(), !up)
	j.Missed = &missed
	j.tails = familywise.Sides{Worse: e.Foretold.Chance(j.x.Centre, j.noise(), up), Better: e.Foretold.Chance(j.x.Centre, j.noise(), !up)}
}

// noise is the standard deviation of the run's centre, as its repetitions show it.
func (j *judgement) noise() float64 { return j.x.SD / math.Sqrt(float64(j.x.N)) }

// decideForetold decides a number of a context that was never measured: what lies beyond
// what like contexts let expect is a regression, and what they explain stays open. They
// clear nothing.
func (j *judgement) decideForetold(p gate.Policy) {
	worsening := j.worsening()
	switch {
	case !j.means() || worsening < j.policy.MinChange:
	case j.P <= p.Alpha && j.worse() && !j.denied:
		j.Direction = gate.ToRegression
	case j.tails.Worse <= suspectLevel:
		j.Direction = gate.Suspect
	}
}

// sharedDraw is the correlation of two scores by what was foretold: two sessions of one
// context share all of what is not known of it.
func sharedDraw(a, b *judgement) float64 {
	return a.evidence.Foretold.Correlation(*b.evidence.Foretold, math.Min(a.noise(), b.noise()))
}

// unmeasured says whose runs a level was foretold by, "" where the context was measured.
func (c *check) unmeasured(d gate.Comparison) string {
	for _, j := range c.judged {
		if j.foretold() && j.Event == d.Event && j.Metric == d.Metric && d.Limit == nil {
			if c.setting.runs > 0 {
				return "; " + c.setting.describe()
			}
			t, why := j.evidence.Foretold, "this context was never measured"
			if c.seen.Own {
				why = "no accepted run of this context has it"
			}
			return fmt.Sprintf("; %s: that is what %d accepted %s of others let expect, unlike in %s", why,
				t.Runs, prose.Plural(t.Runs, "session", "sessions"), strings.Join(t.Unlike, ", "))
		}
	}
	return ""
}

// describeForetold says how much a never-measured context may differ for no fault of the
// build.
func (c *check) describeForetold(few []*judgement) string {
	if c.setting.runs > 0 {
		return c.setting.describe()
	}
	text := fmt.Sprintf("this context was never measured: what the %d accepted %s of others show is not its level", c.seen.Total, prose.Plural(c.seen.Total, "run", "runs"))
	for _, j := range few {
		if j.foretold() {
			t := j.evidence.Foretold
			reach := t.Reach(suspectLevel, j.noise())
			share := math.Abs(reach / j.evidence.Expected)
			switch {
			case j.metric.Odds:
				return fmt.Sprintf("%s, and may have %.1f times as many bad frames, as it is unlike in %s", text, math.Exp(reach), strings.Join(t.Unlike, ", "))
			case j.scale.Multiplies():
				share = math.Expm1(reach)
			case j.metric.Ratio:
				return fmt.Sprintf("%s, and may differ by %.0f points in %s, as it is unlike in %s", text, 100*reach, j.metric.Title, strings.Join(t.Unlike, ", "))
			}
			return fmt.Sprintf("%s, and may differ by %.0f %% in %s, as it is unlike in %s", text, 100*share, j.metric.Title, strings.Join(t.Unlike, ", "))
		}
	}
	return text
}

// setting is how we measured, where a run's context differs from that of accepted runs in
// nothing else: it costs time, so that the two are judged apart.
type setting struct {
	now, before string // values of keep, "" for none
	runs        int    // accepted ones that were measured as before; 0: there is no such setting
}

// recordedAs is the property by which runs are told apart that were recorded.
const recordedAs = "recorded"

// settingOf looks for accepted runs of the very same context but for recording.
func settingOf(p gate.Policy, own devctx.Properties, refs []run.Summary) (s setting) {
	plain := func(of devctx.Properties) devctx.Properties {
		out := maps.Clone(devctx.Telling(of, p.Use))
		delete(out, recordedAs)
		return out
	}
	now, its := devctx.Only(own, p.Use)[recordedAs], plain(own)
	for _, r := range refs {
		before := devctx.Only(r.Context, p.Use)[recordedAs]
		switch {
		case before == now && maps.Equal(plain(r.Context), its):
			return setting{} // there are some to be compared with
		case before != now && maps.Equal(plain(r.Context), its):
			s = setting{now, before, s.runs + 1}
		}
	}
	return s
}

// describe names the setting, its old value and its new one.
func (s setting) describe() string {
	runs := fmt.Sprintf("the %d accepted %s of this device", s.runs, prose.Plural(s.runs, "run", "runs"))
	if s.now == "" {
		return fmt.Sprintf("%s %s recorded (evidence.keep was not none), and this run was not: recording takes time, so that the two are judged apart", runs, prose.Plural(s.runs, "was", "were"))
	}
	return fmt.Sprintf("this run was recorded (evidence.keep), and %s %s not (evidence.keep was none): recording takes time, so that the two are judged apart", runs, prose.Plural(s.runs, "was", "were"))
}

// hint says what to do about it.
func (s setting) hint() string {
	if s.now == "" {
		return "set evidence.keep back to what it was, such as worst"
	}
	return "set evidence.keep back to none: a regression is explained without it, by rounds of both builds that are recorded after the verdict (apkgate run --base OLD.apk)"
}
