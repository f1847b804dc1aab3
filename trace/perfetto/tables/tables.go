// Package tables prints the content of a Perfetto trace as the rows of Perfetto's own tables, with
// their column names, so that anyone can compare them with trace_processor's output for the same
// trace (docs/format/inspect.md).
//
// It owns which tables there are and their columns; the packages beside it read their content.
// Times are ns on the trace's own clock, as in trace_processor.
package tables

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
)

// Table is one table.
type Table struct {
	Columns []string
	// Rows are the cells of each row: an int64, a float64, a string, or nil for none. The slice is
	// valid until the next row.
	Rows     iter.Seq[[]any]
	Warnings []run.Warning
	// Nothing is set if the file had nothing of a trace: it is of another kind.
	Nothing bool

	lists lists
}

// ErrKeep is returned if rows could not be written to or read from a temporary file.
var ErrKeep = spill.ErrKeep

// lists are the lists of a table that may spill to a file.
type lists struct {
	keep int // rows of each that are kept in memory
	all  []list
}

type list interface {
	Err() error
	Close() error
}

// inMemory is the number of rows of a list that are kept in memory.
const inMemory = 400_000

// spilling lets a list spill to a file.
func spilling[T any](to *lists, one *spill.List[T]) {
	one.Spill(to.keep)
	to.all = append(to.all, one)
}

// texts lets texts spill likewise.
func (l *lists) texts(one *spill.Texts) {
	const each = 20 // bytes
	one.Spill(each * l.keep)
	l.all = append(l.all, one)
}

// Err returns the error of the files of rows, which ends them early.
func (t *Table) Err() error {
	for _, one := range t.lists.all {
		if err := one.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the files of rows.
func (t *Table) Close() error {
	var all error
	for _, one := range t.lists.all {
		all = errors.Join(all, one.Close())
	}
	return all
}

// readers are the tables by their names.
var readers = map[string]reader{
	"args":          table(argColumns, readArgs),
	"binder":        table(binderColumns, readBinder),
	"block-io":      table(blockColumns, readBlockIO),
	"counters":      table(counterColumns, readCounters),
	"flows":         table(flowColumns, readFlows),
	"frames":        table(frameColumns, readFrames),
	"logs":          table(logColumns, readLogs),
	"processes":     table(processColumns, readProcesses),
	"sched":         table(schedColumns, readSched),
	"slices":        table(sliceColumns, readSlices),
	"thread-states": table(stateColumns, readStates),
	"threads":       table(threadColumns, readThreads),
}

// Names returns the names of all tables.
func Names() []string { return slices.Sorted(maps.Keys(readers)) }

// Read reads a table of a trace of packets. It returns an error if reading src fails, or for an
// unknown name.
func Read(src io.ReadSeeker, name string) (*Table, error) { return Of(packets.Packets(src), name) }

// Of reads a table of a trace of any kind.
func Of(in packets.Source, name string) (*Table, error) { return of(in, name, inMemory) }

// of is Of with a limit of rows of each list in memory.
func of(in packets.Source, name string, keep int) (*Table, error) {
	reader, known := readers[name]
	if !known {
		return nil, fmt.Errorf("there is no table %q", name)
	}
	f := packets.New()
	t := &Table{Columns: reader.columns, lists: lists{keep: keep}}
	rows, err := reader.read(f, in, &t.lists)
	if err == nil {
		err = t.Err()
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	f.Doubts()
	t.Rows, t.Warnings, t.Nothing = rows, f.Warnings.List(), f.Nothing
	return t, nil
}
