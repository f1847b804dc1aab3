package layout

import (
	"fmt"
	"io"
	"math"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/drift"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/words"
	"github.com/apkgate/apkgate/run"
)

// RefreshFormat is the format and version of what a refresh of the baseline
// prints as JSON (docs/format/refresh.md).
const RefreshFormat = "apkgate.refresh/1"

// Refresh is what a refresh of the baseline did, and how it drifts.
type Refresh struct {
	Format  string       `json:"format"`
	Verdict gate.Outcome `json:"verdict"` // the gate's, on the new runs
	// Accepted are the ids of the new runs that count from now on, Refused those
	// that were kept and do not, with the reason.
	Accepted []string      `json:"accepted"`
	Refused  []Refusal     `json:"refused"`
	Drift    []drift.Line  `json:"drift"`
	Warnings []run.Warning `json:"warnings"`
	// Simulated says that the devices were.
	Simulated bool `json:"simulated,omitempty"`
}

// Refusal is a run that was not accepted.
type Refusal struct {
	ID      string       `json:"id"`
	Verdict gate.Outcome `json:"verdict"`
	Reason  string       `json:"reason"`
}

// RefreshInput is what a report on a refresh is made of.
type RefreshInput struct {
	Refresh   Refresh
	Catalogue *metric.Catalogue // nil is the built-in one
	Notes     []string
	Hint      string
	Version   string
}

// RefreshJSON writes the refresh as apkgate.refresh/1.
func RefreshJSON(w io.Writer, r Refresh) error {
	r.Format = RefreshFormat
	fill(&r.Accepted)
	fill(&r.Refused)
	fill(&r.Drift)
	fill(&r.Warnings)
	return writeJSON(w, r, "refresh")
}

// RefreshSheet lays out a refresh of the baseline.
func RefreshSheet(in RefreshInput) Sheet {
	r := in.Refresh
	if in.Catalogue == nil {
		in.Catalogue = metric.Default()
	}
	s := Sheet{title: "Refresh of the baseline", outcome: r.Verdict, lead: refreshLead(r), hint: words.Sentence(in.Hint), footer: words.Name(in.Version)}
	for _, n := range in.Notes {
		s.notes = append(s.notes, words.Sentence(n))
	}
	for i, refusal := range r.Refused {
		if i == textRuns {
			s.facts = append(s.facts, fact{"Refused", fmt.Sprintf("and %d more", len(r.Refused)-i)})
			break
		}
		s.facts = append(s.facts, fact{"Refused", words.Name(refusal.ID) + ": " + words.Sentence(refusal.Reason)})
	}
	for _, line := range r.Drift {
		if line.Context == nil && line.Direction == gate.ToRegression {
			s.facts = append(s.facts, fact{"Creeps", in.creeping(line)})
		}
	}
	s.tables = in.driftTables()
	for _, w := range r.Warnings[:min(len(r.Warnings), pageWarnings)] {
		s.warnings = append(s.warnings, words.Sentence(w.String()))
	}
	return s
}

func refreshLead(r Refresh) string {
	accepted := words.Count(len(r.Accepted), "run", "runs") + " accepted"
	if len(r.Refused) == 0 {
		return accepted
	}
	return accepted + ", " + words.Count(len(r.Refused), "run", "runs") + " refused"
}

// creeping says a creep in a sentence.
func (in RefreshInput) creeping(l drift.Line) string {
	m, _ := in.Catalogue.Lookup(l.Metric)
	c := l.Creep
	return fmt.Sprintf("%s: %s moved by %s over %s (interval %s, p %s), which no single step need show",
		words.Name(l.Scenario), words.Name(m.Title), words.Shift(m, c.Shift, c.Change), words.Count(c.Runs, "run", "runs"), driftInterval(m, *c), words.P(l.P))
}

// driftInterval is the interval of a change, "–" where there is none.
func driftInterval(m metric.Metric, s drift.Shift) string {
	if s.Low == nil || s.High == nil {
		return "–"
	}
	from := math.Abs(s.From)
	return words.FromTo(words.Shift(m, *s.Low*from, *s.Low), words.Shift(m, *s.High*from, *s.High))
}

func (in RefreshInput) driftTables() []sheetTable {
	columns := []string{"What", "Now", "Since the last", "Since all", "Trend", "Interval", "p", "Status"}
	spare := []string{"p", "Interval", "Now", "Since the last"}
	together := sheetTable{
		title: "Drift", columns: columns, spare: spare,
		note: "Since the last refresh, since all runs accepted before, and the change by the trend from the first run to the newest with its interval.",
	}
	each := sheetTable{title: "Drift of each device", columns: columns, spare: spare, folded: true}
	for _, l := range in.Refresh.Drift {
		into := &together
		if l.Context != nil {
			into = &each
		}
		into.add(l.Direction, in.driftCells(l)...)
	}
	return []sheetTable{together, each}
}

func (in RefreshInput) driftCells(l drift.Line) []string {
	m, _ := in.Catalogue.Lookup(l.Metric)
	what := words.Brief(l.Scenario) + ": " + words.Brief(m.Title)
	if l.Context != nil {
		what += " on " + words.Clip(words.Context(l.Context), 60)
	}
	cell := func(s *drift.Shift) string {
		switch {
		case s == nil:
			return "–"
		case s.Low == nil || s.High == nil:
			return words.Shift(m, s.Shift, s.Change)
		}
		return words.Shift(m, s.Shift, s.Change) + " (" + driftInterval(m, *s) + ")"
	}
	trend, interval := "–", "–"
	if l.Creep != nil {
		trend, interval = words.Shift(m, l.Creep.Shift, l.Creep.Change), driftInterval(m, *l.Creep)
	}
	status := map[gate.Direction]string{gate.ToRegression: "creeps", gate.ToImprovement: "improves"}[l.Direction]
	if status == "" {
		status = "stands still"
	}
	return []string{what, words.Value(m, l.Now), cell(l.SinceLast), cell(l.SinceAll), trend, interval, words.P(l.P), status}
}
