package trackevent

import (
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Types of a TrackEvent (track_event.proto).
const (
	Begin     = 1
	End       = 2
	Instant   = 3
	OfCounter = 4
	// Complete is no type: an event with its own duration.
	Complete = 100
)

// Event is a TrackEvent with resolved names.
type Event struct {
	Kind           uint64
	Track          uint64 // for Tracks.Place
	Name, Category string
	// Flows pass through it, and Ends end in it.
	Flows, Ends []uint64

	// For is the duration of a Complete event.
	For time.Duration
	// Async is the track of an event on no described track; nil for others.
	Async *Async
	// Scope is the scope of an instant that is not a thread's.
	Scope uint64
	// OnThread is set if it is only meaningful on a thread.
	OnThread bool
	// Bound is a flow that it is bound to, in a Direction; none if that is 0.
	Bound, Direction uint64
	// TID and PID are its thread if it is on no track, as stated by Writer.
	PID, TID int32
	Writer   bool

	pid, tid int32 // stated by the event itself, 0 for none
}

// MaxFlows limits the flows through one event.
const MaxFlows = 1_000

// maxCategories limits the named categories of an event.
const maxCategories = 100

// defaults are TrackEventDefaults, for events that leave out a field.
type defaults struct {
	track          uint64
	extra, doubles []uint64 // tracks of extra values
}

func defaultsOf(message []byte) defaults {
	m := messages.EventDefaultsOf(messages.DefaultsOf(message).TrackEventDefaults)
	return defaults{m.TrackUUID, m.ExtraCounterTrackUuids.List(maxExtra + 1), m.ExtraDoubleCounterTrackUuids.List(maxExtra + 1)}
}

// Read reads a TrackEvent; false for one of a kind that is not read.
func (t *Tracks) Read(p packets.Packet) (Event, bool) {
	m := messages.TrackEventOf(p.Data)
	e := Event{
		Kind: uint64(m.Type), Track: m.TrackUUID, Name: packets.Name(m.Name),
		Flows: append(m.FlowIDsOld.List(MaxFlows+1), m.FlowIDs.List(MaxFlows+1)...),
		Ends:  append(m.TerminatingFlowIDsOld.List(MaxFlows+1), m.TerminatingFlowIDs.List(MaxFlows+1)...),
	}
	if !m.HasTrackUUID {
		e.Track = defaultsOf(p.Seq.Defaults).track
	}
	if m.NameIID != 0 {
		e.Name = interned(p.Seq, field.InternedEventNames, m.NameIID)
	}
	var categories []string
	for _, id := range m.CategoryIIDs.List(maxCategories) {
		categories = append(categories, interned(p.Seq, field.InternedEventCategories, id))
	}
	for name := range m.Categories.Each {
		if len(categories) == maxCategories {
			break
		}
		categories = append(categories, packets.Name(name))
	}
	e.Category = strings.Join(categories, ",")
	typed := e.Kind > 0
	if !e.legacy(p.Seq, messages.LegacyOf(m.LegacyEvent)) {
		return e, false
	}
	return e, e.Track != 0 || t.written(&e, p.Seq, m.HasTrackUUID && typed)
}

// written finds the thread of an event that is on no track: the writer's, unless it states another.
// It returns false if the event states another process but no thread.
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

// interned returns the name of an entry of interned data.
func interned(seq *packets.Sequence, kind protowire.Number, id uint64) string {
	return packets.Name(messages.InternedStringOf(seq.Interned(kind, id)).Str)
}

// finite returns a value; 0 if it is not a number.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
