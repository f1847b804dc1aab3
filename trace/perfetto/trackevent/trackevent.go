// Package trackevent reads the events that programs write with Perfetto's SDK (track_event
// packets), and the tracks that they are on.
//
// It owns descriptions of tracks, the thread or process of each, and the content of an event;
// readers decide what becomes of it: slices or values of counters.
//
// Tracks are resolved as in Perfetto's own trace processor
// (importers/proto/track_event_tracker.cc), so that its tables can be compared with ours. Of
// Chrome's older events, separate flow events are not read.
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

// maxTracks limits the tracks that packets may describe.
const maxTracks = 100_000

// Tracks is the tracks that packets describe. As a reader of its own it names their threads and
// processes.
type Tracks struct {
	file        *packets.File
	threads     *threads.Tracker
	descriptors map[uint64]*descriptor
	places      map[uint64]*Place
	// The tracks that represent a thread, and a process: another one is of a later thread or
	// process with the same id.
	ofThread, ofProcess map[int]uint64
	values              map[valueKey]*value
	writers             map[*packets.Sequence]*writer
}

// New returns a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Tracks {
	return &Tracks{
		file: file, threads: tracker, descriptors: map[uint64]*descriptor{}, places: map[uint64]*Place{},
		ofThread: map[int]uint64{}, ofProcess: map[int]uint64{}, values: map[valueKey]*value{}, writers: map[*packets.Sequence]*writer{},
	}
}

// Wants returns Descriptions.
func (t *Tracks) Wants() packets.Wants { return packets.Wants{Packets: Descriptions()} }

// Descriptions returns the packets that describe tracks and writers.
func Descriptions() []protowire.Number {
	return []protowire.Number{field.PacketTrackDescriptor, field.PacketThreadDescriptor}
}

// Interned returns the fields of InternedData that events refer to, including those of arguments if
// requested.
func Interned(args bool) []protowire.Number {
	out := []protowire.Number{field.InternedEventCategories, field.InternedEventNames}
	if args {
		out = append(out, field.InternedDebugAnnotationNames, field.InternedDebugAnnotationStringValues)
	}
	return out
}

// Packet calls Describe, for use as a separate reader.
func (t *Tracks) Packet(p packets.Packet) { t.Describe(p) }

// Describe reads a TrackDescriptor, whose thread or process is resolved once earlier events were
// read, or a ThreadDescriptor. It returns false for another packet.
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
