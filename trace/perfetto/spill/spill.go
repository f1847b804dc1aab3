// Package spill keeps rows without end: the latest in memory, those before them in a
// temporary file.
//
// It owns where rows are, and knows nothing of what they tell. It takes a stand: a row is
// changed at any time and read in the end, in the order in which rows were added, so that the
// file is written once from its beginning to its end.
package spill

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
)

// Most is how many rows a list that spills has at most: 2 to 5 GB of a file.
const Most = 100_000_000

// List is a list of rows of a fixed size: structs of numbers (encoding/binary). Its zero value
// is one that does not spill.
type List[T any] struct {
	// Rows are those in memory, from Base on.
	Rows []T
	Base int

	keep  int // rows that are kept in memory, 0 for all
	file  *os.File
	later map[int][]func(*T) // changes of rows in the file
	err   error
}

// Spill has a list keep no more than so many rows in memory.
func (l *List[T]) Spill(keep int) { l.keep = keep }

// Len is how many rows there are.
func (l *List[T]) Len() int { return l.Base + len(l.Rows) }

// Most is how many rows the list may have, where one that does not spill may have so many.
func (l *List[T]) Most(inMemory int) int {
	if l.keep > 0 {
		return Most
	}
	return inMemory
}

// Add adds a row and gives its place.
func (l *List[T]) Add(row T) int32 {
	if l.keep > 0 && len(l.Rows) >= l.keep {
		l.spill(len(l.Rows) / 2)
	}
	l.Rows = append(l.Rows, row)
	return int32(l.Len() - 1)
}

// Row is a row that is in memory, nil for another.
func (l *List[T]) Row(place int32) *T {
	if at := int(place) - l.Base; at >= 0 {
		return &l.Rows[at]
	}
	return nil
}

// Edit changes a row, now or when it is read.
func (l *List[T]) Edit(place int32, change func(*T)) {
	if at := int(place) - l.Base; at >= 0 {
		change(&l.Rows[at])
		return
	}
	if l.later == nil {
		l.later = map[int][]func(*T){}
	}
	l.later[int(place)] = append(l.later[int(place)], change)
}

// spill moves the first n rows into the file.
func (l *List[T]) spill(n int) {
	if l.file == nil && l.err == nil {
		l.file, l.err = os.CreateTemp("", "apkgate-rows-*")
		if l.err == nil {
			_ = os.Remove(l.file.Name()) // where an open file can be removed, nothing is left of it
		}
	}
	if l.err == nil {
		var bytes []byte
		if bytes, l.err = binary.Append(nil, binary.LittleEndian, l.Rows[:n]); l.err == nil {
			_, l.err = l.file.Write(bytes)
		}
	}
	l.Base += n
	l.Rows = l.Rows[:copy(l.Rows, l.Rows[n:])]
}

// Err is what was wrong with the file.
func (l *List[T]) Err() error {
	if l.err != nil {
		return fmt.Errorf("keep rows of a table in a temporary file: %w", l.err)
	}
	return nil
}

// All goes through the rows with their places. A row is valid until the next one.
func (l *List[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		if l.Base > 0 && !l.spilled(yield) {
			return
		}
		for i := range l.Rows {
			if !yield(l.Base+i, &l.Rows[i]) {
				return
			}
		}
	}
}

// spilled goes through the rows in the file; false where that was enough, or did not work.
func (l *List[T]) spilled(yield func(int, *T) bool) bool {
	if l.err == nil {
		_, l.err = l.file.Seek(0, io.SeekStart)
	}
	if l.err != nil {
		return false
	}
	const together = 1_024
	rows := make([]T, together)
	size := binary.Size(rows[0])
	bytes := make([]byte, together*size)
	src := bufio.NewReaderSize(l.file, 1<<20)
	changed := slices.Sorted(maps.Keys(l.later))
	for place := 0; place < l.Base; place += len(rows) {
		rows = rows[:min(together, l.Base-place)]
		bytes = bytes[:len(rows)*size]
		if _, l.err = io.ReadFull(src, bytes); l.err != nil {
			return false
		}
		if _, l.err = binary.Decode(bytes, binary.LittleEndian, rows); l.err != nil {
			return false
		}
		for i := range rows {
			for len(changed) > 0 && changed[0] == place+i {
				for _, change := range l.later[changed[0]] {
					change(&rows[i])
				}
				changed = changed[1:]
			}
			if !yield(place+i, &rows[i]) {
				return false
			}
		}
	}
	return true
}

// Close removes the file.
func (l *List[T]) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if gone := os.Remove(l.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	l.file = nil
	return err
}
