// Package trackevent reads the events that programs write with Perfetto's SDK
// (track_event packets), and what the tracks are that they are on.
//
// It owns descriptions of tracks, which thread or process each is of, and what an event
// says; what becomes of events, slices or values of counters, is for the readers that ask
// for them.
//
// It takes a stand: tracks are resolved as in Perfetto's own trace processor
// (importers/proto/track_event_tracker.cc), so that tables can be held against its own.
// Of the older events of Chrome, flows that are events of their own are not read.
package trackevent

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// None stands for no thread or process.
const None = -1

// maxTracks is how many tracks packets may describe.
const maxTracks = 100_000

// Tracks knows the tracks that packets describe. As a reader of its own it names the
// threads and processes that they are of.
type Tracks struct {
	file        *packets.File
	threads     *threads.Tracker
	descriptors map[uint64]*descriptor
	places      map[uint64]*Place
	// The tracks that stand for a thread, and for a process: another one is of a later
	// thread or process with the same number.
	ofThread, ofProcess map[int]uint64
	values              map[valueKey]*value
	writers             map[*packets.Sequence]*writer
}

// New is a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Tracks {
	return &Tracks{
		file: file, threads: tracker, descriptors: map[uint64]*descriptor{}, places: map[uint64]*Place{},
		ofThread: map[int]uint64{}, ofProcess: map[int]uint64{}, values: map[valueKey]*value{}, writers: map[*packets.Sequence]*writer{},
	}
}

// Wants are Descriptions.
func (t *Tracks) Wants() packets.Wants { return packets.Wants{Packets: Descriptions()} }

// Descriptions are the packets that tell of tracks and of who writes.
func Descriptions() []protowire.Number {
	return []protowire.Number{field.PacketTrackDescriptor, field.PacketThreadDescriptor}
}

// Interned are the fields of InternedData that events refer to, with what their arguments
// do where these are asked for.
func Interned(args bool) []protowire.Number {
	out := []protowire.Number{field.InternedEventCategories, field.InternedEventNames}
	if args {
		out = append(out, field.InternedDebugAnnotationNames, field.InternedDebugAnnotationStringValues)
	}
	return out
}

// Packet is Describe, as of a reader of its own.
func (t *Tracks) Packet(p packets.Packet) { t.Describe(p) }

// Describe reads a TrackDescriptor, whose thread or process is known when its time has
// come, or a ThreadDescriptor. It is false for another packet.
func (t *Tracks) Describe(p packets.Packet) bool {
	switch {
	case p.Kind != field.PacketTrackDescriptor && p.Kind != field.PacketThreadDescriptor:
		return false
	case p.Machine != t.file.Home:
	case p.Kind == field.PacketThreadDescriptor:
		t.writes(p.Seq, p.Data)
	default:
		t.descriptor(p)
	}
	return true
}

func (t *Tracks) descriptor(p packets.Packet) {
	if thread := messages.TrackOf(p.Data).Thread; thread != nil {
		t.writes(p.Seq, thread)
	}
	uuid := t.describe(p.Data)
	if p.At == packets.NoStamp {
		t.Place(uuid)
	} else if at, ok := t.file.Time(p.At); ok {
		t.file.Defer(at, 0, func() { t.Place(uuid) })
	}
}
