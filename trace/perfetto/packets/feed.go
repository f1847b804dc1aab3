package packets

import (
	"io"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Source is a trace whose events can be read in chronological order, from its beginning each time.
type Source func(f *File, readers ...Reader) error

// Packets returns a trace of packets as a source. It is read twice each time.
func Packets(src io.ReadSeeker) Source {
	return func(f *File, readers ...Reader) error {
		if _, err := src.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return f.ReadInOrder(src, readers...)
	}
}

// Writer is a text trace's description of the thread that wrote an event.
type Writer struct {
	Name string // "" if unknown
	PID  int32  // the thread's process, negative if unknown
}

// Feed accepts events of the kernel that are not in packets, such as those of a text trace. All of
// their times are on one clock.
type Feed struct {
	file    *File
	seq     *Sequence
	readers []Reader
}

// Feed begins a trace without packets. Readers get events, and packets only from Packet.
func (f *File) Feed(readers ...Reader) *Feed {
	f.Home = 0
	f.own = f.Clocks.Own(f.Home)
	f.kernel = &kernel{file: f, sources: 1}
	for _, one := range readers {
		for _, kind := range one.Wants().Interned {
			f.interned[kind] = true
		}
		if events, ok := one.(EventReader); ok {
			f.kernel.subscribe(events)
		}
	}
	return &Feed{file: f, seq: &Sequence{valid: true}, readers: readers}
}

// Asked reports whether a reader wants events of a kind: 0 for those of their writers.
func (d *Feed) Asked(kind protowire.Number) bool {
	return kind == 0 && d.file.kernel.writers != nil || d.file.kernel.wanted(kind)
}

// Event adds an event, whose kind must be wanted. It keeps its data.
func (d *Feed) Event(e Event) {
	e.Seq = d.seq
	d.file.order.add(int(e.CPU)+1, item{at: int64(e.At), size: int32(len(e.Data)), event: e}, d.file.give)
}

// Intern keeps an entry of interned data, if a reader wants its kind.
func (d *Feed) Intern(kind protowire.Number, id uint64, entry []byte) {
	if d.file.interned[kind] {
		d.file.enter(d.seq, internedKey{kind, id}, entry)
	}
}

// End delivers the remaining events to the readers.
func (d *Feed) End() { d.file.order.give(d.file.order.waiting, d.file.give) }

// Packet delivers a packet with a time to the readers that want its kind.
func (d *Feed) Packet(kind protowire.Number, at time.Duration, data []byte) {
	stamp := NoStamp
	if d.file.own != nil {
		stamp = Stamp{Clock: d.file.own.Target, NS: int64(at)}
	}
	for _, reader := range d.readers {
		if slices.Contains(reader.Wants().Packets, kind) {
			reader.Packet(Packet{Kind: kind, Data: data, At: stamp, Machine: d.file.Home, Seq: d.seq})
		}
	}
}

// Lost records that events are missing.
func (d *Feed) Lost() { d.file.kernel.lost++ }
