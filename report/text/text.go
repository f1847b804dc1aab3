// Package text renders a document for a terminal or the log of a build.
//
// It owns line breaking, colours, and which columns a narrow terminal leaves out. Whatever is shown
// by a colour is also shown by a word, a number and its unit stay on one line, text copied from it
// can be searched, and no name acts on the terminal or on the runner that keeps the log. What is
// left out is counted, with where to find it. The package knows documents, and not what they are
// about.
package text

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/report/document"
)

// Render writes a document for a terminal or a log.
func Render(w io.Writer, d document.Document, o document.Options) error {
	if o.Width == 0 {
		o.Width = 100
	}
	o.Width = max(o.Width, 40)
	t := &text{o: o}
	if d.Screen > 0 && !o.Verbose {
		if err := t.screen(d); err != nil {
			return fmt.Errorf("lay out the first screen: %w", err)
		}
		return t.flush(w)
	}
	t.answer(d.Answer)
	t.facts(d)
	t.checks(d.Checks, len(d.Checks))
	for _, s := range d.Sections {
		if s.Folded && !o.Verbose {
			continue
		}
		if err := t.section(s, d); err != nil {
			return fmt.Errorf("lay out the table %q: %w", s.Title.Terminal, err)
		}
	}
	t.warnings(d)
	t.footer(d.Footer)
	return t.flush(w)
}

func (t *text) flush(w io.Writer) error {
	if _, err := w.Write(t.b.Bytes()); err != nil {
		return fmt.Errorf("write the text report: %w", err)
	}
	return nil
}

type text struct {
	b bytes.Buffer
	o document.Options
}

func (t *text) answer(a document.Answer) {
	lines := wrap(a.Word+": "+a.Line(), t.o.Width)
	lines[0] = t.paint(outcomeColor(a.Outcome), a.Word) + strings.TrimPrefix(lines[0], a.Word)
	for _, line := range lines {
		t.line(line)
	}
	t.line("")
}

// checked is the label of what the answer is about; labels are at least as wide.
const checked = "Checked"

func (t *text) facts(d document.Document) {
	width := len(checked)
	for _, f := range d.Facts {
		width = max(width, len(f.Label))
	}
	if d.Checked != "" {
		text := d.Checked
		if d.Title != "" {
			text = d.Title + "; " + text
		}
		t.labelled(checked, width, text)
	}
	for _, n := range d.Notes {
		t.labelled("Note", width, n)
	}
	for _, f := range d.Facts {
		t.labelled(f.Label, width, strings.TrimSpace(f.Text+" "+f.Link))
		if f.Command != "" { // a line of its own, never broken, so that it can be copied
			t.line(strings.Repeat(" ", t.indent(width)) + f.Command)
		}
	}
}

// indent is where the texts of labels of a width begin.
func (t *text) indent(width int) int {
	if t.o.Width < narrow {
		return 2
	}
	return width + 2
}

// narrow is the width of a terminal below which labels have lines of their own.
const narrow = 60

// labelled writes a label and its text, wrapped next to it or, on a narrow terminal, below it.
func (t *text) labelled(label string, width int, text string) {
	indent := t.indent(width)
	if t.o.Width < narrow {
		t.line(t.paint(bold, label))
	}
	for i, line := range wrap(text, t.o.Width-indent) {
		if i == 0 && t.o.Width >= narrow {
			t.line(t.paint(bold, label) + strings.Repeat(" ", indent-len(label)) + line)
			continue
		}
		t.line(strings.Repeat(" ", indent) + line)
	}
}

func (t *text) section(s document.Section, d document.Document) error {
	switch body := s.Body.(type) {
	case *document.Table:
		return t.table(s.Title.Terminal, body)
	case *document.List:
		told := slices.ContainsFunc(d.Facts, func(f document.Fact) bool { return f.Of != "" && f.Of == s.ID })
		if !told || len(body.Items) > 1 { // the only one is among the facts
			t.list(s.Title.Terminal, body)
		}
	case *document.Cards:
		t.cards(s.Title.Terminal, body)
	case *document.Groups:
		return t.groups(s.Title.Terminal, body)
	}
	return nil // figures are for pages
}

func (t *text) list(title string, l *document.List) {
	shown := len(l.Items)
	if !t.o.Verbose {
		shown = l.Rooms.Terminal.OpenOf(shown)
	}
	for i, item := range l.Items[:shown] {
		if i == 0 {
			t.heading(title)
		}
		t.item(item.Text)
	}
	t.rest(len(l.Items) - shown)
}

