package layout

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/report/causes"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// maxNotes limits the notes near the top.
const maxNotes = 10

// maxWarnings limits the warnings of one kind.
const maxWarnings = 100

// screen is the number of lines of an answer on a terminal, with three more for what a command adds.
const screen = 22

// Verdict lays out a verdict on runs.
func Verdict(in Input) document.Document {
	in.Catalogue = in.catalogue() // it is used for each of a million numbers
	s := newStory(in)
	d := document.Document{
		Title: s.Title, Checked: s.Counts, Notes: notes(in.Notes), Facts: s.Facts, Checks: checks(in), Footer: footer(in), Screen: screen,
		Answer:   document.Answer{Outcome: document.Outcome(s.Outcome), Word: s.Word, Lead: s.Lead, Sure: s.Sure},
		Warnings: warnings(in.Verdict.Warnings, document.Room{Open: 5}),
		Data:     saved.OfVerdict(in.Verdict, s.Why.energy, s.Why.causes(), in.CausesTotal), Kind: "verdict", Version: wording.Name(in.Meta.Version),
	}
	d.Chart = s.chart()
	d.Sections = slices.Concat(
		[]document.Section{findingsSection(s.Findings, len(in.Verdict.Runs) > 1)}, s.Why.Groups(),
		[]document.Section{openSection(in), recentSection(in, s.Findings), framesSection(in), roundsSection(in, s.Findings), historySection(s.Findings), keptSection(in), rulesSection(s.Rules), modesSection(in), runsSection(in)},
	)
	d.Problems = append(problems(in, s.Findings, s.Why), s.Why.Problems()...)
	d.Rules = rulesOf(d.Problems, in.catalogue(), "the history of accepted runs")
	return d
}

func notes(all []string) []string {
	var out []string
	for _, n := range all[:min(len(all), maxNotes)] {
		out = append(out, wording.Sentence(n))
	}
	return out
}

// warnings returns a list of warnings, of which a terminal shows that many unfolded.
func warnings(all []run.Warning, terminal document.Room) document.List {
	l := document.List{Rooms: document.Rooms{Terminal: terminal, Comment: document.Room{Most: 200}, Page: document.Room{Most: maxWarnings}}}
	for _, w := range all {
		l.Items = append(l.Items, document.Item{Text: wording.Sentence(w.String())})
	}
	return l
}

// findingsSection returns the table of deviations, each finding with its after-effects below it.
func findingsSection(all []finding, several bool) document.Section {
	t := findingsTable(true)
	t.Columns[5].Idle = !several
	t.Rooms = document.Rooms{Terminal: document.Room{Open: 20}, Comment: document.Room{Open: 12, Most: 212}, Page: document.Room{Open: 12, Most: 100}}
	rows := flat(all)
	first := firsts(rows)
	for i, f := range rows {
		r := f.row(f.what(), true)
		r.Minor = !first[i]
		t.Rows = append(t.Rows, r)
	}
	s := document.Section{ID: "what", Title: document.Titles{Comment: "What changed", Page: "What changed"}, Body: t}
	s.Guide = guideTo(rows)
	return s
}

// guideTo explains the numbers of rows where that is not obvious.
func guideTo(rows []finding) string {
	var say []string
	if slices.ContainsFunc(rows, func(f finding) bool { return len(f.Hits) > 1 }) {
		say = append(say, "Rows covering several runs show the median.")
	}
	if slices.ContainsFunc(rows, func(f finding) bool { return ofRounds(f.middle()) != nil }) {
		say = append(say, "Where both builds were measured alternately, the change is the median of the changes within the rounds, and this run's number is the base build's with that change.")
	}
	if slices.ContainsFunc(rows, func(f finding) bool { return f.Metric.Ratio }) {
		say = append(say, "Shares of frames change in percentage points (pp).")
	}
	return strings.Join(say, " ")
}

// findingsTable returns the columns of comparisons, with a column for the number of runs if runs is
// set.
func findingsTable(runs bool) *document.Table {
	titles := []string{"What", "Expected", "This run", "Change", "Interval", "Runs", "Status"}
	if !runs {
		titles = slices.Delete(titles, 5, 6)
	}
	t := &document.Table{
		Columns: document.Columns([]string{"Interval", "Expected", "This run"}, titles...),
		Noun:    document.Noun{One: "deviation", Many: "deviations"}, Keep: 32, Wordy: true,
	}
	t.Columns[3].First, t.Columns[4].Gaps = true, true
	return t
}

// row returns a finding's row, with or without its number of runs.
func (f finding) row(what string, runs bool) document.Row {
	c := f.middle()
	expected, value := numbers(f.Metric, c)
	between := strings.TrimSuffix(interval(f.Metric, c), wording.Unit(percentagePoints)) // the change next to it has the unit
	r := document.Row{
		Cells: []string{what, expected, value, change(f.Metric, c), between},
		Tone:  causes.ToneOf(f.Direction), After: f.AfterEffectOf != "", Of: f.key(),
	}
	if runs {
		r.Cells = append(r.Cells, f.fraction())
	}
	r.Cells = append(r.Cells, f.status())
	if r.After {
		r.Brief = "after" // it is listed under its cause anyway
	}
	return r
}

// rulesSection returns the contexts in which it happens, in words and as a graph.
func rulesSection(all []pattern) document.Section {
	l := &document.List{
		Noun:  document.Noun{One: "rule", Many: "rules"},
		Rooms: document.Rooms{Terminal: document.Room{Open: 10}, Comment: document.Room{Open: 5, Most: 105}, Page: document.Room{Open: 8, Most: 100}},
	}
	for _, p := range all {
		l.Items = append(l.Items, document.Item{Tone: p.tone(), Text: p.sentence()})
	}
	if len(all) > 0 {
		l.Graph = &document.Figure{ID: "r", Caption: "The rules as a graph", Picture: graph(all)}
	}
	const where = "Where it happens"
	return document.Section{
		ID: rulesID, Title: document.Titles{Terminal: "Rules", Comment: where, Page: where}, Body: l,
		Guide: "Contexts in which accepted and checked runs have these labels. A circle's area and number are the rule's support: the share of all runs that it holds for.",
	}
}

// footer describes what was compared with what, and by which rules.
func footer(in Input) string {
	var parts []string
	if c := wording.Name(in.Meta.HeadCommit); c != "" {
		text := "commit " + wording.Commit(c)
		if b := wording.Name(in.Meta.BaseCommit); b != "" {
			text += " against " + wording.Commit(b)
		}
		parts = append(parts, text)
	}
	if r := wording.Name(in.Meta.Repository); r != "" {
		parts = append(parts, r)
	}
	if p := wording.Name(in.Verdict.Preset); p != "" {
		parts = append(parts, "preset "+p)
	}
	if v := wording.Name(in.Meta.Version); v != "" {
		parts = append(parts, v)
	}
	return strings.Join(parts, " · ")
}
