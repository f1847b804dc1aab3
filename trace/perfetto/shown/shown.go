// Package shown reads the reports of Android's compositor on each buffer of each layer (Perfetto's
// data source android.surfaceflinger.frame, Android 11 and later): when it was queued, drawn, taken
// and shown. It is the only source for frames that are drawn without a vsync's number, by Flutter,
// games and video.
//
// It owns which buffers there were and the times of each, and when one was late. The owner of a
// layer is derived from its name alone (Of), since no process is reported.
//
// Events may be missing, repeated or out of order, and numbers may restart (FrameTracer.cpp reports
// a fence when the same buffer is next used, so never for the last ones; Perfetto's own reader
// expects lost QUEUEs too): each buffer's first event of a kind counts, and a missing time is
// estimated, and counted as such, or unknown. When the app began a frame is not reported: DEQUEUE
// is when the renderer took a buffer, after all work of the UI thread, and is ignored.
//
// Format: GraphicsFrameEvent in graphics_frame_event.proto of google/perfetto.
package shown

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Source is the data source's name.
const Source = "android.surfaceflinger.frame"

// Limits of what is kept.
const (
	MaxEvents = 1_000_000
	MaxLayers = 10_000
)

// ErrNoClock is returned if nothing in a trace leads to CLOCK_MONOTONIC.
var ErrNoClock = errors.New("nothing in the trace leads to CLOCK_MONOTONIC")

// None stands for an unknown time.
const None time.Duration = -1

// Buffer is a frame of a layer, with its times on CLOCK_MONOTONIC.
type Buffer struct {
	Number uint32
	Queued time.Duration // the app queued it
	Drawn  time.Duration // the GPU finished it (its acquire fence)
	Taken  time.Duration // the compositor took it (latched)
	Shown  time.Duration // it was on the screen (the present fence)
	// Guessed is set if Shown is estimated from Taken, Passed if the buffer was never taken because
	// a newer one was.
	Guessed, Passed bool
}

// Layer is the buffers of one layer, in the order of their first events.
type Layer struct {
	Name    string
	Buffers []Buffer
}

// Trace is the layers of a trace.
type Trace struct {
	Layers []Layer // those with a buffer, by name
	// Written is set if the data source recorded anything, of any layer.
	Written bool
	// Lost counts gaps in the events, where frames may be missing.
	Lost int
}

// Read reads the buffers of the layers for which of is true.
func Read(src io.Reader, of func(layer string) bool) (Trace, error) {
	f := packets.New()
	r, kept := New(f, of), &packets.Losses{Source: Source}
	if err := f.Survey(src, r, kept); err != nil {
		return Trace{}, err
	}
	return r.trace(kept.Chunks())
}

// Reader reads events on the first pass over a file.
type Reader struct {
	file    *packets.File
	of      func(layer string) bool
	events  []event
	names   []string
	layers  map[string]int32 // the index in names, other for an unwanted layer
	writers map[*packets.Sequence]bool
	machine uint32
	written bool

	gaps, malformed int
}

const other = -1

// The types of a BufferEvent that are read.
const (
	queued   = 2
	acquired = 4
	latched  = 5
	present  = 8
)

// event is such an event.
type event struct {
	at     packets.Stamp
	number uint32
	layer  int32
	kind   uint8
}

// New returns a reader of a file.
func New(file *packets.File, of func(layer string) bool) *Reader {
	return &Reader{file: file, of: of, layers: map[string]int32{}, writers: map[*packets.Sequence]bool{}, machine: math.MaxUint32}
}

// Wants returns GraphicsFrameEvents.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketGraphicsFrameEvent}}
}

// Packet reads a GraphicsFrameEvent.
func (r *Reader) Packet(p packets.Packet) {
	if p.AfterGap() && r.writers[p.Seq] { // a sequence's first packet always has a gap
		r.gaps++
	}
	r.writers[p.Seq] = true
	switch {
	case p.At == packets.NoStamp || p.Machine > r.machine:
		return
	case p.Machine < r.machine: // the trace is that of the lowest machine
		r.machine, r.events, r.malformed = p.Machine, nil, 0
	}
	r.written = true
	if event := messages.GraphicsFrameOf(p.Data).BufferEvent; event != nil {
		r.event(p.At, messages.BufferOf(event))
	}
}

func (r *Reader) event(at packets.Stamp, m messages.Buffer) {
	e := event{at: at, layer: other, number: m.FrameNumber, kind: uint8(min(uint32(m.Type), math.MaxUint8))}
	if m.LayerName != nil {
		e.layer = r.layer(m.LayerName)
	}
	switch {
	case e.layer == other || e.kind != queued && e.kind != acquired && e.kind != latched && e.kind != present:
	case !m.HasFrameNumber:
		r.malformed++
	case r.file.Room("events of buffers", len(r.events), MaxEvents):
		r.events = append(r.events, e)
	}
}

// layer returns the index of a layer's name; other for an unwanted one, or if there is no room.
func (r *Reader) layer(raw []byte) int32 {
	if place, known := r.layers[string(raw)]; known {
		return place
	}
	name := packets.Name(raw)
	place, known := r.layers[name]
	switch {
	case known:
	case !r.of(name):
		place = other
		if len(r.layers) < MaxLayers {
			r.layers[name] = other
		}
	case !r.file.Room("layers", len(r.names), MaxLayers):
		place = other
	default:
		place = int32(len(r.names))
		r.names = append(r.names, name)
		r.layers[name] = place
	}
	return place
}

// trace returns the result; chunks is the number of lost pieces of the record.
func (r *Reader) trace(chunks int) (Trace, error) {
	out := Trace{Written: r.written, Lost: r.gaps + r.malformed + chunks + r.file.TooMany["events of buffers"] + r.file.TooMany["layers"]}
	if !out.Written {
		return out, nil
	}
	monotonic, ok := r.file.Monotonic()
	if !ok {
		return out, fmt.Errorf("read the buffers of layers: %w", ErrNoClock)
	}
	if r.machine != r.file.Home {
		return out, nil
	}
	makers := make([]maker, len(r.names))
	for _, e := range r.inTime(monotonic, &out.Lost) {
		makers[e.layer].add(e)
	}
	for i := range makers {
		if len(makers[i].buffers) > 0 {
			out.Layers = append(out.Layers, makers[i].layer(r.names[i]))
		}
	}
	slices.SortStableFunc(out.Layers, func(a, b Layer) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// timed is an event with its time on CLOCK_MONOTONIC.
type timed struct {
	at time.Duration
	event
}

// inTime returns the events in chronological order; one without a time counts as lost.
func (r *Reader) inTime(monotonic func(time.Duration) (time.Duration, bool), lost *int) []timed {
	out := make([]timed, 0, len(r.events))
	for _, e := range r.events {
		own, ok := r.file.Time(e.at)
		if ok {
			own, ok = monotonic(own)
		}
		if !ok || own < 0 {
			*lost++
			continue
		}
		out = append(out, timed{own, e})
	}
	slices.SortStableFunc(out, func(a, b timed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind)) })
	return out
}
