package trackevent

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Types of a TrackEvent (track_event.proto).
const (
	Begin     = 1
	End       = 2
	Instant   = 3
	OfCounter = 4
	// Complete is of no type: an event that says itself how long it took.
	Complete = 100
)

// Event is a TrackEvent whose names are resolved.
type Event struct {
	Kind           uint64
	Track          uint64 // for Tracks.Place
	Name, Category string
	// Flows lead through it, and Ends end in it.
	Flows, Ends []uint64

	// For is how long one took that is Complete.
	For time.Duration
	// Async is the track of one that is on none that is described; nil for others.
	Async *Async
	// Scope says of an instant that it is not a thread's.
	Scope uint64
	// OnThread says that it means something on a thread alone.
	OnThread bool
	// Bound is a flow that it is bound to, in a Direction; none where that is 0.
	Bound, Direction uint64
	// TID and PID are the thread that it is of where it is on no track; Writer says so.
	PID, TID int32
	Writer   bool

	pid, tid int32 // that it says itself, 0 for none
}

// MaxFlows is how many flows lead through one event.
const MaxFlows = 1_000

// maxCategories is how many categories of an event are named.
const maxCategories = 100

// defaults are TrackEventDefaults, for events that don't say.
type defaults struct {
	track          uint64
	extra, doubles []uint64 // tracks of extra values
}

func defaultsOf(message []byte) defaults {
	var d defaults
	for f := packets.FieldsOf(message); f.Next(); {
		for g := packets.FieldsOf(f.Bytes); f.Number == field.DefaultsTrackEventDefaults && g.Next(); {
			switch g.Number {
			case field.TrackEventTrackUUID:
				d.track = g.Value
			case field.TrackEventExtraCounterTrackUuids:
				d.extra = more(d.extra, &g)
			case field.TrackEventExtraDoubleCounterTrackUuids:
				d.doubles = more(d.doubles, &g)
			}
		}
	}
	return d
}

// more adds the values of a repeated number to a list, up to a few more than may be.
func more(list []uint64, f *packets.Fields) []uint64 {
	if len(list) > maxExtra {
		return list
	}
	return append(list, f.List()...)
}

// Read reads a TrackEvent; false for one of a kind that is not read.
func (t *Tracks) Read(p packets.Packet) (Event, bool) {
	e := Event{Track: defaultsOf(p.Seq.Defaults).track}
	var categories []string
	var legacy []byte
	told := false
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.TrackEventCategoryIIDs:
			for _, id := range f.List() {
				if len(categories) < maxCategories {
					categories = append(categories, interned(p.Seq, field.InternedEventCategories, id))
				}
			}
		case field.TrackEventType:
			e.Kind = f.Value
		case field.TrackEventNameIID:
			e.Name = interned(p.Seq, field.InternedEventNames, f.Value)
		case field.TrackEventTrackUUID:
			e.Track, told = f.Value, true
		case field.TrackEventLegacyEvent:
			legacy = f.Bytes
		case field.TrackEventCategories:
			if len(categories) < maxCategories {
				categories = append(categories, f.Text())
			}
		case field.TrackEventName:
			e.Name = f.Text()
		case field.TrackEventFlowIDsOld, field.TrackEventFlowIDs:
			e.Flows = flows(e.Flows, &f)
		case field.TrackEventTerminatingFlowIDsOld, field.TrackEventTerminatingFlowIDs:
			e.Ends = flows(e.Ends, &f)
		}
	}
	e.Category = strings.Join(categories, ",")
	typed := e.Kind > 0
	if !e.legacy(p.Seq, legacy) {
		return e, false
	}
	return e, e.Track != 0 || t.written(&e, p.Seq, told && typed)
}

// written finds the thread of an event that is on no track: the writer's, unless it says
// another. It is false where it says another process, but not which thread.
func (t *Tracks) written(e *Event, seq *packets.Sequence, onDefault bool) bool {
	w := t.writer(seq)
	switch {
	case e.pid != 0 && e.tid != 0:
		e.PID, e.TID, e.Writer = e.pid, e.tid, true
	case e.pid != 0:
		return false
	case w == nil || onDefault && e.tid == 0:
	case e.tid != 0:
		e.PID, e.TID, e.Writer = w.pid, e.tid, true
	default:
		e.PID, e.TID, e.Writer = w.pid, w.tid, true
	}
	return true
}

func flows(list []uint64, f *packets.Fields) []uint64 {
	if len(list) > MaxFlows {
		return list
	}
	return append(list, ids(f)...)
}

// ids are the numbers of flows: a varint each, or fixed ones, also packed.
func ids(f *packets.Fields) []uint64 {
	if f.Number == field.TrackEventFlowIDsOld || f.Number == field.TrackEventTerminatingFlowIDsOld || f.Bytes == nil {
		return f.List()
	}
	var out []uint64
	for rest := f.Bytes; len(rest) >= 8 && len(out) <= MaxFlows; rest = rest[8:] {
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

// float is the value of a double field; 0 where it is no number.
func float(bits uint64) float64 {
	v := math.Float64frombits(bits)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
