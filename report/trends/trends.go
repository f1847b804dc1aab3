// Package trends lays out a history over time as documents: all scenarios on one page, and for a
// site an index and a page for each scenario.
//
// It owns the sentences, the order of numbers, what is drawn, and how much of it. Levels and change
// points come from gate/trend; the documents are rendered like any answer. It decides nothing.
package trends

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Format is the format and version of a trend as JSON (docs/format/trend.md).
const Format = "apkgate.trend/1"

// Saved is a trend as JSON.
type Saved struct {
	Format    string           `json:"format"`
	Scenarios []trend.Scenario `json:"scenarios"`
	Warnings  []string         `json:"warnings"`
}

// Input is what is laid out.
type Input struct {
	Scenarios []trend.Scenario
	Notes     []string
	Warnings  []string
	Version   string
	// Runs are what is known of runs besides their numbers, by their ids.
	Runs map[string]RunDetail
	// Reports are the pages of runs' own reports, newest first, with addresses relative to the page.
	Reports []Report
	// Measured are the addresses of the pages of nights and judged builds, relative to the page, by
	// the id of the first run of each.
	Measured map[string]string
	// Up leads to what a page is a part of.
	Up []document.Fact
}

// Report is the page of a report.
type Report struct {
	Title string
	Page  string
	Runs  []string // their ids
}

// RunDetail is what is known of a run besides its numbers.
type RunDetail struct {
	Version, Ref string
	Context      map[string]string
	Repetitions  int
	Outcome      gate.Outcome // what the gate said of it, "" for nothing
}

// pageOf returns the address of the page of a night or a judged build by its runs, "" for none.
func (in Input) pageOf(runs []string) string {
	if len(runs) == 0 {
		return ""
	}
	return in.Measured[runs[0]]
}

// recentNights is how many of the newest nights are news: an older change is history.
const recentNights = 30

// leastNights is how many nights a change of level needs.
const leastNights = 6

// Of lays out all scenarios as one document.
func Of(in Input) document.Document {
	d := in.document(in.ranked(in.Scenarios), len(in.Scenarios) > 1)
	d.Sections = append(d.Sections, in.reports()...)
	return d
}

// Index lays out the first page of a site. page returns the address of a scenario's page.
func Index(in Input, page func(trend.Scenario) string) document.Document {
	all := ranked(in.Scenarios)
	d := in.document(nil, true)
	d.Answer, d.Sections, d.Facts = answer(all, in.Scenarios, true), nil, []document.Fact{{Label: "Newest night", Text: newestNight(in.Scenarios)}}
	for _, s := range newsFirst(all, in.Scenarios) {
		table := numbersTable(of(all, s), false)
		for i := range table.Rows {
			table.Rows[i].Link = page(s)
		}
		d.Sections = append(d.Sections, document.Section{
			ID: fmt.Sprintf("s%d", len(d.Sections)), Title: document.Everywhere(titleOf(s)), Guide: nightsOf(s) + ".", Body: table,
		})
	}
	d.Sections = append(d.Sections, in.changesSection(all, true), in.decisions(), in.judgedSection(all, true))
	d.Sections = append(d.Sections, in.reports()...)
	return d
}

// newestNight returns the day of the newest runs.
func newestNight(scenarios []trend.Scenario) string {
	var newest time.Time
	for _, s := range scenarios {
		if n := len(s.Nights); n > 0 && s.Nights[n-1].Started.After(newest) {
			newest = s.Nights[n-1].Started
		}
	}
	return dateOf(newest)
}

// newsFirst returns the scenarios in the order of their first numbers.
func newsFirst(all []number, scenarios []trend.Scenario) []trend.Scenario {
	place := func(s trend.Scenario) int {
		return slices.IndexFunc(all, func(n number) bool { return n.scenario.Package == s.Package && n.scenario.Scenario == s.Scenario })
	}
	out := slices.Clone(scenarios)
	slices.SortStableFunc(out, func(a, b trend.Scenario) int { return place(a) - place(b) })
	return out
}

// document lays out numbers of the scenarios.
func (in Input) document(all []number, several bool) document.Document {
	d := document.Document{
		Title: "Trend", Notes: in.Notes, Answer: answer(all, in.Scenarios, several), Footer: wording.Name(in.Version), Version: wording.Name(in.Version),
		Data: Saved{Format, orEmpty(in.Scenarios), orEmpty(in.Warnings)}, Kind: "trend",
		Unlisted: "a trend has no findings: apkgate check makes those",
	}
	if len(in.Scenarios) == 1 {
		d.Title = "Trend: " + titleOf(in.Scenarios[0]) + ", " + wording.Name(in.Scenarios[0].Package)
	}
	for _, s := range in.Scenarios[:min(len(in.Scenarios), mostFacts)] {
		d.Facts = append(d.Facts, document.Fact{Label: titleOf(s), Text: nightsOf(s)})
	}
	if left := len(in.Scenarios) - mostFacts; left > 0 {
		d.Facts = append(d.Facts, document.Fact{Label: "And", Text: prose.Count(left, "more scenario", "more scenarios")})
	}
	d.Facts = append(d.Facts, in.Up...)
	table := numbersTable(all, several)
	d.Sections = []document.Section{
		picturesSection(all, several), {ID: "numbers", Title: document.Everywhere("Numbers"), Body: table},
		in.changesSection(all, several), in.decisions(), in.judgedSection(all, several), everyNumber(all, several),
		devicesSection(all, several), in.nightsSection(several),
	}
	for _, w := range in.Warnings[:min(len(in.Warnings), mostWarnings)] {
		d.Warnings.Items = append(d.Warnings.Items, document.Item{Text: wording.Sentence(w)})
	}
	d.Warnings.Total = len(in.Warnings)
	for _, s := range in.Scenarios {
		if s.Abridged > 0 {
			d.Warnings.Items = append(d.Warnings.Items, document.Item{Text: fmt.Sprintf("%s: %s shown for all devices together only, there are too many points; --where chooses devices", titleOf(s), prose.Count(s.Abridged, "number is", "numbers are"))})
		}
	}
	return d
}

