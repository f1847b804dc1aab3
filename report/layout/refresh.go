package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
)

// RefreshInput is the input of a report on a refresh.
type RefreshInput struct {
	Refresh   saved.Refresh
	Catalogue *metric.Catalogue // nil is the built-in one
	Notes     []string
	Hint      string
	Version   string
	// Judged is the verdict on the new runs, with what is worse in them and the files that were
	// kept with them; nil where it was not kept.
	Judged *Input
}

// Refresh lays out a refresh of the baseline.
func Refresh(in RefreshInput) document.Document {
	r := in.Refresh
	if in.Catalogue == nil {
		in.Catalogue = metric.Default()
	}
	d := document.Document{
		Title: "Refresh of the baseline", Notes: notes(in.Notes),
		Answer:   document.Answer{Outcome: document.Outcome(r.Outcome()), Word: OutcomeWord(r.Outcome()), Lead: refreshLead(r)},
		Sections: in.driftTables(), Warnings: warnings(r.Warnings[:min(len(r.Warnings), maxWarnings)], document.Room{Open: 10}),
		Footer: wording.Name(in.Version), Version: wording.Name(in.Version), Data: saved.OfRefresh(r), Kind: "refresh",
		Unlisted: "a saved refresh does not hold the findings that SARIF lists",
	}
	for i, refusal := range r.Refused {
		if i == maxRefused {
			d.Facts = append(d.Facts, document.Fact{Label: "Refused", Text: fmt.Sprintf("and %d more", len(r.Refused)-i)})
			break
		}
		d.Facts = append(d.Facts, document.Fact{Label: "Refused", Text: in.named(refusal.ID) + ": " + wording.Sentence(refusal.Reason)})
	}
	for _, line := range r.Drift {
		if line.Direction == gate.ToRegression && (line.Context == nil || !in.creepsTogether(line)) {
			d.Facts = append(d.Facts, document.Fact{Label: "Creeps", Text: in.creeping(line)})
		}
	}
	if in.Hint != "" {
		d.Facts = append(d.Facts, document.Fact{Label: "Next", Text: wording.Sentence(in.Hint)})
	}
	if in.Judged != nil {
		d.Sections = append(d.Sections, keptSection(*in.Judged))
		why := explainedRuns(*in.Judged)
		d.Unlisted, d.Problems = "", append(problems(*in.Judged, findings(in.Judged.Verdict, in.Catalogue), why), why.Problems()...)
		d.Rules = rulesOf(d.Problems, in.Catalogue, "the history of accepted runs")
	}
	return d
}

// named names a run by its device, where that is known, and its id.
func (in RefreshInput) named(id string) string {
	if in.Judged != nil {
		for _, r := range in.Judged.Verdict.Runs {
			if r.ID == id {
				return device(r) + " (" + wording.Name(id) + ")"
			}
		}
	}
	return wording.Name(id)
}

// maxRefused limits the rejected runs that are listed.
const maxRefused = 10

func refreshLead(r saved.Refresh) string {
	lead := prose.Count(len(r.Accepted), "run", "runs") + " accepted"
	if len(r.Refused) > 0 {
		lead += ", " + prose.Count(len(r.Refused), "run", "runs") + " refused"
	}
	if r.DriftFails {
		lead += ", and the history creeps for the worse"
	}
	if r.Lost != "" {
		lead += "; " + strings.TrimSuffix(wording.Sentence(r.Lost), ".")
	}
	return lead
}

// creepsTogether reports whether the metric of a single context also drifts in all contexts
// together, where it is reported.
func (in RefreshInput) creepsTogether(l drift.Line) bool {
	return slices.ContainsFunc(in.Refresh.Drift, func(o drift.Line) bool {
		return o.Context == nil && o.Scenario == l.Scenario && o.Metric == l.Metric && o.Direction == l.Direction
	})
}

// creeping describes a drift in a sentence.
func (in RefreshInput) creeping(l drift.Line) string {
	m, _ := in.Catalogue.Lookup(l.Metric)
	return Creeping(m, l)
}

// Creeping describes a metric's drift in a sentence.
func Creeping(m metric.Metric, l drift.Line) string {
	c, where := l.Creep, ""
	if l.Context != nil {
		where = " on " + prose.Clip(wording.Context(l.Context), 60)
	}
	return fmt.Sprintf("%s: %s%s moved by %s within the quarter (%s, interval %s, p %s), which no single refresh need show",
		wording.Name(l.Scenario), wording.Name(m.Title), where, wording.Shift(m, c.Shift, c.Change), prose.Count(c.Runs, "run", "runs"), driftInterval(m, *c), wording.P(l.P))
}

// driftInterval returns the interval of a change, "–" where there is none.
func driftInterval(m metric.Metric, s drift.Shift) string {
	if s.Low == nil || s.High == nil {
		return "–"
	}
	from := math.Abs(s.From)
	return wording.FromTo(wording.Shift(m, *s.Low*from, *s.Low), wording.Shift(m, *s.High*from, *s.High))
}

func (in RefreshInput) driftTables() []document.Section {
	table := func() *document.Table {
		return rowsTable([]string{"p", "Interval", "Now", "Since the last"}, "What", "Now", "Since the last", "Since all", "Trend", "Interval", "p", "Status")
	}
	together, each := table(), table()
	together.Note = "Since the last refresh, since all runs accepted before, and the change by the trend within the quarter with its interval."
	for _, l := range in.Refresh.Drift {
		into := together
		if l.Context != nil {
			into = each
		}
		into.Add(maxRows, causes.ToneOf(l.Direction), in.driftCells(l)...)
	}
	return []document.Section{
		{Title: document.Everywhere("Drift"), Body: together},
		{Title: document.Everywhere("Drift of each device"), Folded: true, Body: each},
	}
}

func (in RefreshInput) driftCells(l drift.Line) []string {
	m, _ := in.Catalogue.Lookup(l.Metric)
	what := wording.Brief(l.Scenario) + ": " + wording.Brief(m.Title)
	if l.Context != nil {
		what += " on " + prose.Clip(wording.Context(l.Context), 60)
	}
	cell := func(s *drift.Shift) string {
		switch {
		case s == nil:
			return "–"
		case s.Low == nil || s.High == nil:
			return wording.Shift(m, s.Shift, s.Change)
		}
		return wording.Shift(m, s.Shift, s.Change) + " (" + driftInterval(m, *s) + ")"
	}
	trend, interval := "–", "–"
	if l.Creep != nil {
		trend, interval = wording.Shift(m, l.Creep.Shift, l.Creep.Change), driftInterval(m, *l.Creep)
	}
	status := map[gate.Direction]string{gate.ToRegression: "creeps", gate.ToImprovement: "improves"}[l.Direction]
	if status == "" {
		status = "stands still"
	}
	return []string{what, wording.Value(m, l.Now), cell(l.SinceLast), cell(l.SinceAll), trend, interval, wording.P(l.P), status}
}
