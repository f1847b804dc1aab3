// Package systrace reads traces of the kernel in text: what atrace and systrace write, as
// text, compressed ("TRACE:" and a zlib stream) or in systrace's HTML, and what ftrace's
// own files hold. It turns lines into the events that the readers of Perfetto traces read
// (trace/perfetto/...), so that slices, counters, threads and the scheduler's tables of
// both are read by the same code. It owns the lines, and nothing of what events mean.
//
// It takes a stand: lines mean what Perfetto's trace processor takes them for
// (src/trace_processor/importers/systrace), so that its tables can be held against these.
// It differs where that one loses something: names with blanks are whole, events of tasks
// that begin and end are read, and memory goes to the process whose it is. Times are of
// the clock that the trace was recorded on, which the text does not name.
package systrace

import (
	"errors"
	"io"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Limits on a text, beside those of its lines (package trace) and of the readers.
const (
	maxFunctions = 100_000 // of the kernel, that threads slept in
	maxKinds     = 1_000   // of events, that are counted by their name
	maxWriters   = 200_000 // threads whose names are compared with those that are known
)

// Source is a trace in text, for the readers of the kernel's events. It can be read again
// where r can be wound back.
func Source(r io.Reader) packets.Source {
	again := false
	once := func(f *packets.File, readers []packets.Reader) error {
		if again {
			back, ok := r.(io.Seeker)
			if !ok {
				return errors.New("read a trace in text once more: what it is read from can't be wound back")
			}
			if _, err := back.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		again = true
		_, err := read(r, f, readers...)
		return err
	}
	return func(f *packets.File, readers ...packets.Reader) error {
		surveyors, first := packets.First(readers)
		if len(surveyors) > 0 {
			if err := once(packets.New(), first); err != nil {
				return err
			}
		}
		for _, one := range surveyors {
			one.Surveyed()
		}
		return once(f, readers)
	}
}

// content counts what is in a trace.
type content struct {
	events    int
	malformed int             // events that lack what each of their kind has
	unread    int             // of kinds that are passed over
	kinds     map[string]*int // events by their name, as far as there is room for it
	others    int             // lines that are no event
	strange   int             // the number of the first of these
	tasks     int             // lines that tell of a thread or a process
	cpus      map[int32]bool
	first     int64 // ns of the trace's clock, as last
	last      int64
}
