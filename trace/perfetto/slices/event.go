package slices

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/trackevent"
)

// trackEvent reads a TrackEvent; its slice begins or ends once earlier events were read.
func (r *Reader) trackEvent(p packets.Packet) {
	stamp, timed := r.events.Stamp(p)
	e, ok := r.events.Read(p)
	if !ok || !timed {
		r.Unread++
		return
	}
	at, ok := r.file.Time(stamp)
	if !ok || e.Kind == trackevent.OfCounter || len(e.Flows)+len(e.Ends) > trackevent.MaxFlows {
		return
	}
	var args []trackevent.Arg
	size := len(e.Name) + len(e.Category) + 8*len(e.Flows)
	if r.args != nil {
		read := trackevent.ReadArgs(p)
		args, size = read.List, size+read.Size()
		r.CutArgs += read.Cut
	}
	r.file.Defer(at, size, func() { r.place(at, e, args) })
}

// place begins or ends the slice of an event.
func (r *Reader) place(at time.Duration, e trackevent.Event, args []trackevent.Arg) {
	track, ok := r.trackOf(&e)
	if !ok {
		r.Unread++
		return
	}
	slice := int32(None)
	switch e.Kind {
	case trackevent.End:
		slice = r.endOf(at, track, e.Category, e.Name)
	case trackevent.Begin:
		slice = r.begin(at, -1, track, e.Category, e.Name)
	default: // an instant, or one with its own duration
		slice = r.begin(at, e.For, track, e.Category, e.Name)
	}
	r.flow(slice, e)
	r.addArgs(slice, args, e.Kind != trackevent.Begin)
}

// described returns the track of an id; None if there are too many. One without a name gets that of
// the first event on it.
func (r *Reader) described(uuid uint64, event string) int32 {
	if track, known := r.byUUID[uuid]; known {
		return track
	}
	place := r.events.Place(uuid)
	if place == nil || !r.file.Room("tracks of slices", len(r.byUUID), maxTracks) {
		return None
	}
	t := Track{Type: place.Scope(), Name: place.Name, Thread: place.Thread, Process: place.Process}
	if t.Name == "" && !place.Own {
		t.Name = event
	}
	track := int32(None)
	switch {
	case place.Own && place.Thread != None && !place.Separate:
		track = r.track(Track{Type: "thread_execution", Thread: place.Thread, Process: None})
	case place.Own, place.Alone:
		t.Type += "_track_event"
		track = r.newTrack(t)
	default:
		t.Type += "_merged_track_event"
		track = r.newTrack(t)
	}
	r.byUUID[uuid] = track
	return track
}

// flow adds flows from their last slices to one.
func (r *Reader) flow(slice int32, e trackevent.Event) {
	if slice == None {
		return
	}
	r.bind(slice, e)
	for _, id := range e.Flows {
		r.lead(id, slice)
		if _, known := r.steps[id]; known || r.file.Room("flows on their way", len(r.steps), MaxRows) {
			r.steps[id] = slice
		}
	}
	for _, id := range e.Ends {
		r.lead(id, slice)
		delete(r.steps, id)
	}
}

func (r *Reader) lead(id uint64, slice int32) {
	if from, known := r.steps[id]; known {
		r.cause(from, slice)
	}
}

// cause adds a flow from one slice to another that it caused.
func (r *Reader) cause(from, to int32) {
	if r.file.Room("flows", r.Flows.Len(), r.Flows.Most(MaxRows)) {
		r.Flows.Add(Flow{Out: from, In: to})
	}
}
