package layout

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/words"
)

// Sheet is a report of one answer, some facts and tables: the form that a
// comparison of two builds and a drift have in common. Its text is plain; each
// renderer escapes it for its own language.
type Sheet struct {
	title    string
	outcome  gate.Outcome
	lead     string // the answer in a sentence
	hint     string
	notes    []string
	facts    []fact
	tables   []sheetTable
	energy   energyStory
	warnings []string
	footer   string
}

// Brief is the sheet without its tables: the answer, the facts, and what explains
// it.
func (s Sheet) Brief() Sheet {
	s.tables = nil
	return s
}

// sheetTable is a table of a sheet. The first column says what a row is about,
// the last its status; those between are numbers.
type sheetTable struct {
	title   string
	note    string
	columns []string
	// spare are the columns to leave out on a narrow terminal, the first first.
	spare  []string
	rows   []sheetRow
	total  int  // rows that there would be
	folded bool // of use to those who want it all
}

type sheetRow struct {
	cells     []string
	direction gate.Direction
}

// sheetRows bounds the rows of one table.
const sheetRows = 500

// add puts a row into the table, unless it is full.
func (t *sheetTable) add(d gate.Direction, cells ...string) {
	if t.total++; len(t.rows) < sheetRows {
		t.rows = append(t.rows, sheetRow{cells, d})
	}
}

// sheetStatus is a direction as the last cell of a row.
func sheetStatus(d gate.Direction) string {
	switch d {
	case gate.ToRegression:
		return "worse"
	case gate.ToImprovement:
		return "better"
	case gate.Suspect:
		return "suspect"
	}
	return "as before"
}

// Text writes the sheet for a terminal or a log.
func (s Sheet) Text(w io.Writer, o TextOptions) error {
	if o.Width == 0 {
		o.Width = 100
	}
	o.Width = max(o.Width, 40)
	t := &text{o: o}
	word := outcomeWord(s.outcome)
	lines := wrap(word+": "+s.lead, o.Width)
	lines[0] = t.paint(outcomeColor(s.outcome), word) + strings.TrimPrefix(lines[0], word)
	for _, line := range lines {
		t.line(line)
	}
	t.line("")
	s.textFacts(t)
	for _, table := range s.tables {
		if table.folded && !o.Verbose || len(table.rows) == 0 {
			continue
		}
		if err := t.sheetTable(table); err != nil {
			return fmt.Errorf("lay out the table %q: %w", table.title, err)
		}
	}
	if err := t.energy(s.energy); err != nil {
		return fmt.Errorf("lay out the tables of energy: %w", err)
	}
	for i, warning := range s.warnings {
		if i == 0 {
			t.heading("Warnings")
		}
		if i == textRuns && !o.Verbose {
			t.item(fmt.Sprintf("and %d more", len(s.warnings)-i))
			break
		}
		t.item(warning)
	}
	if s.footer != "" {
		t.line("")
		t.line(s.footer)
	}
	if _, err := w.Write(t.b.Bytes()); err != nil {
		return fmt.Errorf("write the text report: %w", err)
	}
	return nil
}

func (s Sheet) textFacts(t *text) {
	width := 0
	for _, f := range s.facts {
		width = max(width, len(f.Label))
	}
	for _, n := range s.notes {
		t.labelled("Note", width, n)
	}
	for _, f := range s.facts {
		t.labelled(f.Label, width, f.Text)
	}
	if s.hint != "" {
		t.labelled("Next", width, s.hint)
	}
}

func (t *text) sheetTable(table sheetTable) error {
	t.heading(table.title)
	if table.note != "" {
		t.item(table.note)
	}
	rows := table.rows
	if !t.o.Verbose {
		rows = rows[:min(len(rows), textRows)]
	}
	kept := keptColumns(table, rows, t.o.Width)
	header := make([]string, len(kept))
	right := make([]bool, len(kept))
	for i, k := range kept {
		header[i], right[i] = table.columns[k], k > 0 && k < len(table.columns)-1
	}
	room := max(16, t.o.Width-columnsWidth(table, rows, kept[1:]))
	cells := make([][]string, len(rows))
	for i, r := range rows {
		for _, k := range kept {
			cell := plainSpaces(r.cells[k])
			if k == len(table.columns)-1 {
				cell = t.paint(directionColor(r.direction), cell)
			}
			cells[i] = append(cells[i], cell)
		}
	}
	if err := t.plainTable(header, right, cells, room); err != nil {
		return err
	}
	if n := table.total - len(rows); n > 0 {
		t.line(fmt.Sprintf("  and %s: see --verbose or the HTML report", words.Count(n, "more row", "more rows")))
	}
	return nil
}

// keptColumns are the indexes of the columns that the width has room for.
func keptColumns(table sheetTable, rows []sheetRow, width int) []int {
	var kept []int
	for k := range table.columns {
		kept = append(kept, k)
	}
	least := min(30, columnsWidth(table, rows, []int{0}))
	for _, spare := range table.spare {
		if least+columnsWidth(table, rows, kept[1:]) <= width {
			break
		}
		kept = slices.DeleteFunc(kept, func(k int) bool { return table.columns[k] == spare })
	}
	return kept
}

// columnsWidth sums the widths of columns with the blanks around them.
func columnsWidth(table sheetTable, rows []sheetRow, columns []int) int {
	sum := 0
	for _, k := range columns {
		width := twwidth.Width(table.columns[k])
		for _, r := range rows {
			width = max(width, twwidth.Width(r.cells[k]))
		}
		sum += width + 2
	}
	return sum
}
