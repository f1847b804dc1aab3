// Package slices reads from a Perfetto trace what threads and processes did over time: the slices
// that apps and Android write to the kernel's trace (atrace), track events, binder transactions,
// the work of GPUs, displays and block devices, and suspension, with the flows that lead from one
// slice to another.
//
// Slices are nested and paired as in Perfetto's own trace processor
// (importers/common/slice_tracker.cc, track_compressor.cc, importers/systrace,
// importers/ftrace/binder_tracker.cc and drm_tracker.cc, importers/proto/ track_event_tracker.cc),
// so that its tables can be compared with these.
package slices

import (
	"bytes"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/atrace"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/spill"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// Limits of what is kept.
const (
	MaxRows   = 1_000_000 // slices, and flows, if their lists do not spill
	maxNames  = 32 << 20  // bytes of distinct names
	maxTexts  = 32 << 20  // bytes of texts of arguments, if they do not spill
	maxDepth  = 512
	maxTracks = 100_000 // of events, and of buffers
	// maxLanes limits the slices of a process that are open at one time under one name.
	maxLanes = 1_000
)

// None stands for no slice, thread or process.
const None = -1

// Slice is an activity with a duration, or an instant if For is 0.
type Slice struct {
	At       time.Duration
	For      time.Duration // negative if it did not end in the trace
	Name     int32         // in Reader.Names
	Track    int32         // in Reader.Tracks
	Parent   int32         // in Reader.Slices, None at depth 0
	Category int32         // in Reader.Names
	Depth    int16
}

// Track is a sequence of nested slices.
type Track struct {
	Type    string // Perfetto's name of it: thread_execution, atrace_async_slice, …
	Name    string
	Thread  int // in the tracker's Threads, None for another kind
	Process int // in the tracker's Processes, None for another kind
	// Number distinguishes it from others with its name; 0 if the name is unique.
	Number uint64
}

// Flow leads from one slice to another that it caused.
type Flow struct{ Out, In int32 }

// Reader reads slices.
type Reader struct {
	Slices spill.List[Slice]
	Tracks []Track
	Flows  spill.List[Flow]
	Names  []string
	// Args are arguments of slices, if KeepArgs requested them, and ArgTexts their texts.
	Args     spill.List[Arg]
	ArgTexts spill.Texts
	// Unread counts events of tracks of unsupported kinds, CutArgs arguments.
	Unread, CutArgs int

	only    func(name string, track *Track) bool // nil if all slices are kept
	file    *packets.File
	threads *threads.Tracker
	stacks  [][]open // by track
	tracks  map[Track]int32
	lanes   map[Track]*lanes
	names   map[string]int32
	named   int // bytes of names
	calls   map[int32]call
	frames  map[int][]frame // by thread
	fences  map[uint32]*fences
	suspend suspend
	stages  stages
	rings   map[string]*ring
	busy    map[jobID]*ring // by running job
	buffers map[bufferKey]*buffer
	shown   map[string]int32 // the track of what a layer shows

	events  *trackevent.Tracks
	args    map[int32]span        // of slices that have not ended; nil if not requested
	shared  map[string]spill.Text // recent texts of arguments
	sharing int                   // bytes of them
	byUUID  map[uint64]int32
	roots   map[rootKey]string // names of tracks by ids of events
	steps   map[uint64]int32   // the last slices of flows
}

// New returns a reader of a file whose threads the tracker reads in the same pass.
func New(file *packets.File, tracker *threads.Tracker) *Reader {
	return &Reader{
		file: file, threads: tracker, tracks: map[Track]int32{}, lanes: map[Track]*lanes{}, names: map[string]int32{"": 0}, Names: []string{""},
		calls: map[int32]call{}, frames: map[int][]frame{}, fences: map[uint32]*fences{},
		stages: stages{lanes: map[Track][]stageLane{}, slices: map[uint64]int32{}, waiting: map[uint64][]int32{}},
		rings:  map[string]*ring{}, busy: map[jobID]*ring{}, buffers: map[bufferKey]*buffer{}, shown: map[string]int32{},
		events: trackevent.New(file, tracker), byUUID: map[uint64]int32{}, roots: map[rootKey]string{}, steps: map[uint64]int32{},
	}
}

// Only keeps only certain slices, by their names and tracks when they begin, before anything is read.
func (r *Reader) Only(kept func(name string, track *Track) bool) { r.only = kept }

// Wants returns the kernel's events from which slices are derived.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{
		Packets:  []protowire.Number{field.PacketTrackDescriptor, field.PacketThreadDescriptor, field.PacketTrackEvent, field.PacketGraphicsFrameEvent, field.PacketAndroidSystemProperty, field.PacketGPURenderStageEvent, field.PacketVulkanApiEvent},
		Interned: append(trackevent.Interned(r.args != nil), field.InternedGPUSpecifications),
		Events: append([]protowire.Number{
			field.EventBinderTransaction, field.EventBinderTransactionReceived, field.EventBinderCommand, field.EventBinderReturn, field.EventBinderLock, field.EventBinderLocked, field.EventBinderUnlock,
			field.EventDmaFenceInit, field.EventDmaFenceEmit, field.EventDmaFenceSignaled, field.EventDmaFenceWaitStart, field.EventDmaFenceWaitEnd,
			field.EventSuspendResume, field.EventSuspendResumeMinimal, field.EventDrmVblankEvent, field.EventDrmVblankEventDelivered,
			field.EventDrmSchedJob, field.EventDrmRunJob, field.EventDrmSchedProcessJob, field.EventDrmSchedJobQueue, field.EventDrmSchedJobRun, field.EventDrmSchedJobDone,
			field.EventBlockIOStart, field.EventBlockIODone, field.EventVirtioGPUCmdQueue, field.EventVirtioGPUCmdResponse,
		}, atrace.Events...)}
}

