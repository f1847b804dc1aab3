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

// image shows the document's first picture at its address, with what it shows in words; nil where
// there is none, or where no reader could load it.
func image(d document.Document, address string) []block {
	f, ok := d.First()
	if !ok || !isAddress(address) || !strings.HasPrefix(address, "https:") {
		return nil
	}
	text := strings.TrimSuffix(f.Caption, ".")
	if f.Detail != "" {
		text += ". " + f.Detail
	}
	return []block{{head: "\n![" + Escape(prose.Clip(text, maxText)) + "](" + address + ")\n"}}
}

// blocks returns the document's sections, most important first: unfolded ones, the folded parts of
// their tables, folded ones, and the warnings. After a first screen everything is folded.
func blocks(d document.Document, picture string) []block {
	var open, more, folded []block
	screen := d.Screen > 0
	for _, s := range d.Sections {
		switch body := s.Body.(type) {
		case *document.Table:
			first, rest := body.Places(body.Rooms.Comment)
			switch {
			case len(body.Rows) == 0:
			case s.Folded:
				folded = append(folded, foldedTable(s, body, first, body.Count()))
			case screen:
				open = append(open, foldedTable(s, body, slices.Concat(first, rest), body.Count()))
			default:
				total := body.Count()
				if len(rest) > 0 {
					more = append(more, overflow(body, rest, total-len(first)))
					total = 0
				}
				open = append(open, openTable(s, body, first, total))
			}
		case *document.List:
			open = append(open, list(s, body, screen)...)
		case *document.Groups:
			open = append(open, groups(s, body, screen)...)
		case *document.Cards:
			if len(body.Cards) > 0 {
				folded = append(folded, cards(s, body))
			}
		}
	}
	if _, details := firstFacts(d); len(details) > 0 {
		folded = append([]block{{head: fold("Details") + facts(details), tail: unfold}}, folded...)
	}
	out := slices.Concat(open, more, folded)
	if first := image(d, picture); first != nil {
		out = append(first, out...)
	} else if d.Chart != nil {
		out = append(chart(d.Chart), out...)
	}
	if w := warnings(d); len(w.lines) > 0 {
		out = append(out, w)
	}
	return out
}

// part opens a section under its title: folded, with a summary of what is inside, or unfolded.
func part(title, summary string, folded bool) block {
	if folded {
		return block{head: fold(summary), tail: unfold}
	}
	return block{head: heading(title)}
}

// fold opens a folded part under its summary, in which HTML is active but Markdown is not; the
// blank line makes Markdown work inside of it.
func fold(summary string) string {
	return "\n<details><summary>" + strings.ReplaceAll(escapePre(wording.Visible(summary)), "$", "<span>$</span>") + "</summary>\n\n"
}

// counted returns a title with how many entries are below it, "7 rows" alone where that says it all.
func counted(title string, noun document.Noun, n int) string {
	switch {
	case noun.Many == "":
		return title
	case title == "", strings.EqualFold(title, noun.Many):
		return noun.Count(n)
	}
	return title + ": " + noun.Count(n)
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
	return table(block{head: fold(counted(s.Title.Comment, t.Noun, total)) + note(t), tail: unfold, total: total}, t, rows)
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
	order := order(t.Columns)
	titles := make([]string, len(order))
	for i, k := range order {
		titles[i] = Escape(t.Columns[k].Title)
	}
	b.head += "| " + strings.Join(titles, " | ") + " |\n|:--|" + strings.Repeat("--:|", len(titles)-2) + ":--|\n"
	for _, r := range rows {
		b.lines = append(b.lines, line(cells(t, r, order)...))
	}
	return b
}

// order returns the columns of a comment: the subject, those that come first, and the others that
// have something to say.
func order(columns []document.Column) []int {
	out := []int{0}
	for _, first := range []bool{true, false} {
		for i, c := range columns {
			if i > 0 && c.First == first && !c.Idle {
				out = append(out, i)
			}
		}
	}
	return out
}

func line(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func cells(t *document.Table, r document.Row, order []int) []string {
	last := len(r.Cells) - 1
	out := make([]string, len(order))
	for i, k := range order {
		c := r.Cells[k]
		switch {
		case k == 0 && t.Names:
			c = wording.Method(c, maxName)
		case k == last:
			c = prose.Clip(c, maxStatus)
		}
		if out[i] = Escape(c); k > 0 && k < last {
			out[i] = unbroken(out[i])
		}
	}
	if r.After {
		out[0] = "└ " + out[0]
	}
	if end := len(out) - 1; r.Tone == document.Worse && !r.After {
		out[end] = "**" + out[end] + "**"
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

// list returns a list, with its overflow folded, or all of it, and its graph.
func list(s document.Section, l *document.List, folded bool) []block {
	if len(l.Items) == 0 {
		return nil
	}
	room := l.Rooms.Comment
	lines := items(l.Items[:room.MostOf(len(l.Items))])
	total := max(l.Total, len(l.Items))
	b := part(s.Title.Comment, counted(s.Title.Comment, l.Noun, total), folded)
	n := room.OpenOf(len(lines))
	if folded {
		n, b.total = len(lines), total
	}
	b.lines = lines[:n]
	out := []block{b}
	if rest := lines[n:]; len(rest) > 0 {
		out = append(out, block{head: fold(l.Noun.More(total - n)), lines: rest, total: total - n, tail: unfold})
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
func groups(s document.Section, g *document.Groups, folded bool) []block {
	if !g.Open || len(g.Groups) == 0 {
		return nil
	}
	first := g.Groups[0]
	b := part(s.Title.Comment, strings.TrimSuffix(s.Title.Comment+": "+first.Fact, ": "), folded)
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
		head: fold(counted(s.Title.Comment, c.Noun, len(c.Cards))) + "| " + strings.Join(c.Heads, " | ") + " |\n|" + strings.Repeat(":--|", len(c.Heads)) + "\n",
		tail: unfold, total: len(c.Cards),
	}
	for _, card := range c.Cards[:c.Rooms.Comment.MostOf(len(c.Cards))] {
		why := prose.Clip(card.Text, maxText)
		if card.Next != "" {
			why = strings.TrimSuffix(why, ".") + "; " + prose.Clip(card.Next, maxText)
		}
		b.lines = append(b.lines, line(Escape(prose.Clip(card.Title, 100)), Escape(card.Word), Escape(why), Escape(card.BaseBrief),
			Escape(wording.Brief(card.Name))))
	}
	return b
}

// warnings returns the document's, and those of its cards under their titles, with the names of
// those that share one.
func warnings(d document.Document) block {
	b := block{tail: unfold, lines: items(d.Warnings.Items)}
	for _, s := range d.Sections {
		if c, ok := s.Body.(*document.Cards); ok {
			titles := map[string]int{}
			for _, card := range c.Cards {
				titles[card.Title]++
			}
			for _, card := range c.Cards {
				title := prose.Clip(card.Title, 100)
				if titles[card.Title] > 1 {
					title += ", " + c.Noun.One + " " + wording.Brief(card.Name)
				}
				for _, w := range card.Warnings {
					b.lines = append(b.lines, "- "+Escape(title+": "+w)+"\n")
				}
			}
		}
	}
	b.total = len(b.lines)
	b.head = fold(prose.Count(b.total, "warning", "warnings"))
	b.lines = b.lines[:d.Warnings.Rooms.Comment.MostOf(len(b.lines))]
	return b
}
