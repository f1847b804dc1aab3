package slices

import (
	"fmt"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// Types of a GraphicsFrameEvent's BufferEvent (graphics_frame_event.proto).
const (
	bufferDequeued = 1
	bufferQueued   = 2
	bufferAcquired = 4
	bufferLatched  = 5
	bufferShown    = 8
)

var bufferEvents = []string{
	"unspecified_event", "Dequeue", "Queue", "Post", "AcquireFenceSignaled", "Latch", "HWCCompositionQueued",
	"FallbackComposition", "PresentFenceSignaled", "ReleaseFenceSignaled", "Modify", "Detach", "Attach", "Cancel",
}

// bufferKey identifies a buffer of a layer: several layers may use one.
type bufferKey struct {
	id    uint32
	layer string
}

// buffer is the state of a buffer: an app draws into it from dequeue to queue, the GPU works until
// its fence is signaled, SurfaceFlinger has it from latch to present.
type buffer struct {
	last     uint64 // the type of the event that began its phase, 0 for none
	track    int32  // of that phase
	slice    int32  // of an app's phase
	since    time.Duration
	acquired time.Duration // when its fence was last signaled, -1 for never
	dequeued int32         // the instant of its dequeue, None after another event
}

// bufferOf is a BufferEvent.
type bufferOf struct {
	bufferKey
	frame uint32
	kind  uint64
	dur   time.Duration
}

func (r *Reader) bufferEvent(at time.Duration, message []byte) {
	m := messages.BufferOf(messages.GraphicsFrameOf(message).BufferEvent)
	if !m.HasBufferID {
		return
	}
	b := bufferOf{
		bufferKey: bufferKey{id: m.BufferID, layer: packets.Name(m.LayerName)}, frame: m.FrameNumber,
		kind: uint64(len(bufferEvents)), dur: time.Duration(min(m.DurationNS, packets.MaxTime)),
	}
	if m.HasType {
		b.kind = uint64(m.Type)
	}
	r.bufferSlices(at, b)
}

func (r *Reader) bufferSlices(at time.Duration, b bufferOf) {
	name := "unknown_event"
	if b.kind < uint64(len(bufferEvents)) {
		name = bufferEvents[b.kind]
	}
	event := r.begin(at, b.dur, r.bufferTrack(fmt.Sprintf("Buffer: %d %s", b.id, b.layer)), "", name)
	r.frameArgs(event, b)
	one := r.buffers[b.bufferKey]
	if one == nil {
		if !r.file.Room("buffers", len(r.buffers), maxTracks) {
			return
		}
		one = &buffer{acquired: -1, dequeued: None}
		r.buffers[b.bufferKey] = one
	}
	if b.kind == bufferQueued { // the frame had no number when its buffer was dequeued
		r.frameNumber(one.dequeued, b.frame)
	}
	delete(r.args, one.dequeued)
	one.dequeued = None
	if b.kind == bufferDequeued {
		one.dequeued = event
	}
	r.phase(at, b, one)
}

// phase ends the current phase of a buffer, and begins the next.
func (r *Reader) phase(at time.Duration, b bufferOf, one *buffer) {
	switch b.kind {
	case bufferDequeued:
		r.unqueued(one)
		one.last = 0
		r.beginPhase(at, b, one, fmt.Sprintf("APP_%d %s", b.id, b.layer))
		if one.slice == None {
			one.last = 0
		}
	case bufferQueued:
		if one.last == bufferDequeued {
			r.end(at, one.track, "")
			r.rename(one.slice, strconv.Itoa(int(b.frame)))
			r.frameNumber(one.slice, b.frame)
			if one.acquired > one.since { // the fence may be signaled before
				one.last = 0
				return
			}
		}
		r.beginPhase(at, b, one, fmt.Sprintf("GPU_%d %s", b.id, b.layer))
	case bufferAcquired:
		if one.last == bufferQueued {
			r.end(at, one.track, "")
			one.last = 0
		}
		one.acquired = at
	case bufferLatched:
		r.unqueued(one)
		r.beginPhase(at, b, one, fmt.Sprintf("SF_%d %s", b.id, b.layer))
	case bufferShown:
		if one.last == bufferLatched {
			r.end(at, one.track, "")
			one.last = 0
		}
		r.show(at, b)
	}
}

// show ends what a layer showed, and begins what it shows now.
func (r *Reader) show(at time.Duration, b bufferOf) {
	before, known := r.shown[b.layer]
	if known {
		r.end(at, before, "")
	}
	track := r.bufferTrack("Display_" + b.layer)
	r.frameArgs(r.begin(at, -1, track, "", phaseName(at, b)), b)
	if known || r.file.Room("layers", len(r.shown), maxTracks) {
		r.shown[b.layer] = track
	}
}

func (r *Reader) beginPhase(at time.Duration, b bufferOf, one *buffer, track string) {
	one.track = r.bufferTrack(track)
	one.slice = r.begin(at, -1, one.track, "", phaseName(at, b))
	one.last, one.since = b.kind, at
	r.frameArgs(one.slice, b)
}

// unqueued names the phase of an app that never queued its frame.
func (r *Reader) unqueued(one *buffer) {
	if one.last == bufferDequeued {
		r.rename(one.slice, "0")
		r.frameNumber(one.slice, 0)
	}
}

// phaseName returns a frame's number, or the time if that is not known yet.
func phaseName(at time.Duration, b bufferOf) string {
	if b.frame != 0 {
		return strconv.Itoa(int(b.frame))
	}
	return strconv.FormatInt(int64(at), 10)
}

func (r *Reader) bufferTrack(name string) int32 {
	return r.track(Track{Type: "graphics_frame_event", Name: name, Thread: None, Process: None})
}

func (r *Reader) rename(slice int32, name string) {
	if slice != None {
		number := r.intern(name)
		r.Slices.Edit(slice, func(s *Slice) { s.Name = number })
	}
}

// frameArgs sets the number and the layer of a slice's frame. When its buffer is dequeued the
// number may come later.
func (r *Reader) frameArgs(slice int32, b bufferOf) {
	if r.args == nil {
		return
	}
	layer := b.layer
	if layer == "" {
		layer = "no_layer_name"
	}
	r.addArgs(slice, []trackevent.Arg{
		{Key: "frame_number", Type: trackevent.TypeInt, Int: int64(b.frame)}, {Key: "layer_name", Type: trackevent.TypeString, Text: layer},
	}, b.kind != bufferDequeued)
}

// frameNumber sets the number of a slice's frame that was not known when it began.
func (r *Reader) frameNumber(slice int32, frame uint32) {
	if r.args != nil {
		r.addArgs(slice, []trackevent.Arg{{Key: "frame_number", Type: trackevent.TypeInt, Int: int64(frame)}}, true)
	}
}
