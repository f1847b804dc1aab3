package layout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
)

// ComparisonInput is the input of a report on two builds. Only Verdict is required.
type ComparisonInput struct {
	Verdict sidebyside.Verdict
	// Energy is where the energy of the head's runs went compared with the base's; empty where none
	// was measured.
	Energy []hotspots.Change
	// Causes are the other causes of the findings, of any kind. CausesTotal counts them, including
	// those of energy, where some were left out when they were saved.
	Causes      []diagnose.Cause
	CausesTotal int
	// Catalogue has the units and titles; nil is the built-in one.
	Catalogue *metric.Catalogue
	// Notes are shown near the top, such as "The devices are simulated."
	Notes []string
	// Why is as in Input.
	Why string
	// Version is the version of apkgate that made the report.
	Version string
}

// Comparison lays out a comparison of two builds.
func Comparison(in ComparisonInput) document.Document {
	v := in.Verdict
	if in.Catalogue == nil {
		in.Catalogue = metric.Default()
	}
	d := document.Document{
		Title: "base " + buildTitle(v.Base) + ", head " + buildTitle(v.Head), Notes: notes(in.Notes), Checked: abCounts(v),
		Answer: abAnswer(v),
		Checks: abChecks(in), Screen: screen,
		Warnings: warnings(v.Warnings[:min(len(v.Warnings), maxWarnings)], document.Room{Open: 10}),
		Footer:   wording.Name(in.Version), Version: wording.Name(in.Version), Kind: "comparison",
	}
	why := explainedBuilds(in)
	if i := slices.IndexFunc(v.Scenarios, func(s sidebyside.Scenario) bool { return s.Verdict == v.Verdict }); i >= 0 {
		if worst := v.Scenarios[i].Deviations(); len(worst) > 0 {
			why.About(v.Scenarios[i].Scenario, worst[0].Event)
		}
	}
	d.Facts = in.facts(why)
	drawings := abDrawings(v)
	var folded []document.Section
	for _, scenario := range v.Scenarios {
		tables := in.tables(scenario)
		linkRows(tables, scenario, drawings)
		d.Sections, folded = append(d.Sections, tables[:unfoldedTables]...), append(folded, tables[unfoldedTables:]...)
	}
	d.Sections = append(d.Sections, why.Groups()...)
	d.Sections = append(append(d.Sections, in.rounds(drawings)), folded...)
	d.Chart = in.charted(drawings)
	d.Problems = append(worseIn(in, why), why.Problems()...)
	d.Rules = rulesOf(d.Problems, in.Catalogue, "the base build")
	d.Data = saved.OfComparison(v, why.energy, why.causes(), in.CausesTotal)
	return d
}

// abAnswer returns the verdict with its reason, of which the first part is the answer, and the rest
// how sure that is.
func abAnswer(v sidebyside.Verdict) document.Answer {
	a := document.Answer{Outcome: document.Outcome(v.Verdict), Word: OutcomeWord(v.Verdict), Ours: true}
	a.Lead, a.Sure, _ = strings.Cut(wording.Sentence(v.Reason), "; ")
	return a
}

// facts returns the facts of the first screen, and after them the details.
func (in ComparisonInput) facts(why explained) []document.Fact {
	v := in.Verdict
	var out, details factList
	out.add("Blocks", blocks(v.Verdict, v.FailOn, ""))
	out.add("Against", "the base build "+buildTitle(v.Base))
	out = append(out, why.Facts()...)
	if v.Verdict == gate.Regression {
		out.answer(document.Why, "Why", whyOf(in.Why, slices.ContainsFunc(v.Scenarios, laterStart)))
	}
	next := wording.Sentence(v.Hint)
	if next == "" && v.Verdict == gate.Regression {
		next = "fix it and compare again; nothing has to be accepted, a comparison has no history"
	}
	out.answer(document.Next, "Next", next)
	details.add("Head", buildTitle(v.Head))
	for _, scenario := range v.Scenarios {
		details.add("Measured", abMeasured(scenario, len(v.Scenarios) > 1))
	}
	details.add("Intervals", "of "+wording.Percent(v.Level)+" each; p is corrected for all comparisons")
	for i := range details {
		details[i].Detail = true
	}
	return append(out, details...)
}

// laterStart reports whether the head starts later.
func laterStart(s sidebyside.Scenario) bool {
	return slices.ContainsFunc(s.Comparisons, func(c sidebyside.Comparison) bool {
		return c.Direction == gate.ToRegression && isStart(c.Metric)
	})
}

// buildTitle names a build: "com.example 1.4.0 release, commit 0123456789".
func buildTitle(b sidebyside.Build) string {
	title := wording.Name(b.App.Package)
	for _, part := range []string{b.App.Version, b.App.Build} {
		if part != "" {
			title += " " + wording.Name(part)
		}
	}
	if c := wording.Name(b.Source.Commit); c != "" {
		title += ", commit " + wording.Commit(c)
	}
	return title
}

// abMeasured reports how much was measured: "12 rounds on 5 devices".
func abMeasured(s sidebyside.Scenario, several bool) string {
	text := ""
	if several {
		text = wording.Name(s.Scenario) + ": "
	}
	base, head := 0, 0
	for _, c := range s.Contexts {
		base, head = base+c.Base, head+c.Head
	}
	switch {
	case len(s.Contexts) == 0:
		return text + "nothing in common"
	case s.Unit == sidebyside.Round:
		text += prose.Count(base, "round", "rounds")
	default:
		text += fmt.Sprintf("%s of the base, %d of the head", prose.Count(base, string(s.Unit), string(s.Unit)+"s"), head)
	}
	if len(s.Contexts) == 1 {
		if m := wording.Model(s.Contexts[0].Context); m != "" {
			return text + " on " + m
		}
		return text
	}
	return text + " on " + prose.Count(len(s.Contexts), "device or network", "devices or networks")
}

