package diagnose

import "github.com/apkgate/apkgate/gate"

// Table is rows of evidence. The first column says what a row is about, the last
// its status; those between are amounts.
type Table struct {
	Title   string   `json:"title"`
	Note    Phrase   `json:"note,omitempty"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows,omitempty"`
	// Total counts the rows that there would be, where those beyond the list are left
	// out; 0 where it is whole.
	Total int `json:"total,omitempty"`
	// Main says that the table is worth a place where there is little.
	Main bool `json:"main,omitempty"`
}

// Column is a column of a table.
type Column struct {
	Title string `json:"title"`
	// Spare says how soon the column is left out where there is little room: 1 is the
	// first to go, 0 stays.
	Spare int `json:"spare,omitempty"`
}

// Row is a row of a table: a cell for each column.
type Row struct {
	Cells []Phrase `json:"cells"`
	// Direction is gate.ToRegression, gate.ToImprovement, or gate.None.
	Direction gate.Direction `json:"direction"`
}

// Add adds a row to the table.
func (t *Table) Add(d gate.Direction, cells ...Phrase) {
	t.Rows = append(t.Rows, Row{Cells: cells, Direction: d})
}

// All returns the total number of rows.
func (t Table) All() int { return max(t.Total, len(t.Rows)) }
