package history

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/past"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/run"
)

// blindChange is the least worsening that a pass may overlook: where nothing
// below it would have been seen, nothing was looked at.
const blindChange = 0.5

// whole are the judgements of the whole run that have a history, or where there
// are none, those of its events.
func (c *check) whole() []*judgement {
	var whole, events []*judgement
	for _, j := range c.judged {
		switch {
		case j.evidence.Kind == past.Nothing:
		case j.Event == "":
			whole = append(whole, j)
		default:
			events = append(events, j)
		}
	}
	if len(whole) > 0 {
		return whole
	}
	return events
}

// thin reports that the run's own context has too few runs for every judgement, and
// that no other has enough to show how much runs of one phone differ.
func (c *check) thin() bool {
	for _, j := range c.whole() {
		if !j.thin() && !j.evidence.OfKin {
			return false
		}
	}
	return true
}

// blind reports that no judgement would have seen a worsening of less than
// blindChange. Of what never was (no ANR before) there are no shares: any of it
// is seen.
func (c *check) blind() bool {
	for _, j := range c.whole() {
		if j.Expected == 0 || (j.Detectable > 0 && j.Detectable < blindChange) {
			return false
		}
	}
	return true
}

func (c *check) nothingDeviates() string {
	return fmt.Sprintf("nothing deviates in %d %s", c.compared(), words.Plural(c.compared(), "comparison", "comparisons"))
}

// describePass says what a pass is worth: the least worsening of the whole run
// that would have been called a regression.
func (c *check) describePass() string {
	var seen []string
	for _, d := range c.done {
		if d.Event == "" && d.Detectable > 0 {
			m, _ := c.catalogue.Lookup(d.Metric)
			seen = append(seen, fmt.Sprintf("%s by %.0f %%", m.Title, 100*d.Detectable))
		}
	}
	text := c.nothingDeviates()
	if len(seen) > 0 {
		text += "; a worsening would have been seen of " + strings.Join(seen, ", ")
	}
	return text
}

// unsaid is what a verdict without a regression has to add: that of some metrics
// it says nothing, or has too few comparable runs to say much.
func (c *check) unsaid() string {
	var text strings.Builder
	for _, a := range c.apart {
		fmt.Fprintf(&text, "; %s has no comparable history", gate.Titles(a.metrics, c.catalogue))
	}
	for _, limit := range c.limits() {
		text.WriteString("; " + limit)
	}
	return text.String()
}

// limits are how little the history tells of this run, each in a clause.
func (c *check) limits() []string {
	var out []string
	if c.policy.Preset == gate.PresetDune {
		return nil
	}
	if !c.seen.Own {
		out = append(out, "this context was never measured")
	}
	for _, j := range c.whole() {
		n := j.evidence.N
		switch {
		case j.evidence.Kind == past.EveryContext && n < c.policy.LeastRuns():
			out = append(out, fmt.Sprintf("%s has %d comparable %s of the %d that are needed", j.metric.Title, n, words.Plural(n, "run", "runs"), c.policy.LeastRuns()))
		case j.Expected != 0 && j.Detectable == 0:
			out = append(out, fmt.Sprintf("no worsening of %s would have been seen", j.metric.Title))
		}
	}
	return out
}

// warnLimits says so beside a verdict that may pass for more than it is.
func (c *check) warnLimits(v *gate.RunVerdict) {
	if v.Verdict == gate.Pass || v.Verdict == gate.Improvement {
		for _, limit := range c.limits() {
			v.Warnings = append(v.Warnings, run.Warning{Text: limit})
		}
	}
}
