package text

import (
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
)

// Lines of the first screen.
const (
	shownChecks = 6
)

// screen writes the answer, its first facts, a line for each check and as many rows of the first
// table as fit: what is worth reading before everything else.
func (t *text) screen(d document.Document) error {
	t.answer(d.Answer)
	t.firstFacts(d)
	t.checks(d.Checks, shownChecks)
	warnings := allWarnings(d)
	for _, s := range d.Sections {
		table, ok := s.Body.(*document.Table)
		if !ok || s.Folded || len(table.Rows) == 0 {
			continue
		}
		if err := t.fitted(s.Title.Terminal, table, d.Screen-t.lines()-2-min(len(warnings), 1)*warningLines); err != nil {
			return err
		}
		break
	}
	t.firstWarnings(warnings, d.Screen-t.lines()-1)
	t.line("")
	t.line("More: --verbose, or the HTML report")
	return nil
}

// allWarnings returns the warnings of a document and of its cards, and the doubts about what explains
// it, each once.
func allWarnings(d document.Document) (out []string) {
	for _, w := range d.Warnings.Items {
		out = append(out, w.Text)
	}
	for _, s := range d.Sections {
		switch body := s.Body.(type) {
		case *document.Cards:
			out = append(out, ofCards(body.Cards, body.Noun)...)
		case *document.Groups:
			if body.Open && len(body.Groups) > 0 {
				out = append(out, body.Groups[0].Doubts...)
			}
		}
	}
	return out
}

// warningLines is the room of the warnings: an empty line, one warning, and how many more there are.
const warningLines = 3

// firstWarnings writes as many warnings as fit into the lines, at least one, and counts the others.
func (t *text) firstWarnings(all []string, room int) {
	if len(all) == 0 {
		return
	}
	t.line("")
	room -= 3 // two empty lines, and the count of the others
	for i, w := range all {
		lines := wrap("Warning: "+w, t.o.Width)
		if room -= len(lines); i > 0 && room < 0 {
			t.line(prose.Count(len(all)-i, "more warning", "more warnings"))
			return
		}
		for _, line := range lines {
			t.line(line)
		}
	}
}

// firstFacts writes the facts that are no details, after the notes.
func (t *text) firstFacts(d document.Document) {
	first := document.Document{Title: d.Title, Checked: d.Checked, Notes: d.Notes}
	for _, f := range d.Facts {
		if !f.Detail {
			first.Facts = append(first.Facts, f)
		}
	}
	t.facts(first)
}

// checks writes a line for each check, of at most that many.
func (t *text) checks(all []document.Check, most int) {
	if len(all) == 0 {
		return
	}
	t.line("")
	for _, c := range all[:min(len(all), most)] {
		text := c.Title
		if c.Text != "" {
			text += ": " + c.Text
		}
		for i, line := range wrap(text, t.o.Width-4) {
			if i == 0 {
				t.line(" " + t.paint(outcomeColor(c.Outcome), c.Outcome.Tick()) + " " + line)
				continue
			}
			t.line("   " + line)
		}
	}
	t.rest(len(all) - min(len(all), most))
}

// fitted writes a table in at most that many lines, or leaves it out where it has no room.
func (t *text) fitted(title string, d *document.Table, room int) error {
	for n := len(d.Rows); n > 0; n-- {
		if n > room {
			continue // a row takes a line at least
		}
		part := *d
		part.Rooms.Terminal.Open, part.Total = n, d.Count()
		try := &text{o: t.o}
		if err := try.table(title, &part); err != nil {
			return err
		}
		if try.lines() <= room {
			t.b.Write(try.b.Bytes())
			return nil
		}
	}
	return nil
}

// lines returns how many lines are written.
func (t *text) lines() int { return strings.Count(t.b.String(), "\n") }
