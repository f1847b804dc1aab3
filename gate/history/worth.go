package history

import (
	"fmt"
	"maps"
	"slices"
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
// blindChange. Of what never was (no ANR before), or may be below zero, there are no
// shares: any of it is seen.
func (c *check) blind() bool {
	for _, j := range c.whole() {
		if j.Expected == 0 || j.metric.Signed || (j.Detectable > 0 && j.Detectable < blindChange) {
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
		fmt.Fprintf(&text, "; %s %s no comparable history", gate.Titles(a.metrics, c.catalogue), have(a.metrics))
	}
	for _, l := range c.limits() {
		text.WriteString("; " + l.text)
	}
	return text.String()
}

// limit is how little the history tells of this run, in a clause.
type limit struct {
	text    string
	metrics []string // that it is of
}

// limits are all of them.
func (c *check) limits() []limit {
	var out []limit
	if c.policy.Preset == gate.PresetDune {
		return nil
	}
	if !c.seen.Own {
		out = append(out, limit{text: "this context was never measured"})
	}
	few := map[int][]string{} // by the number of comparable runs
	for _, j := range c.whole() {
		n := j.evidence.N
		switch {
		case j.evidence.Kind == past.EveryContext && n < c.policy.LeastRuns():
			if !slices.Contains(few[n], j.Metric) {
				few[n] = append(few[n], j.Metric)
			}
		case j.Expected != 0 && j.Detectable == 0 && !j.metric.Signed:
			out = append(out, limit{"no worsening of " + j.metric.Title + " would have been seen", []string{j.Metric}})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(few)) {
		out = append(out, limit{fmt.Sprintf("%s %s %d comparable %s of the %d that are needed",
			gate.Titles(few[n], c.catalogue), have(few[n]), n, words.Plural(n, "run", "runs"), c.policy.LeastRuns()), few[n]})
	}
	return out
}

// warnLimits says so beside a verdict that may pass for more than it is, unless it was
// said how many runs are missing.
func (c *check) warnLimits(v *gate.RunVerdict) {
	if v.Verdict != gate.Pass && v.Verdict != gate.Improvement {
		return
	}
	for _, l := range c.limits() {
		if len(l.metrics) == 0 || !c.rebuilds(l.metrics) {
			v.Warnings = append(v.Warnings, run.Warning{Text: l.text})
		}
	}
}
