package trends

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// measured is what one page of runs is about: a night of accepted ones, or a judged build.
type measured struct {
	started time.Time
	commit  string
	runs    []string
	night   int // the night whose level it is compared with
	judged  int // the build's place, -1 for a night
}

// Night lays out what was accepted in a night, each number next to its level.
func Night(in Input, s trend.Scenario, night int) document.Document {
	n := s.Nights[night]
	at := measured{started: n.Started, commit: n.Commit, runs: n.Runs, night: night, judged: -1}
	d := in.measured(s, at)
	d.Answer = document.Answer{Outcome: document.Pass, Word: "Accepted", Lead: "no number changed its level that night"}
	if all := stepsIn(s, night); len(all) > 0 {
		first := all[0]
		d.Answer.Lead = wording.UpperFirst(first.what(false)) + ": " + first.stepText(first.Change, first.device)
		switch {
		case first.Decision != nil:
			d.Answer.Word = "Accepted on purpose"
		case first.Direction == gate.ToRegression:
			d.Answer.Outcome, d.Answer.Word = document.Regression, "Worse, accepted"
		default:
			d.Answer.Outcome, d.Answer.Word = document.Improvement, "Better"
		}
		if left := len(all) - 1; left > 0 {
			d.Answer.Sure = prose.Count(left, "more number changed its level", "more numbers changed their levels")
		}
	}
	for _, decision := range n.Decisions {
		d.Facts = append(d.Facts, document.Fact{Label: "Decision", Text: decided(decision)})
	}
	return d
}

// Judged lays out a build that was judged and not accepted, each number next to the level then.
func Judged(in Input, s trend.Scenario, i int) document.Document {
	j := s.Judged[i]
	d := in.measured(s, measured{started: j.Started, commit: j.Commit, runs: j.Runs, night: j.Night, judged: i})
	d.Answer = document.Answer{
		Outcome: document.Outcome(j.Outcome).Known(), Word: "Not accepted",
		Lead: buildOf(j) + " was judged as " + wording.Name(string(j.Outcome)) + ", and is no part of a level",
	}
	return d
}

// Telling returns the nights at a change of level, the last before it and the first of the new one,
// and those with a decision: at most so many, the newest of them.
func Telling(s trend.Scenario, most int) (out []int) {
	telling := map[int]bool{}
	for _, x := range stepsOf(ranked([]trend.Scenario{s})) {
		telling[x.First], telling[x.Last] = true, true
	}
	for i, n := range s.Nights {
		if telling[i] || len(n.Decisions) > 0 {
			out = append(out, i)
		}
	}
	return out[max(0, len(out)-most):]
}

// stepsIn returns the changes of level that begin in a night: what nobody accepted first.
func stepsIn(s trend.Scenario, night int) []step {
	all := slices.DeleteFunc(stepsOf(ranked([]trend.Scenario{s})), func(x step) bool { return x.First != night })
	slices.SortStableFunc(all, func(a, b step) int { return cmp.Compare(urgency(a), urgency(b)) })
	return all
}

func urgency(s step) int {
	switch {
	case s.Decision != nil:
		return 1
	case s.Direction == gate.ToRegression:
		return 0
	}
	return 2
}

// mostOnPage limits the numbers of such a page, and mostDevices the rows by device.
const (
	mostOnPage  = 100
	mostDevices = 200
)

// measured lays out runs, and what they show next to the level of their night.
func (in Input) measured(s trend.Scenario, at measured) document.Document {
	d := document.Document{
		Title: titleOf(s) + ", " + wording.Name(s.Package), Notes: in.Notes, Kind: "night",
		Footer: wording.Name(in.Version), Version: wording.Name(in.Version),
	}
	d.Facts = append(d.Facts, document.Fact{Label: "Measured", Text: at.started.UTC().Format("2 Jan 2006 15:04 UTC")})
	if at.commit != "" {
		d.Facts = append(d.Facts, document.Fact{Label: "Commit", Text: wording.Visible(wording.Commit(at.commit))})
	}
	if ref := in.Runs[at.runs[0]].Ref; ref != "" {
		d.Facts = append(d.Facts, document.Fact{Label: "Ref", Text: wording.Name(ref)})
	}
	for _, r := range in.Reports {
		if slices.ContainsFunc(r.Runs, func(id string) bool { return slices.Contains(at.runs, id) }) {
			d.Facts = append(d.Facts, document.Fact{Label: "Report", Text: wording.Sentence(r.Title), Link: r.Page})
		}
	}
	if id := at.runs[0]; plain(id) {
		d.Facts = append(d.Facts, document.Fact{Label: "Every value", Text: "of the first run:", Command: "apkgate baseline show " + id})
	}
	d.Facts = append(d.Facts, in.Up...)
	all := ranked([]trend.Scenario{s})
	d.Sections = []document.Section{
		{ID: "numbers", Title: document.Everywhere("Numbers"), Guide: guideOf(s), Body: at.table(all)},
		at.pictures(all), in.runsSection(at), at.devices(all),
	}
	return d
}

// plain reports whether an id can be copied into a shell as it is.
func plain(id string) bool {
	return id != "" && len(id) <= 100 && id[0] != '-' && strings.IndexFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) < 0
}

func guideOf(s trend.Scenario) string {
	text := "The level is that of the accepted runs at that time; a difference within their noise means nothing."
	if len(s.Devices) > 1 {
		text = "All devices together, each compared with itself. " + text
	}
	return text
}

