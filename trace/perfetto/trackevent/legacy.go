package trackevent

import (
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Chrome, and with it WebView, writes events of older kinds: a phase, which is a letter, instead of
// a type and a track (LegacyEvent of track_event.proto).

// Async identifies the own track of an event: by an id, which is of a process or of the whole
// trace, and a scope.
type Async struct {
	ID    uint64
	Local bool // the id is of a process
	Scope string
}

// Scopes of an instant.
const (
	ScopeGlobal  = 1
	ScopeProcess = 2
)

// Directions of a flow that an event is bound to.
const (
	FlowIn    = 1
	FlowOut   = 2
	FlowInOut = 3
)

// writer is the stated thread of a sequence, with the time that differences count from.
type writer struct {
	generation int
	pid, tid   int32
	at         time.Duration // of CLOCK_MONOTONIC
}

// writes reads a ThreadDescriptor: the thread of a sequence's events that do not state one.
func (t *Tracks) writes(seq *packets.Sequence, message []byte) {
	if !seq.Valid() {
		return
	}
	m := messages.ThreadDescriptorOf(message)
	w := writer{generation: seq.Generation, pid: m.PID, tid: int32(m.TID), at: microseconds(m.ReferenceTimestampUS)}
	if _, again := t.writers[seq]; again || t.file.Room("writers of track events", len(t.writers), maxTracks) {
		t.writers[seq] = &w
	}
}

func microseconds(v int64) time.Duration {
	return time.Duration(min(uint64(v), packets.MaxTime/uint64(time.Microsecond))) * time.Microsecond
}

// writer returns the thread of a sequence; nil if it has stated none since its state began.
func (t *Tracks) writer(seq *packets.Sequence) *writer {
	if w := t.writers[seq]; w != nil && w.generation == seq.Generation {
		return w
	}
	return nil
}

// Stamp returns the time of an event: the packet's, or its own on CLOCK_MONOTONIC, which may be a
// difference to the event before. It returns false if the one before is unknown. It must be called
// once for each event.
func (t *Tracks) Stamp(p packets.Packet) (packets.Stamp, bool) {
	m := messages.TrackEventOf(p.Data)
	var at time.Duration
	switch {
	case m.HasTimestampDeltaUS:
		w := t.writer(p.Seq)
		if w == nil {
			return packets.NoStamp, false
		}
		w.at = min(w.at+microseconds(m.TimestampDeltaUS), packets.MaxTime)
		at = w.at
	case m.HasTimestampAbsoluteUS:
		at = microseconds(m.TimestampAbsoluteUS)
	default:
		return p.At, true
	}
	clock := t.file.Clocks.Place(packets.KeyOf(p.Machine, 0, packets.ClockMonotonic))
	return packets.Stamp{Clock: clock, NS: int64(at)}, true
}

// legacy makes of a LegacyEvent what it means; false for one of a phase that is not read.
func (e *Event) legacy(seq *packets.Sequence, m messages.Legacy) bool {
	if e.Name == "" {
		e.Name = interned(seq, field.InternedEventNames, m.NameIID)
	}
	e.For, e.Bound, e.Direction, e.pid, e.tid = microseconds(m.DurationUS), m.BindID, uint64(m.FlowDirection), m.PIDOverride, m.TIDOverride
	phase := byte(m.Phase)
	if phase == 0 {
		return e.Kind > 0 && e.Kind <= OfCounter
	}
	a := Async{ID: m.UnscopedID}
	switch {
	case m.HasGlobalID:
		a.ID = m.GlobalID
	case m.HasLocalID:
		a.ID, a.Local = m.LocalID, true
	}
	if m.IDScope != nil {
		a.Scope = ":" + packets.Name(m.IDScope)
	}
	hasID := m.HasUnscopedID || m.HasGlobalID || m.HasLocalID
	return e.phase(phase, uint64(m.InstantEventScope)) && e.async(phase, a, hasID)
}

// phase sets the meaning of a letter; false for an unsupported one.
func (e *Event) phase(phase byte, scope uint64) bool {
	switch phase {
	case 'B', 'b', 'S':
		e.Kind = Begin
	case 'E', 'e', 'F':
		e.Kind = End
	case 'X':
		e.Kind = Complete
	case 'i', 'I':
		e.Kind, e.Scope = Instant, scope
	case 'R', 'n', 'T', 'p':
		e.Kind = Instant
	default:
		return false
	}
	e.OnThread = phase == 'B' || phase == 'E' || phase == 'X'
	return true
}

// async sets the own track of an event; false if its id is missing.
func (e *Event) async(phase byte, a Async, known bool) bool {
	switch phase {
	case 'b', 'e', 'n':
		a.Scope = e.Category + a.Scope
	case 'S', 'T', 'p', 'F':
		if a.Scope == "" {
			a.Scope = e.Name
		} else {
			a.Scope = e.Category + a.Scope
		}
	default:
		return true
	}
	e.Async = &a
	return known
}