// Limits of lists.
const (
	mostFacts    = 12
	mostWarnings = 20
	mostReports  = 200
)

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// reports links the kept reports of runs.
func (in Input) reports() []document.Section {
	l := &document.List{Noun: document.Noun{One: "report", Many: "reports"}, Rooms: document.Rooms{Page: document.Room{Open: 10}}, Total: len(in.Reports)}
	for _, r := range in.Reports[:min(len(in.Reports), mostReports)] {
		l.Items = append(l.Items, document.Item{Text: wording.Sentence(r.Title), Links: document.Links{Page: r.Page}})
	}
	return []document.Section{{ID: "reports", Title: document.Everywhere("Reports of regressions"), Body: l}}
}

// decisions lists who accepted what and why, newest first.
func (in Input) decisions() document.Section {
	type said struct {
		at   time.Time
		text string
		page string
	}
	var all []said
	for _, s := range in.Scenarios {
		for _, n := range s.Nights {
			for _, d := range n.Decisions {
				text := dateOf(n.Started) + ", " + titleOf(s)
				if n.Commit != "" {
					text += ", commit " + short(n.Commit)
				}
				all = append(all, said{n.Started, text + ": " + decided(d), in.pageOf(n.Runs)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return b.at.Compare(a.at) })
	l := &document.List{
		Noun: document.Noun{One: "decision", Many: "decisions"}, Total: len(all),
		Rooms: document.Rooms{Terminal: document.Room{Open: 5}, Comment: document.Room{Open: 3, Most: 10}, Page: document.Room{Open: 10}},
	}
	for _, d := range all[:min(len(all), mostReports)] {
		l.Items = append(l.Items, document.Item{Text: d.text, Links: document.Links{Page: d.page}})
	}
	return document.Section{ID: "decisions", Title: document.Everywhere("Accepted on purpose"), Body: l}
}

// short returns a commit as people quote it.
func short(commit string) string { return prose.Clip(wording.Visible(wording.Commit(commit)), 16) }

// answer says what the newest nights show.
func answer(all []number, scenarios []trend.Scenario, several bool) document.Answer {
	longest := 0
	for _, s := range scenarios {
		longest = max(longest, len(s.Nights))
	}
	if longest < leastNights {
		return document.Answer{Outcome: document.Inconclusive, Word: "Too short", Lead: fmt.Sprintf("%s so far; a change of level shows from %d on", prose.Count(longest, "night", "nights"), leastNights)}
	}
	counts := map[state]int{}
	var first *number
	for i, n := range all {
		if counts[n.state]++; first == nil && n.state != steady && n.state != accepted {
			first = &all[i]
		}
	}
	if first == nil {
		lead := fmt.Sprintf("no number changed its level in the last %d nights", recentNights)
		if k := counts[accepted]; k > 0 {
			lead = prose.Count(k, "number changed its", "numbers changed their") + fmt.Sprintf(" level in the last %d nights, as accepted; nothing else changed", recentNights)
		}
		return document.Answer{Outcome: document.Pass, Word: "Steady", Lead: lead}
	}
	a := document.Answer{Outcome: document.Regression, Word: "Worse", Lead: first.what(several) + ": " + first.news(), Ours: !several}
	switch first.state {
	case drifts:
		a.Word = "Drifts"
	case better:
		a.Outcome, a.Word = document.Improvement, "Better"
	}
	var rest []string
	for _, s := range []state{worse, drifts, better} {
		k := counts[s]
		if s == first.state {
			k--
		}
		if k > 0 {
			rest = append(rest, fmt.Sprintf("%d %s", k, map[state]string{worse: "worse", drifts: "drifting", better: "better"}[s]))
		}
	}
	if len(rest) > 0 {
		a.Sure = "other numbers: " + strings.Join(rest, ", ")
	}
	return a
}

// titleOf names a scenario.
func titleOf(s trend.Scenario) string {
	if s.Scenario == "" {
		return "one scenario"
	}
	return wording.Brief(s.Scenario)
}

// nightsOf says what a scenario's trend is made of.
func nightsOf(s trend.Scenario) string {
	text := prose.Count(s.Runs-s.LeftOut, "accepted run", "accepted runs") + " of " + prose.Count(len(s.Nights), "night", "nights")
	if n := len(s.Nights); n > 0 {
		text += " from " + dateOf(s.Nights[0].Started) + " to " + dateOf(s.Nights[n-1].Started)
	}
	text += " on " + prose.Count(len(s.Devices), "device", "devices")
	if s.LeftOut > 0 {
		text += fmt.Sprintf("; %s of earlier nights left out", prose.Count(s.LeftOut, "run", "runs"))
	}
	return text
}

func dateOf(t time.Time) string {
	if t.IsZero() {
		return "an unknown day"
	}
	return t.UTC().Format("2 Jan 2006")
}
