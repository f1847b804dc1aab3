package causes

import (
	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// tableSection returns a table of evidence. One that is not the main table is left out of a
// comment.
func tableSection(t diagnose.Table) document.Section {
	page := pageRows
	if t.Main {
		page = mainRows
	}
	table := &document.Table{
		Note: text(t.Note), Total: t.All(), Noun: document.Noun{One: "row", Many: "rows"}, Keep: 30, Names: t.Main && codeFirst(t),
		Rooms: document.Rooms{Comment: document.Room{Most: foldedRows}, Page: document.Room{Most: page}},
	}
	for _, c := range t.Columns {
		table.Columns = append(table.Columns, document.Column{Title: wording.Brief(c.Title), Spare: c.Spare})
	}
	for _, r := range t.Rows {
		row := document.Row{Tone: ToneOf(r.Direction)}
		for k, cell := range r.Cells[:min(len(r.Cells), len(t.Columns))] {
			row.Cells = append(row.Cells, cellText(cell, t.Columns[k], k == 0 && table.Names))
		}
		table.Rows = append(table.Rows, row)
	}
	title := wording.Name(t.Title)
	return document.Section{Title: document.Everywhere(title), Detail: !t.Main, Folded: table.Rooms.Page.MostOf(len(table.Rows)) > openRows, Body: table}
}

// codeFirst reports whether the first cells are names of code.
func codeFirst(t diagnose.Table) bool {
	return len(t.Rows) > 0 && len(t.Rows[0].Cells) > 0 && len(t.Rows[0].Cells[0]) > 0 && t.Rows[0].Cells[0][0].As == diagnose.Code
}

// cellText returns a cell as text, "–" where it is empty and its column has a title. The name of
// code is complete where the format cuts it to its own room.
func cellText(p diagnose.Phrase, c diagnose.Column, whole bool) string {
	switch {
	case whole && len(p) == 1 && p[0].As == diagnose.Code:
		return wording.Visible(p[0].Name)
	case c.Title == "":
		return text(p)
	}
	return wording.Dash(text(p))
}

// ToneOf returns a direction as a tone.
func ToneOf(d gate.Direction) document.Tone {
	switch d {
	case gate.ToRegression:
		return document.Worse
	case gate.ToImprovement:
		return document.Better
	case gate.Suspect:
		return document.Suspect
	}
	return document.Neutral
}
