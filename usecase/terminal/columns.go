package terminal

import (
	"bufio"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Columns prints rows of text in columns as they come, in bounded memory: the first rows determine
// the widths, and a later wider cell shifts those after it.
type Columns struct {
	Out    *bufio.Writer
	Rows   [][]string // held until the widths are known, the header first
	widths []int
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
		line.WriteString(cell)
		if i < len(cells)-1 {
			line.WriteString(strings.Repeat(" ", max(c.widths[i]-twwidth.Width(cell), 0)+2))
		}
	}
	_, err := c.Out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	return err
}
