package terminal

import (
	"bufio"
	"cmp"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Columns prints rows of text in columns as they come, in bounded memory: the first rows determine
// the widths, and a later wider cell shifts those after it.
type Columns struct {
	Out  *bufio.Writer
	Rows [][]string // held until the widths are known, the header first
	// Width is that of the terminal, 0 for none: Flexible columns are cut to fit.
	Width    int
	Flexible []int
	widths   []int
}

// heldRows is how many rows determine the widths.
const heldRows = 200

// Add adds a row, and prints it as soon as the widths are known.
func (c *Columns) Add(cells ...string) error {
	if c.widths != nil {
		return c.print(cells)
	}
	c.Rows = append(c.Rows, cells)
	if len(c.Rows) <= heldRows {
		return nil
	}
	return c.Flush()
}

// Flush prints all added rows.
func (c *Columns) Flush() error {
	if c.widths == nil {
		c.widths = make([]int, len(c.Rows[0]))
		for _, cells := range c.Rows {
			for i, cell := range cells {
				c.widths[i] = max(c.widths[i], twwidth.Width(cell))
			}
		}
		if c.Width > 0 {
			narrow(c.widths, c.Flexible, c.Width)
		}
	}
	for _, cells := range c.Rows {
		if err := c.print(cells); err != nil {
			return err
		}
	}
	c.Rows = nil
	return c.Out.Flush()
}

func (c *Columns) print(cells []string) error {
	var line strings.Builder
	for i, cell := range cells {
		if c.Width > 0 && slices.Contains(c.Flexible, i) {
			cell = cut(cell, c.widths[i])
		}
		line.WriteString(cell)
		if i < len(cells)-1 {
			line.WriteString(strings.Repeat(" ", max(c.widths[i]-twwidth.Width(cell), 0)+2))
		}
	}
	_, err := c.Out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	return err
}

// Narrow cuts the widest of the flexible columns until a line has at most width columns, with gaps.
func Narrow(rows [][]string, flexible []int, width int) {
	widths := make([]int, len(rows[0]))
	for i := range widths {
		for _, cells := range rows {
			widths[i] = max(widths[i], twwidth.Width(cells[i]))
		}
	}
	narrow(widths, flexible, width)
	for _, cells := range rows {
		for _, i := range flexible {
			cells[i] = cut(cells[i], widths[i])
		}
	}
}

func narrow(widths, flexible []int, width int) {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := slices.MaxFunc(flexible, func(a, b int) int { return cmp.Compare(widths[a], widths[b]) })
		if widths[widest] <= 1 {
			return
		}
		widths[widest]--
	}
}

// cut truncates a text to so many columns, with an ellipsis.
func cut(s string, width int) string {
	if twwidth.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for twwidth.Width(string(runes))+1 > width && len(runes) > 0 {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}
