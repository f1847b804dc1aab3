package pftrace

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// buffersSince is the API level from which on SurfaceFlinger reports buffers
// (FrameTracer.cpp).
const buffersSince = 30

// GraphicsFrameEvent and its types, as far as they are used.
const (
	packetGraphicsFrame = 57
	sequenceBuffers     = 6 // SurfaceFlinger's main thread
	sequenceQueues      = 7 // the thread that handles calls

	dequeued  = 1
	queued    = 2
	acquired  = 4
	latched   = 5
	composed  = 6
	presented = 8
	released  = 9
)

// Shown writes the buffers of all layers that SurfaceFlinger reports in a time, including its
// own bars, like FrameTracer.cpp with its flaws:
//
//   - A dequeued buffer has no number yet, before Android 12. Since then this event and its
//     QUEUE are written when the transaction is applied.
//   - The time at which a fence signalled is written with the buffer's next event: for the
//     display of a layer's last buffers never, and out of order after later events.
//   - A new layer with another's name has the same name, and numbers from 1, before Android 12;
//     since then its own number is part of the name.
//   - About one QUEUE in 150 is missing (b/157578286, in Perfetto's reader), and a layer that
//     refreshes by itself is latched twice with one buffer.
func (w *Writer) Shown(t *timeline.Timeline, api int, during timeline.Interval) {
	v := buffers{api: api}
	for _, l := range slices.Concat(t.Layers, bars(during)) {
		v.layer(l, v.name(t, l))
	}
	slices.SortStableFunc(v.events, func(a, b bufferEvent) int { return cmp.Compare(a.told, b.told) })
	for _, e := range v.events {
		if e.told <= during.From || e.told > during.To {
			continue
		}
		sequence := sequenceBuffers
		if e.kind == queued || e.kind == dequeued {
			sequence = sequenceQueues
		}
		w.packetOn(sequence, e.at, clockMonotonic, 0, packetGraphicsFrame, message(nil, 1, e.body()))
	}
}

// bars returns layers of the system's own, whose clock ticks.
func bars(during timeline.Interval) []*timeline.Layer {
	l := &timeline.Layer{ID: 75, Title: "StatusBar", Opened: during.From}
	for at := during.From.Truncate(time.Second) + time.Second; at < during.To; at += time.Second {
		l.Frames = append(l.Frames, timeline.Frame{
			Issue: at, Queued: at + 3*time.Millisecond, GPUDone: at + 5*time.Millisecond,
			Latched: at + 8*time.Millisecond, Presented: at + 16*time.Millisecond, Released: at + time.Second,
		})
	}
	return []*timeline.Layer{l}
}

// buffers collects the buffer events of all layers.
type buffers struct {
	api    int
	events []bufferEvent
}

// bufferEvent is an event with the time at which it is written.
type bufferEvent struct {
	told, at time.Duration
	kind     uint64
	number   uint64 // 0 if it has none
	buffer   uint64
	name     string
}

func (e bufferEvent) body() (b []byte) {
	if e.number > 0 {
		b = number(b, 1, e.number)
	}
	return number(message(number(b, 2, e.kind), 3, []byte(e.name)), protowire.Number(5), e.buffer)
}

// name returns a layer's name: with its own number, or before Android 12 with the number of
// earlier layers of the same title (SurfaceFlinger::getUniqueLayerName).
func (v *buffers) name(t *timeline.Timeline, l *timeline.Layer) string {
	n := l.ID
	if v.api < blastSince {
		n = 0
		for _, other := range t.Layers {
			if other.ID < l.ID && other.Title == l.Title && (other.Closed == 0 || other.Closed > l.Opened) {
				n++
			}
		}
	}
	return fmt.Sprintf("%s#%d", l.Title, n)
}

// layer adds the events of a layer's buffers.
func (v *buffers) layer(l *timeline.Layer, name string) {
	const slots = 3
	for i := range l.Frames {
		f := &l.Frames[i]
		add := func(kind uint64, at, told time.Duration) {
			v.events = append(v.events, bufferEvent{told, at, kind, uint64(i + 1), uint64(l.ID*slots + i%slots), name})
		}
		taken := f.Latched
		if taken == 0 { // it was skipped, or its layer is gone
			taken = f.Queued
		}
		told, asked := f.Queued, f.Issue
		if v.api >= blastSince {
			told = taken
		}
		add(dequeued, asked, min(asked, told))
		if last := &v.events[len(v.events)-1]; v.api < blastSince {
			last.number = 0
		} else {
			last.told = told
		}
		if !lost(l.ID, i) {
			add(queued, f.Queued, told)
		}
		if f.Latched == 0 {
			continue
		}
		v.shown(f, add, twice(l.ID, i))
	}
}

// shown adds a buffer's events from latching on.
func (v *buffers) shown(f *timeline.Frame, add func(kind uint64, at, told time.Duration), again bool) {
	const wakes, composes = 200 * time.Microsecond, 700 * time.Microsecond
	at := f.Latched + wakes
	add(acquired, f.GPUDone, at)
	add(latched, at, at)
	add(composed, at+composes, at+composes)
	if again {
		add(latched, at+f.Period, at+f.Period)
	}
	if f.Released > 0 {
		add(presented, f.Presented, max(f.Released, f.Presented))
		add(released, f.Released, f.Released)
	}
}

// lost and twice select the buffers with flaws, the same in each trace.
func lost(layer, i int) bool  { return (layer*31+i*17)%151 == 7 }
func twice(layer, i int) bool { return (layer*13+i*29)%97 == 5 }
