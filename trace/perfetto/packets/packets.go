// Package packets reads the packets of a Perfetto trace in sequence, and is the basis of all
// readers of such traces: the file and its compressed bundles, the sequences of packets with their
// state, interned data and losses, and the clocks.
//
// It owns the format's frame and keeps no packet. The content of a packet is for the readers that
// want its kind; an unwanted kind costs nothing.
//
// A time stays on its own clock, as a Stamp, until the trace's snapshots of clocks are known. All
// times can then be converted to one clock, CLOCK_MONOTONIC if the trace leads there; a reader
// leaves out and counts those that can't be converted.
//
// Format: protos/perfetto/trace/trace_packet.proto of google/perfetto and its includes; the meaning
// of clocks is in clock_snapshot.proto.
//
// The reasons are in docs/design/traces.md.
package packets

import (
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// Limits of a file. What exceeds them is counted, not kept.
const (
	MaxFile      = 1 << 30  // bytes of the file
	MaxUnpacked  = 2 << 30  // unpacked bytes of its compressed bundles
	MaxPacket    = 64 << 20 // bytes of one packet
	MaxList      = 100_000  // entries of one list in a packet
	MaxName      = 300      // bytes
	maxSequences = 100_000
	MaxClocks    = 100_000
	MaxSnapshots = 20_000
	maxPairs     = 500_000  // snapshots of the kernel's clock, one in each bundle of events
	maxSnapshot  = 16       // clocks of one snapshot
	maxInterned  = 64 << 20 // bytes of interned data and defaults at one time
	maxDefaults  = 64 << 10 // bytes of the defaults of one sequence
	maxSteps     = 16       // from one clock over others to another
)

// Reader reads packets of some kinds.
type Reader interface {
	Wants() Wants
	// Packet reads a packet, in the file's order. Its bytes are valid during the call.
	Packet(p Packet)
}

// Wants are the kinds of packets that a reader wants.
type Wants struct {
	// Packets are field numbers of TracePacket.
	Packets []protowire.Number
	// Interned are field numbers of InternedData.
	Interned []protowire.Number
	// Events are field numbers of FtraceEvent, for an EventReader.
	Events []protowire.Number
	// Writers requests an event of kind 0 for each thread that wrote events of other kinds, once in
	// each bundle of them.
	Writers bool
}

// File is a trace being read.
type File struct {
	Clocks   Clocks
	Warnings trace.Warnings
	// Home is the machine that the trace is of, the lowest one with packets.
	Home uint32
	// Broken counts packets that end in the middle of a field, Lost the gaps in sequences, Unusable
	// the packets that need a state which was lost in a gap.
	Broken, Lost, Unusable int
	// TooMany counts what was not kept, by kind.
	TooMany map[string]int
	// Nothing is set if the input had nothing of a trace: it is of another kind.
	Nothing bool

	kinds     [len(kindNames)]int
	others    int
	wanted    [len(kindNames)][]Reader
	interned  map[protowire.Number]bool
	sequences map[sequenceKey]*Sequence
	last      *Sequence // that of the packet before
	latest    Stamp
	held      int // bytes of interned data and defaults

	own    *Conversion // to the trace's own clock, if it is read in order
	kernel *kernel
	order  order
}

// New returns a trace before its first packet.
func New() *File {
	return &File{
		Clocks: Clocks{primary: map[uint32]uint32{}}, Home: math.MaxUint32, TooMany: map[string]int{},
		interned: map[protowire.Number]bool{}, sequences: map[sequenceKey]*Sequence{}, latest: NoStamp,
	}
}

// Read passes every packet of a trace to the readers that want its kind. A truncated file yields
// what was complete, with a warning. It returns an error if reading r fails, or for a file of more
// than MaxFile bytes.
func (f *File) Read(r io.Reader, readers ...Reader) error {
	for _, one := range readers {
		wants := one.Wants()
		for _, kind := range wants.Packets {
			f.wanted[kind] = append(f.wanted[kind], one)
		}
		for _, kind := range wants.Interned {
			f.interned[kind] = true
		}
	}
	s := newStream(r, &f.Warnings)
	defer s.close()
	err := s.each(func(message []byte) { f.bundle(s, message) })
	f.Nothing = len(f.Counts()) == 0
	return err
}

// Counts returns the number of packets by the name of their content: "ftrace_events", "battery", ….
func (f *File) Counts() map[string]int {
	out := map[string]int{}
	for kind, n := range f.kinds {
		if n > 0 {
			out[kindNames[kind]] = n
		}
	}
	if f.others > 0 {
		out["other"] = f.others
	}
	return out
}

// bundle reads a packet of the file, which may contain compressed ones.
func (f *File) bundle(s *stream, message []byte) {
	p := f.frame(message)
	if p.Kind != field.PacketCompressedPackets && p.Kind != field.PacketZstdCompressedPackets {
		f.read(p)
		return
	}
	s.unpack(p.Kind, p.Data, func(inner []byte) {
		p := f.frame(inner)
		if p.Kind == field.PacketCompressedPackets || p.Kind == field.PacketZstdCompressedPackets {
			f.Broken++
			return
		}
		f.read(p)
	})
}

func (f *File) frame(message []byte) Packet {
	p, whole := packetOf(message)
	if !whole {
		f.Broken++
	}
	if p.Kind == 0 {
		f.others++
		return p
	}
	f.kinds[p.Kind]++
	if p.Kind != field.PacketCompressedPackets && p.Kind != field.PacketZstdCompressedPackets {
		f.Home = min(f.Home, p.Machine)
	}
	return p
}

// read passes a packet to its readers. The order is the format's: state first, then the clocks,
// then the timestamp, then the content.
func (f *File) read(p Packet) {
	seq := f.sequence(p)
	switch p.Kind {
	case field.PacketClockSnapshot:
		f.Clocks.addSnapshot(p.Data, p.Machine, p.sequence)
		return
	case field.PacketRemoteClockSync:
		f.Clocks.addRemote(p.Data, p.Machine)
		return
	}
	if p.needsState && !seq.valid {
		f.Unusable++
		return
	}
	p.Seq, p.At = seq, f.latest
	if p.timed {
		id := p.clockID
		if id == 0 {
			id = seq.clockID
		}
		p.At = f.Clocks.stamp(KeyOf(p.Machine, p.sequence, id), p.timestamp)
		f.latest = p.At
	}
	for _, reader := range f.wanted[p.Kind] {
		reader.Packet(p)
	}
}

// Room reports whether one more of a kind may be kept.
func (f *File) Room(kind string, have, most int) bool {
	if have < most {
		return true
	}
	f.TooMany[kind]++
	return false
}

// Name returns a name of the trace, made valid and short.
func Name(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), MaxName)]), "�")
}
