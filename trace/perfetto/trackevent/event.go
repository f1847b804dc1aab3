package trackevent

import (
	"encoding/binary"
	"math"
	"strings"

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
)

// Event is a TrackEvent whose names are resolved.
type Event struct {
	Kind           uint64
	Track          uint64 // for Tracks.Place
	Name, Category string
	// Flows lead through it, and Ends end in it.
	Flows, Ends []uint64
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
func Read(p packets.Packet) (Event, bool) {
	e := Event{Track: defaultsOf(p.Seq.Defaults).track}
	var categories []string
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
			e.Track = f.Value
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
	return e, e.Kind > 0 && e.Kind <= OfCounter
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
