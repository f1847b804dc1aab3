package slices

import (
	"encoding/binary"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Types of a TrackEvent (track_event.proto).
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
)

// event is a TrackEvent whose names are resolved.
type event struct {
	kind           uint64
	uuid           uint64
	name, category string
	flows, ends    []uint64 // flows that lead through it, and that end in it
}

// trackEvent reads a TrackEvent, whose slice begins or ends when its time has come.
func (r *Reader) trackEvent(p packets.Packet, at time.Duration) {
	e := event{uuid: defaultTrack(p.Seq.Defaults)}
	var categories []string
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.TrackEventCategoryIIDs:
			for _, id := range f.List() {
				categories = append(categories, interned(p.Seq, field.InternedEventCategories, id))
			}
		case field.TrackEventType:
			e.kind = f.Value
		case field.TrackEventNameIID:
			e.name = interned(p.Seq, field.InternedEventNames, f.Value)
		case field.TrackEventTrackUUID:
			e.uuid = f.Value
		case field.TrackEventCategories:
			categories = append(categories, f.Text())
		case field.TrackEventName:
			e.name = f.Text()
		case field.TrackEventFlowIDsOld, field.TrackEventFlowIDs:
			e.flows = append(e.flows, ids(&f)...)
		case field.TrackEventTerminatingFlowIDsOld, field.TrackEventTerminatingFlowIDs:
			e.ends = append(e.ends, ids(&f)...)
		}
	}
	if e.kind == 0 || e.kind > typeCounter {
		r.Unread++
		return
	}
	e.category = strings.Join(categories, ",")
	if e.kind != typeCounter && len(e.flows)+len(e.ends) <= maxFlowsOf {
		r.file.Defer(at, len(e.name)+len(e.category)+8*len(e.flows), func() { r.place(at, e) })
	}
}

// maxFlowsOf is how many flows lead through one slice.
const maxFlowsOf = 1_000

// ids are the numbers of flows: a varint each, or fixed ones, also packed.
func ids(f *packets.Fields) []uint64 {
	if f.Number == field.TrackEventFlowIDsOld || f.Number == field.TrackEventTerminatingFlowIDsOld || f.Bytes == nil {
		return f.List()
	}
	var out []uint64
	for rest := f.Bytes; len(rest) >= 8 && len(out) <= maxFlowsOf; rest = rest[8:] {
		out = append(out, binary.LittleEndian.Uint64(rest))
	}
	return out
}

// interned is the name of an entry of interned data.
func interned(seq *packets.Sequence, kind protowire.Number, id uint64) string {
	for f := packets.FieldsOf(seq.Interned(kind, id)); f.Next(); {
		if f.Number == field.InternedStringStr {
			return f.Text()
		}
	}
	return ""
}

// defaultTrack is the track of events that name none (TracePacketDefaults).
func defaultTrack(defaults []byte) uint64 {
	for f := packets.FieldsOf(defaults); f.Next(); {
		for g := packets.FieldsOf(f.Bytes); f.Number == field.DefaultsTrackEventDefaults && g.Next(); {
			if g.Number == field.TrackEventTrackUUID {
				return g.Value
			}
		}
	}
	return 0
}

// place begins or ends the slice of an event.
func (r *Reader) place(at time.Duration, e event) {
	track := r.described(e.uuid, e.name)
	switch e.kind {
	case typeBegin:
		r.flow(r.begin(at, -1, track, e.category, e.name), e)
	case typeInstant:
		r.flow(r.begin(at, 0, track, e.category, e.name), e)
	case typeEnd:
		r.end(at, track, "")
	}
}

// flow leads flows from the slices where they were last to one.
func (r *Reader) flow(slice int32, e event) {
	if slice == None {
		return
	}
	for _, id := range e.flows {
		r.lead(id, slice)
		if _, known := r.steps[id]; known || r.file.Room("flows on their way", len(r.steps), MaxRows) {
			r.steps[id] = slice
		}
	}
	for _, id := range e.ends {
		r.lead(id, slice)
		delete(r.steps, id)
	}
}

func (r *Reader) lead(id uint64, slice int32) {
	if from, known := r.steps[id]; known && r.file.Room("flows", len(r.Flows), MaxRows) {
		r.Flows = append(r.Flows, Flow{Out: from, In: slice})
	}
}
