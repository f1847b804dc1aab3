// Package shown reads what Android's compositor tells of each buffer of each layer (Perfetto's
// data source android.surfaceflinger.frame, Android 11 and later): when it was handed over,
// drawn, taken and shown. It is what tells of frames that are drawn without the number of a
// vsync, by Flutter, games and video.
//
// It owns which buffers there were and what became of each, and when one was late. Whose a
// layer is follows from its name alone (Of), since nothing tells its process.
//
// It takes a stand. An event may be missing, be there twice or come in any order, and a number
// may begin again (FrameTracer.cpp tells of a fence when the same buffer is next heard of, so
// of the last ones never; Perfetto's own reader reckons with lost QUEUEs too): each buffer's
// first event of a kind counts, and a time that is not told is guessed, and counted as
// guessed, or unknown. When the app began a frame is not told: DEQUEUE is when whatever draws
// it took a buffer, behind all that the UI thread does, and is not read.
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

// Limits on what is kept.
const (
	MaxEvents = 1_000_000
	MaxLayers = 10_000
)

// ErrNoClock says that nothing in a trace leads to CLOCK_MONOTONIC.
var ErrNoClock = errors.New("nothing in the trace leads to CLOCK_MONOTONIC")

// None stands for a time that is not told.
const None time.Duration = -1

// Buffer is a frame of a layer, with its times on CLOCK_MONOTONIC.
type Buffer struct {
	Number uint32
	Queued time.Duration // the app handed it over
	Drawn  time.Duration // the GPU was done with it (its acquire fence)
	Taken  time.Duration // the compositor took it (latched)
	Shown  time.Duration // it was on the screen (the present fence)
	// Guessed says that when it was shown is reckoned from when it was taken, Passed that it
	// was never taken, since a newer one was.
	Guessed, Passed bool
}

// Layer is what was drawn for one layer, in the order in which buffers were heard of.
type Layer struct {
	Name    string
	Buffers []Buffer
}

// Trace is what a trace tells of some layers.
type Trace struct {
	Layers []Layer // that have a buffer, by name
	// Written says that the data source told anything, of whatever layer.
	Written bool
	// Lost counts where events are missing: frames may be.
	Lost int
}

// Read reads the buffers of the layers that of is true of.
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
	layers  map[string]int32 // the place in names, other for one that nobody asks for
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

// event is one of those.
type event struct {
	at     packets.Stamp
	number uint32
	layer  int32
	kind   uint8
}

// New is a reader of a file.
func New(file *packets.File, of func(layer string) bool) *Reader {
	return &Reader{file: file, of: of, layers: map[string]int32{}, writers: map[*packets.Sequence]bool{}, machine: math.MaxUint32}
}

// Wants are GraphicsFrameEvents.
func (r *Reader) Wants() packets.Wants {
	return packets.Wants{Packets: []protowire.Number{field.PacketGraphicsFrameEvent}}
}

// Packet reads a GraphicsFrameEvent.
func (r *Reader) Packet(p packets.Packet) {
	if p.AfterGap() && r.writers[p.Seq] { // a sequence's first packet always says so
		r.gaps++
	}
	r.writers[p.Seq] = true
	switch {
	case p.At == packets.NoStamp || p.Machine > r.machine:
		return
	case p.Machine < r.machine: // the trace is of the least
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

// layer is the place of a layer's name; other for one that nobody asks for, or for which there
// is no room.
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

// trace is what was read, where so many pieces of the record were lost beside it.
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

// inTime are the events in the order of time; one that can't be told is lost.
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
