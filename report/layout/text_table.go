package layout

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/report/words"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// table writes the findings, each with its after-effects below it.
func (t *text) table() error {
	rows := flat(t.Findings)
	if len(rows) == 0 {
		return nil
	}
	t.line("")
	shown := rows
	if !t.o.Verbose {
		shown, _ = short(rows)
		shown = shown[:min(len(shown), textRows)]
	}
	columns := t.columns(shown)
	var laid bytes.Buffer
	table := t.newTable(&laid, columns, shown)
	for _, f := range shown {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = c.cell(f)
			if c.title == "Status" {
				cells[i] = t.paint(directionColor(f.Direction), cells[i])
			}
		}
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
	if n := len(rows) - len(shown); n > 0 {
		for _, line := range wrap(fmt.Sprintf("and %s: see --verbose or the HTML report", words.Count(n, "more deviation", "more deviations")), t.o.Width-2) {
			t.line("  " + line)
		}
	}
	return nil
}

// column is one column of the table of findings.
type column struct {
	title string
	cell  func(finding) string
	right bool
}

// columns are those that the width has room for: first the interval goes, then
// the expected value, then the run's own.
func (t *text) columns(rows []finding) []column {
	what := column{title: "What", cell: func(f finding) string {
		if f.AfterEffectOf != "" {
			return "└ " + f.what()
		}
		return f.what()
	}}
	all := []column{what,
		{"Interval", func(f finding) string { return plainSpaces(interval(f.middle())) }, true},
		{"Expected", func(f finding) string { return plainSpaces(f.expected()) }, true},
		{"This run", func(f finding) string { return plainSpaces(f.amountOf(f.middle().Value)) }, true},
		{"Change", func(f finding) string { return plainSpaces(change(f.middle())) }, true},
		{"Runs", finding.fraction, true},
		{"Status", t.status, false},
	}
	if len(t.in.Verdict.Runs) == 1 {
		all = slices.DeleteFunc(all, func(c column) bool { return c.title == "Runs" })
	}
	least := min(30, columnWidth(what, rows))
	full := len(all)
	for len(all) > full-3 && least+2+widths(all[1:], rows) > t.o.Width {
		all = slices.Delete(all, 1, 2)
	}
	if len(all) == full { // in reading order
		all[1], all[2], all[3], all[4] = all[2], all[3], all[4], all[1]
	}
	return all
}

// status is a finding's, with its cause where there is room for it: it stands
// under its cause anyway.
func (t *text) status(f finding) string {
	if f.AfterEffectOf != "" && t.o.Width < 60 {
		return "after"
	}
	return words.Clip(f.status(), 40)
}

// columnWidth is the width of a column's widest cell; widths sums columns with
// the blanks around them.
func columnWidth(c column, rows []finding) int {
	width := twwidth.Width(c.title)
	for _, f := range rows {
		width = max(width, twwidth.Width(c.cell(f)))
	}
	return width
}

func widths(columns []column, rows []finding) int {
	sum := 0
	for _, c := range columns {
		sum += columnWidth(c, rows) + 2
	}
	return sum
}

// newTable is the table of findings, whose first column takes the room that the
// others leave and breaks its lines there.
func (t *text) newTable(w io.Writer, columns []column, rows []finding) *tablewriter.Table {
	header, right := make([]string, len(columns)), make([]bool, len(columns))
	for i, c := range columns {
		header[i], right[i] = c.title, c.right
	}
	return borderless(w, header, right, max(16, t.o.Width-widths(columns[1:], rows)))
}

// plainTable writes a table of cells, the first column at most room wide.
func (t *text) plainTable(header []string, right []bool, rows [][]string, room int) error {
	var laid bytes.Buffer
	table := borderless(&laid, header, right, room)
	for _, cells := range rows {
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

// borderless is a table without borders.
func borderless(w io.Writer, header []string, right []bool, room int) *tablewriter.Table {
	align := make([]tw.Align, len(header))
	for i := range header {
		align[i] = tw.AlignLeft
		if right[i] {
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
