package rounds

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/explain"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// Verdict returns the first verdict with its open comparisons decided by the rounds so far. Its
// rules are found again from the new outcomes.
func (t *Trial) Verdict() gate.Verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := t.first
	v.Runs = slices.Clone(v.Runs)
	level := t.level()
	ps := t.corrected(level)
	for _, at := range slices.Sorted(maps.Keys(t.places)) {
		t.decide(&v.Runs[at], t.places[at], level, ps)
	}
	explain.FindRules(&v, t.policy)
	v.Verdict = gate.Pass
	for _, r := range v.Runs {
		v.Verdict = gate.Graver(v.Verdict, r.Verdict)
	}
	return v
}

// decide decides one run's open comparisons, and the consequences for the run.
func (t *Trial) decide(r *gate.RunVerdict, p *place, level float64, ps map[*question]float64) {
	r.Comparisons = slices.Clone(r.Comparisons)
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if q := p.question(run.Cell{Event: c.Event, Metric: c.Metric}); q != nil {
			t.answer(c, q, p, level, ps[q])
		}
	}
	keepAfterEffects(r.Comparisons)
	r.Deviations, r.Labels = gate.Deviations(r.Comparisons), gate.Labels(r.Comparisons)
	r.Work = t.work(r.Work, p)
	r.Rounds = &gate.RoundsMeasured{
		Base: gate.RoundsBase{App: p.base.App, Source: p.base.Source}, Measured: p.measured, Most: t.plan.Most,
		Stopped: t.stopped(p), Repetitions: len(p.base.Iterations) + len(p.head.Iterations),
	}
	r.Missing = cmp.Or(r.Missing, p.missing, p.fewerFrames)
	t.conclude(r, p, level)
}

func (t *Trial) stopped(p *place) gate.Stopped {
	switch {
	case t.settled(p):
		return gate.StoppedSettled
	case p.lost != "":
		return gate.StoppedLost
	}
	return gate.StoppedBudget
}

// answer sets the result of the rounds for a comparison. Where none was measured, the history's
// result stays: a base build weakens no verdict. Where there were rounds without the number, a
// regression becomes a doubt.
func (t *Trial) answer(c *gate.Comparison, q *question, at *place, level, p float64) {
	s := q.at(level)
	x := q.paired(s.Rounds)
	if len(x.differences) == 0 {
		if c.Direction == gate.ToRegression && at.measured > 0 {
			c.Direction = gate.Suspect
		}
		return
	}
	ends := t.plan.ends(s.Rounds, t.plan.until(at.measured, at.ended))
	out := x.Result(ends)
	out.P, out.Outcome, out.Values = p, s.says, q.sideBySide(s.Rounds)
	if s.says == gate.RoundsUndecided {
		out.Enough = t.enough(q, x, level)
	}
	c.Rounds = &out
	c.Direction, c.Enough = gate.None, 0
	switch {
	case s.says == gate.RoundsWorse:
		c.Direction = gate.ToRegression
	case s.says == gate.RoundsUndecided && s.worsening >= q.minChange:
		c.Direction = gate.Suspect
	case s.worsening <= -q.minChange && x.better(Ends{Better: ends.Better, Worse: ends.Worse / float64(t.asked)}):
		c.Direction = gate.ToImprovement // of many questions some look better by chance
	}
}

// keepAfterEffects keeps only after-effects of an event that is still worse.
func keepAfterEffects(all []gate.Comparison) {
	worse := map[string]bool{}
	for _, c := range all {
		worse[c.Event] = worse[c.Event] || c.Direction == gate.ToRegression
	}
	for i := range all {
		if c := &all[i]; c.Direction != gate.ToRegression || !worse[c.AfterEffectOf] {
			c.AfterEffectOf = ""
		}
	}
}

// conclude sets the run's verdict with its reason and hint.
func (t *Trial) conclude(r *gate.RunVerdict, p *place, level float64) {
	open := openOf(r.Comparisons)
	gravest := gate.None
	if len(r.Deviations) > 0 {
		gravest = r.Deviations[0].Direction
	}
	r.Hint = ""
	switch {
	case gravest == gate.ToRegression:
		r.Verdict, r.Reason = gate.Regression, t.describe(r.Deviations[0])
		if p.measured == 0 {
			r.Reason, r.Hint = r.Reason+p.why(), t.settle(p, level)
		}
	case gravest == gate.Suspect:
		r.Verdict, r.Reason = gate.Inconclusive, "perhaps worse: "+t.describe(r.Deviations[0])+p.why()
		r.Hint = t.settle(p, level)
	case len(open) > 0 && p.measured == 0:
		r.Verdict, r.Reason = gate.Inconclusive, r.Reason+p.why()
		r.Hint = t.settle(p, level)
	case len(open) > 0:
		r.Verdict = gate.Inconclusive
		r.Reason = fmt.Sprintf("%d %s against the base build %s not exclude that %s%s", p.measured,
			prose.Plural(p.measured, "round", "rounds"), prose.Plural(p.measured, "does", "do"), t.gotWorse(open, p), p.why())
		r.Hint = t.settle(p, level)
	case r.Missing != "":
		r.Verdict, r.Reason = gate.Inconclusive, r.Missing
		r.Hint = "find out why, and measure again; leave a metric that this run need not have out of gate.metrics in apkgate.yml"
	case gravest == gate.ToImprovement:
		r.Verdict, r.Reason = gate.Improvement, t.describe(r.Deviations[0])
	default:
		r.Verdict, r.Reason = gate.Pass, t.describePass(*r, p)
	}
	for _, lost := range []string{p.missing, p.fewerFrames} {
		if lost != "" && r.Reason != lost {
			r.Warnings = append(slices.Clip(r.Warnings), run.Warning{Text: lost})
		}
	}
}

