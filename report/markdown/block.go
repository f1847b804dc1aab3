package markdown

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/wording"
)

// Limits in characters and entries of a comment.
const (
	maxStatus = 60
	maxName   = 64 // of a method
	maxText   = 200
)

// blocks returns the document's sections, most important first: unfolded ones, the folded parts of
// their tables, folded ones, and the warnings.
func blocks(d document.Document) []block {
	var open, more, folded []block
	for _, s := range d.Sections {
		switch body := s.Body.(type) {
		case *document.Table:
			first, rest := body.Places(body.Rooms.Comment)
			switch {
			case len(body.Rows) == 0:
			case s.Folded:
				folded = append(folded, foldedTable(s, body, first, body.Count()))
			default:
				total := body.Count()
				if len(rest) > 0 {
					more = append(more, overflow(body, rest, total-len(first)))
					total = 0
				}
				open = append(open, openTable(s, body, first, total))
			}
		case *document.List:
			open = append(open, list(s, body)...)
		case *document.Groups:
			open = append(open, groups(s, body)...)
		case *document.Cards:
			if len(body.Cards) > 0 {
				folded = append(folded, cards(s, body))
			}
		}
	}
	if text := facts(d.Facts, true); text != "" {
		folded = append([]block{{head: fold("Details") + text, tail: unfold}}, folded...)
	}
	out := slices.Concat(open, more, folded)
	if w := warnings(d); len(w.lines) > 0 {
		out = append(out, w)
	}
	return out
}

// fold opens a folded part; the blank line makes Markdown work inside it.
func fold(summary string) string {
	return "\n<details><summary>" + Escape(summary) + "</summary>\n\n"
}

const unfold = "\n</details>\n"

// heading returns the heading of an unfolded section, "" without a title.
func heading(title string) string {
	if title == "" {
		return "\n"
	}
	return "\n#### " + Escape(title) + "\n\n"
}

func openTable(s document.Section, t *document.Table, rows []document.Row, total int) block {
	return table(block{head: heading(s.Title.Comment) + note(t), total: total}, t, rows)
}

func foldedTable(s document.Section, t *document.Table, rows []document.Row, total int) block {
	return table(block{head: fold(s.Title.Comment) + note(t), tail: unfold, total: total}, t, rows)
}

// overflow returns the rows of a table that did not fit in its place.
func overflow(t *document.Table, rows []document.Row, total int) block {
	return table(block{head: fold(t.Noun.More(total)), tail: unfold, total: total}, t, rows)
}

func note(t *document.Table) string {
	if t.Note == "" {
		return ""
	}
	return Escape(t.Note) + "\n\n"
}

// table adds rows to a block. Numbers are aligned to the right.
func table(b block, t *document.Table, rows []document.Row) block {
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = Escape(c.Title)
	}
	b.head += "| " + strings.Join(titles, " | ") + " |\n|:--|" + strings.Repeat("--:|", len(titles)-2) + ":--|\n"
	for _, r := range rows {
		b.lines = append(b.lines, line(cells(t, r)...))
	}
	return b
}

