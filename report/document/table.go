package document

// Table is rows under columns. The first column says what a row is about, the last
// its status; those between are numbers.
type Table struct {
	Note    string
	Columns []Column
	Rows    []Row
	Total   int // rows that there would be, where there are more than Rows
	Noun    Noun
	Rooms   Rooms
	// Keep is how many columns of a terminal the first column needs at most before
	// spare ones are left out for it.
	Keep int
	// Names says that the first cells are long names of methods, of which the end
	// tells most.
	Names bool
	// Wordy says that the status may be of several words.
	Wordy bool
}

// Column heads the cells of a table.
type Column struct {
	Title string
	Spare int  // the turn in which a narrow place leaves it out, from 1; 0 is never
	Idle  bool // it says nothing in this table, and stands there only so that tables of several comments are alike
	Gaps  bool // it may have no value
}

// Columns are columns by their titles, of which the spare ones are left out in
// that order.
func Columns(spare []string, titles ...string) []Column {
	out := make([]Column, len(titles))
	for i, title := range titles {
		out[i].Title = title
		for k, s := range spare {
			if s == title {
				out[i].Spare = k + 1
			}
		}
	}
	return out
}

// Row is the cells of a row, as many as there are columns.
type Row struct {
	Cells []string
	Tone  Tone
	Minor bool   // it adds to what a row before it says of the same
	After bool   // it is a consequence of the row before it
	Brief string // the status in a word, where there is room for no more; "" is the status
}

// Add puts a row into the table, unless it has most rows: then it is only counted.
func (t *Table) Add(most int, tone Tone, cells ...string) {
	if t.Total++; len(t.Rows) < most {
		t.Rows = append(t.Rows, Row{Cells: cells, Tone: tone})
	}
}

// Count is how many rows there would be.
func (t *Table) Count() int { return max(t.Total, len(t.Rows)) }

// Split are the rows that say most, and those that add to them.
func (t *Table) Split() (major, minor []Row) {
	for _, r := range t.Rows {
		if r.Minor {
			minor = append(minor, r)
		} else {
			major = append(major, r)
		}
	}
	return major, minor
}

// Places splits the rows into those that stand open in a place, and those that are
// folded there: what says most comes first.
func (t *Table) Places(r Room) (open, folded []Row) {
	major, minor := t.Split()
	n := r.OpenOf(len(major))
	all := append(append([]Row{}, major...), minor...)
	all = all[:r.MostOf(len(all))]
	if r.Open == 0 {
		return all, nil
	}
	n = min(n, len(all))
	return all[:n], all[n:]
}