// rest counts entries that are not shown.
func (t *text) rest(n int) {
	if n > 0 {
		t.item(fmt.Sprintf("and %d more", n))
	}
}

// listed limits the warnings of one card.
const listed = 10

// cards lists every card if requested, otherwise those without a certain outcome: the others are in
// the table.
func (t *text) cards(title string, c *document.Cards) {
	cards := c.Cards
	if !t.o.Verbose {
		cards = slices.DeleteFunc(slices.Clone(cards), func(c document.Card) bool { return !c.Outcome.Doubtful() })
	}
	if len(cards) == 0 {
		return
	}
	t.heading(title)
	shown := cards
	if !t.o.Verbose {
		shown = cards[:c.Rooms.Terminal.OpenOf(len(cards))]
	}
	for _, card := range shown {
		title := card.Title
		if card.Title != card.Name {
			title += ", " + c.Noun.One + " " + card.Name
		}
		t.item(fmt.Sprintf("%s: %s: %s", t.paint(outcomeColor(card.Outcome), card.Word), title, card.Text))
		if t.o.Verbose {
			t.item("  " + card.Base)
		}
		for _, warning := range card.Warnings[:min(len(card.Warnings), listed)] {
			t.item("  warning: " + warning)
		}
	}
	t.rest(len(cards) - len(shown))
}

// groups writes what changed; if requested, also the tables.
func (t *text) groups(title string, g *document.Groups) error {
	for i, group := range g.Groups {
		verbose := t.o.Verbose && i < g.Rooms.Terminal.MostOf(len(g.Groups))
		if !verbose && (!g.Open || i > 0) {
			break
		}
		heading := title
		if group.Title != "" {
			heading += ": " + group.Title
		}
		t.heading(heading)
		for _, line := range append(slices.Clone(group.Lines), group.Doubts...) {
			t.item(line)
		}
		for _, more := range group.More {
			t.item(more.Text + ": " + more.Links.Page)
		}
		t.figures(group.Figures, verbose)
		if !verbose {
			continue
		}
		for _, s := range group.Tables {
			if err := t.section(s, document.Document{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// shownFrames is how many parts of figures, such as frames, are written unless all are requested:
// two of one figure, or the first of two.
const shownFrames = 2

// figures writes the figures that have a text form; unless all are requested, the most important
// parts of the first ones.
func (t *text) figures(all []document.Figure, verbose bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(f document.Figure) bool { _, ok := f.Picture.(document.Worded); return !ok })
	if !verbose {
		all = all[:min(len(all), shownFrames)]
	}
	for _, f := range all {
		t.line("")
		t.line("  " + t.paint(bold, f.Caption))
		parts := 1
		for _, line := range f.Picture.(document.Worded).Text(t.o.Width - 4) {
			if line == "" {
				parts++
			}
			if verbose || parts <= shownFrames/len(all) {
				t.line("    " + line)
			}
		}
	}
}

// warnings returns those of the document and of the cards that are not listed with theirs, each
// once, with the number of cards that have it: a pass may depend on a doubt too.
func (t *text) warnings(d document.Document) {
	all := d.Warnings
	if !t.o.Verbose { // otherwise every card is listed
		all.Items = slices.Concat(all.Items, unlisted(d))
	}
	t.list("Warnings", &all)
}

func unlisted(d document.Document) []document.Item {
	var out []document.Item
	for _, s := range d.Sections {
		if cards, ok := s.Body.(*document.Cards); ok {
			others := slices.DeleteFunc(slices.Clone(cards.Cards), func(c document.Card) bool { return c.Outcome.Doubtful() })
			for _, text := range ofCards(others, cards.Noun) {
				out = append(out, document.Item{Text: text})
			}
		}
	}
	return out
}

// ofCards returns the warnings of cards, each once with the number of cards that have it.
func ofCards(cards []document.Card, noun document.Noun) (out []string) {
	having := map[string]int{}
	var texts []string
	for _, c := range cards {
		for i, text := range c.Warnings {
			if slices.Contains(c.Warnings[:i], text) {
				continue
			}
			if having[text]++; having[text] == 1 {
				texts = append(texts, text)
			}
		}
	}
	for _, text := range texts {
		out = append(out, noun.Count(having[text])+": "+text)
	}
	return out
}

func (t *text) footer(footer string) {
	if footer == "" {
		return
	}
	t.line("")
	for _, line := range wrap(footer, t.o.Width) {
		t.line(line)
	}
}