// Packet reads an event of a track, the description of one, or an event of a buffer.
func (r *Reader) Packet(p packets.Packet) {
	if p.Machine != r.file.Home {
		return
	}
	switch {
	case r.events.Describe(p):
	case p.Kind == field.PacketTrackEvent:
		r.trackEvent(p)
	case p.Kind == field.PacketGPURenderStageEvent:
		r.stageEvent(p)
	default:
		at, ok := r.file.Time(p.At)
		if !ok {
			return
		}
		message := bytes.Clone(p.Data)
		r.file.Defer(at, len(message), func() {
			switch p.Kind {
			case field.PacketAndroidSystemProperty:
				r.property(at, message)
			case field.PacketVulkanApiEvent:
				r.submission(at, message)
			default:
				r.bufferEvent(at, message)
			}
		})
	}
}

// Event reads an event. The tracker has already read it.
func (r *Reader) Event(e *packets.Event) {
	switch e.Kind {
	case field.EventBinderTransaction:
		r.transaction(e)
	case field.EventBinderTransactionReceived:
		r.received(e)
	case field.EventBinderCommand:
		r.command(e)
	case field.EventBinderReturn:
		r.returned(e)
	case field.EventBinderLock, field.EventBinderLocked, field.EventBinderUnlock:
		r.lock(e)
	case field.EventSuspendResume:
		r.suspension(e)
	case field.EventSuspendResumeMinimal:
		r.minimal(e)
	case field.EventBlockIOStart, field.EventBlockIODone:
		r.blockIO(e)
	case field.EventVirtioGPUCmdQueue, field.EventVirtioGPUCmdResponse:
		r.virtio(e)
	case field.EventDrmVblankEvent, field.EventDrmVblankEventDelivered:
		r.vblank(e)
	case field.EventDrmSchedJob, field.EventDrmRunJob, field.EventDrmSchedProcessJob, field.EventDrmSchedJobQueue, field.EventDrmSchedJobRun, field.EventDrmSchedJobDone:
		r.job(e)
	case field.EventDmaFenceInit, field.EventDmaFenceEmit, field.EventDmaFenceSignaled:
		r.fence(e)
	case field.EventDmaFenceWaitStart:
		r.begin(e.At, -1, r.own(e.TID), "", "dma_fence_wait")
	case field.EventDmaFenceWaitEnd:
		r.end(e.At, r.own(e.TID), "")
	default:
		if p, ok := atrace.Of(e); ok {
			r.point(e, p)
		}
	}
}

// own returns the track of the thread that has an id now.
func (r *Reader) own(tid int32) int32 {
	return r.track(Track{Type: "thread_execution", Thread: r.threads.Of(tid), Process: None})
}

// track finds or adds a track; None if there are too many.
func (r *Reader) track(t Track) int32 {
	if at, known := r.tracks[t]; known {
		return at
	}
	t = r.bounded(t)
	at, known := r.tracks[t]
	if !known {
		at = None
		if r.file.Room("tracks of slices", len(r.Tracks), MaxRows) {
			at = r.newTrack(t)
			r.tracks[t] = at
		}
	}
	return at
}

// bounded returns a track whose name is among those that are kept: all without room share one
// without a name.
func (r *Reader) bounded(t Track) Track {
	t.Name = r.Names[r.intern(t.Name)]
	return t
}

func (r *Reader) newTrack(t Track) int32 {
	r.Tracks = append(r.Tracks, r.bounded(t))
	r.stacks = append(r.stacks, nil)
	return int32(len(r.Tracks) - 1)
}

// intern returns the index of a name, that of "" if there are too many.
func (r *Reader) intern(name string) int32 {
	one, known := r.names[name]
	if !known {
		const each = 64 // overhead of a map entry
		if !r.file.Room("names of slices", r.named+len(name)+each, maxNames) {
			return 0
		}
		r.named += len(name) + each
		one = int32(len(r.Names))
		r.names[name] = one
		r.Names = append(r.Names, name)
	}
	return one
}
