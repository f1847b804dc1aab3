package packets

import (
	"io"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// Event is an event of the kernel.
type Event struct {
	At   time.Duration // on the trace's own clock
	CPU  int32
	TID  int32            // the running thread, -1 if unknown
	Kind protowire.Number // a field of FtraceEvent
	Seq  *Sequence        // the sequence in which it was written, in its current state
	Data []byte           // the content of that field; nil for a compact one
	// Early is set if not every CPU's record had begun: the end of something on another CPU may be
	// missing. Of such events readers only get compact switches and writers.
	Early bool
	// Compact is a switch or a wake-up that was written as columns; nil for others.
	Compact *Compact
	// Writer is the trace's description of the thread TID with an event of kind 0; nil in traces of
	// packets.
	Writer *Writer

	reading any  // a reader's decoded event, see Reading
	read    bool // reading is of this event
}

// Reading returns the event as decoded by an earlier reader, and true; otherwise a previous event's
// value, which may be reused, and false.
func (e *Event) Reading() (any, bool) { return e.reading, e.read }

// SetReading stores the decoded event for other readers.
func (e *Event) SetReading(made any) { e.reading, e.read = made, true }

// Compact is a row of a CompactSched: a switch to a thread, or the wake-up of a thread.
type Compact struct {
	TID, Prio int32
	State     int64  // of the thread that ran before
	Flags     uint32 // of a wake-up
	Comm      string
}

// EventReader reads the kernel's events of the machine that the trace is of.
type EventReader interface {
	Reader
	// Event reads an event, in chronological order. Its bytes are valid during the call.
	Event(e *Event)
}

// Surveyor is a reader that needs information from the whole trace before the first event.
type Surveyor interface {
	Reader
	// First returns the readers for the first pass. There times are stamps that File.Time does not
	// know yet, and the machine that the trace is of is unknown too.
	First() []Reader
	// Surveyed is called when the clocks are known.
	Surveyed()
}

// Survey reads a trace for its clocks, and passes its packets to readers. Afterwards Time returns
// times on the trace's own clock.
func (f *File) Survey(src io.Reader, readers ...Reader) error {
	_, err := f.survey(src, readers)
	return err
}

func (f *File) survey(src io.Reader, readers []Reader) (*survey, error) {
	first := New()
	seen := &survey{file: first, written: map[uint32]int{}, started: NoStamp, records: map[uint32]Stamp{}}
	if err := first.Read(src, append([]Reader{seen}, readers...)...); err != nil {
		return nil, err
	}
	f.Clocks, f.Home = first.Clocks, first.Home
	f.Clocks.rewind()
	f.own = f.Clocks.Own(first.Home)
	return seen, nil
}

// First returns the surveyors among the readers, and their readers for the first pass.
func First(readers []Reader) (all []Surveyor, first []Reader) {
	for _, one := range readers {
		if s, ok := one.(Surveyor); ok {
			all, first = append(all, s), append(first, s.First()...)
		}
	}
	return all, first
}

// ReadInOrder reads a trace twice: for its clocks and for surveyors, without events, and then as
// Read does. Times are on the trace's own clock, as returned by Time, and events of the kernel and
// deferred calls come in chronological order.
func (f *File) ReadInOrder(src io.ReadSeeker, readers ...Reader) error {
	surveyors, first := First(readers)
	seen, err := f.survey(src, first)
	if err != nil {
		return err
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if f.own == nil {
		return f.Read(src)
	}
	for _, one := range surveyors {
		one.Surveyed()
	}
	f.kernel = &kernel{file: f, home: f.Home, source: seen.source(), sources: len(seen.written)}
	f.kernel.started, f.kernel.complete = seen.begins(f)
	all := append([]Reader{f.kernel}, readers...)
	for _, one := range readers {
		if events, ok := one.(EventReader); ok {
			f.kernel.subscribe(events)
		}
	}
	if !f.kernel.asked {
		all = readers
	}
	if err := f.Read(src, all...); err != nil {
		return err
	}
	f.order.give(f.order.waiting, f.give)
	return nil
}

// Doubts warns of what was lost or could not be used.
func (f *File) Doubts() {
	say := func(n int, one, many string) { f.Warnings.Counted(0, n, one, many) }
	say(f.Broken,
		"%d packet ends in the middle of a field: the fields before it are read",
		"%d packets end in the middle of a field: the fields before it are read")
	say(f.Unusable,
		"%d packet needs the state in a lost one: it is skipped",
		"%d packets need the state in a lost one: they are skipped")
	say(f.Lost,
		"packets were lost in %d place: a buffer of the trace was too small",
		"packets were lost in %d places: a buffer of the trace was too small")
	unplaced := 0
	if f.own != nil {
		for _, n := range f.own.Failed {
			unplaced += n
		}
	}
	say(unplaced,
		"%d time is on a clock from which nothing leads to the trace's own: its events are left out",
		"%d times are on clocks from which nothing leads to the trace's own: their events are left out")
	if k := f.kernel; k != nil {
		say(k.lost, "events of the kernel were lost in %d place", "events of the kernel were lost in %d places")
		say(k.early,
			"%d event of the kernel is of before recording began, or before every CPU's record did: it is left out",
			"%d events of the kernel are of before recording began, or before every CPU's record did: they are left out")
		say(f.order.late,
			"%d event of the kernel comes too long after later ones: it is left out",
			"%d events of the kernel come too long after later ones: they are left out")
		if k.sources > 1 {
			f.Warnings.Addf(0, "%d data sources recorded the kernel's events concurrently: those of the largest record are used", k.sources)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(f.TooMany)) {
		f.Warnings.Addf(0, "the trace has more %s than are kept: %d are left out", kind, f.TooMany[kind])
	}
}

// KernelLost returns how many times events of the kernel were lost, as far as the trace reports it,
// or came too late to be ordered.
func (f *File) KernelLost() int {
	if f.kernel == nil {
		return 0
	}
	return f.kernel.lost + f.order.late
}

// HasClock reports whether times can be converted to the trace's own clock.
func (f *File) HasClock() bool { return f.own != nil }

// Time converts a stamp to the trace's own clock; it returns false, and counts the failure, if
// there is no path.
func (f *File) Time(s Stamp) (time.Duration, bool) { return f.own.Time(s) }

// Monotonic returns the conversion from the trace's own clock to CLOCK_MONOTONIC; false if there is
// none.
func (f *File) Monotonic() (func(own time.Duration) (time.Duration, bool), bool) {
	if f.own == nil {
		return nil, false
	}
	to := f.Clocks.Target(f.Home)
	if to == nil || to.Target != f.Clocks.Place(KeyOf(f.Home, 0, ClockMonotonic)) {
		return nil, false
	}
	return func(own time.Duration) (time.Duration, bool) {
		return to.Time(Stamp{Clock: f.own.Target, NS: int64(own)})
	}, true
}

// Defer calls run when everything before a time was read. size is the memory that it holds.
func (f *File) Defer(at time.Duration, size int, run func()) {
	const closure = 128 // approximate size of the closure itself
	f.order.add(0, item{at: int64(at), size: int32(min(size, MaxPacket) + closure), run: run}, f.give)
}

func (f *File) give(e *Event) {
	for _, reader := range f.kernel.byKind[e.Kind] {
		reader.Event(e)
	}
}

// survey is what must be known before events can be ordered.
type survey struct {
	file    *File
	written map[uint32]int // bytes of events by sequence, of the lowest machine
	machine uint32
	synced  int64
	started Stamp            // the beginning of recording, as stated by Perfetto
	records map[uint32]Stamp // when the record of each CPU begins
}

func (s *survey) Wants() Wants {
	return Wants{Packets: []protowire.Number{field.PacketFtraceEvents, field.PacketServiceEvent}}
}

// begins returns when recording began, and from when on every CPU is recorded.
func (s *survey) begins(f *File) (started, complete time.Duration) {
	if s.started != NoStamp {
		started, _ = f.Time(s.started)
	}
	complete = started
	for _, begin := range s.records {
		if at, ok := f.own.try(begin); ok {
			complete = max(complete, at)
		}
	}
	return started, complete
}

func (s *survey) Packet(p Packet) {
	if p.Kind == field.PacketServiceEvent {
		if messages.ServiceEventOf(p.Data).TracingStarted && p.Machine == 0 {
			s.started = p.At
		}
		return
	}
	if p.Machine < s.machine || len(s.written) == 0 {
		s.machine = p.Machine
		clear(s.written)
		clear(s.records)
	}
	if p.Machine != s.machine {
		return
	}
	if _, known := s.written[p.Seq.ID]; known || len(s.written) < maxSources {
		s.written[p.Seq.ID] += len(p.Data)
	}
	bundle := messages.BundleOf(p.Data)
	clock := s.file.FtraceClock(&bundle, p.Machine, &s.synced)
	if _, known := s.records[bundle.CPU]; !known && bundle.CPU < MaxCPUs {
		s.records[bundle.CPU] = NoStamp
		if begins := Begins(&bundle); begins > 0 && begins < MaxTime {
			s.records[bundle.CPU] = Stamp{Clock: clock, NS: int64(begins)}
		}
	}
}

// source returns the sequence of the data source that wrote the most.
func (s *survey) source() uint32 {
	var best uint32
	for id, n := range s.written {
		if n > s.written[best] || n == s.written[best] && id < best {
			best = id
		}
	}
	return best
}