// value returns what the series has of it and the level; false where it has nothing.
func (at measured) value(s trend.Series) (value, level float64, ok bool) {
	if at.judged >= 0 {
		i := slices.IndexFunc(s.Judged, func(b trend.Beside) bool { return b.Judged == at.judged })
		if i < 0 {
			return 0, 0, false
		}
		value = s.Judged[i].Value
	} else {
		i, has := slices.BinarySearchFunc(s.Points, at.night, func(p trend.Point, night int) int { return p.Night - night })
		if !has {
			return 0, 0, false
		}
		value = s.Points[i].Value
	}
	for _, c := range s.Changes {
		if at.judged < 0 && c.First == at.night { // what it came from
			return value, c.Before, true
		}
	}
	for _, l := range s.Levels {
		if l.From <= at.night || !ok {
			level, ok = within(l, at.night), true
		}
	}
	return value, level, ok
}

// within returns a level in a night: on its line, if it moves.
func within(l trend.Level, night int) float64 {
	if !l.Moves() || l.To <= l.From {
		return l.End
	}
	part := min(max(float64(night-l.From)/float64(l.To-l.From), 0), 1)
	return l.Start + part*(l.End-l.Start)
}

// columns are those of a number next to its level.
func (at measured) columns() *document.Table {
	status := "Status"
	if at.judged >= 0 {
		status = ""
	}
	t := &document.Table{
		Columns: document.Columns([]string{"Level"}, "What", "Value", "Level", "Difference", status),
		Noun:    rowNoun, Wordy: true, Keep: 30,
		Rooms: document.Rooms{Terminal: document.Room{Open: openRows}, Page: document.Room{Open: 30}},
	}
	for i := range t.Columns {
		t.Columns[i].Gaps = true
	}
	return t
}

func (at measured) table(all []number) *document.Table {
	t := at.columns()
	for _, n := range all {
		if at.add(t, mostOnPage, n, n.Fleet, n.what(false)) && len(t.Rows) == t.Total {
			t.Rows[t.Total-1].Of = n.name()
		}
	}
	return t
}

func (at measured) devices(all []number) document.Section {
	t := at.columns()
	for _, n := range all {
		for _, s := range n.Devices {
			at.add(t, mostDevices, n, s, n.what(false)+" on "+n.deviceName(s.Device))
		}
	}
	return document.Section{ID: "devices", Title: document.Everywhere("By device"), Folded: true, Detail: true, Body: t}
}

func (n number) deviceName(i int) string {
	return prose.Clip(wording.Context(n.scenario.Devices[i].Context), 40)
}

// add adds the row of a series, and reports whether there is one.
func (at measured) add(t *document.Table, most int, n number, s trend.Series, what string) bool {
	value, level, ok := at.value(s)
	if !ok {
		return false
	}
	tone, status := document.Neutral, "same level"
	if at.judged >= 0 {
		status = "" // its column has no title
	}
	for _, c := range s.Changes {
		if at.judged < 0 && c.First == at.night {
			tone, status = step{number: n, Change: c}.tone(), "a new level"
		}
	}
	shown, was := wording.Beside(n.Metric, value, level)
	t.Add(most, tone, what, shown, was, difference(n, value, level), status)
	return true
}

// difference returns how far a value is from a level, in the metric's words.
func difference(n number, value, level float64) string {
	shift := value - level
	share := 0.0
	if level > 0 && !n.Metric.Signed {
		share = shift / level
	}
	return wording.Shift(n.Metric, shift, share)
}

// pictures draws the first numbers with what the page is about.
func (at measured) pictures(all []number) document.Section {
	g := &document.Gallery{Noun: document.Noun{One: "picture", Many: "pictures"}}
	for i, n := range all[:min(len(all), 3)] {
		value, _, ok := at.value(n.Fleet)
		if !ok {
			continue
		}
		row, mark := n.row(n.Fleet), figure.CourseMark{At: at.night, Value: value, Tone: document.Neutral, Label: "this night"}
		if row.Rings = nil; at.judged >= 0 {
			mark.Label, mark.Tone = "this build", toneOf(n.scenario.Judged[at.judged].Outcome)
		}
		row.Marks = []figure.CourseMark{mark}
		f := n.course(false)
		f.Rows = []figure.CourseRow{row}
		g.Figures = append(g.Figures, document.Figure{ID: fmt.Sprintf("m%d", i), Caption: wording.UpperFirst(n.what(false)), Of: n.name(), Picture: f})
	}
	return document.Section{ID: "pictures", Title: document.Everywhere("Over time"), Guide: guide, Body: g}
}

// runsSection lists the runs with what is known of each.
func (in Input) runsSection(at measured) document.Section {
	l := &document.List{Noun: document.Noun{One: "run", Many: "runs"}, Total: len(at.runs), Rooms: document.Rooms{Page: document.Room{Open: 10, Most: mostReports}}}
	for _, id := range at.runs[:min(len(at.runs), mostReports)] {
		r := in.Runs[id]
		parts := []string{wording.Name(id)}
		if r.Context != nil {
			parts = append(parts, prose.Clip(wording.Context(r.Context), 60))
		}
		if r.Version != "" {
			parts = append(parts, "version "+wording.Brief(r.Version))
		}
		if r.Repetitions > 0 {
			parts = append(parts, prose.Count(r.Repetitions, "repetition", "repetitions"))
		}
		if r.Outcome != "" {
			parts = append(parts, "judged as "+wording.Brief(string(r.Outcome)))
		}
		l.Items = append(l.Items, document.Item{Text: strings.Join(parts, ", ")})
	}
	return document.Section{ID: "runs", Title: document.Everywhere("Runs"), Body: l}
}
