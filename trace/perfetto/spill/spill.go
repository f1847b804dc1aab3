// Package spill keeps any number of rows and texts: the latest in memory, those before them in
// temporary files.
//
// It owns where rows are, and does not know their meaning. Rows have a fixed size, and texts, which
// have not, are kept separately in the order in which they come. So a row is found by its index
// alone, and memory does not grow with their number.
package spill

import (
	"encoding/binary"
	"iter"
)

// Most limits the rows of a list that spills: 1 to 7 GB of a file, and as much again while they are
// sorted.
const Most = 100_000_000

// List is a list of rows of a fixed size: structs of numbers (encoding/binary). The zero value does
// not spill.
type List[T any] struct {
	// Rows are those in memory, from Base on.
	Rows []T
	Base int

	keep int // rows that are kept in memory, 0 for all
	file file
}

// Spill limits the rows of a list in memory.
func (l *List[T]) Spill(keep int) { l.keep = keep }

// Len returns the number of rows.
func (l *List[T]) Len() int { return l.Base + len(l.Rows) }

// Most returns the limit of rows: inMemory if the list does not spill.
func (l *List[T]) Most(inMemory int) int {
	if l.keep > 0 {
		return Most
	}
	return inMemory
}

// Held returns the limit of rows in memory: inMemory if the list does not spill.
func (l *List[T]) Held(inMemory int) int {
	if l.keep > 0 {
		return l.keep
	}
	return inMemory
}

// Add adds a row and returns its index.
func (l *List[T]) Add(row T) int32 {
	if l.keep > 0 && len(l.Rows) >= l.keep {
		l.spill((len(l.Rows) + 1) / 2)
	}
	l.Rows = append(l.Rows, row)
	return int32(l.Len() - 1)
}

// Row returns a row in memory, nil for another.
func (l *List[T]) Row(place int32) *T {
	if at := int(place) - l.Base; at >= 0 {
		return &l.Rows[at]
	}
	return nil
}

// Edit changes a row, wherever it is.
func (l *List[T]) Edit(place int32, change func(*T)) {
	if row := l.Row(place); row != nil {
		change(row)
		return
	}
	row := make([]T, 1)
	if bytes := make([]byte, l.size()); l.read(row, bytes, int(place)) {
		change(&row[0])
		l.write(row, int(place))
	}
}

// spill moves the first n rows to the file.
func (l *List[T]) spill(n int) {
	l.write(l.Rows[:n], l.Base)
	l.Base += n
	l.Rows = l.Rows[:copy(l.Rows, l.Rows[n:])]
}

// write writes rows to the file, from an index on.
func (l *List[T]) write(rows []T, place int) {
	bytes, err := binary.Append(nil, binary.LittleEndian, rows)
	if err != nil { // rows without a fixed size
		l.file.err = err
		return
	}
	l.file.write(bytes, l.offset(place))
}

func (l *List[T]) size() int { return binary.Size(make([]T, 1)) }

func (l *List[T]) offset(place int) int64 { return int64(place) * int64(l.size()) }

// read reads rows from an index in the file on, using bytes as a buffer of their size.
func (l *List[T]) read(rows []T, bytes []byte, place int) bool {
	if l.file.read(bytes, l.offset(place)) {
		_, l.file.err = binary.Decode(bytes, binary.LittleEndian, rows)
	}
	return l.file.err == nil
}

// Err returns the file's error, an ErrKeep.
func (l *List[T]) Err() error { return l.file.Err() }

// Close removes the file.
func (l *List[T]) Close() error { return l.file.Close() }

// All iterates over the rows with their indices. A row is valid until the next one.
func (l *List[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		const together = 1_024
		c := l.Cursor(together)
		for place := range l.Len() {
			if row := c.At(int32(place)); row == nil || !yield(place, row) {
				return
			}
		}
	}
}

// Cursor reads rows of a list that are mostly near each other.
type Cursor[T any] struct {
	list     *List[T]
	from     int // the index of the first row of part
	part     []T
	bytes    []byte
	together int
}

// Cursor returns a cursor that reads this many rows together.
func (l *List[T]) Cursor(together int) *Cursor[T] { return &Cursor[T]{list: l, together: together} }

// At returns a row, valid until the next call: for one in the file, as of when the cursor read its
// part; nil if it can't be read.
func (c *Cursor[T]) At(place int32) *T {
	if row := c.list.Row(place); row != nil {
		return row
	}
	at := int(place) - c.from
	if at < 0 || at >= len(c.part) {
		if c.part == nil {
			c.part, c.bytes = make([]T, c.together), make([]byte, c.together*c.list.size())
		}
		if at != len(c.part) { // the next one requested may be slightly before this
			place = max(place-int32(c.together/4), 0)
		}
		n := min(c.together, c.list.Base-int(place))
		at += c.from - int(place)
		c.from, c.part = int(place), c.part[:n]
		if !c.list.read(c.part, c.bytes[:n*len(c.bytes)/c.together], c.from) {
			c.part = c.part[:0]
			return nil
		}
	}
	return &c.part[at]
}
