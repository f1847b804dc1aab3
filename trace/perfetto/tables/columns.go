package tables

import (
	"iter"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// column is a column of a table whose rows are made of R: its name, and its cell in a row. always,
// some and word declare a column; the type of their getter is the type of the cells.
type column[R any] struct {
	name string
	cell func(R) any
}

// cell is the types of cells that are not empty.
type cell interface{ int64 | float64 | string }

// always declares a column with a value in each row.
func always[R any, T cell](name string, of func(R) T) column[R] {
	return column[R]{name, func(row R) any { return of(row) }}
}

// some declares a column whose cell is empty if the getter returns false.
func some[R any, T cell](name string, of func(R) (T, bool)) column[R] {
	return column[R]{name, func(row R) any {
		if v, has := of(row); has {
			return v
		}
		return nil
	}}
}

// word declares a column of texts whose cell is empty if the text is.
func word[R any](name string, of func(R) string) column[R] {
	return some(name, func(row R) (string, bool) {
		v := of(row)
		return v, v != ""
	})
}

// reader reads one table's rows from a file.
type reader struct {
	columns []string
	read    func(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error)
}

// table declares a table: its columns, and the function that reads what its rows are made of.
func table[R any](columns []column[R], read func(*packets.File, packets.Source, *lists) (iter.Seq[R], error)) reader {
	var out reader
	for _, c := range columns {
		out.columns = append(out.columns, c.name)
	}
	out.read = func(f *packets.File, in packets.Source, keep *lists) (iter.Seq[[]any], error) {
		all, err := read(f, in, keep)
		return func(yield func([]any) bool) {
			cells := make([]any, len(columns))
			for row := range all {
				for i := range columns {
					cells[i] = columns[i].cell(row)
				}
				if !yield(cells) {
					return
				}
			}
		}, err
	}
	return out
}

// each iterates over the rows of some items: fill sets the row for an item.
func each[R, T any](all iter.Seq2[int, T], row *R, fill func(place int, one T)) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for place, one := range all {
			if fill(place, one); !yield(row) {
				return
			}
		}
	}
}

// known returns a number, and false if it is negative, which means unknown.
func known[T ~int | ~int8 | ~int16 | ~int32](n T) (int64, bool) { return int64(n), n >= 0 }

// when returns a time, and false if there is none.
func when(t *time.Duration) (int64, bool) {
	if t == nil {
		return 0, false
	}
	return int64(*t), true
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// open returns a duration, -1 for one whose end is not in the trace.
func open(d time.Duration) int64 { return int64(max(d, -1)) }

// threadOf returns the thread of a row.
type threadOf struct {
	*threads.Tracker
	number int // in Tracker.Threads
}

// process returns the thread's process, nil if unknown.
func (t threadOf) process() *threads.Process {
	if at := t.Threads[t.number].Process; at >= 0 {
		return &t.Processes[at]
	}
	return nil
}

// threadCells are the columns tid, pid and utid of a row's thread.
func threadCells[R any](of func(R) threadOf) []column[R] {
	return []column[R]{
		always("tid", func(row R) int64 { t := of(row); return t.ID(t.Threads[t.number].TID) }),
		some("pid", func(row R) (int64, bool) {
			t := of(row)
			process := t.process()
			if process == nil {
				return 0, false
			}
			return t.ID(process.PID), true
		}),
		always("utid", func(row R) int64 { return int64(of(row).number) }),
	}
}
