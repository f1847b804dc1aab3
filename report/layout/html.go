package layout

import (
	"bytes"
	_ "embed" // for the page's template and style
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/words"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed page.css
var pageCSS string

//go:embed colours.css
var coloursCSS string

var page = template.Must(template.New("page").Parse(pageTemplate + rowsTemplate + energyTemplate))

// How much of a large verdict the page shows; it says what it leaves out. The
// limits keep a page of a thousand runs and five hundred events under 5 MB.
const (
	pageRows        = 100
	pageHistories   = 16
	unfoldHistories = 6
	pageFrames      = 8
	unfoldFrames    = 2
	pageRules       = 100
	unfoldRules     = 8
	pageRuns        = 200
	pageWarnings    = 100
	runRows         = 60    // comparisons of one run
	allRunRows      = 3_000 // comparisons of all runs together
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
	Style         template.CSS
	Class, Symbol string
	Notes         []string
	Rows          shelf[pageRow]
	RowsNote      string // how rows stand for several runs
	Histories     shelf[pagePicture]
	RuleGraph     pagePicture
	Rules         shelf[pageRule]
	Frames        shelf[pagePicture]
	Joules        pageEnergy
	Runs          []pageRun
	MoreRuns      string
	Warnings      []string
	Footer        string
}

// shelf is a list of which the first entries stand open, more are folded, and
// the rest is only counted.
type shelf[T any] struct {
	Open, Folded []T
	FoldedTitle  string // "7 more rules"
	Rest         string // "And 30 more rules; …", "" where nothing is left out
}

// newShelf opens the first entries of those that are shown; total counts all
// that there are.
func newShelf[T any](shown []T, open, total int, one, many string) shelf[T] {
	open = min(open, len(shown))
	s := shelf[T]{Open: shown[:open], Folded: shown[open:], Rest: more(total, len(shown), one, many)}
	s.FoldedTitle = words.Count(len(s.Folded), one, many)
	return s
}

// more says how many entries beyond those shown there are, "" for none.
func more(total, shown int, one, many string) string {
	if total <= shown {
		return ""
	}
	return "And " + words.Count(total-shown, one, many) + "; the JSON report has everything."
}

func newPage(in Input) pageData {
	s := tell(in)
	p := pageData{
		story: s, Style: template.CSS(coloursCSS + figure.Style + pageCSS), //nolint:gosec // our own embedded files
		Class: outcomeClass(s.Outcome), Symbol: outcomeMark(s.Outcome), Footer: footer(in),
	}
	if s.Sure == "" || strings.HasPrefix(s.Lead, "in ") { // else it begins with an event's name
		p.Lead = words.UpperFirst(p.Lead)
	}
	p.Facts = slices.DeleteFunc(slices.Clone(s.Facts), func(f fact) bool { return f.Label == ruleFact })
	for _, n := range in.Notes[:min(len(in.Notes), 10)] {
		p.Notes = append(p.Notes, words.Sentence(n))
	}
	p.addRows(in)
	p.Joules = newPageEnergy(s.Energy)
	p.addHistories()
	p.addRules()
	p.addFrames(in)
	p.addRuns(in)
	for _, w := range in.Verdict.Warnings[:min(len(in.Verdict.Warnings), pageWarnings)] {
		p.Warnings = append(p.Warnings, words.Sentence(w.String()))
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

func directionClass(d gate.Direction) string { return toneClass(toneOf(d)) }

// toneClass is a tone as a class of page.css.
func toneClass(t document.Tone) string {
	if t == document.Neutral {
		return "expected"
	}
	return string(t)
}

// ruleMark tells a rule's tone in shape.
func ruleMark(t document.Tone) string {
	switch t {
	case document.Worse:
		return "▼"
	case document.Better:
		return "▲"
	}
	return "●"
}
