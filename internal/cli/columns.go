package cli

import (
	"bufio"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// columns prints rows of text in columns as they come, in bounded memory: the
// first rows say how wide a column is, and a later cell that is wider moves those
// after it.
type columns struct {
	out    *bufio.Writer
	rows   [][]string // held until the widths are known, the header first
	widths []int
}

// heldRows is how many rows say how wide the columns are.
const heldRows = 200

func (c *columns) add(cells ...string) error {
	if c.widths != nil {
		return c.print(cells)
	}
	c.rows = append(c.rows, cells)
	if len(c.rows) <= heldRows {
		return nil
	}
	return c.flush()
}

// flush prints all that was added.
func (c *columns) flush() error {
	if c.widths == nil {
		c.widths = make([]int, len(c.rows[0]))
		for _, cells := range c.rows {
			for i, cell := range cells {
				c.widths[i] = max(c.widths[i], twwidth.Width(cell))
			}
		}
	}
	for _, cells := range c.rows {
		if err := c.print(cells); err != nil {
			return err
		}
	}
	c.rows = nil
	return c.out.Flush()
}

func (c *columns) print(cells []string) error {
	var line strings.Builder
	for i, cell := range cells {
		line.WriteString(cell)
		if i < len(cells)-1 {
			line.WriteString(strings.Repeat(" ", max(c.widths[i]-twwidth.Width(cell), 0)+2))
		}
	}
	_, err := c.out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	return err
}
