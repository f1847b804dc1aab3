// Package html renders a document as one self-contained page: no script, no external resources,
// figures as inline SVG, light or dark by the reader's setting.
//
// It owns the page's templates, its style, and what is folded. The page can be read without colours
// and by a screen reader, on a phone and on a large screen, and it counts what it leaves out.
// Strings are escaped by the templates; only figures and style come as markup, made by our own
// packages. It knows documents, and not what they are about.
package html

import (
	"bytes"
	_ "embed" // for the page's templates and style
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

var (
	//go:embed page.tmpl
	pageTemplate string

	//go:embed section.tmpl
	sectionTemplate string

	//go:embed grid.tmpl
	gridTemplate string

	//go:embed groups.tmpl
	groupsTemplate string

	//go:embed page.css
	pageCSS string
)

var pageForm = template.Must(template.New("page").Funcs(template.FuncMap{"soft": soft}).Parse(sectionTemplate + gridTemplate + groupsTemplate + pageTemplate))

// Render writes the document as a page.
func Render(w io.Writer, d document.Document, _ document.Options) error {
	var b bytes.Buffer
	if err := pageForm.Execute(&b, newPage(d)); err != nil {
		return fmt.Errorf("lay out the HTML report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

// page is the data of page.tmpl.
type page struct {
	document.Document
	Style      template.CSS
	Mark, Lead string
	Facts      []document.Fact // of the first screen
	Details    []document.Fact
	Checks     []document.Check
	Contents   []opening // sections that have a name, where there are several
	Sections   []section
	Warnings   []string
}

func newPage(d document.Document) page {
	d.Answer.Outcome = d.Answer.Outcome.Known()
	p := page{
		Document: d, Style: template.CSS(figure.Colours + figure.Style + pageCSS), //nolint:gosec // our own embedded files
		Mark: outcomeMark(d.Answer.Outcome), Lead: d.Answer.Lead,
	}
	if d.Answer.Sure == "" || d.Answer.Ours || strings.HasPrefix(p.Lead, "in ") { // else it begins with an event's name
		p.Lead = wording.UpperFirst(p.Lead)
	}
	for _, f := range d.Facts {
		switch {
		case f.Of != "": // the section follows
		case f.Detail:
			p.Details = append(p.Details, f)
		default:
			p.Facts = append(p.Facts, f)
		}
	}
	for _, c := range d.Checks {
		c.Outcome = c.Outcome.Known()
		p.Checks = append(p.Checks, c)
	}
	p.Sections = sections(d.Sections)
	p.Contents = contents(p.Sections)
	items := d.Warnings.Items
	for _, w := range items[:d.Warnings.Rooms.Page.MostOf(len(items))] {
		p.Warnings = append(p.Warnings, w.Text)
	}
	return p
}

// longWord is how many characters of a word fit on a line of a phone.
const longWord = 28

// soft returns text that may break behind the dots, slashes and signs of a long name, and between
// two commits, so that a phone shows "com.example.MessageView." and "decodeImages", and no half of a word.
func soft(s string) template.HTML {
	var b strings.Builder
	for i, word := range strings.Split(s, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		ends := softEnds
		if utf8.RuneCountInString(word) <= longWord {
			ends = softRange
		}
		for _, part := range strings.SplitAfter(ends.Replace(word), softBreak) {
			part, more := strings.CutSuffix(part, softBreak)
			b.WriteString(template.HTMLEscapeString(part))
			if more {
				b.WriteString("<wbr>")
			}
		}
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

// softBreak stands for a possible break: no text of a document has it.
const softBreak = "\x00"

var (
	softEnds  = strings.NewReplacer("..", ".."+softBreak, ".", "."+softBreak, "/", "/"+softBreak, "$", "$"+softBreak, "#", "#"+softBreak, "_", "_"+softBreak)
	softRange = strings.NewReplacer("..", ".."+softBreak) // of two commits
)

// fewSections is how many sections need no list of contents.
const fewSections = 2

// contents returns the sections to list before them; nil where there are few.
func contents(all []section) (out []opening) {
	for _, s := range all {
		if o := s.opening(); o.ID != "" && o.Title != "" {
			out = append(out, o)
		}
	}
	if len(out) <= fewSections {
		return nil
	}
	return out
}

// outcomeMark returns a shape for each outcome, in addition to its word.
func outcomeMark(o document.Outcome) string {
	switch o.Known() {
	case document.Pass:
		return "✓"
	case document.Improvement:
		return "▲"
	case document.Inconclusive:
		return "?"
	case document.Regression:
		return "▼"
	}
	return "!"
}

// toneMark returns a shape for each tone, in addition to a word.
func toneMark(t document.Tone) string {
	switch t {
	case document.Worse:
		return "▼"
	case document.Better:
		return "▲"
	case document.Suspect:
		return "?"
	}
	return "·"
}

// toneClass returns the class of a tone in page.css.
func toneClass(t document.Tone) string {
	if t == document.Neutral {
		return "expected"
	}
	return string(t)
}

// more returns how many entries beyond those shown there are, in the words of count, "" for none.
func more(count func(int) string, total, shown int) string {
	if total <= shown {
		return ""
	}
	return "And " + count(total-shown) + "; the JSON report has everything."
}
