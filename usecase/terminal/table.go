package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Table is a table without boxes, so that its rows can be searched and cut. On a terminal it is at
// most as wide as that: the widest columns are wrapped. Elsewhere each row is one line.
type Table struct {
	out   io.Writer
	width int // 0: any
	rows  [][]string
}

// NewTable returns a table whose header is printed as written: units such as ms mean something else
// in capital letters.
func NewTable(c Console, header ...string) *Table {
	return &Table{out: c.Stdout, width: c.Width, rows: [][]string{header}}
}

// Append adds a row, of cells or of one slice of them.
func (t *Table) Append(cells ...any) error {
	row := make([]string, 0, len(t.rows[0]))
	for _, cell := range cells {
		switch cell := cell.(type) {
		case []string:
			row = append(row, cell...)
		default:
			row = append(row, fmt.Sprint(cell))
		}
	}
	for len(row) < len(t.rows[0]) {
		row = append(row, "")
	}
	t.rows = append(t.rows, row[:len(t.rows[0])])
	return nil
}

// gap is the space between two columns, and leastColumn what a wrapped column keeps.
const (
	gap         = 2
	leastColumn = 8
)

// Render prints the table.
func (t *Table) Render() error {
	widths := t.widths()
	var out strings.Builder
	for i, row := range t.rows {
		t.line(&out, row, widths)
		if i == 0 {
			rules := make([]string, len(widths))
			for k, w := range widths {
				rules[k] = strings.Repeat("─", w)
			}
			t.line(&out, rules, widths)
		}
	}
	_, err := io.WriteString(t.out, out.String())
	return err
}

// widths returns the widths of the columns.
func (t *Table) widths() []int {
	widths := make([]int, len(t.rows[0]))
	total := gap * (len(widths) - 1)
	for k := range widths {
		for _, row := range t.rows {
			widths[k] = max(widths[k], twwidth.Width(row[k]))
		}
		total += widths[k]
	}
	for ; t.width > 0 && total > t.width; total-- {
		widest := 0
		for k := range widths {
			if widths[k] > widths[widest] {
				widest = k
			}
		}
		if widths[widest] <= leastColumn {
			break
		}
		widths[widest]--
	}
	return widths
}

// line prints a row, in as many lines as its longest cell needs.
func (t *Table) line(out *strings.Builder, row []string, widths []int) {
	cells := make([][]string, len(row))
	lines := 1
	for k, cell := range row {
		cells[k] = fold(cell, widths[k])
		lines = max(lines, len(cells[k]))
	}
	for i := range lines {
		var line strings.Builder
		for k := range row {
			part := ""
			if i < len(cells[k]) {
				part = cells[k][i]
			}
			line.WriteString(part)
			line.WriteString(strings.Repeat(" ", max(0, widths[k]-twwidth.Width(part))+gap))
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// Paragraph prints a line of text, on a terminal broken between words.
func (c Console) Paragraph(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if c.Width > 0 {
		text = strings.Join(fold(text, c.Width), "\n")
	}
	fmt.Fprintln(c.Stdout, text)
}

// fold breaks a cell between words, and a word that is longer than the column where the column ends.
func fold(cell string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Split(cell, " ") {
		if joined := line + " " + word; line != "" && twwidth.Width(joined) <= width {
			line = joined
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for line = word; twwidth.Width(line) > width; {
			head := []rune(line)
			n := len(head)
			for n > 1 && twwidth.Width(string(head[:n])) > width {
				n--
			}
			lines, line = append(lines, string(head[:n])), string(head[n:])
			if line == "" {
				break
			}
		}
	}
	return append(lines, line)
}
