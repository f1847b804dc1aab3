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
	b := bearing(p)
	var out []Value
	switch {
	case b.kind == OfCounter && !b.told,
		len(b.extra)+len(b.doubles) > maxExtra, len(b.extra) > len(b.extraTracks), len(b.doubles) > len(b.doubleTracks):
		return nil, false
	case b.kind == OfCounter:
		out = append(out, b.own)
	}
	for i, v := range b.extra {
		out = append(out, Value{b.extraTracks[i], float64(int64(v))})
	}
	for i, v := range b.doubles {
		out = append(out, Value{b.doubleTracks[i], float(v)})
	}
	for i := range out {
		if !t.absolute(p.Seq, &out[i]) {
			return nil, false
		}
	}
	return out, true
}

// borne is what an event bears of values.
type borne struct {
	kind                      uint64
	own                       Value
	told                      bool // own has a value
	extra, doubles            []uint64
	extraTracks, doubleTracks []uint64
}

func bearing(p packets.Packet) borne {
	of := defaultsOf(p.Seq.Defaults)
	b := borne{own: Value{Track: of.track}}
	for f := packets.FieldsOf(p.Data); f.Next(); {
		switch f.Number {
		case field.TrackEventType:
			b.kind = f.Value
		case field.TrackEventTrackUUID:
			b.own.Track = f.Value
		case field.TrackEventCounterValue:
			b.own.Value, b.told = float64(int64(f.Value)), true
		case field.TrackEventDoubleCounterValue:
			b.own.Value, b.told = float(f.Value), true
		case field.TrackEventExtraCounterValues:
			b.extra = more(b.extra, &f)
		case field.TrackEventExtraCounterTrackUuids:
			b.extraTracks = more(b.extraTracks, &f)
		case field.TrackEventExtraDoubleCounterTrackUuids:
			b.doubleTracks = more(b.doubleTracks, &f)
		case field.TrackEventExtraDoubleCounterValues:
			if len(b.doubles) <= maxExtra {
				b.doubles = append(b.doubles, ids(&f)...)
			}
		}
	}
	if b.extraTracks == nil {
		b.extraTracks = of.extra
	}
	if b.doubleTracks == nil {
		b.doubleTracks = of.doubles
	}
	return b
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
