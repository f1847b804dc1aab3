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
	TID  int32            // who ran, -1 where not told
	Kind protowire.Number // a field of FtraceEvent
	Seq  *Sequence        // that it was written in, as it is now
	Data []byte           // what stands in that field; nil for a compact one
	// Early says that not every CPU's record had begun: what ends on another CPU may be
	// missing. Of such events readers get compact switches and who wrote, no others.
	Early bool
	// Compact is a switch or a waking that was written as columns; nil for others.
	Compact *Compact
	// Writer is what the trace says of the thread TID beside an event of kind 0; nil in
	// traces of packets.
	Writer *Writer

	reading any  // what a reader made of an event, see Reading
	read    bool // it is of this one
}

// Reading is what a reader made of this event before, and whether one did; else what was
// made of an earlier one, which may be used again.
func (e *Event) Reading() (any, bool) { return e.reading, e.read }

// SetReading keeps what a reader made of the event for the others.
func (e *Event) SetReading(made any) { e.reading, e.read = made, true }

// Compact is a row of a CompactSched: a switch to a thread, or a thread that is woken.
type Compact struct {
	TID, Prio int32
	State     int64  // of the thread that ran before
	Flags     uint32 // of a waking
	Comm      string
}

// EventReader reads events of the kernel of the machine that the trace is of.
type EventReader interface {
	Reader
	// Event reads an event, in the order of time. Its bytes are valid during the call.
	Event(e *Event)
}

// Surveyor is a reader that needs something of the whole trace before the first event.
type Surveyor interface {
	Reader
	// First are the readers of packets that go through the trace before. Times are stamps
	// then, that File.Time does not know yet, and so is which machine the trace is of.
	First() []Reader
	// Surveyed says that the clocks are known.
	Surveyed()
}

// Survey reads a trace for its clocks, and gives readers its packets. From then on Time
// gives times on the trace's own clock.
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

// First are the readers of the first pass of all that have some.
func First(readers []Reader) (all []Surveyor, first []Reader) {
	for _, one := range readers {
		if s, ok := one.(Surveyor); ok {
			all, first = append(all, s), append(first, s.First()...)
		}
	}
	return all, first
}

// ReadInOrder reads a trace twice: for its clocks and for what surveyors need, without looking
// at events, and then as Read does. Times are on the trace's own clock, which Time gives, and
// events of the kernel and what is deferred come in the order of time.
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

// Doubts tells of what was lost or could not be used.
func (f *File) Doubts() {
	say := func(n int, one, many string) { f.Warnings.Counted(0, n, one, many) }
	say(f.Broken,
		"%d packet ends in the middle of a field: what stands before that is read",
		"%d packets end in the middle of a field: what stands before that is read")
	say(f.Unusable,
		"%d packet needs what stood in a lost one: it is passed over",
		"%d packets need what stood in a lost one: they are passed over")
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
		"%d time is on a clock from which nothing leads to the trace's own: what bears it is left out",
		"%d times are on clocks from which nothing leads to the trace's own: what bears them is left out")
	if k := f.kernel; k != nil {
		say(k.lost, "events of the kernel were lost in %d place", "events of the kernel were lost in %d places")
		say(k.early,
			"%d event of the kernel is of before recording began, or before every CPU's record did: it is left out",
			"%d events of the kernel are of before recording began, or before every CPU's record did: they are left out")
		say(f.order.late,
			"%d event of the kernel stands too far behind those that came after it: it is left out",
			"%d events of the kernel stand too far behind those that came after them: they are left out")
		if k.sources > 1 {
			f.Warnings.Addf(0, "%d data sources recorded the kernel's events side by side: those of the largest record are used", k.sources)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(f.TooMany)) {
		f.Warnings.Addf(0, "the trace has more %s than are kept: %d are left out", kind, f.TooMany[kind])
	}
}

// KernelLost is how many times events of the kernel were lost, as far as the trace says, or
// had no place in the order of time.
func (f *File) KernelLost() int {
	if f.kernel == nil {
		return 0
	}
	return f.kernel.lost + f.order.late
}

// HasClock reports that times can be told, on the trace's own clock.
func (f *File) HasClock() bool { return f.own != nil }

// Time is a time on the trace's own clock; false where nothing leads there, which is
// counted.
func (f *File) Time(s Stamp) (time.Duration, bool) { return f.own.Time(s) }

// Monotonic leads from the trace's own clock to CLOCK_MONOTONIC; false where nothing does.
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

// Defer calls run when everything before a time was read. size is what it holds.
func (f *File) Defer(at time.Duration, size int, run func()) {
	const closure = 128 // bytes that run has beside that, about
	f.order.add(0, item{at: int64(at), size: int32(min(size, MaxPacket) + closure), run: run}, f.give)
}

func (f *File) give(e *Event) {
	for _, reader := range f.kernel.byKind[e.Kind] {
		reader.Event(e)
	}
}

// survey is what must be known before events can be put in order.
type survey struct {
	file    *File
	written map[uint32]int // bytes of events by sequence, of the machine of least number
	machine uint32
	synced  int64
	started Stamp            // when Perfetto says that recording began
	records map[uint32]Stamp // when the record of each CPU begins
}

func (s *survey) Wants() Wants {
	return Wants{Packets: []protowire.Number{field.PacketFtraceEvents, field.PacketServiceEvent}}
}

// begins is when recording began, and from when on every CPU is recorded.
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

// source is the sequence of the data source that wrote the most.
func (s *survey) source() uint32 {
	var best uint32
	for id, n := range s.written {
		if n > s.written[best] || n == s.written[best] && id < best {
			best = id
		}
	}
	return best
}
