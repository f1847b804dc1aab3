package trackevent

import (
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// maxExtra is how many values of counters an event may bear beside its own.
const maxExtra = 8

// Value is a counter's new value.
type Value struct {
	Track uint64 // for Tracks.Place
	Value float64
}

// valueKey is a counter in what a sequence tells of it: increments are of one sequence.
type valueKey struct {
	seq   *packets.Sequence
	track uint64
}

// value is what the increments of a generation of a sequence add up to.
type value struct {
	generation int
	sum        float64
}

// Values are the values of counters that an event bears: its own, where it is of that
// type, and those beside it. It is false for an event that can't be used, because it
// bears a value of no counter. Each event must be read once, in the file's order.
func (t *Tracks) Values(p packets.Packet) ([]Value, bool) {
	of := defaultsOf(p.Seq.Defaults)
	own, ownTracks, doubleTracks := Value{Track: of.track}, []uint64(nil), []uint64(nil)
	var kind uint64
	told := false
	var extra []uint64
	var doubles []float64
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.TrackEventType:
			kind = f.Value
		case field.TrackEventTrackUUID:
			own.Track = f.Value
		case field.TrackEventCounterValue:
			own.Value, told = float64(int64(f.Value)), true
		case field.TrackEventDoubleCounterValue:
			own.Value, told = float(f.Value), true
		case field.TrackEventExtraCounterValues:
			extra = more(extra, &f)
		case field.TrackEventExtraCounterTrackUuids:
			ownTracks = more(ownTracks, &f)
		case field.TrackEventExtraDoubleCounterTrackUuids:
			doubleTracks = more(doubleTracks, &f)
		case field.TrackEventExtraDoubleCounterValues:
			if len(doubles) <= maxExtra {
				for _, v := range ids(&f) {
					doubles = append(doubles, float(v))
				}
			}
		}
	}
	if ownTracks == nil {
		ownTracks = of.extra
	}
	if doubleTracks == nil {
		doubleTracks = of.doubles
	}
	var out []Value
	if kind == OfCounter {
		if !told {
			return nil, false
		}
		out = append(out, own)
	}
	if len(extra)+len(doubles) > maxExtra || len(extra) > len(ownTracks) || len(doubles) > len(doubleTracks) {
		return nil, false
	}
	for i, v := range extra {
		out = append(out, Value{ownTracks[i], float64(int64(v))})
	}
	for i, v := range doubles {
		out = append(out, Value{doubleTracks[i], v})
	}
	for i := range out {
		if !t.absolute(p.Seq, &out[i]) {
			return nil, false
		}
	}
	return out, true
}

// absolute makes of a value what its counter is described to have: in its unit, and not an
// increment. It is false where the track is no counter's.
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
