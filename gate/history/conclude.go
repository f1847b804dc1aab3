package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

func (c *check) verdict() gate.RunVerdict {
	c.warnUnmatched()
	c.warnApart()
	v := gate.RunVerdict{
		ID: c.run.ID, App: c.run.App, Scenario: c.run.Scenario, Context: c.run.Context,
		Comparisons: c.done, Reference: c.seen.List, Warnings: c.warnings,
		ReferenceTotal: c.seen.Total, Work: c.work,
	}
	if v.Comparisons == nil {
		v.Comparisons = []gate.Comparison{}
	}
	if v.Warnings == nil {
		v.Warnings = []run.Warning{}
	}
	v.Deviations, v.Labels = gate.Deviations(c.done), gate.Labels(c.done)
	c.conclude(&v)
	return v
}

// conclude sets the verdict with its reason and hint.
func (c *check) conclude(v *gate.RunVerdict) {
	counts := map[gate.Direction]int{}
	for _, d := range v.Deviations {
		counts[d.Direction]++
	}
	n := c.seen.Total
	v.Missing = c.missing()
	most, few := c.tooFew()
	switch {
	case c.invalid:
		v.Verdict = gate.Invalid
		v.Reason = gate.DescribeIncomplete(c.run)
		v.Hint = "fix what ended it, and measure again: an incomplete run is never accepted"
	case counts[gate.ToRegression] > 0:
		v.Verdict = gate.Regression
		v.Reason = c.describe(v.Deviations[0])
	case n == 0 && c.beside > 0:
		v.Verdict = gate.Inconclusive
		v.Reason = fmt.Sprintf("there is no accepted run of %s, scenario %q, to compare with, except those of this run's own session, which are no independent evidence", c.run.App.Package, c.run.Scenario)
		v.Hint = "compare with runs of other sessions; where --session is given, it names what is measured at one time"
	case n == 0:
		v.Verdict = gate.Inconclusive
		v.Reason = fmt.Sprintf("there is no accepted run of %s, scenario %q, to compare with", c.run.App.Package, c.run.Scenario)
		v.Hint = c.accept("the first of its history", "the first of their history")
	case len(c.done) == 0:
		v.Verdict = gate.Inconclusive
		v.Reason = "the run has no metric that this policy judges"
		v.Hint = "see gate.metrics in apkgate.yml"
	case c.compared() == 0:
		v.Verdict = gate.Inconclusive
		v.Reason = fmt.Sprintf("no metric of this run is in the %d accepted %s that it is compared with", n, prose.Plural(n, "run", "runs"))
		if len(c.incomparable) > 0 && len(c.incomparable[0].there) > 0 {
			v.Reason += ": " + c.incomparable[0].describe(c.catalogue)
		}
		v.Hint = c.accept("the first that has its metrics", "the first that have their metrics")
	case counts[gate.Suspect] > 0:
		v.Verdict = gate.Inconclusive
		v.Reason = "perhaps worse: " + c.describe(v.Deviations[0])
		v.Hint = c.settlingHint()
	case len(c.lost) > 0:
		v.Verdict = gate.Inconclusive
		v.Reason = c.lost[0].String()
		v.Hint = "find out why, and measure again; leave a metric that this run need not have out of gate.metrics in apkgate.yml"
	case c.lackedFrames != "":
		v.Verdict = gate.Inconclusive
		v.Reason = c.lackedFrames
		v.Hint = "check whether the measurement was cut short; if the app is meant to draw less, accept the run"
	case c.lackedEvents != "":
		v.Verdict = gate.Inconclusive
		v.Reason = c.lackedEvents
		v.Hint = "find out why, and measure again; if the app is meant to do without it, accept the run"
	case c.policy.Preset == gate.PresetDune && n < c.policy.MinHistory:
		v.Verdict = gate.Inconclusive
		v.Reason = fmt.Sprintf("the history has %d accepted %s of this scenario, and %d are needed to tell a change from noise", n, prose.Plural(n, "run", "runs"), c.policy.MinHistory)
		v.Hint = c.acceptMore(c.policy.MinHistory - n)
	case few:
		v.Verdict = gate.Inconclusive
		v.Reason = fmt.Sprintf("the clusters that this run is compared with have %d accepted %s, and min-history asks for %d", most, prose.Plural(most, "run", "runs"), c.policy.MinHistory)
		v.Hint = c.acceptMore(c.policy.MinHistory - most)
	case len(c.open()) > 0:
		v.Verdict = gate.Inconclusive
		v.Reason = c.describeOpen()
		v.Hint = c.settlingHint()
	case c.blind():
		v.Verdict = gate.Inconclusive
		v.Reason = fmt.Sprintf("%s, but no worsening of less than %.0f %% would have been seen", c.nothingDeviates(), 100*blindChange)
		v.Hint = c.settlingHint()
	case counts[gate.ToImprovement] > 0:
		v.Verdict = gate.Improvement
		v.Reason = c.describe(v.Deviations[0])
	default:
		v.Verdict = gate.Pass
		v.Reason = c.describePass()
	}
}

// accept returns the command that accepts the run, with all of its session where it has one, so
// that forty phones do not take forty commands.
func (c *check) accept(one, several string) string {
	if c.policy.Accepting != "" {
		return c.policy.Accepting
	}
	if s := c.run.Session; s != "" && strings.Trim(s, sessionLetters) == "" {
		return "accept the runs of this session as " + several + ": apkgate baseline accept --session " + s
	}
	return "accept this run as " + one + ": apkgate baseline accept " + c.run.ID
}

func (c *check) acceptMore(n int) string {
	if c.policy.Accepting != "" {
		return fmt.Sprintf("it takes %d more accepted %s: %s", n, prose.Plural(n, "run", "runs"), c.policy.Accepting)
	}
	return fmt.Sprintf("accept %d more", n)
}

// sessionLetters are the characters that need no quoting in any shell.
const sessionLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/"

// compared counts the comparisons for which the history has values.
func (c *check) compared() int {
	return len(c.done) - len(c.unmatched())
}

// unmatched returns the comparisons for which the history has no value.
func (c *check) unmatched() []gate.Comparison {
	return slices.DeleteFunc(slices.Clone(c.done), func(d gate.Comparison) bool { return d.N > 0 })
}

// warnUnmatched reports what of the run could not be compared.
func (c *check) warnUnmatched() {
	const listed = 5
	unmatched := c.unmatched()
	if len(unmatched) == len(c.done) {
		return
	}
	unmatched = slices.DeleteFunc(unmatched, func(d gate.Comparison) bool {
		return slices.ContainsFunc(c.incomparable, func(a incomparable) bool { return len(a.there) > 0 && slices.Contains(a.metrics, d.Metric) })
	})
	if len(unmatched) == 0 {
		return
	}
	var names []string
	for _, d := range unmatched[:min(len(unmatched), listed)] {
		name := d.Metric
		if d.Event != "" {
			name += fmt.Sprintf(" after %q", d.Event)
		}
		names = append(names, name)
	}
	if more := len(unmatched) - listed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	c.warnings = append(c.warnings, run.Warning{Text: "no accepted run that this one is compared with has " + strings.Join(names, ", ")})
}

// describe returns a sentence on a deviation: what changed, by how much, and how sure that is.
func (c *check) describe(d gate.Comparison) string {
	m, _ := c.catalogue.Lookup(d.Metric)
	return gate.Describe(d, m, 1-c.policy.Alpha) + c.unmeasured(d)
}