// tables returns the tables of what changed, what is undecided, the whole run, all comparisons, and
// each device.
func (in ComparisonInput) tables(s sidebyside.Scenario) []document.Section {
	suffix := ""
	if len(in.Verdict.Scenarios) > 1 {
		suffix = ": " + wording.Name(s.Scenario)
	}
	table := func() *document.Table {
		return rowsTable([]string{"Effect", "p", "Base", "Interval"}, "What", "Base", "Head", "Change", "Interval", "p", "Effect", "Status")
	}
	changed, open, whole, all, each := table(), table(), table(), table(), table()
	add := func(t *document.Table, d sidebyside.Comparison, context int, direction gate.Direction, by sidebyside.Difference) {
		t.Add(maxRows, causes.ToneOf(direction), in.cells(s, d, context, direction, by)...)
		if len(t.Rows) == t.Total {
			t.Rows[t.Total-1].Of = abKey(s, d, context)
		}
	}
	for _, d := range s.Deviations() {
		add(changed, d, d.ShownIn(), d.Direction, d.Shown())
	}
	for _, d := range s.Comparisons {
		if d.Open {
			add(open, d, -1, d.Together, d.Difference)
		}
		if d.Event == "" && d.Direction == gate.None {
			add(whole, d, -1, d.Together, d.Difference)
		}
		add(all, d, -1, d.Together, d.Difference)
		for _, x := range d.Contexts {
			if d.Event == "" || x.Direction != gate.None {
				add(each, d, x.Context, x.Direction, x.Difference)
			}
		}
	}
	place := slices.IndexFunc(in.Verdict.Scenarios, func(o sidebyside.Scenario) bool { return o.Scenario == s.Scenario })
	section := func(id, title string, folded bool, t *document.Table) document.Section {
		return document.Section{ID: fmt.Sprintf("%s%d", id, place), Title: document.Everywhere(title + suffix), Folded: folded, Body: t}
	}
	return []document.Section{
		section("changed", "What changed", false, changed), section("open", "Undecided", false, open), section("whole", "Whole run", false, whole),
		section("all", "All comparisons", true, all), section("each", "Each device", true, each),
	}
}

// unfoldedTables is how many of these come before the pictures.
const unfoldedTables = 3

// maxRows limits the rows of one table.
const maxRows = 500

// rowsTable returns a table of rows, of which a terminal shows the first unless all are requested.
func rowsTable(spare []string, titles ...string) *document.Table {
	return &document.Table{
		Columns: document.Columns(spare, titles...), Noun: document.Noun{One: "row", Many: "rows"}, Keep: 30,
		Rooms: document.Rooms{Terminal: document.Room{Open: 20}},
	}
}

// statusOf returns a direction as the last cell of a row.
func statusOf(d gate.Direction) string {
	switch d {
	case gate.ToRegression:
		return "worse"
	case gate.ToImprovement:
		return "better"
	case gate.Suspect:
		return "suspect"
	}
	return "as before"
}

// shownShift returns the head's and the base's number: the base's median, and that plus the shift;
// for a broken limit, the value that broke it.
func shownShift(m metric.Metric, d sidebyside.Difference) (head, base string) {
	if d.Limit != nil {
		return wording.Beside(m, d.Head, d.Base)
	}
	return wording.Beside(m, d.Estimate(), d.Base)
}

func (in ComparisonInput) cells(s sidebyside.Scenario, d sidebyside.Comparison, context int, direction gate.Direction, shift sidebyside.Difference) []string {
	m, _ := in.Catalogue.Lookup(d.Metric)
	what := prose.Clip(wording.Event(d.Event), 80) + ": " + wording.Brief(m.Title)
	if context >= 0 && context < len(s.Contexts) {
		c := s.Contexts[context].Context
		what += " on " + prose.Clip(wording.Context(c), 60)
	}
	status := statusOf(direction)
	if d.Open && context < 0 && direction == gate.None {
		status = "open"
	}
	if shift.Limit != nil {
		status = "beyond " + wording.Value(m, *shift.Limit)
	}
	head, base := shownShift(m, shift)
	amount, share := shift.Shift, shift.Change
	if shift.Limit != nil { // the head's own number breaks it
		amount, share = overLimit(m, shift)
	}
	interval := "–"
	if shift.HasInterval() && shift.Limit == nil {
		interval = wording.FromTo(wording.Shift(m, *shift.ShiftLow, *shift.ChangeLow), wording.Shift(m, *shift.ShiftHigh, *shift.ChangeHigh))
	}
	return []string{
		what, base, head, wording.Shift(m, amount, share), interval,
		wording.P(shift.P), wording.Minus(strconv.FormatFloat(shift.Effect, 'f', 2, 64)), status,
	}
}

// OfComparison returns the input for a saved comparison.
func OfComparison(c saved.Comparison) ComparisonInput {
	return ComparisonInput{Verdict: c.Verdict, Energy: c.Energy, Causes: c.Causes, CausesTotal: c.CausesTotal}
}

// overLimit returns by how much the head's own number, which breaks a limit, exceeds the base's.
func overLimit(m metric.Metric, d sidebyside.Difference) (amount, share float64) {
	return gate.Change(m, d.Base, d.Head-d.Base, metric.Linear)
}
