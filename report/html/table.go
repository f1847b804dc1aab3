package html

import (
	"cmp"
	"html/template"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// table is a table whose first rows may be unfolded and further ones folded.
type table struct {
	opening
	Note        template.HTML
	Fold        bool // all of it is folded
	Shelf       bool
	Open        grid
	Folded      *grid
	FoldedTitle string
	Rest        string
}

// grid is columns and rows.
type grid struct {
	Columns []string // without the last
	Last    string   // the status column's title; "" where the rows have none
	Rows    []row
}

type row struct {
	What, Link          string
	Cells               []cell
	Class, Mark, Status string
	Tight               bool // the status stays on one line
	After               bool
	Of, Figure          string // what it is about, and the figure that shows that
}

type cell struct {
	Label, Text string
	Gap         bool // there is no value: a narrow page leaves it out
}

// Limits in characters on the text of a cell.
const (
	maxStatus = 60
	maxName   = 64 // of a method
)

func newTable(head opening, t *document.Table, fold bool) *table {
	room := t.Rooms.Page
	open, folded := t.Places(room)
	out := &table{
		opening: head, Note: cmp.Or(noteOf(t), head.Guide), Fold: fold, Shelf: room.Open > 0,
		Open: newGrid(t, open), FoldedTitle: t.Noun.More(len(folded)), Rest: more(t.Noun.Count, t.Count(), len(open)+len(folded)),
	}
	if out.Shelf { // in addition to the folded ones
		out.Rest = more(t.Noun.More, t.Count(), len(open)+len(folded))
	}
	if len(folded) > 0 {
		out.Folded = new(newGrid(t, folded))
	}
	return out
}

// link makes rows lead to the figures that show what they are about.
func (t *table) link(figures map[string]string) {
	for _, g := range []*grid{&t.Open, t.Folded} {
		if g == nil {
			continue
		}
		for i := range g.Rows {
			g.Rows[i].Figure = figures[g.Rows[i].Of]
		}
	}
}

func noteOf(t *document.Table) template.HTML {
	return template.HTML(template.HTMLEscapeString(t.Note)) //nolint:gosec // escaped
}

func newGrid(t *document.Table, rows []document.Row) grid {
	last := len(t.Columns) - 1
	g := grid{Last: t.Columns[last].Title}
	for _, c := range t.Columns[:last] {
		if !c.Idle && !c.Sketch {
			g.Columns = append(g.Columns, c.Title)
		}
	}
	for _, r := range rows {
		g.Rows = append(g.Rows, newRow(t, r))
	}
	return g
}

// shortStatus is the longest status, in characters, that is no sentence: "suspect".
const shortStatus = 12

func newRow(t *document.Table, r document.Row) row {
	last := len(r.Cells) - 1
	out := row{What: r.Cells[0], Link: r.Link, Status: prose.Clip(r.Cells[last], maxStatus), Class: toneClass(r.Tone), Mark: toneMark(r.Tone), After: r.After, Of: r.Of}
	out.Tight = !t.Wordy || utf8.RuneCountInString(out.Status) <= shortStatus
	if t.Names {
		out.What = wording.Method(out.What, maxName)
	}
	if r.After {
		out.Class, out.Mark = "", ""
	}
	for i, text := range r.Cells[1:last] {
		if c := t.Columns[i+1]; !c.Idle && !c.Sketch {
			out.Cells = append(out.Cells, cell{c.Title, text, c.Gaps && text == "–"})
		}
	}
	return out
}
