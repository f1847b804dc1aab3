package text

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Limits in characters of cells.
const (
	maxStatus   = 40
	leastName   = 20 // of a method
	besideNames = 68 // width of the numbers next to names
)

// table writes a table, at most as wide as the terminal.
func (t *text) table(title string, d *document.Table) error {
	if len(d.Rows) == 0 {
		return nil
	}
	if title == "" {
		t.line("")
	} else {
		t.heading(title)
	}
	if d.Note != "" {
		t.item(d.Note)
	}
	rows := t.shown(d)
	g := t.grid(d, rows)
	if err := t.write(g); err != nil {
		return err
	}
	if n := d.Count() - len(rows); n > 0 {
		for _, line := range wrap(fmt.Sprintf("and %s: see --verbose or the HTML report", d.Noun.More(n)), t.o.Width-2) {
			t.line("  " + line)
		}
	}
	return nil
}

// shown returns the rows that fit: the most important ones, unless all are requested.
func (t *text) shown(d *document.Table) []document.Row {
	if t.o.Verbose {
		return d.Rows
	}
	major, _ := d.Split()
	return major[:d.Rooms.Terminal.OpenOf(len(major))]
}

// grid is the cells of a table as shown on the terminal.
type grid struct {
	header []string
	rows   [][]string
	tones  []document.Tone // of the last cell of each row
	room   int             // of the first column
}

// grid lays out rows in the columns that fit the terminal. The first column takes the remaining
// room and is wrapped.
func (t *text) grid(d *document.Table, rows []document.Row) grid {
	g := grid{}
	kept := make([]int, len(d.Columns))
	for i, c := range d.Columns {
		g.header, kept[i] = append(g.header, c.Title), i
	}
	for _, r := range rows {
		g.rows = append(g.rows, t.cells(d, r))
		g.tones = append(g.tones, r.Tone)
	}
	kept = slices.DeleteFunc(kept, func(k int) bool { return d.Columns[k].Idle })
	least := min(d.Keep, g.width(0))
	for _, spare := range spares(d.Columns) {
		if least+g.widths(kept[1:]) <= t.o.Width {
			break
		}
		kept = slices.DeleteFunc(kept, func(k int) bool { return k == spare })
	}
	g.room = max(16, t.o.Width-g.widths(kept[1:]))
	g.keep(kept)
	return g
}

// spares returns the indexes of the spare columns in the order in which they are left out.
func spares(columns []document.Column) []int {
	var out []int
	for i, c := range columns {
		if c.Spare > 0 && !c.Idle {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return columns[a].Spare - columns[b].Spare })
	return out
}

// cells returns a row's cells for a terminal: names cut to fit, a consequence below its cause.
func (t *text) cells(d *document.Table, r document.Row) []string {
	out := make([]string, len(r.Cells))
	for i, c := range r.Cells {
		out[i] = plainSpaces(c)
	}
	if d.Names {
		out[0] = wording.Method(out[0], max(leastName, t.o.Width-besideNames))
	}
	if r.After {
		out[0] = "└ " + out[0]
	}
	last := &out[len(out)-1]
	if *last = prose.Clip(*last, maxStatus); r.Brief != "" && t.o.Width < 60 {
		*last = r.Brief
	}
	return out
}

// width returns the width of a column with the spaces around it, and widths the sum of several.
func (g grid) width(k int) int {
	width := twwidth.Width(g.header[k])
	for _, r := range g.rows {
		width = max(width, twwidth.Width(r[k]))
	}
	return width + 2
}

func (g grid) widths(columns []int) int {
	sum := 0
	for _, k := range columns {
		sum += g.width(k)
	}
	return sum
}

// keep keeps only some of the columns.
func (g *grid) keep(columns []int) {
	pick := func(cells []string) []string {
		out := make([]string, len(columns))
		for i, k := range columns {
			out[i] = cells[k]
		}
		return out
	}
	g.header = pick(g.header)
	for i, r := range g.rows {
		g.rows[i] = pick(r)
	}
}

func (t *text) write(g grid) error {
	var laid bytes.Buffer
	table := borderless(&laid, g.header, g.room)
	for i, cells := range g.rows {
		last := len(cells) - 1
		cells[last] = t.paint(toneColor(g.tones[i]), cells[last])
		if err := table.Append(cells); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(laid.String()) {
		t.line(strings.TrimSuffix(line, "\n"))
	}
	return nil
}

// borderless returns a table without borders, with numbers to the right: all columns except the
// first and the last.
func borderless(w io.Writer, header []string, room int) *tablewriter.Table {
	align := make([]tw.Align, len(header))
	for i := range header {
		align[i] = tw.AlignLeft
		if i > 0 && i < len(header)-1 {
			align[i] = tw.AlignRight
		}
	}
	cells := tw.CellConfig{
		Formatting:   tw.CellFormatting{AutoWrap: tw.WrapNormal, AutoFormat: tw.Off},
		Alignment:    tw.CellAlignment{PerColumn: align},
		ColMaxWidths: tw.CellWidth{PerColumn: tw.Mapper[int, int]{0: room}},
	}
	table := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
				Separators: tw.SeparatorsNone,
			},
		})),
		tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells, Behavior: tw.Behavior{TrimSpace: tw.Off}}),
	)
	table.Header(header)
	return table
}
