package slices

import (
	"fmt"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxFences limits the fences that wait on one timeline.
const maxFences = 10_000

// fences are the unsignaled fences of a timeline: the first one is a slice.
type fences struct {
	track   int32
	pending []uint32
	emits   bool // it reports when work is submitted, not only when it is created
}

// fence reads an event of a fence.
func (r *Reader) fence(e *packets.Event) {
	m := messages.FenceOf(e.Data)
	name, number := packets.Name(m.Timeline), m.Seqno
	if name == "unbound" {
		return
	}
	line := r.timeline(m.Context, name)
	switch {
	case line == nil, e.Kind == field.EventDmaFenceInit && line.emits:
	case e.Kind == field.EventDmaFenceSignaled:
		r.signaled(e, line, number)
	default:
		if e.Kind == field.EventDmaFenceEmit && !line.emits {
			line.emits = true
			if len(line.pending) > 0 {
				r.end(e.At, line.track, "")
				line.pending = nil
			}
		}
		if r.file.Room("fences", len(line.pending), maxFences) {
			line.pending = append(line.pending, number)
		}
		if len(line.pending) == 1 {
			r.begin(e.At, -1, line.track, "", "fence")
		}
	}
}

func (r *Reader) signaled(e *packets.Event, line *fences, number uint32) {
	if len(line.pending) == 0 || number < line.pending[0] {
		return
	}
	line.pending = line.pending[1:]
	r.end(e.At, line.track, "")
	if len(line.pending) > 0 {
		r.begin(e.At, -1, line.track, "", "fence")
	}
}

// timeline finds or adds the fences of a context; nil if there are too many.
func (r *Reader) timeline(context uint32, name string) *fences {
	line := r.fences[context]
	if line == nil && r.file.Room("timelines of fences", len(r.fences), MaxRows) {
		track := r.track(Track{Type: "drm_fence", Name: fmt.Sprintf("fence-%s-%d", name, context), Thread: None, Process: None})
		line = &fences{track: track}
		r.fences[context] = line
	}
	return line
}
