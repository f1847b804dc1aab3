package run

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
)

// Cells are the numbers of a summary by cell. The names are stored separately from the numbers, so
// that summaries with the same cells can share them: a history of 10,000 runs has some 20 to 1,000
// names in all (see Layouts).
type Cells struct {
	layout   *layout
	values   []float64
	repeated []packed // of each value; nil where unknown
}

// layout maps each value of a summary to its cell.
type layout struct {
	cells []Cell
	at    map[Cell]int
}

func newLayout(cells []Cell) *layout {
	l := &layout{cells: slices.Clone(cells), at: make(map[Cell]int, len(cells))}
	for i, c := range l.cells {
		l.at[c] = i
	}
	return l
}

// CellsOf returns the cells of a map, which is not kept.
func CellsOf(m map[Cell]float64) Cells {
	cells := slices.SortedFunc(maps.Keys(m), compareCells)
	values := make([]float64, len(cells))
	for i, c := range cells {
		values[i] = m[c]
	}
	return Cells{layout: newLayout(cells), values: values}
}

func compareCells(a, b Cell) int {
	return cmp.Or(strings.Compare(a.Event, b.Event), strings.Compare(a.Metric, b.Metric))
}

// Len returns the number of cells.
func (c Cells) Len() int { return len(c.values) }

// Get returns the number of a cell; false where there is none.
func (c Cells) Get(cell Cell) (float64, bool) {
	if c.layout == nil {
		return 0, false
	}
	i, ok := c.layout.at[cell]
	if !ok {
		return 0, false
	}
	return c.values[i], true
}

// All iterates over the cells with their numbers, in no particular order.
func (c Cells) All() iter.Seq2[Cell, float64] {
	return func(yield func(Cell, float64) bool) {
		for i, v := range c.values {
			if !yield(c.layout.cells[i], v) {
				return
			}
		}
	}
}

// Map returns a copy as a map.
func (c Cells) Map() map[Cell]float64 { return maps.Collect(c.All()) }

// Equal reports whether both have the same cells with the same numbers, and equal repetitions.
func (c Cells) Equal(d Cells) bool {
	if c.Len() != d.Len() {
		return false
	}
	for cell, v := range c.All() {
		w, ok := d.Get(cell)
		own, _ := c.Repeated(cell)
		other, _ := d.Repeated(cell)
		if !ok || v != w || own != other {
			return false
		}
	}
	return true
}

// Column finds one cell in many summaries. It caches where the cell was in the last one: summaries
// that share their names are not searched again.
type Column struct {
	cell Cell
	last *layout
	at   int // in last, below 0 where it has none
}

// NewColumn returns a column of that cell.
func NewColumn(cell Cell) *Column { return &Column{cell: cell, at: -1} }

// Cell returns the column's cell.
func (f *Column) Cell() Cell { return f.cell }

// In returns the cell's number in c; false where there is none.
func (f *Column) In(c Cells) (float64, bool) {
	if f.find(c); f.at < 0 {
		return 0, false
	}
	return c.values[f.at], true
}

// Repeated returns the repetitions of the cell in c; false where unknown.
func (f *Column) Repeated(c Cells) (Repeated, bool) {
	if f.find(c); f.at < 0 || c.repeated == nil {
		return Repeated{}, false
	}
	return c.repeated[f.at].unpack(), true
}

// find sets where the cell is in c.
func (f *Column) find(c Cells) {
	if c.layout == f.last {
		return
	}
	f.last, f.at = c.layout, -1
	if c.layout != nil {
		if i, ok := c.layout.at[f.cell]; ok {
			f.at = i
		}
	}
}

// Table returns the numbers of each cell over n summaries, in their order: NaN where one has none,
// and nil for a cell that no summary has. Each summary is read once, and searched for the cells
// only where its layout differs from the one before.
func Table(cells []Cell, all iter.Seq[Cells], n int) map[Cell][]float64 {
	columns := make([][]float64, len(cells))
	var last *layout
	var where []int // in last, of each cell; below 0 where it has none
	row := 0
	for c := range all {
		if c.layout != last {
			last, where = c.layout, places(cells, c.layout)
		}
		for k, i := range where {
			if i < 0 {
				continue
			}
			if columns[k] == nil {
				columns[k] = absent(n)
			}
			columns[k][row] = c.values[i]
		}
		row++
	}
	table := make(map[Cell][]float64, len(cells))
	for k, cell := range cells {
		if columns[k] != nil {
			table[cell] = columns[k]
		}
	}
	return table
}

func places(cells []Cell, l *layout) []int {
	at := make([]int, len(cells))
	for k, cell := range cells {
		at[k] = -1
		if l != nil {
			if i, ok := l.at[cell]; ok {
				at[k] = i
			}
		}
	}
	return at
}

func absent(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// Layouts makes Cells that share their names. The zero value is ready to use.
type Layouts struct {
	last  *layout
	known map[string]*layout
	key   []byte // of known, for the next search
}

// Cells returns the values of the cells, each of which is named once, with the repetitions of each;
// repeated is nil where unknown. It keeps values and copies the rest.
func (l *Layouts) Cells(cells []Cell, values []float64, repeated []Repeated) Cells {
	return Cells{l.layout(cells), values, packAll(repeated)}
}

func (l *Layouts) layout(cells []Cell) *layout {
	if l.last == nil || !slices.Equal(l.last.cells, cells) {
		l.last = l.find(cells)
	}
	return l.last
}

// Share returns c with names that are shared with others.
func (l *Layouts) Share(c Cells) Cells {
	if c.layout == nil {
		return c
	}
	return Cells{l.layout(c.layout.cells), c.values, c.repeated}
}

func (l *Layouts) find(cells []Cell) *layout {
	l.key = l.key[:0]
	for _, c := range cells {
		l.key = append(append(append(append(l.key, c.Event...), 0), c.Metric...), 1)
	}
	found := l.known[string(l.key)]
	if found == nil || !slices.Equal(found.cells, cells) {
		found = newLayout(cells)
		if l.known == nil {
			l.known = map[string]*layout{}
		}
		l.known[string(l.key)] = found
	}
	return found
}

// Count returns in how many summaries each cell and each event occurs.
func Count(all iter.Seq[Cells]) (cells map[Cell]int, events map[string]int) {
	alike := map[*layout]int{}
	for c := range all {
		if c.layout != nil {
			alike[c.layout]++
		}
	}
	cells, events = map[Cell]int{}, map[string]int{}
	for l, n := range alike {
		known := map[string]bool{}
		for cell := range l.at {
			cells[cell] += n
			if !known[cell.Event] {
				known[cell.Event] = true
				events[cell.Event] += n
			}
		}
	}
	return cells, events
}
