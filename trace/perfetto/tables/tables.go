// Package tables prints what a Perfetto trace holds as the rows of Perfetto's own tables,
// under the names of their columns, so that anyone can hold them against what
// trace_processor prints of the same trace (docs/format/inspect.md).
//
// It owns which tables there are and their columns; the packages beside it read what is in
// them. Times are ns on the trace's own clock, as trace_processor's are.
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
	// Nothing says that nothing of a trace was in the file, which is of another kind.
	Nothing bool

	lists lists
}

// ErrKeep says that rows could not be kept in a temporary file, or read from there.
var ErrKeep = spill.ErrKeep

// lists are those of a table that have a part in a file.
type lists struct {
	keep int // rows of each that are kept in memory
	all  []list
}

type list interface {
	Err() error
	Close() error
}

// inMemory is how many rows of a list are kept in memory.
const inMemory = 400_000

// spilling has a list keep in a file what memory has no room for.
func spilling[T any](to *lists, one *spill.List[T]) {
	one.Spill(to.keep)
	to.all = append(to.all, one)
}

// texts has texts kept in a file likewise.
func (l *lists) texts(one *spill.Texts) {
	const each = 20 // bytes
	one.Spill(each * l.keep)
	l.all = append(l.all, one)
}

// Err is what was wrong with the files of rows, which ends them early.
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

// Names are the tables that there are.
func Names() []string { return slices.Sorted(maps.Keys(readers)) }

// Read reads a table of a trace of packets. The error is for reading src, or for a name
// that no table has.
func Read(src io.ReadSeeker, name string) (*Table, error) { return Of(packets.Packets(src), name) }

// Of reads a table of a trace of any kind.
func Of(in packets.Source, name string) (*Table, error) { return of(in, name, inMemory) }

// of is Of with so many rows of each list in memory.
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