func line(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func cells(t *document.Table, r document.Row) []string {
	out := slices.Clone(r.Cells)
	if t.Names {
		out[0] = wording.Method(out[0], maxName)
	}
	last := len(out) - 1
	out[last] = prose.Clip(out[last], maxStatus)
	for i, c := range out {
		if out[i] = Escape(c); i > 0 && i < last {
			out[i] = unbroken(out[i])
		}
	}
	if r.After {
		out[0] = "└ " + out[0]
	}
	if r.Tone == document.Worse && !r.After {
		out[last] = "**" + out[last] + "**"
	}
	return out
}

// unbroken keeps a cell of numbers on one line, even in a narrow table: "−55…−45 %", "1 of 4".
// Words may break.
func unbroken(cell string) string {
	const longest = 24 // characters
	if !strings.ContainsAny(cell[:min(len(cell), 1)], "+0123456789") && !strings.HasPrefix(cell, "−") || utf8.RuneCountInString(cell) > longest {
		return cell
	}
	return spaces.Replace(cell)
}

// spaces keep a cell on one line: a non-breaking space, and a word joiner after an ellipsis.
var spaces = strings.NewReplacer(" ", "\u00a0", "…", "…\u2060")

// list returns a list, with its overflow folded, and its graph.
func list(s document.Section, l *document.List) []block {
	if len(l.Items) == 0 {
		return nil
	}
	room := l.Rooms.Comment
	lines := items(l.Items[:room.MostOf(len(l.Items))])
	n := room.OpenOf(len(lines))
	out := []block{{head: heading(s.Title.Comment), lines: lines[:n]}}
	if rest := lines[n:]; len(rest) > 0 {
		total := max(l.Total, len(l.Items)) - n
		out = append(out, block{head: fold(l.Noun.More(total)), lines: rest, total: total, tail: unfold})
	}
	if l.Graph == nil {
		return out
	}
	if rules, ok := l.Graph.Picture.(figure.Rules); ok {
		out = append(out, block{head: fold(l.Graph.Caption) + graph(rules), tail: unfold})
	}
	return out
}

// isAddress reports whether a link ends where it seems to.
func isAddress(link string) bool {
	u, err := url.Parse(link)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && !strings.ContainsAny(link, " ()<>\\\"")
}

func items(items []document.Item) []string {
	out := make([]string, len(items))
	for i, item := range items {
		text := Escape(item.Text)
		if link := item.Links.Comment; isAddress(link) {
			text = "[" + text + "](" + link + ")"
		}
		out[i] = "- " + text + "\n"
	}
	return out
}

// groups returns what changed: the sentences of the most important group, the doubts of all, and
// the tables folded. Where nothing changed there are none.
func groups(s document.Section, g *document.Groups) []block {
	if !g.Open || len(g.Groups) == 0 {
		return nil
	}
	first := g.Groups[0]
	b := block{head: heading(s.Title.Comment)}
	if first.Title != "" {
		b.head += Escape(first.Title) + ":\n\n"
	}
	for _, text := range slices.Concat(first.Lines, doubts(g)) {
		b.lines = append(b.lines, "- "+Escape(text)+"\n")
	}
	b.lines = append(b.lines, items(first.More)...)
	out := append([]block{b}, figures(first.Figures)...)
	for _, s := range first.Tables {
		if t, ok := s.Body.(*document.Table); ok && !s.Detail && len(t.Rows) > 0 {
			rows, _ := t.Places(t.Rooms.Comment)
			out = append(out, foldedTable(s, t, rows, t.Count()))
		}
	}
	return out
}

// pictureWidth is the maximum number of columns of a figure in lines: a comment shows some of them,
// and scrolls to the others.
const pictureWidth = 130

// figures returns the figures that have a text form, folded. Each is kept or left out as a whole.
func figures(all []document.Figure) []block {
	var out []block
	for _, f := range all {
		if worded, ok := f.Picture.(document.Worded); ok {
			head := fold(f.Caption) + "<pre>\n"
			for _, line := range worded.Text(pictureWidth) {
				head += escapePre(line) + "\n"
			}
			out = append(out, block{head: head + "</pre>\n", tail: unfold})
		}
	}
	return out
}

// doubts returns those of all groups, each once.
func doubts(g *document.Groups) []string {
	var out []string
	for _, group := range g.Groups {
		for _, d := range group.Doubts {
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// cards returns a folded table, one row per card.
func cards(s document.Section, c *document.Cards) block {
	b := block{
		head: fold(s.Title.Comment) + "| " + strings.Join(c.Heads, " | ") + " |\n|" + strings.Repeat(":--|", len(c.Heads)) + "\n",
		tail: unfold, total: len(c.Cards),
	}
	for _, card := range c.Cards[:c.Rooms.Comment.MostOf(len(c.Cards))] {
		why := prose.Clip(card.Text, maxText)
		if card.Next != "" {
			why = strings.TrimSuffix(why, ".") + "; " + prose.Clip(card.Next, maxText)
		}
		b.lines = append(b.lines, line(Escape(wording.Brief(card.Name)), Escape(prose.Clip(card.Title, 100)),
			Escape(card.Word), Escape(why), Escape(card.BaseBrief)))
	}
	return b
}

// warnings returns the document's, and those of its cards under their names.
func warnings(d document.Document) block {
	b := block{head: fold("Warnings"), tail: unfold, lines: items(d.Warnings.Items)}
	for _, s := range d.Sections {
		if c, ok := s.Body.(*document.Cards); ok {
			for _, card := range c.Cards {
				for _, w := range card.Warnings {
					b.lines = append(b.lines, "- "+Escape(wording.Brief(card.Name)+": "+w)+"\n")
				}
			}
		}
	}
	b.total = len(b.lines)
	b.lines = b.lines[:d.Warnings.Rooms.Comment.MostOf(len(b.lines))]
	return b
}
