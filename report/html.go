package report

import (
	"bytes"
	_ "embed" // for the page's template and style
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/run"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed page.css
var pageCSS string

//go:embed colours.css
var coloursCSS string

//go:embed picture.css
var pictureCSS string

var page = template.Must(template.New("page").Parse(pageTemplate))

// How much of a large verdict the page shows; it says what it leaves out. The
// limits keep a page of a thousand runs and five hundred events under 5 MB.
const (
	htmlRows      = 100
	htmlHistories = 16
	openHistories = 6 // the others are folded
	htmlFrames    = 8
	openFrames    = 2 // the others are folded
	htmlRules     = 100
	openRulesHTML = 8
	htmlRuns      = 200
	htmlWarnings  = 100
	runRows       = 60    // comparisons of one run
	allRunRows    = 3_000 // comparisons of all runs together
)

// The widths in pixels for which each picture is drawn: the page shows the one
// that suits its own.
const (
	wideWidth   = 912
	narrowWidth = 358
)

// HTML writes the report as one self-contained page: no script, nothing loaded
// from elsewhere, pictures as inline SVG, light or dark as the reader has it.
func HTML(w io.Writer, in Input) error {
	var b bytes.Buffer
	if err := page.Execute(&b, newPage(in)); err != nil {
		return fmt.Errorf("lay out the HTML report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

// pageData is what page.tmpl shows. Strings are plain and escaped by the
// template; only pictures and style come as markup, made by this package.
type pageData struct {
	story
	Style           template.CSS
	Class, Symbol   string
	Notes           []string
	Rows            []pageRow
	Middle          string // how rows stand for several runs
	FoldedRows      []pageRow
	RowsTitle       string
	MoreRows        string
	Histories       []pagePicture
	FoldedHistories []pagePicture
	HistoriesTitle  string
	MoreHistories   string
	Rules           []pageRule
	FoldedRules     []pageRule
	RulesTitle      string
	RuleGraph       pagePicture
	MoreRules       string
	Frames          []pagePicture
	FoldedFrames    []pagePicture
	FoldedTitle     string
	MoreFrames      string
	Runs            []pageRun
	MoreRuns        string
	Warnings        []string
	Footer          string
}

type pageRow struct {
	What, Expected, Value, Change, Interval, Runs, Status, Class, Mark string
	After, NoInterval                                                  bool
}

type pagePicture struct {
	Caption, Detail string
	Wide, Narrow    template.HTML
}

type pageRule struct{ Class, Mark, Text string }

type pageRun struct {
	ID, Device, Class, Symbol, Word, Reason, Hint, Reference, Labels, MoreRows string
	Open                                                                       bool
	Context                                                                    []fact
	Warnings                                                                   []string
	Rows                                                                       []pageRow
}

func newPage(in Input) pageData {
	s := tell(in)
	p := pageData{
		story: s, Style: template.CSS(coloursCSS + pictureCSS + pageCSS), //nolint:gosec // our own embedded files
		Class: outcomeClass(s.Outcome), Symbol: outcomeMark(s.Outcome), Footer: footer(in),
	}
	if s.Outcome == gate.Pass || strings.HasPrefix(s.Lead, "in ") {
		p.Lead = upperFirst(p.Lead)
	}
	p.Facts = slices.DeleteFunc(slices.Clone(s.Facts), func(f fact) bool { return f.Label == ruleFact })
	for _, n := range in.Notes[:min(len(in.Notes), 10)] {
		p.Notes = append(p.Notes, sentence(n))
	}
	p.addRows(in)
	p.addHistories()
	p.addRules()
	p.addFrames(in)
	p.addRuns(in)
	for _, w := range in.Verdict.Warnings[:min(len(in.Verdict.Warnings), htmlWarnings)] {
		p.Warnings = append(p.Warnings, sentence(w.String()))
	}
	return p
}

func outcomeClass(o gate.Outcome) string {
	switch o {
	case gate.Pass, gate.Improvement, gate.Inconclusive, gate.Regression:
		return string(o)
	}
	return "invalid"
}

// outcomeMark is a shape for each outcome, beside its word.
func outcomeMark(o gate.Outcome) string {
	switch o {
	case gate.Pass:
		return "✓"
	case gate.Improvement:
		return "▲"
	case gate.Inconclusive:
		return "?"
	case gate.Regression:
		return "▼"
	}
	return "!"
}

func directionMark(d gate.Direction) string {
	switch d {
	case gate.ToRegression:
		return "▼"
	case gate.ToImprovement:
		return "▲"
	case gate.Suspect:
		return "?"
	}
	return "·"
}

// more says how many entries beyond those shown there are, "" for none.
func more(total, shown int, one, many string) string {
	if total <= shown {
		return ""
	}
	return "And " + count(total-shown, one, many) + "; the JSON report has everything."
}

func (p *pageData) addRows(in Input) {
	first, rest := short(flat(p.Findings))
	rows := slices.Concat(first, rest)
	for _, f := range rows[:min(len(rows), htmlRows)] {
		c := f.middle()
		r := newRow(f.what(), c, f.Metric)
		if len(in.Verdict.Runs) > 1 {
			r.Runs = f.fraction()
		}
		r.Status, r.After = clip(f.status(), 60), f.AfterEffectOf != ""
		p.Rows = append(p.Rows, r)
	}
	if slices.ContainsFunc(rows, func(f finding) bool { return len(f.Hits) > 1 }) {
		p.Middle = "A row that stands for several runs shows the one with the middle change."
	}
	p.MoreRows = more(len(rows), len(p.Rows), "more deviation", "more deviations")
	if open := min(len(first), openRows); open < len(p.Rows) {
		p.Rows, p.FoldedRows = p.Rows[:open], p.Rows[open:]
		p.RowsTitle = count(len(p.FoldedRows), "more deviation", "more deviations")
	}
}

// newRow is one comparison as a row; its caller knows whether it speaks for
// several runs.
func newRow(what string, c gate.Comparison, m metric.Metric) pageRow {
	f := finding{Metric: m, Direction: c.Direction, AfterEffectOf: c.AfterEffectOf, Hits: []hit{{nil, c}}}
	class, mark := directionClass(c.Direction), directionMark(c.Direction)
	if c.AfterEffectOf != "" {
		class, mark = "", ""
	}
	return pageRow{
		What: what, Expected: f.expected(), Value: f.amountOf(c.Value), Change: change(c), Interval: interval(c),
		NoInterval: !hasInterval(c), Status: clip(f.status(), 60), Class: class, Mark: mark,
		After: c.AfterEffectOf != "",
	}
}

func (p *pageData) addHistories() {
	first, rest := short(flat(p.Findings))
	rows := slices.DeleteFunc(slices.Concat(first, rest), func(f finding) bool { return f.middle().N == 0 })
	for i, f := range rows[:min(len(rows), htmlHistories)] {
		fig := newHistoryFigure(f)
		caption := fig.Title
		if f.AfterEffectOf != "" {
			caption += " (" + f.status() + ")"
		}
		p.Histories = append(p.Histories, both(caption, "", fmt.Sprintf("h%d", i), fig.draw))
	}
	p.MoreHistories = more(len(rows), len(p.Histories), "more deviation without a picture", "more deviations without a picture")
	if open := min(len(p.Histories), openHistories); open < len(p.Histories) {
		p.Histories, p.FoldedHistories = p.Histories[:open], p.Histories[open:]
		p.HistoriesTitle = count(len(p.FoldedHistories), "more picture", "more pictures")
	}
}

// both draws a picture for wide and for narrow pages.
func both(caption, detail, id string, draw func(id, class string, width float64) string) pagePicture {
	return pagePicture{
		Caption: caption, Detail: detail,
		Wide:   template.HTML(draw(id+"w", "wide", wideWidth)),     //nolint:gosec // canvas escapes every text
		Narrow: template.HTML(draw(id+"n", "narrow", narrowWidth)), //nolint:gosec // canvas escapes every text
	}
}

func (p *pageData) addRules() {
	rules := p.story.Rules
	if len(rules) == 0 {
		return
	}
	p.RuleGraph = both("", "", "r", newRulesFigure(rules).draw)
	for _, r := range rules[:min(len(rules), htmlRules)] {
		p.Rules = append(p.Rules, pageRule{r.class(), r.mark(), r.sentence()})
	}
	if open := min(len(p.Rules), openRulesHTML); open < len(p.Rules) {
		p.Rules, p.FoldedRules = p.Rules[:open], p.Rules[open:]
		p.RulesTitle = count(len(p.FoldedRules), "more rule", "more rules")
	}
	p.MoreRules = more(len(rules), htmlRules, "more rule", "more rules")
}

// addFrames draws the checked runs that kept their frames, those that deviate
// first.
func (p *pageData) addFrames(in Input) {
	byID := map[string]run.Run{}
	for _, r := range in.Runs {
		byID[r.ID] = r
	}
	total := 0
	for _, v := range gravestFirst(in.Verdict.Runs) {
		r, ok := byID[v.ID]
		if !ok {
			continue
		}
		fig, ok := newFramesFigure(runTitle(v, in.Verdict), r, flaggedEvents(v))
		if !ok {
			continue
		}
		if total++; total <= htmlFrames {
			p.Frames = append(p.Frames, both(fig.Title, fig.description(), fmt.Sprintf("f%d", total), fig.draw))
		}
	}
	if n := total - len(p.Frames); n > 0 {
		p.MoreFrames = "The frames of " + count(n, "more run", "more runs") + " are not drawn."
	}
	if open := min(len(p.Frames), openFrames); open < len(p.Frames) {
		p.Frames, p.FoldedFrames = p.Frames[:open], p.Frames[open:]
		p.FoldedTitle = "The frames of " + count(len(p.FoldedFrames), "more run", "more runs")
	}
}

// gravestFirst orders runs by what a reader should look at first.
func gravestFirst(runs []gate.RunVerdict) []gate.RunVerdict {
	order := []gate.Outcome{gate.Regression, gate.Invalid, gate.Inconclusive, gate.Improvement, gate.Pass}
	out := slices.Clone(runs)
	slices.SortStableFunc(out, func(a, b gate.RunVerdict) int {
		return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
	})
	return out
}

func flaggedEvents(v gate.RunVerdict) map[string]bool {
	out := map[string]bool{}
	for _, c := range v.Deviations {
		if c.Event != "" && c.AfterEffectOf == "" && (c.Direction == gate.ToRegression || c.Direction == gate.Suspect) {
			out[c.Event] = true
		}
	}
	return out
}

func (p *pageData) addRuns(in Input) {
	runs := gravestFirst(in.Verdict.Runs)
	room := allRunRows
	for _, v := range runs[:min(len(runs), htmlRuns)] {
		r := newPageRun(v, in.catalogue(), min(room, runRows))
		r.Device, r.Open = runTitle(v, in.Verdict), len(runs) == 1
		room -= len(r.Rows)
		p.Runs = append(p.Runs, r)
	}
	p.MoreRuns = more(len(runs), len(p.Runs), "more run", "more runs")
}

func newPageRun(v gate.RunVerdict, catalogue *metric.Catalogue, rows int) pageRun {
	r := pageRun{
		ID: name(v.ID), Class: outcomeClass(v.Verdict), Symbol: outcomeMark(v.Verdict), Word: outcomeWord(v.Verdict),
		Reason: reasonOf(v), Hint: sentence(v.Hint), Reference: upperFirst(referenceOf(v)) + ".",
	}
	for _, key := range slices.Sorted(maps.Keys(v.Context)) {
		if len(r.Context) < 40 {
			r.Context = append(r.Context, fact{name(key), name(v.Context[key])})
		}
	}
	for _, l := range v.Labels[:min(len(v.Labels), 10)] {
		r.Labels = strings.TrimPrefix(r.Labels+", "+name(l), ", ")
	}
	for _, w := range v.Warnings[:min(len(v.Warnings), 20)] {
		r.Warnings = append(r.Warnings, sentence(w.String()))
	}
	comparisons := deviationsFirst(v)
	for _, c := range comparisons[:min(len(comparisons), rows)] {
		m, _ := catalogue.Lookup(c.Metric)
		r.Rows = append(r.Rows, newRow(brief(eventTitle(c.Event))+": "+brief(m.Title), c, m))
	}
	r.MoreRows = more(len(comparisons), len(r.Rows), "more comparison", "more comparisons")
	return r
}

// deviationsFirst are all comparisons of a run, the flagged ones first.
func deviationsFirst(v gate.RunVerdict) []gate.Comparison {
	out := slices.Clone(v.Deviations)
	for _, c := range v.Comparisons {
		if c.Direction == gate.None {
			out = append(out, c)
		}
	}
	return out
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
