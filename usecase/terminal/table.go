package terminal

import (
	"io"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// NewTable returns a table whose header is printed as written: units such as ms mean something else
// in capital letters.
func NewTable(w io.Writer, header ...string) *tablewriter.Table {
	table := tablewriter.NewTable(w, tablewriter.WithHeaderAutoFormat(tw.Off))
	table.Header(header)
	return table
}