func (t *Trial) describe(c gate.Comparison) string {
	m, _ := t.catalogue.Lookup(c.Metric)
	return gate.Describe(c, m, 1-t.policy.Alpha)
}

// why reports what ended the rounds before they were settled.
func (p *place) why() string {
	switch {
	case p.lost != "":
		return "; the rounds ended early: " + p.lost
	case p.short > 0 && !math.IsInf(p.short, 1):
		return fmt.Sprintf("; about %.0f more minutes of rounds against the base build would settle it, and fewer were left", math.Ceil(p.short))
	case p.short > 0:
		return "; rounds against the base build are unlikely to settle it on this device"
	case p.measured == 0:
		return "; there was no time for a round against the base build"
	}
	return ""
}

// openOf returns the comparisons that the rounds left open, or did not include.
func openOf(all []gate.Comparison) []gate.Comparison {
	return slices.DeleteFunc(slices.Clone(all), func(c gate.Comparison) bool {
		if c.Rounds == nil {
			return c.Screen != gate.Open || c.Limit != nil
		}
		return c.Rounds.Outcome != gate.RoundsUndecided
	})
}

// gotWorse lists by how much which of the comparisons may have got worse: by the effect of each.
func (t *Trial) gotWorse(open []gate.Comparison, p *place) string {
	by := map[string][]gate.Comparison{}
	var order []string
	for _, c := range open {
		m, _ := t.catalogue.Lookup(c.Metric)
		words := gate.GotWorse(m, p.question(run.Cell{Event: c.Event, Metric: c.Metric}).effect)
		if by[words] == nil {
			order = append(order, words)
		}
		by[words] = append(by[words], c)
	}
	var clauses []string
	for _, words := range order {
		clauses = append(clauses, t.titles(by[words])+" "+words)
	}
	return strings.Join(clauses, ", or that ")
}

// question returns the place's question of a cell, or nil.
func (p *place) question(cell run.Cell) *question {
	at := slices.IndexFunc(p.questions, func(q *question) bool { return q.cell == cell })
	if at < 0 {
		return nil
	}
	return p.questions[at]
}

// titles lists those of the comparisons, each once.
func (t *Trial) titles(cs []gate.Comparison) string {
	cells := make([]run.Cell, len(cs))
	for i, c := range cs {
		cells[i] = run.Cell{Event: c.Event, Metric: c.Metric}
	}
	return gate.TitlesOf(cells, t.catalogue)
}

// describePass reports what a pass is worth: how much worse each may still be.
func (t *Trial) describePass(r gate.RunVerdict, p *place) string {
	const listed = 3
	var bounds []string
	for _, c := range r.Comparisons {
		if c.Rounds != nil {
			bounds = append(bounds, t.bound(c))
		}
	}
	if more := len(bounds) - listed; more > 0 {
		bounds = append(bounds[:listed], fmt.Sprintf("and %d more", more))
	}
	n := len(r.Comparisons)
	return fmt.Sprintf("nothing got worse in %d %s: in %d rounds against the base build %s", n,
		prose.Plural(n, "comparison", "comparisons"), p.measured, strings.Join(bounds, ", "))
}

// bound reports by how much a comparison is worse at most, by the rounds.
func (t *Trial) bound(c gate.Comparison) string {
	m, _ := t.catalogue.Lookup(c.Metric)
	name, r := m.Title, c.Rounds
	if c.Event != "" {
		name += " after " + c.Event
	}
	shift, share := r.ShiftHigh, r.ChangeHigh
	if m.Direction == metric.HigherIsBetter {
		shift, share = r.ShiftLow, r.ChangeLow
	}
	switch {
	case shift == nil:
		return fmt.Sprintf("%s %s (base %s)", name, m.Format(r.Head), m.Format(r.Base))
	case m.Signed || r.Base == 0:
		return fmt.Sprintf("%s changed by %s at most", name, gate.Signed(m, *shift))
	case m.Odds:
		worse := math.Exp(m.Step(max(0, gate.Worsening(m, r.Base, *shift, *share))))
		return fmt.Sprintf("%s has %.3g times as many bad frames at most", name, worse)
	case m.Ratio:
		return fmt.Sprintf("%s got worse by %.1f points at most", name, 100*max(0, gate.Worsening(m, r.Base, *shift, *share)))
	}
	m.Span = 0 // in its own terms
	return fmt.Sprintf("%s got worse by %.1f %% at most", name, 100*max(0, gate.Worsening(m, r.Base, *shift, *share)))
}
