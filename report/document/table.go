package document

// Table has rows under columns. The first column is the subject of a row, the last its status; the
// others are numbers.
type Table struct {
	Note    string
	Columns []Column
	Rows    []Row
	Total   int // total number of rows, where there are more than Rows
	Noun    Noun
	Rooms   Rooms
	// Keep is the width of the first column on a terminal up to which spare columns are left out
	// for it.
	Keep int
	// Names is set where the first cells are long names of methods, whose end is the most
	// informative.
	Names bool
	// Wordy is set where the status may have several words.
	Wordy bool
}

// Column is the header of the cells below it.
type Column struct {
	Title string
	Spare int  // the order in which a narrow place leaves it out, from 1; 0 is never
	Idle  bool // it has no information in this table, and is left out but on a terminal
	First bool // a comment has it next to the subject, where a phone shows it
	Gaps  bool // it may have no value
	// Sketch marks a picture made of characters: a page has the picture itself.
	Sketch bool
}

// Columns returns columns by their titles; the spare ones are left out in that order.
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
	Minor bool   // it adds to an earlier row on the same subject
	After bool   // it is a consequence of the row before it
	Of    string // what it is about, as of a Figure that shows it; "" for none
	Brief string // the status in a word, where there is no room for more; "" is the status
	Link  string // where the subject leads to on a page; "" for nowhere
}

// Add adds a row to the table, unless it has most rows: then it is only counted.
func (t *Table) Add(most int, tone Tone, cells ...string) {
	if t.Total++; len(t.Rows) < most {
		t.Rows = append(t.Rows, Row{Cells: cells, Tone: tone})
	}
}

// Count returns the total number of rows.
func (t *Table) Count() int { return max(t.Total, len(t.Rows)) }

// Split returns the most important rows, and those that add to them.
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

// Places splits the rows into those that are unfolded in a place, and those that are folded: the
// most important ones come first.
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
