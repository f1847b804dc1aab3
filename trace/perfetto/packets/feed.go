package packets

import (
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Source is a trace whose events can be read in the order of time.
type Source func(f *File, readers ...Reader) error

// Packets is a trace of packets as a source. It is read twice.
func Packets(src io.ReadSeeker) Source {
	return func(f *File, readers ...Reader) error { return f.ReadInOrder(src, readers...) }
}

// Writer is what a trace in text says of the thread that wrote an event.
type Writer struct {
	Name string // "" where not told
	PID  int32  // the thread's process, less than 0 where not told
}

// Feed takes events of the kernel that stand in no packets, as those of a trace in text.
// All of their times are on one clock.
type Feed struct {
	file *File
	seq  *Sequence
}

// Feed begins a trace without packets. The readers get events alone.
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
	return &Feed{file: f, seq: &Sequence{valid: true}}
}

// Asked reports whether a reader asks for events of a kind: 0 for those of their writers.
func (d *Feed) Asked(kind protowire.Number) bool {
	return kind == 0 && d.file.kernel.writers != nil || kind > 0 && kind < maxKind && d.file.kernel.wanted[kind]
}

// Event takes an event, which must be one that is asked for. It keeps its data.
func (d *Feed) Event(e Event) {
	e.Seq = d.seq
	d.file.order.add(int(e.CPU)+1, item{at: int64(e.At), size: int32(len(e.Data)), event: e}, d.file.give)
}

// Defer calls run when everything before a time was read. size is what it holds.
func (d *Feed) Defer(at time.Duration, size int, run func()) { d.file.Defer(at, size, run) }

// Intern keeps an entry of interned data, where a reader asks for its kind.
func (d *Feed) Intern(kind protowire.Number, id uint64, entry []byte) {
	if d.file.interned[kind] {
		d.file.enter(d.seq, internedKey{kind, id}, entry)
	}
}

// End gives the readers what has waited.
func (d *Feed) End() { d.file.order.give(d.file.order.waiting, d.file.give) }
