package trackevent

import (
	"math"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxExtra limits the additional values of counters in an event.
const maxExtra = 8

// Value is a counter's new value.
type Value struct {
	Track uint64 // for Tracks.Place
	Value float64
}

// valueKey identifies a counter within a sequence: increments are of one sequence.
type valueKey struct {
	seq   *packets.Sequence
	track uint64
}

// value is the sum of the increments in a generation of a sequence.
type value struct {
	generation int
	sum        float64
}

// Values returns the values of counters in an event: its own, if it is of that type, and the
// additional ones. It returns false for an event that can't be used, because one of its values is
// of no counter. Each event must be read once, in the file's order.
func (t *Tracks) Values(p packets.Packet) ([]Value, bool) {
	m, of := messages.TrackEventOf(p.Data), defaultsOf(p.Seq.Defaults)
	extra, doubles := m.ExtraCounterValues.List(maxExtra+1), m.ExtraDoubleCounterValues.List(maxExtra+1)
	extraTracks, doubleTracks := of.extra, of.doubles
	if own := m.ExtraCounterTrackUuids.List(maxExtra + 1); own != nil {
		extraTracks = own
	}
	if own := m.ExtraDoubleCounterTrackUuids.List(maxExtra + 1); own != nil {
		doubleTracks = own
	}
	if len(extra)+len(doubles) > maxExtra || len(extra) > len(extraTracks) || len(doubles) > len(doubleTracks) {
		return nil, false
	}
	var out []Value
	if m.Type == OfCounter {
		own, has := ownValue(&m, of.track)
		if !has {
			return nil, false
		}
		out = append(out, own)
	}
	for i, v := range extra {
		out = append(out, Value{extraTracks[i], float64(int64(v))})
	}
	for i, v := range doubles {
		out = append(out, Value{doubleTracks[i], finite(math.Float64frombits(v))})
	}
	for i := range out {
		if !t.absolute(p.Seq, &out[i]) {
			return nil, false
		}
	}
	return out, true
}

// ownValue returns the value of a counter's event, which is on the default track if it names none;
// false if it has none.
func ownValue(m *messages.TrackEvent, track uint64) (Value, bool) {
	v := Value{track, float64(m.CounterValue)}
	if m.HasTrackUUID {
		v.Track = m.TrackUUID
	}
	if m.HasDoubleCounterValue {
		v.Value = finite(m.DoubleCounterValue)
	}
	return v, m.HasCounterValue || m.HasDoubleCounterValue
}

// absolute converts a value according to its counter's description: to its unit, and from an
// increment. It returns false if the track is no counter's.
func (t *Tracks) absolute(seq *packets.Sequence, v *Value) bool {
	d := t.descriptors[v.Track]
	if d == nil || d.counter == nil {
		return false
	}
	v.Value *= d.counter.multiplier
	if !d.counter.incremental {
		return true
	}
	key := valueKey{seq, v.Track}
	sum := t.values[key]
	if sum == nil {
		if !t.file.Room("counters of increments", len(t.values), maxTracks) {
			return false
		}
		sum = &value{}
		t.values[key] = sum
	}
	if sum.generation != seq.Generation {
		*sum = value{generation: seq.Generation}
	}
	sum.sum += v.Value
	v.Value = sum.sum
	return true
}
