package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

// blindChange is the largest worsening that a pass may overlook: a run that would not have shown
// less must not pass.
const blindChange = 0.25

// whole returns the judgements of the whole run that have a history, or if there are none, those of
// its events.
func (c *check) whole() []*judgement {
	var whole, events []*judgement
	for _, j := range c.judged {
		switch {
		case j.evidence.N == 0 || j.metric.Exact:
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

// blind reports that no judgement would have shown a worsening of less than blindChange. A number
// that was always zero (no ANR before), or may be below zero, has no shares: any worsening shows.
func (c *check) blind() bool {
	all := c.whole()
	for _, j := range all {
		if j.Expected == 0 || j.metric.Signed || j.metric.Mean || (j.Detectable > 0 && j.asOfMean() < blindChange) {
			return false
		}
	}
	return len(all) > 0
}

// asOfMean returns the detectable worsening as the share of a mean that matters as much.
func (j *judgement) asOfMean() float64 { return seenOf(j.metric, j.Expected, j.Detectable) }

func seenOf(m metric.Metric, expected, detectable float64) float64 {
	if m.Direction == metric.HigherIsBetter {
		detectable = -detectable
	}
	return gate.Worsening(m, expected, detectable*math.Abs(expected), detectable)
}

func (c *check) nothingDeviates() string {
	return fmt.Sprintf("nothing deviates in %d %s", c.compared(), prose.Plural(c.compared(), "comparison", "comparisons"))
}

// describePass reports what a pass is worth: the worsening of the whole run that nine of ten builds
// would have shown.
func (c *check) describePass() string {
	var seen []string
	for _, d := range c.done {
		if d.Event == "" && d.Detectable > 0 {
			m, _ := c.catalogue.Lookup(d.Metric)
			by := fmt.Sprintf("by %.0f %%", 100*d.Detectable)
			if m.Odds {
				by = fmt.Sprintf("to %.2g times as many bad frames", math.Exp(m.Step(seenOf(m, d.Expected, d.Detectable))))
			}
			seen = append(seen, m.Title+" "+by)
		}
	}
	text := c.nothingDeviates()
	if len(seen) > 0 {
		text += "; a worsening would have been seen of " + strings.Join(seen, ", ")
	}
	return text
}

// open returns the judgements that the history can't clear.
func (c *check) open() []*judgement {
	return slices.DeleteFunc(slices.Clone(c.judged), func(j *judgement) bool { return j.Screen != gate.Open })
}

// describeOpen reports what the history can't decide: first where noise may hide a worsening, then
// where it is too short.
func (c *check) describeOpen() string {
	open := c.open()
	noisy := slices.DeleteFunc(slices.Clone(open), func(j *judgement) bool { return !j.enough(c.policy) && !j.enoughWithOthers(c.policy) })
	few := slices.DeleteFunc(slices.Clone(open), func(j *judgement) bool {
		return j.enough(c.policy) || j.enoughWithOthers(c.policy) || j.evidence.N == 0
	})
	var clauses []string
	if len(noisy) > 0 {
		clauses = append(clauses, c.describeNoisy(noisy))
	}
	if len(few) > 0 {
		clauses = append(clauses, c.describeFew(few))
	}
	if len(noisy)+len(few) == 0 { // new, along with cleared ones
		clauses = append(clauses, fmt.Sprintf("%s %s no comparable history", gate.TitlesOf(cellsOf(open), c.catalogue), have(metricsOf(open))))
	}
	for _, a := range c.incomparable {
		clauses = append(clauses, fmt.Sprintf("%s %s no comparable history", gate.Titles(a.metrics, c.catalogue), have(a.metrics)))
	}
	return strings.Join(slices.Compact(clauses), "; ")
}

// describeNoisy reports how likely a worsening stays hidden in the number that may hide the most.
func (c *check) describeNoisy(noisy []*judgement) string {
	worst := slices.MaxFunc(noisy, func(a, b *judgement) int {
		if *a.Missed < *b.Missed {
			return -1
		}
		return 1
	})
	gotWorse := gate.GotWorse(worst.metric, worst.share)
	switch {
	case worst.metric.Mean:
		gotWorse = fmt.Sprintf("got worse by %.0f in a run", math.Ceil(worst.moreEvents()))
	case worst.metric.Signed:
		gotWorse = "got worse by " + worst.metric.Format(worst.share*20*worst.metric.Resolution)
	}
	text := worst.metric.Title
	if worst.Event != "" {
		text += " after " + worst.Event
	}
	text = fmt.Sprintf("too noisy to exclude that %s %s (risk of missing it: %.0f %%)", text, gotWorse, max(100**worst.Missed, 1))
	if more := len(noisy) - 1; more > 0 {
		text += fmt.Sprintf("; the same for %d more of %d %s", more, len(c.judged), prose.Plural(len(c.judged), "comparison", "comparisons"))
	}
	return text
}

// describeFew reports how many runs the history has, and how many are needed: sessions, where
// several runs are of one.
func (c *check) describeFew(few []*judgement) string {
	own := few[0].evidence.Own
	alike := !slices.ContainsFunc(c.judged, func(j *judgement) bool { return j.evidence.Own != own })
	least := c.policy.LeastRuns()
	runs, sessions := c.seen.OwnRuns, c.seen.OwnSessions
	one, many, needed := "run", "runs", fmt.Sprintf("%d are needed to tell a change from noise", least)
	if sessions < runs {
		one, many, needed = "session", "sessions", fmt.Sprintf("%d sessions are needed to tell a change from noise", least)
	}
	switch {
	case !c.seen.Own:
		return c.describePredicted(few)
	case alike && few[0].Since != "":
		return fmt.Sprintf("the level of this context changed with run %s: the history has %d accepted %s since, and %s", few[0].Since, own, prose.Plural(own, one, many), needed)
	case alike && sessions < runs && own == sessions:
		return fmt.Sprintf("the history has %d accepted runs of %d %s in this context, and %s", runs, own, prose.Plural(own, one, many), needed)
	case alike:
		return fmt.Sprintf("the history has %d accepted %s in this context, and %s", own, prose.Plural(own, one, many), needed)
	}
	var parts []string
	for n := range least {
		js := slices.DeleteFunc(slices.Clone(few), func(j *judgement) bool { return j.evidence.Own != n })
		of, titles := metricsOf(js), gate.TitlesOf(cellsOf(js), c.catalogue)
		switch {
		case len(of) == 0:
		case n == 0:
			parts = append(parts, fmt.Sprintf("%s %s no comparable run of this context", titles, have(of)))
		default:
			parts = append(parts, fmt.Sprintf("%s %s %d comparable %s of the %d that are needed", titles, have(of), n, prose.Plural(n, one, many), least))
		}
	}
	return strings.Join(parts, "; ")
}

func cellsOf(js []*judgement) []run.Cell {
	cells := make([]run.Cell, len(js))
	for i, j := range js {
		cells[i] = run.Cell{Event: j.Event, Metric: j.Metric}
	}
	return cells
}

// metricsOf returns the names of the judgements' metrics, each once.
func metricsOf(js []*judgement) []string {
	var names []string
	for _, j := range js {
		if !slices.Contains(names, j.Metric) {
			names = append(names, j.Metric)
		}
	}
	return names
}

// settlingHint returns what would settle the undecided comparisons.
func (c *check) settlingHint() string {
	inTurns := cmp.Or(c.policy.Settling, "measure it against the base build: apkgate run --base OLD.apk; runs made elsewhere: apkgate compare --base-run OLD.jsonl --head-run NEW.jsonl")
	missing := 0
	for _, j := range c.open() {
		if j.evidence.N > 0 {
			missing = max(missing, c.policy.LeastRuns()-j.evidence.Own)
		}
	}
	first := ""
	if c.setting.runs > 0 {
		first = c.setting.hint() + ", or "
	}
	if missing > 0 {
		return first + c.acceptMore(missing) + ", or " + inTurns
	}
	return first + inTurns
}
