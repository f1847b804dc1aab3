// Package systrace reads text traces of the kernel: the output of atrace and systrace, as text,
// compressed ("TRACE:" and a zlib stream) or in systrace's HTML, and ftrace's own files. It turns
// lines into the events that the readers of Perfetto traces read (trace/perfetto/...), so that the
// same code reads slices, counters, threads and the scheduler's tables of both. It owns the lines,
// and not the meaning of events.
//
// Lines are interpreted as in Perfetto's trace processor (src/trace_processor/importers/systrace),
// so that its tables can be compared with these. The package differs where the trace processor
// loses something: names with blanks are complete, the start and end of tasks are read, and memory
// is attributed to the right process. Times are on the clock of the recording, which the text does
// not name.
package systrace

import (
	"errors"
	"io"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Limits of a text, in addition to those of its lines (package trace) and of the readers.
const (
	maxFunctions = 100_000 // of the kernel, in which threads slept
	maxKinds     = 1_000   // of events, counted by name
	maxWriters   = 200_000 // threads whose names are tracked
)

// Source returns a text trace for the readers of the kernel's events. It can be read again if r can
// be rewound.
func Source(r io.Reader) packets.Source {
	again := false
	once := func(f *packets.File, readers []packets.Reader) error {
		if again {
			back, ok := r.(io.Seeker)
			if !ok {
				return errors.New("read a text trace again: its input can't be rewound")
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
	malformed int             // events that lack an argument of their kind
	unread    int             // of kinds that are not parsed
	kinds     map[string]*int // events by name, as far as there is room
	others    int             // lines that are not events
	strange   int             // the number of the first such line
	tasks     int             // lines that describe a thread or a process
	cpus      map[int32]bool
	first     int64 // ns of the trace's clock, as last
	last      int64
}
