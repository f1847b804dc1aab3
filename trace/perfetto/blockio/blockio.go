// Package blockio reads from a Perfetto trace the requests to block devices, such as a phone's
// flash: reads and writes, how long each took, and the requesting thread.
//
// A request ends with the kernel's event for the same device and sector, so that concurrent
// requests of a device are separate, whereas Perfetto's own slices of a device are nested. The
// kernel reports one request at up to three levels, and each is listed separately: nothing is added
// up.
package blockio

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// Limits of what is kept.
const (
	MaxRows  = 1_000_000 // if the list does not spill
	maxOpen  = 100_000   // that have not ended
	maxNames = 100_000
)

// Level is the layer of the kernel that reports a request.
type Level uint8

// The levels, from the file system to the device: block_bio_queue to block_bio_complete;
// block_io_start to block_io_done, the time in the queue and in the device; block_rq_issue to
// block_rq_complete, the time in the device.
const (
	Bio Level = iota
	IO
	Request
)

// String returns the event with which the kernel reports a request.
func (l Level) String() string {
	return [...]string{"block_bio_queue", "block_io_start", "block_rq_issue"}[l]
}

// Work is a request of one level.
type Work struct {
	At      time.Duration
	For     time.Duration // negative if it did not end in the trace
	Sector  uint64        // of 512 bytes
	Device  uint32        // as in stat: major and minor number
	Sectors uint32
	Bytes   uint32
	Kind    int32 // in Reader.Names: R or W, with letters for more (the kernel's rwbs)
	Command int32 // in Reader.Names: the requesting thread's name
	Thread  int32 // in the tracker's Threads: the running thread, which may be a kernel's worker
	Error   int32 // the kernel's number, 0 for none
	Level   Level
}

// Reader reads requests.
type Reader struct {
	Work  spill.List[Work]
	Names []string // the first is ""

	file    *packets.File
	threads *threads.Tracker
	open    map[key]begun
	names   map[string]int32
}

type key struct {
	level  Level
	device uint32
	sector uint64
}

// begun is a request that has not ended.
type begun struct {
	place int32  // in Reader.Work
	end   uint64 // the sector after it
}

// New returns a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Reader {
	return &Reader{file: file, threads: tracker, open: map[key]begun{}, names: map[string]int32{"": 0}, Names: []string{""}}
}

// Wants returns the kernel's events of block devices.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Events: []protowire.Number{
		field.EventBlockBioQueue, field.EventBlockBioComplete, field.EventBlockIOStart, field.EventBlockIODone,
		field.EventBlockRqIssue, field.EventBlockRqComplete,
	}}
}

// Packet ignores packets: only events are read.
func (r *Reader) Packet(packets.Packet) {}

// intern returns the index of a name, that of "" if there are too many.
func (r *Reader) intern(raw []byte) int32 {
	name := packets.Name(raw)
	one, known := r.names[name]
	if !known && r.file.Room("names of block I/O", len(r.Names), maxNames) {
		one = int32(len(r.Names))
		r.names[name] = one
		r.Names = append(r.Names, name)
	}
	return one
}
