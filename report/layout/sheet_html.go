package layout

import (
	"bytes"
	_ "embed" // for the sheet's templates
	"fmt"
	"html/template"
	"io"

	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/words"
)

//go:embed sheet.tmpl
var sheetTemplate string

//go:embed rows.tmpl
var rowsTemplate string

var sheetPage = template.Must(template.New("sheet").Parse(sheetTemplate + rowsTemplate + energyTemplate))

// sheetData is what sheet.tmpl shows. Strings are plain and escaped by the
// template.
type sheetData struct {
	Style                    template.CSS
	Title, Word, Class, Mark string
	Lead, Hint, Footer       string
	Notes, Warnings          []string
	Facts                    []fact
	Tables, FoldedTables     []sheetHTMLTable
	Energy                   pageEnergy
}

type sheetHTMLTable struct {
	Title, Note, Rest string
	Folded            bool
	Columns           []string // without the last
	Last              string   // heads the status; "" where the rows have none
	Rows              []sheetHTMLRow
}

type sheetHTMLRow struct {
	What                string
	Cells               []sheetHTMLCell
	Class, Mark, Status string
}

type sheetHTMLCell struct{ Label, Text string }

// HTML writes the sheet as one self-contained page: no script, nothing loaded
// from elsewhere, light or dark as the reader has it.
func (s Sheet) HTML(w io.Writer) error {
	d := sheetData{
		Style: template.CSS(coloursCSS + figure.Style + pageCSS), //nolint:gosec // our own embedded files
		Title: s.title, Word: outcomeWord(s.outcome), Class: outcomeClass(s.outcome), Mark: outcomeMark(s.outcome),
		Lead: words.UpperFirst(s.lead), Hint: s.hint, Footer: s.footer, Notes: s.notes, Warnings: s.warnings, Facts: s.facts,
		Energy: newPageEnergy(s.energy),
	}
	for _, t := range s.tables {
		switch {
		case len(t.rows) == 0:
		case t.folded:
			d.FoldedTables = append(d.FoldedTables, t.html())
		default:
			d.Tables = append(d.Tables, t.html())
		}
	}
	var b bytes.Buffer
	if err := sheetPage.Execute(&b, d); err != nil {
		return fmt.Errorf("lay out the HTML report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

func (t sheetTable) html() sheetHTMLTable {
	last := len(t.columns) - 1
	out := sheetHTMLTable{
		Title: t.title, Note: t.note, Folded: t.folded, Columns: t.columns[:last], Last: t.columns[last],
		Rest: more(t.total, len(t.rows), "row", "rows"),
	}
	for _, r := range t.rows {
		row := sheetHTMLRow{What: r.cells[0], Status: r.cells[last], Class: directionClass(r.direction), Mark: directionMark(r.direction)}
		for i, c := range r.cells[1:last] {
			row.Cells = append(row.Cells, sheetHTMLCell{t.columns[i+1], c})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
